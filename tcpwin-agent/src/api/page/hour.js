// What held connections over the last hour: the classes above one another, as high as there were connections of them on
// average. Those that were idle or healthy are left out, or nobody would see the others.

import { ask } from "./ask.js";
import { byId, drawn, element, replace, say } from "./dom.js";
import { percent } from "./text.js";
import { bounds, chip } from "./words.js";

/** How much of the hour is drawn, seconds: all that was watched, and no less than this. */
const DRAWN = [600, 3600];
/** Height of the picture, pixels. */
const HEIGHT = 110;
/** Seconds after which it is asked for again. */
const EVERY_S = 10;

let asked = { at_ns: -Infinity, parts: [] };
let asking = false;

/** Asks for it again where it has grown since. */
export async function hour(tick, draw = true) {
  const age = (tick.at_ns - asked.at_ns) / 1e9;
  if (asking || (age >= 0 && age < EVERY_S && asked.parts.length > 1)) return;
  asking = true;
  try {
    asked = await ask("/api/v1/bounds");
    if (draw) picture();
  } finally {
    asking = false;
  }
}

/** Draws it, as wide as there is room; what was not told yet is not said to be nothing. */
export function picture() {
  if (asked.at_ns === -Infinity) return;
  const shown = bounds().filter((bound) => bound !== "none");
  const svg = byId("hour-picture");
  const width = svg.clientWidth || 600;
  const oldest = Math.max(0, ...asked.parts.slice(0, 1).map(({ end_ns, span_us }) => (asked.at_ns - end_ns) / 1e9 + span_us / 1e6));
  const wide_s = Math.min(Math.max(oldest, DRAWN[0]), DRAWN[1]);
  const parts = asked.parts.map(({ end_ns, span_us, seconds }) => {
    const right = width * (1 - (asked.at_ns - end_ns) / 1e9 / wide_s);
    const wide = (width * span_us) / 1e6 / wide_s;
    return { left: right - wide, right, heights: shown.map((bound) => (seconds[bound] ?? 0) / (span_us / 1e6)) };
  });
  const most = Math.max(0, ...parts.map(({ heights }) => sum(heights)));
  svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
  const areas = shown.map((bound, at) => drawn("path", { class: bound, d: area(parts, at, most) }));
  svg.replaceChildren(patterns(), ...areas);
  summary(shown, most, wide_s);
}

/** The outline of one class: each part a step on top of the classes below it. */
function area(parts, at, most) {
  if (most === 0) return "";
  const y = (height) => (HEIGHT * (1 - height / most)).toFixed(1);
  const step = ({ left, right, heights }) => {
    const low = sum(heights.slice(0, at));
    const high = low + heights[at];
    return high > low ? `M${left.toFixed(1)} ${y(low)}V${y(high)}H${right.toFixed(1)}V${y(low)}Z` : "";
  };
  return parts.map(step).join("");
}

/** Lines over the colours of those that people must act on: a class is told without its colour too. */
function patterns() {
  const lines = (id, d) =>
    drawn("pattern", { id, width: 6, height: 6, patternUnits: "userSpaceOnUse" },
      drawn("rect", { width: 6, height: 6, class: `${id} ground` }), drawn("path", { d, class: "line" }));
  return drawn("defs", {}, lines("loss-lines", "M0 6L6 0"), lines("host-lines", "M0 3H6"), lines("bandwidth-lines", "M3 0V6"));
}

function summary(shown, most, wide_s) {
  const span = asked.parts.reduce((all, { span_us }) => all + span_us / 1e6, 0);
  const spent = Object.fromEntries(shown.map((bound) => [bound, sum(asked.parts.map(({ seconds }) => seconds[bound] ?? 0))]));
  const all = sum(Object.values(spent));
  const said = shown
    .filter((bound) => spent[bound] > 0)
    .map((bound) => ({ bound, text: `${percent(spent[bound] / all)}, ${average(spent[bound] / span)} on average` }));
  replace(byId("hour-legend"), said.map(({ bound, text }) => element("li", {}, chip(bound), ` ${text}`)));
  say(byId("hour-scale"), all === 0
    ? "No connection was held by anything, or the agent has only just started."
    : `${Math.round(wide_s / 60)} min from left to right, up to ${average(most)} connections at once; idle and healthy ones are left out.`);
  say(byId("hour-summary"), said.map(({ bound, text }) => `${bound}: ${text}`).join("; ") || "nothing held connections");
}

const average = (number) => (number < 10 ? number.toFixed(1) : number.toFixed(0));
const sum = (numbers) => numbers.reduce((all, each) => all + each, 0);
