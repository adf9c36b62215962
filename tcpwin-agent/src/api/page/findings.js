// What is true of many connections at once, what gives most first.

import { byId, element, replace } from "./dom.js";
import { address } from "./place.js";
import { remedies } from "./remedies.js";
import { bits, gain, plural } from "./text.js";
import { chip, limitText } from "./words.js";

/** Most that are shown; the API has all. */
const MOST = 20;

const KINDS = {
  slow_sibling: "slower than its equals",
  app_window: "the same bytes per round trip everywhere: a window of the program's own",
};

/** Shows them. */
export function findings(list) {
  byId("no-findings").hidden = list.length > 0;
  replace(byId("findings-list"), list.slice(0, MOST).map(one));
}

function one(finding) {
  const { kind, bound, limit, connections, process, peer, rate_bps, gain: factor, proof } = finding;
  const whose = `${plural(connections, "connection")}${process ? ` of ${process}` : ""}${peer ? ` to ${peer}` : ""}`;
  const more = factor ? `${bits(rate_bps)} now, ${gain(factor)} once it is lifted` : `${bits(rate_bps)} now`;
  const key = `${kind} ${limit} ${finding.netns} ${process ?? ""} ${peer ?? ""}`;
  const changes = remedies(finding.remedies, key);
  return element(
    "li",
    {},
    element("p", {}, chip(bound, limit), " ", element("a", { href: address({ filter: filter(finding), offset: 0, id: null }), "data-key": key }, whose)),
    element("p", {}, element("strong", {}, `${KINDS[kind] ?? limitText(limit)}. `), more),
    element("details", { "data-key": key }, element("summary", { "data-key": `${key} why` }, "Why, and what to change"), element("p", {}, proof), changes),
  );
}

/** The filter that picks its connections. */
function filter({ limit, netns, process, peer, connections, ids }) {
  if (ids.length === connections) return `id in (${ids.join(", ")})`;
  const parts = [`limit = ${limit}`, `netns = ${netns}`];
  if (process) parts.push(`proc = "${process.replace(/[\\"]/g, "\\$&")}"`);
  if (peer) parts.push(`peer in ${peer}`);
  return parts.join(" and ");
}
