// The first lines: where this is, what is watched and with what, and what was lost on the way.

import { byId, element, replace, say } from "./dom.js";
import { bits, bytes, count, percent, perSecond } from "./text.js";
import { boundOf, bounds, chip } from "./words.js";

/** The tick before, for rates of what only grows. */
let before = null;

/** Shows a tick. */
export function headline(tick) {
  const { health, summary } = tick;
  const growth = since(tick);
  say(byId("host"), `on ${health.host}`);
  const counts = Object.fromEntries(bounds().map((bound) => [bound, 0]));
  let all = 0;
  for (const [limit, number] of Object.entries(summary.connections)) {
    counts[boundOf(limit)] += number;
    all += number;
  }
  document.title = `tcpwin: ${count(counts.window ?? 0)} of ${count(all)} window-bound on ${health.host}`;
  const held = Object.entries(counts).filter(([, number]) => number > 0);
  replace(
    byId("headline"),
    pair("connections", count(all), held.map(([bound, number]) => [" ", chip(bound, `${bound} ${count(number)}`)])),
    pair("in", bits(summary.receive_bps)),
    pair("out", bits(summary.send_bps)),
    growth ? pair("retransmitted", perSecond(growth(retransmits))) : null,
    growth ? pair("the agent's CPU", percent(growth((each) => each.health.cpu_us) / 1e6)) : null,
    pair("its memory", bytes(health.rss_bytes)),
  );
  source(health);
  before = tick;
}

const retransmits = ({ summary }) => {
  const { fast, rto, tlp } = summary.retransmits;
  return fast + rto + tlp + summary.retransmits_unknown + summary.retransmits_syn;
};

/** What a counter grew by a second; none before there are two ticks of one agent. */
function since(tick) {
  const seconds = before ? (tick.at_ns - before.at_ns) / 1e9 : 0;
  if (!(seconds > 0) || tick.tick < before.tick) return null;
  const then = before;
  return (counter) => Math.max(0, counter(tick) - counter(then)) / seconds;
}

function pair(name, value, more = []) {
  return element("div", {}, element("dt", {}, name), element("dd", {}, value, more));
}

function source(health) {
  const missing = health.hooks.filter((hook) => hook.missing).map((hook) => `${hook.hook}: ${hook.missing}`);
  const lost = Object.entries(health.losses)
    .filter(([, number]) => number > 0)
    .map(([cause, number]) => `${cause} ${count(number)}`);
  if (health.evictions > 0) lost.push(`thrown out to stay within the table ${count(health.evictions)}`);
  replace(
    byId("source"),
    element("span", {}, `Version ${health.version}, kernel ${health.kernel}, source ${health.source}`),
    health.source_reason ? element("span", { class: "notice" }, `not a better one: ${health.source_reason}`) : null,
    missing.map((text) => element("span", { class: "notice" }, `missing: ${text}`)),
    element("span", lost.length ? { class: "notice" } : {}, lost.length ? `lost: ${lost.join(", ")}` : "nothing lost"),
  );
}
