// @ts-check
// Elements.  Text enters the page only through text nodes and attributes, never as markup.
import {bytes, count, exactBytes, share} from "./numbers.js";

// Ends the listeners of the window and the document.
const life = new AbortController();

/**
 * Listens to the window or the document until the page shows other data.
 * @param {EventTarget} target
 * @param {string} type
 * @param {(event: Event) => void} listener
 * @param {AddEventListenerOptions} [options]
 */
export function listen(target, type, listener, options) {
  target.addEventListener(type, listener, {...options, signal: life.signal});
}

export function stopListening() {
  life.abort();
}

/**
 * Attributes that are functions are listeners; attributes that are false, null or undefined are left out, and so are null children.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, any>} [attributes]
 * @param {...(globalThis.Node | string | null)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function el(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (typeof value === "function") {
      element.addEventListener(name, value);
    } else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  element.append(...children.filter(child => child !== null));
  return element;
}

/**
 * The same for pictures; the picture in page.html tells their XML namespace.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string>} attributes
 * @param {...globalThis.Node} children
 */
export function svg(tag, attributes, ...children) {
  const {content} = /** @type {HTMLTemplateElement} */ (byId("drawing"));
  const element = /** @type {SVGElementTagNameMap[K]} */ (document.createElementNS(content.firstElementChild?.namespaceURI ?? null, tag));
  for (const [name, value] of Object.entries(attributes)) {
    element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/**
 * The element of page.html with this id.
 * @param {string} id
 */
export function byId(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/**
 * The name of something in a dump: shown from left to right, whatever it contains.
 * @param {{name: string, kind: string}} node
 */
export function named(node) {
  return el("bdi", {class: `name kind-${node.kind}`, dir: "ltr"}, node.name);
}

/**
 * A bar that shows PART of WHOLE; the number beside it says the same.
 * @param {number} part
 * @param {number} whole
 */
export function bar(part, whole) {
  const filled = el("span", {class: "filled"});
  filled.style.width = `${whole > 0 ? Math.min(100, 100 * part / whole) : 0}%`;
  return el("span", {class: "bar", "aria-hidden": "true"}, filled);
}

/**
 * The meaning of a colour in a chart.
 * @param {string} kind
 * @param {string} meaning
 */
export function swatch(kind, meaning) {
  return el("span", {}, el("span", {class: `swatch ${kind}`}), meaning);
}

/** @param {number} n */
export function bytesCell(n) {
  return el("td", {class: "number", title: exactBytes(n)}, bytes(n));
}

/** @param {number} n */
export function countCell(n) {
  return el("td", {class: "number"}, count(n));
}

/**
 * @param {number} part
 * @param {number} whole
 */
export function shareCell(part, whole) {
  return el("td", {class: "share"}, bar(part, whole), el("span", {class: "percent"}, share(part, whole)));
}

/**
 * Bytes with a line below them whose length is their share.
 * @param {number} n
 * @param {number} whole
 */
export function barCell(n, whole) {
  const cell = bytesCell(n);
  cell.classList.add("barred");
  cell.style.setProperty("--share", `${whole > 0 ? Math.min(100, 100 * n / whole) : 0}%`);
  return cell;
}

/**
 * On phones a cell stands below the name of its row, with the TITLE of its column before it.
 * @template {HTMLElement} E
 * @param {E} cell
 * @param {string} title
 */
export function titled(cell, title) {
  cell.dataset.title = title;
  return cell;
}

/**
 * Marks a cell that is hidden if there is no room.
 * @param {HTMLTableCellElement} cell
 */
export function roomy(cell) {
  cell.classList.add("roomy");
  return cell;
}

/**
 * A table that can be wider than the window; on phones its rows are stacked.
 * @param {string} label
 * @param {HTMLTableElement} table
 */
export function wideTable(label, table) {
  const titles = [...table.tHead?.rows[0].cells ?? []].map(cell => cell.textContent ?? "");
  for (const row of table.tBodies[0].rows) {
    [...row.cells].forEach((cell, i) => titled(cell, titles[i]));
  }
  table.classList.add("narrowing");
  table.prepend(el("caption", {class: "hidden"}, label));
  return el("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": `${label}, a table`}, table);
}

/**
 * A card with a heading, which also gets a link in the list of sections at the top.
 * @param {string} id
 * @param {string} title
 * @param {string | null} explanation
 * @param {...(globalThis.Node | string | null)} children
 */
export function section(id, title, explanation, ...children) {
  byId("sections").append(el("li", {}, el("a", {href: `#${id}`}, title)));
  const about = explanation === null ? null : el("details", {class: "about"},
    el("summary", {"aria-label": `About: ${title}`}, "?"), el("p", {class: "muted explanation"}, explanation));
  const card = el("section", {id, class: "card", "aria-labelledby": `${id}-title`}, el("h2", {id: `${id}-title`}, title), about, ...children);
  byId("content").append(card);
  return card;
}

/**
 * Content that is made when the user opens it, because each element of the page makes it load more slowly.
 * @param {string} title
 * @param {boolean} open
 * @param {() => globalThis.Node} content
 */
export function unfolding(title, open, content) {
  const place = el("details", {open}, el("summary", {}, title), open ? content() : null);
  if (!open) {
    place.addEventListener("toggle", () => place.append(content()), {once: true});
  }
  return place;
}

/**
 * Copies to the clipboard; without the permission, through a selection.
 * @param {string} text
 */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = el("textarea", {class: "hidden", "aria-hidden": "true"});
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

/**
 * A button that copies what TEXT returns, and says so.
 * @param {string} title
 * @param {string | null} label  for users who do not see its position
 * @param {() => string | Promise<string>} text
 */
export function copyButton(title, label, text) {
  const button = el("button", {type: "button", class: "chip", "aria-label": label, click: async () => {
    await copy(await text());
    button.textContent = "Copied";
    setTimeout(() => {
      button.textContent = title;
    }, 1500);
  }}, title);
  return button;
}
