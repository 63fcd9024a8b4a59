// @ts-check
// Names that open the panel, and what they refer to.
import {heap} from "./data.js";
import {el} from "./dom.js";
import {callOf, longOf, nameExpression, nameOf, shortName, shortOf, typeKeys, typeRow, visible} from "./names.js";
import {addressOf, change} from "./state.js";

/** @typedef {{name: string, kind: string, number?: number, short?: string, call?: string, field?: string}} Named */

/** @param {number} number  of a type's name */
export function typeKey(number) {
  const name = nameOf(number);
  return `type:${typeKeys().get(name) === number ? name : `${name}~${number}`}`;
}

/**
 * The number of the type that a key is about; undefined = there is none.
 * @param {string} key
 */
export function typeOfKey(key) {
  return key.startsWith("type:") ? typeKeys().get(key.slice(5)) : undefined;
}

// The outermost names (groups of roots or similar) and those of static variables, with their numbers.
/** @type {Map<string, number> | null} */
let holders = null;

function holderNumbers() {
  holders ??= new Map(heap.tree.filter(row => heap.kinds[row[1]] === "s" || row[0] < 0).map(row => [holderKey(row[1]), row[1]]));
  return holders;
}

/** @param {number} number */
function holderKey(number) {
  return `${heap.kinds[number] === "s" ? "variable" : "root"}:${nameOf(number)}`;
}

/**
 * The number of the name of a group of roots or a static variable.
 * @param {string} key
 */
export function holderOfKey(key) {
  return holderNumbers().get(key);
}

/**
 * The key of this in the panel; "" = the panel has nothing about it.
 * @param {Named} node
 */
export function keyOf({kind, number = -1}) {
  if (number < 0 || kind === "o" || kind === "n") {
    return "";
  }
  const key = heap.kinds[number] === "t" ? "" : holderKey(number);
  return key === "" ? typeRow(number) === undefined ? "" : typeKey(number) : holderNumbers().has(key) ? key : "";
}

/**
 * A link that opens the panel for KEY.  It begins with a question mark, because it does not jump to another place of the page, and screen readers
 * must not announce it as a jump.
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
 * The name of something in a dump, as a link if there is more to say about it.  Short names and calls have the whole name in their title.
 * @param {Named} node
 */
export function linked(node, short = false) {
  const text = short ? shortOf(node) : longOf(node);
  const name = el("bdi", {class: `name kind-${node.kind}`, dir: "ltr", title: text !== node.name ? node.name : null}, text);
  const key = keyOf(node);
  return key === "" ? name : panelLink(key, name);
}

/**
 * The number of the type with this name in the dump; -1 = it has none.
 * @param {string} name
 */
export function typeNumber(name) {
  return typeKeys().get(visible(name)) ?? -1;
}

/** @param {number} number  of a name */
export function linkedName(number, short = false) {
  return linked({name: nameOf(number), kind: heap.kinds[number], number, call: callOf(number)}, short);
}

/**
 * The number of the name of a static variable, -1 = it is not in the tree.
 * @param {string | undefined} name
 */
export function variableNumber(name) {
  return heap.names.findIndex((text, i) => heap.kinds[i] === "s" && text === name);
}

/** @param {string} name  of a static variable, as in the data */
export function linkedVariable(name) {
  return linked({name: visible(name), kind: "s", number: variableNumber(name)});
}

/**
 * The field by which something holds what comes next, behind its name.
 * @param {string} field  "._byUser", "[].key" or ""
 */
export function fieldBehind(field) {
  return field === "" ? null : el("bdi", {class: "name", dir: "ltr"}, visible(field));
}

// Names with namespaces.
const WHOLE_NAMES = nameExpression("(?:N)+SP*");
const BEFORE = nameExpression("(?:P|\\.)$");
const BEHIND = nameExpression("^(?:P|[<[]|\\.S)");

/**
 * A sentence in which these names, whole or short, are links; so are whole names of other types and of static variables.
 * @param {string} text
 * @param {number[]} numbers
 */
export function linkedText(text, numbers) {
  /** @type {Map<string, string>} */
  const keys = new Map();
  const add = (/** @type {string} */ name, /** @type {string} */ key) => {
    if (key !== "" && name.length > 2 && !keys.has(name) && text.includes(name)) {
      keys.set(name, key);
    }
  };
  for (const number of numbers) {
    const key = keyOf({name: "", kind: heap.kinds[number], number});
    add(nameOf(number), key);
    add(shortName(nameOf(number)), key);
  }
  for (const name of text.match(WHOLE_NAMES) ?? []) {
    const number = typeKeys().get(name);
    add(name, number !== undefined ? typeKey(number) : holderNumbers().has(`variable:${name}`) ? `variable:${name}` : "");
  }
  const names = [...keys.keys()].sort((x, y) => y.length - x.length);
  const parts = el("bdi", {dir: "ltr"});
  let rest = text;
  for (let next = firstOf(rest, names); next !== null; next = firstOf(rest, names)) {
    parts.append(rest.slice(0, next.at), panelLink(keys.get(next.name) ?? "", next.name));
    rest = rest.slice(next.at + next.name.length);
  }
  parts.append(rest);
  return parts;
}

/**
 * The first of NAMES in TEXT that is not part of another word; if several begin at one place, the first of these.
 * @param {string} text
 * @param {string[]} names
 */
function firstOf(text, names) {
  /** @type {{at: number, name: string} | null} */
  let best = null;
  for (const name of names) {
    for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
      const whole = (text[at - 1] ?? " ").search(BEFORE) < 0 && text.slice(at + name.length, at + name.length + 2).search(BEHIND) < 0;
      if (whole && (best === null || at < best.at)) {
        best = {at, name};
      }
      if (whole) {
        break;
      }
    }
  }
  return best;
}
