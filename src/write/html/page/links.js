// @ts-check
// Names that lead to the panel, and what stands behind them.
import {heap} from "./data.js";
import {el} from "./dom.js";
import {nameOf, shortName} from "./names.js";
import {addressOf, change} from "./state.js";

/** @type {Map<string, number>} */
const numbers = new Map();
for (const [number] of heap.types ?? []) {
  const name = nameOf(number);
  numbers.set(numbers.has(name) ? `${name}~${number}` : name, number);
}

/** @param {number} number  of a type's name */
export function typeKey(number) {
  const name = nameOf(number);
  return `type:${numbers.get(name) === number ? name : `${name}~${number}`}`;
}

/**
 * The number of the type that a key is about; undefined = there is none.
 * @param {string} key
 */
export function typeOfKey(key) {
  return key.startsWith("type:") ? numbers.get(key.slice(5)) : undefined;
}

/**
 * A link that opens the panel with what KEY says.  It begins with a question mark: it is no jump to another place of the page, and must not be
 * taken for one by those who listen to the page.
 * @param {string} key
 * @param {...(Node | string)} content
 */
export function panelLink(key, ...content) {
  const link = el("a", {href: `?${addressOf({open: key})}`, class: "open"}, ...content);
  link.addEventListener("click", event => {
    if (!event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      change({open: key});
    }
  });
  return link;
}

/**
 * The name of something in a dump, as a link when there is more to say about it.  Short names have the whole one in their title.
 * @param {{name: string, kind: string, number?: number}} node
 */
export function linked(node, short = false) {
  const text = short && node.kind === "t" ? shortName(node.name) : node.name;
  const name = el("bdi", {class: `name kind-${node.kind}`, dir: "ltr", title: text !== node.name ? node.name : null}, text);
  const {number = -1} = node;
  if (node.kind === "t" && number >= 0 && numbers.has(node.name)) {
    return panelLink(typeKey(number), name);
  }
  return node.kind === "r" && number >= 0 ? panelLink(`root:${node.name}`, name) : name;
}

/** @param {number} number  of a name */
export function linkedName(number, short = false) {
  return linked({name: nameOf(number), kind: heap.kinds[number], number}, short);
}
