// Elements. Text is only ever set as text: names of programs and hosts are anybody's.

const SVG = "http://www.w3.org/2000/svg";

export const byId = (id) => document.getElementById(id);

/** An element with attributes and children; what is null is left out, strings become text. */
export function element(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/** The same of a drawing. */
export function drawn(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function filled(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(key, "");
    else if (value !== null && value !== false && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return made;
}

/** Writes a text where it differs, so that nothing is read out or laid out anew for nothing. */
export function say(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

/** Puts these in place of what was there, and the focus back on what has the same data-key. What somebody marks stays. */
export function replace(target, ...children) {
  const marked = getSelection();
  if (!marked.isCollapsed && target.contains(marked.anchorNode)) return;
  const key = target.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  const open = new Set([...target.querySelectorAll("details[open]")].map((each) => each.dataset.key));
  target.replaceChildren(...children.flat(Infinity).filter(Boolean));
  for (const each of target.querySelectorAll("details")) each.open = open.has(each.dataset.key);
  if (key) target.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
}
