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

/**
 * Makes what is within `target` like these, and leaves alone what is so already: each tick comes while somebody reads, marks,
 * presses or has it read out. Listeners are not carried over; they stand on what stays, and ask for data-… of what was hit.
 */
export function replace(target, ...children) {
  const focused = target.contains(document.activeElement) ? document.activeElement : null;
  const key = focused?.dataset.key;
  sync(target, children.flat(Infinity).filter(Boolean));
  // Rows that changed places took the focus with them.
  if (key && !focused.isConnected) target.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
}

function sync(target, wanted) {
  const there = [...target.childNodes];
  wanted.forEach((want, at) => {
    const is = there[at];
    if (!is) target.append(want);
    else if (typeof want === "string" || want.nodeType === Node.TEXT_NODE) text(is, want.data ?? want);
    else if (is.nodeName === want.nodeName && is.dataset?.key === want.dataset?.key) alike(is, want);
    else is.replaceWith(want);
  });
  for (const rest of there.slice(wanted.length)) rest.remove();
}

function text(is, wanted) {
  if (is.nodeType !== Node.TEXT_NODE) is.replaceWith(wanted);
  else if (is.data !== wanted) is.data = wanted;
}

function alike(is, want) {
  for (const name of new Set([...is.getAttributeNames(), ...want.getAttributeNames()])) {
    // Whether details are open is the reader's; styles as text are forbidden by the page's policy.
    if (name === "open" || name === "style") continue;
    const value = want.getAttribute(name);
    if (value === null) is.removeAttribute(name);
    else if (is.getAttribute(name) !== value) is.setAttribute(name, value);
  }
  if (is.style.cssText !== want.style.cssText) is.style.cssText = want.style.cssText;
  sync(is, [...want.childNodes]);
}
