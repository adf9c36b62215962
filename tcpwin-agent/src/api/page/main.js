// The page: one stream of ticks; with each of them the parts are shown anew.

import { ask, quietly } from "./ask.js";
import { connections, prepare } from "./connections.js";
import { detail, prepareDetail } from "./detail.js";
import { byId, say } from "./dom.js";
import { findings } from "./findings.js";
import { headline } from "./headline.js";
import { hour, picture } from "./hour.js";
import { follow } from "./live.js";
import { prepareRemedies } from "./remedies.js";
import { span } from "./text.js";
import { learn } from "./words.js";

/** Milliseconds between questions of a reader who is not given the ticks. */
const ASK_EVERY = 5000;

/** When the last tick came, for people. */
let last = null;
let version = null;
let missed = 0;
let messages = 0;

function overview(tick) {
  // Another program has other files.
  version ??= tick.health.version;
  if (version !== tick.health.version) location.reload();
  headline(tick);
  last = new Date();
  messages += 1;
  Object.assign(document.body.dataset, { tick: tick.tick, atNs: tick.at_ns, messages, live: "yes" });
}

function tick(said) {
  overview(said);
  const every = said.interval_us / 1e6;
  say(byId("state"), `Live, each ${span(Math.max(1, Math.round(every)))}${missed ? `; ${missed} ticks passed unseen` : ""}.`);
  findings(said.findings);
  quietly(connections());
  quietly(detail());
  quietly(hour(said));
}

function gone() {
  document.body.dataset.live = "gone";
  const since = last ? ` These figures are of ${last.toLocaleTimeString()}.` : "";
  say(byId("state"), `The agent does not answer.${since} Trying again.`);
}

/** Refused for what tells of single connections: the agent's own sentence, and what everybody may see. */
async function refused(error) {
  say(byId("refused"), error.message);
  byId("refused").hidden = false;
  for (const part of ["findings", "connections", "detail"]) byId(part).hidden = true;
  for (;;) {
    const said = await ask("/api/v1/overview").catch(() => null);
    if (said) {
      overview(said);
      say(byId("state"), "Counts over all connections.");
      await quietly(hour(said));
    } else {
      gone();
    }
    await new Promise((done) => setTimeout(done, ASK_EVERY));
  }
}

async function begin() {
  for (;;) {
    try {
      const words = await ask("/page/words.json");
      byId("metrics").href = words.telemetry_path;
      return learn(words);
    } catch {
      gone();
      await new Promise((done) => setTimeout(done, 1000));
    }
  }
}

prepare();
prepareDetail();
prepareRemedies();
await begin();
addEventListener("hashchange", () => {
  quietly(connections(true));
  quietly(detail());
});
new ResizeObserver(picture).observe(byId("hour-picture"));
follow("/api/v1/live", {
  event(name, data) {
    if (name === "tick") tick(data);
    if (name === "missed") missed += data.count;
  },
  gone(error) {
    if (error?.status === 401 || error?.status === 403) {
      refused(error);
      return false;
    }
    if (error?.status !== undefined) say(byId("state"), error.message);
    else gone();
    return true;
  },
});
