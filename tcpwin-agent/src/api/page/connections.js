// The table of connections: the sickest first, or as the reader wants them; asked for again with each tick.

import { ask } from "./ask.js";
import { COLUMNS, FIELDS } from "./columns.js";
import { byId, element, replace, say } from "./dom.js";
import { address, go, place } from "./place.js";
import { count, plural } from "./text.js";

/** Rows of a page. */
const ROWS = 50;
/** Milliseconds after the last letter of a filter until it is asked for. */
const TYPED = 250;

let asking = null;

/** Makes the table's head and lets its controls act. */
export function prepare() {
  byId("filter").value = place().filter;
  let typed;
  const ask = () => go({ filter: byId("filter").value.trim(), offset: 0 });
  byId("filter").addEventListener("input", () => {
    clearTimeout(typed);
    typed = setTimeout(ask, TYPED);
  });
  byId("filter-form").addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(typed);
    ask();
  });
  byId("earlier").addEventListener("click", () => go({ offset: Math.max(0, place().offset - ROWS) }));
  byId("later").addEventListener("click", () => go({ offset: place().offset + ROWS }));
  byId("table-head").addEventListener("click", ({ target }) => {
    const button = target.closest("[data-sort]");
    if (button) go({ sort: button.dataset.sort, offset: 0 });
  });
  byId("table-body").addEventListener("click", ({ target }) => {
    if (!target.closest("a") && getSelection().isCollapsed) target.closest("tr")?.querySelector("a").click();
  });
}

/** Asks for the rows; `anew` where what is asked for has changed, and an answer under way is of no use. */
export async function connections(anew = false) {
  if (asking && !anew) return;
  asking?.abort();
  const ours = new AbortController();
  asking = ours;
  const { filter, sort, offset, id } = place();
  if (anew && document.activeElement !== byId("filter")) byId("filter").value = filter;
  const query = new URLSearchParams({ sort, offset, count: ROWS, fields: FIELDS });
  if (filter) query.set("filter", filter);
  try {
    const answer = await ask(`/api/v1/connections?${query}`, { signal: ours.signal });
    fault(null);
    show(answer, { sort, offset, id, filter });
  } catch (error) {
    if (ours.signal.aborted) return;
    // What is wrong with the filter is said beside it.
    if (error.status === 400) fault(error.told);
    else if (error.status !== undefined) say(byId("filter-count"), error.message);
    else throw error;
  } finally {
    if (asking === ours) asking = null;
  }
}

function fault(told) {
  const line = byId("filter-fault");
  line.hidden = !told;
  byId("filter").setAttribute("aria-invalid", String(told?.parameter === "filter"));
  say(line, told ? (told.pointed ?? told.error) : "");
  byId("table").classList.toggle("old", Boolean(told));
}

function show({ connections: list, matched, total, at_ns }, { sort, offset, id, filter }) {
  const table = byId("table");
  table.dataset.atNs = at_ns;
  replace(byId("table-head"), COLUMNS.map((column) => head(column, sort)));
  replace(byId("table-body"), list.map((connection) => row(connection, id)));
  const narrowed = filter ? `${count(matched)} of ${plural(total, "connection")} pass` : plural(total, "connection");
  say(byId("filter-count"), narrowed);
  const last = offset + list.length;
  byId("pager").hidden = offset === 0 && last >= matched;
  byId("earlier").disabled = offset === 0;
  byId("later").disabled = last >= matched;
  say(byId("pages"), list.length ? `${count(offset + 1)} to ${count(last)} of ${count(matched)}` : "no more");
}

function head(column, sort) {
  const { name, sort: field, up } = column;
  const is = sort === field ? 1 : sort === `-${field}` ? -1 : 0;
  const rises = (is === 1) === Boolean(up);
  const then = is === 1 ? `-${field}` : field;
  const button = element("button", { type: "button", "data-key": `sort ${field}`, "data-sort": then }, name, is ? (rises ? " ▲" : " ▼") : null);
  const order = is ? (rises ? "ascending" : "descending") : null;
  return element("th", { scope: "col", "aria-sort": order, class: classes(column) }, button);
}

function row(connection, open) {
  const { id, netns } = connection;
  const cells = COLUMNS.map((column) => {
    const { name, cell } = column;
    const said = cell(connection);
    const attributes = { class: classes(column) };
    if (name !== "peer") return element("td", attributes, said);
    const link = element("a", { href: address({ id }), "data-key": `${id} ${netns}` }, said);
    return element("th", { scope: "row", ...attributes }, link);
  });
  return element("tr", { "data-id": id, "data-key": `row ${id} ${netns}`, "aria-current": id === open ? "true" : null }, cells);
}

const classes = (column) => ["number", "wide", "address"].filter((name) => column[name]).join(" ") || null;
