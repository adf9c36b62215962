// What the names of limits, classes and sides mean. The agent tells; a letter stands beside every colour.

import { element } from "./dom.js";

const LETTERS = { window: "W", loss: "L", bandwidth: "B", host: "H", app: "A", unknown: "?", none: "·" };

let words = { bounds: [], limits: {}, sides: [] };

/** Takes the agent's words. */
export function learn(said) {
  words = said;
}

export const bounds = () => words.bounds;
export const boundOf = (limit) => words.limits[limit]?.bound ?? "unknown";
export const limitText = (limit) => words.limits[limit]?.text ?? limit;
export const sideText = (side) => words.sides.find((each) => each.name === side)?.text ?? side;

/** The letter of a class on its colour. */
export const letter = (bound) =>
  element("span", { class: `letter ${bound}`, "aria-hidden": "true" }, LETTERS[bound] ?? "?");

/** A class or limit: letter and name. */
export const chip = (bound, name = bound) => element("span", { class: "chip" }, letter(bound), " ", name);

/** What screens show of a connection: what has held it for a while, so that they stay calm. */
export const shown = (connection) => connection.prevailing?.limit ?? connection.limit;
