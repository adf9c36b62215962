// Runs before the page does: notes each tick that it is told, and the tick at which the flow's row stands in the table.

globalThis.noted = { ticks: [], shown: null };
new MutationObserver(() => {
  const at = Number(document.body?.dataset.atNs ?? Number.NaN);
  if (Number.isNaN(at)) return;
  if (noted.ticks.at(-1) !== at) noted.ticks.push(at);
  const rows = [...document.querySelectorAll("#table-body tr")];
  if (noted.shown === null && rows.some((row) => row.textContent.includes("rwnd_scale"))) noted.shown = at;
}).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
