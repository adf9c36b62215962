// Where on the page somebody is: the filter, the order and the open connection stand in the address, so that it can be
// reloaded, kept and gone back from.

const read = () => new URLSearchParams(location.hash.slice(1));

/** What is asked for: `filter`, `sort`, `offset`, `id`. */
export function place() {
  const said = read();
  return {
    filter: said.get("filter") ?? "",
    sort: said.get("sort") ?? "limit",
    offset: Math.max(0, Number.parseInt(said.get("offset") ?? "0", 10) || 0),
    id: said.get("id"),
  };
}

/** The address of another place that differs in `change`; null takes a part away. */
export function address(change) {
  const said = read();
  for (const [name, value] of Object.entries(change)) {
    if (value === null || value === "" || value === 0) said.delete(name);
    else said.set(name, value);
  }
  return `#${said}`;
}

/** Goes there. What is typed or turned over leaves no trail of steps behind. */
export function go(change, { trail = false } = {}) {
  const target = address(change);
  if (trail) {
    location.hash = target;
    return;
  }
  history.replaceState(null, "", target);
  dispatchEvent(new HashChangeEvent("hashchange"));
}
