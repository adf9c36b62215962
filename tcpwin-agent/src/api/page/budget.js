// The time budget: where the last interval's time went.

import { element } from "./dom.js";
import { percent } from "./text.js";

/** State, letter, what held the connection. */
const STATES = [
  ["idle", "·", "nothing to send"],
  ["app", "a", "all sent, the program offers no more"],
  ["sndbuf", "s", "the writer waits for buffer space"],
  ["rwnd", "r", "the peer's window is full"],
  ["cwnd", "c", "the congestion window is full"],
  ["pacing", "p", "room in all windows, sent as paced"],
];

/** The section. */
export function budgetBar(budget) {
  if (!budget) return element("p", { class: "faint" }, "Not known from this source: only the kernel probes keep it.");
  const held = STATES.filter(([name]) => budget[name] > 0);
  const bar = element("div", { class: "budget", "aria-hidden": "true" }, held.map(([name, letter]) => {
    const part = element("span", { class: `state-${name}` }, budget[name] > 0.03 ? letter : "");
    part.style.width = `${budget[name] * 100}%`;
    return part;
  }));
  const legend = held.map(([name, letter, text]) =>
    element("li", {}, element("span", { class: `letter state-${name}`, "aria-hidden": "true" }, letter), ` ${name} ${percent(budget[name])}: ${text}`));
  return [bar, element("ul", { class: "legend" }, legend)];
}
