// One connection: what holds it, the proof, the arithmetic, what to change, and the pictures behind it.

import { ask } from "./ask.js";
import { bdpPicture } from "./bdp.js";
import { budgetBar } from "./budget.js";
import { byId, element, replace, say } from "./dom.js";
import { go, place } from "./place.js";
import { remedies } from "./remedies.js";
import { bits, bytes, gain, percent, span } from "./text.js";
import { boundOf, chip, limitText, shown, sideText } from "./words.js";

/** Whose detail is on the page. */
let open = null;

/** Shows the connection that the address names, or none. Opened by the reader, its title is gone to. */
export async function detail() {
  const { id } = place();
  const section = byId("detail");
  const opened = id !== open;
  open = id;
  if (!id) {
    section.hidden = true;
    return;
  }
  try {
    const connection = await ask(`/api/v1/connections/${encodeURIComponent(id)}`);
    if (open === id) show(connection);
  } catch (error) {
    if (open !== id) return;
    if (error.status !== 404) throw error;
    if (opened) replace(byId("detail-body"));
    say(byId("detail-title"), opened ? `No open connection has the id ${id}` : "Closed: these are its last figures");
    byId("detail").classList.add("old");
  }
  section.hidden = false;
  if (opened) byId("detail-title").focus();
}

function show(connection) {
  byId("detail").classList.remove("old");
  const arrow = connection.direction === "send" ? "→" : "←";
  say(byId("detail-title"), `${connection.local} ${arrow} ${connection.peer}`);
  const limit = shown(connection);
  const { process, inconsistent, proof, side, confidence } = connection;
  replace(
    byId("detail-body"),
    element("p", {}, chip(boundOf(limit), limit), `: ${limitText(limit)}`, `; who acts: ${sideText(side)}; ${percent(confidence)} sure`),
    process ? element("p", { class: "faint" }, `${process.name}, process ${process.pid}`) : null,
    inconsistent ? element("p", { class: "notice" }, `Impossible figures: ${inconsistent}`) : null,
    proof ? element("p", { id: "proof" }, proof) : null,
    figures(connection),
    titled("What to change", remedies(connection.remedies, connection.id) ?? element("p", { class: "faint" }, "Nothing.")),
    titled("Windows against the bandwidth-delay product", bdpPicture(connection)),
    titled("Time budget of the last interval", budgetBar(connection.budget)),
    ledger(connection),
    causes(connection.causes ?? []),
    fields(connection),
  );
}

/** Lets its button go back to the table, where it came from. */
export function prepareDetail() {
  byId("close").addEventListener("click", () => {
    const row = byId("table-body").querySelector(`tr[data-id="${CSS.escape(open)}"] a`);
    go({ id: null });
    row?.focus();
  });
}

const titled = (title, ...content) => [element("h3", {}, title), ...content];

function figures({ rate_bps, ceiling_bps, ceiling_formula, next, gain: factor, nothing_to_gain }) {
  const rows = [["rate", bits(rate_bps), ""]];
  if (ceiling_bps !== undefined) rows.push(["ceiling", bits(ceiling_bps), ceiling_formula ? `= ${ceiling_formula}` : ""]);
  if (next) {
    const then = factor ? gain(factor) : nothing_to_gain ? "nothing to gain" : "";
    rows.push(["then", bits(next.rate_bps), `${next.limit} holds it: ${next.formula} ${then}`]);
  }
  return table("figures", null, rows);
}

function ledger({ ledger: ceilings = [] }) {
  if (ceilings.length === 0) return null;
  const rows = ceilings.map(({ limit, rate_bps, formula }) => [limit, bits(rate_bps), formula]);
  return titled("Every ceiling that is known", table("figures", ["limit", "allows", "arithmetic"], rows));
}

function causes(list) {
  if (list.length === 0) return null;
  const rows = list.map(({ limit, seconds, bytes: moved, bytes_not_moved }) => [
    limit,
    span(seconds),
    bytes_not_moved === undefined ? `${bytes(moved)} moved` : `${bytes(moved)} moved, ${bytes(bytes_not_moved)} more without it`,
  ]);
  return titled("What its life was spent on", table("figures", ["limit", "time", "bytes"], rows));
}

function table(kind, names, rows) {
  const head = names && element("thead", {}, element("tr", {}, names.map((name) => element("th", { scope: "col" }, name))));
  const body = rows.map(([name, value, rest]) =>
    element("tr", {}, element("th", { scope: "row" }, name), element("td", { class: "number" }, value), element("td", {}, rest)));
  return element("table", { class: kind }, head, element("tbody", {}, body));
}

/** All that is known of the socket, by the names of the API. */
function fields({ tcp, id, netns, cgroup, origin, age_us }) {
  const known = { id, netns, cgroup, origin, age: span(age_us / 1e6), ...tcp };
  const text = (value) => (typeof value === "object" ? Object.entries(value).map(([name, each]) => `${name} ${each}`).join(", ") : String(value));
  const pairs = Object.entries(known)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, text(value))));
  return element("details", { "data-key": "fields" }, element("summary", { "data-key": "fields summary" }, "All fields of the socket"), element("dl", { class: "fields" }, pairs));
}
