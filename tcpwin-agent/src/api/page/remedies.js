// What to change, to be copied.

import { element, say } from "./dom.js";
import { bytes } from "./text.js";
import { sideText } from "./words.js";

/** The list; nothing where there is nothing to change. */
export function remedies(list, key) {
  if (list.length === 0) return null;
  return element("ol", { class: "remedies" }, list.map((remedy, at) => one(remedy, `${key} remedy ${at}`)));
}

function one({ side, change, why, new_connections, memory_bytes, caveat }, key) {
  const button = element("button", { type: "button", "data-key": key, "data-copy": change, "aria-label": `Copy: ${change}` }, "Copy");
  const notes = [why];
  if (new_connections) notes.push("only new connections get it");
  if (memory_bytes !== undefined) notes.push(`may cost ${bytes(memory_bytes)} of memory`);
  if (caveat) notes.push(caveat);
  return element(
    "li",
    {},
    element("div", { class: "change" }, element("code", {}, change), button),
    element("p", {}, element("strong", {}, sideText(side)), `: ${notes.join("; ")}`),
  );
}

/** Lets the buttons act. */
export function prepareRemedies() {
  document.addEventListener("click", async ({ target }) => {
    const button = target.closest("[data-copy]");
    if (button) say(button, (await copied(button.dataset.copy)) ? "Copied" : "Select it and copy it by hand");
  });
}

async function copied(text) {
  // Browsers have a clipboard for pages of this host and for https alone.
  if (navigator.clipboard) {
    return navigator.clipboard.writeText(text).then(() => true, () => false);
  }
  const field = element("textarea", { class: "hidden", readonly: true });
  field.value = text;
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  return done;
}
