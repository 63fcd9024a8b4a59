// @ts-check
// Names of things in a dump, safe to show, and their colours.
import {data, heap} from "./data.js";
import {growthOf} from "./growth.js";
import {GROWTHS, NOT_COMPARED} from "./words.js";

// Labels that are more than the frame without its brackets.
/** @type {Record<string, string>} */
const LABELS = {"[several roots]": "Several roots together", "...": "Further down, and rarer paths",
                "[frozen]": "Frozen: literals and types, which only code holds",
                "(no root)": "Frozen, or not reachable from roots"};

// Control characters and those that change the writing direction could make a name look like another one.
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** @param {string} text */
export function visible(text) {
  return text.replace(HIDDEN, "\ufffd");
}

/**
 * "[thread stacks]", "thread stacks": "Thread stacks".
 * @param {string} text
 */
export function labelOf(text) {
  const word = text.replace(/[[\]]/g, "");
  return Object.hasOwn(LABELS, text) ? LABELS[text] : word[0].toUpperCase() + word.slice(1);
}

/** @param {number} number */
export function nameOf(number) {
  const text = heap.names[number];
  return heap.kinds[number] === "r" ? labelOf(text) : visible(text);
}

/**
 * "Shop.Data" of "Shop.Data.Order<System.String>[]".
 * @param {number} number
 */
export function namespaceOf(number) {
  const text = heap.names[number];
  const end = text.search(/[<[(\u0060+ ]/);
  const dot = text.lastIndexOf(".", end < 0 ? text.length : end);
  return dot > 0 ? visible(text.slice(0, dot)) : "(no namespace)";
}

// The characters with which parts of a name begin (S) and of which they consist (P).  Unicode letter classes
// would take longer to prepare than everything else here.
const START = "[A-Za-z_$\\u00aa-\\u1fff\\u2c00-\\uffff]";
const PART = "[\\w$\\u00aa-\\u1fff\\u2c00-\\uffff]";

/**
 * An expression in which S and P represent these, and N represents a name with a dot after it.
 * @param {string} text
 */
export function nameExpression(text) {
  return new RegExp(text.replace(/N/g, "S(?:P*)\\.").replace(/S/g, START).replace(/P/g, PART), "g");
}

// Namespaces and outer types before a name, also inside brackets; a dot before them follows an outer type with parameters.
const IN_FRONT = nameExpression("(?<!\\.|P)(?:N)+(?=S|<)");

/** @type {Set<string> | null} */
let outer = null;

/**
 * "Cart." of "Shop.Cart.", if Cart is a type.
 * @param {string} text
 */
function withoutNamespace(text) {
  outer ??= new Set(heap.outer.map(visible));
  for (let dot = text.indexOf("."), start = 0; dot >= 0; start = dot + 1, dot = text.indexOf(".", start)) {
    if (outer.has(text.slice(0, dot))) {
      return text.slice(start);
    }
  }
  return "";
}

/**
 * "Cart.Order<String>[]" of "Shop.Data.Cart.Order<System.String>[]", if Order is nested in Cart.
 * @param {string} name
 */
export function shortName(name) {
  return name.replace(IN_FRONT, withoutNamespace);
}

// Namespaces and outer types before a class and its method, and before names in brackets.
const BEFORE_METHOD = nameExpression("(?:N)+(?=SP*(?:<[^.]*>)?\\.[A-Za-z_<])");
const INSIDE = nameExpression("(?<=[<, ])(?:N)+(?=S)");

/** @param {string} name  "Send" and the type of it, without namespaces */
export function shortFrame(name) {
  return name.replace(BEFORE_METHOD, withoutNamespace).replace(INSIDE, withoutNamespace);
}

// What is before the names of methods and classes in calls.
const WORDS = /^(?:async|iterator|state of async|variables of a lambda in|function in) /u;

/** @type {Map<number, string> | null} */
let calls = null;

/**
 * What people call objects of the type with this name, unless they use the type: "async Shop.Checkout.Pay".
 * @param {number} number
 */
export function callOf(number) {
  calls ??= new Map(heap.calls.map(([name, call]) => [name, visible(call)]));
  return calls.get(number);
}

/** @param {number} number  of a name @returns what people call it, with namespaces */
export function saidOf(number) {
  return callOf(number) ?? nameOf(number);
}

/**
 * @param {{name: string, call?: string, field?: string}} node
 * @param {(name: string) => boolean} test
 */
export function fitsName({name, call, field}, test) {
  return test(name) || (call !== undefined && test(call)) || (field !== undefined && test(field));
}

/** @param {string} call */
function shortCall(call) {
  const [words] = WORDS.exec(call) ?? [""];
  return words + shortFrame(call.slice(words.length));
}

/**
 * The name of a field; "" = none.
 * @param {number} [number]  as in TreeRow
 */
export function fieldName(number = 0) {
  return number > 0 ? visible(heap.fields[number - 1]) : "";
}

/** @param {number} number  as in TreeRow @returns "._byUser" or "" */
export function suffixOf(number) {
  return number > 0 ? `.${fieldName(number)}` : "";
}

/** @typedef {{name: string, kind: string, short?: string, call?: string, field?: string}} Titled */

/** @param {Titled} node @param {string} text  of it, which comes behind the field of its holder */
function behindField({field = ""}, text) {
  return field === "" ? text : `${field}: ${text}`;
}

/** @param {Titled} node */
export function shortOf(node) {
  return behindField(node, node.short ?? (node.call !== undefined ? shortCall(node.call)
    : node.kind === "t" ? shortName(node.name) : node.name));
}

/** @param {number} number  of the name of a type, as a step of a path */
export function shortStep(number) {
  return shortOf({name: nameOf(number), kind: "t", call: callOf(number)});
}

/** @param {Titled} node */
export function longOf(node) {
  return behindField(node, node.call ?? node.name);
}

// The origin of a type, in the order of enum gcd_origin; strings and arrays, which the runtime itself fills, are a separate group.
export const ORIGINS = ["My code", "Libraries", "Framework", "Strings and arrays of values"];

// Types of the runtime that tell nothing about their user.
const VALUES = new Set(["String", "Byte", "SByte", "Char", "Boolean", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64", "Single", "Double",
                        "Decimal"].flatMap(name => [`System.${name}`, name]).concat(
                        ["string", "byte", "sbyte", "char", "bool", "short", "ushort", "int", "uint", "long", "ulong", "float", "double",
                         "decimal"]));

/** @typedef {import("./data.js").TypeRow} TypeRow */

/** @type {{rows: Map<number, TypeRow> | null, keys: Map<string, number> | null}} */
const types = {rows: null, keys: null};

function typeRows() {
  types.rows ??= new Map(heap.types.map(t => [t[0], t]));
  return types.rows;
}

/** @param {number} number */
export function typeRow(number) {
  return typeRows().get(number);
}

/**
 * Adds types, with names that are not in the list yet.
 * @param {[name: string, ...rest: any[]][]} more
 */
export function addTypes(more) {
  const from = heap.names.length;
  for (const [name] of more) {
    heap.names.push(name);
    heap.kinds.push("t");
  }
  more.forEach(([, ...rest], i) => heap.types.push(/** @type {any} */ ([from + i, ...rest])));
  types.rows = null;
  types.keys = null;
}

// What the address calls a type: its name; if several types share it, all but the first also have their number.
export function typeKeys() {
  if (types.keys === null) {
    /** @type {Map<string, number>} */
    const keys = new Map();
    for (const number of typeRows().keys()) {
      const name = nameOf(number);
      keys.set(keys.has(name) ? `${name}~${number}` : name, number);
    }
    types.keys = keys;
  }
  return types.keys;
}

/**
 * An index of ORIGINS; -1 = unknown.
 * @param {number} number
 */
export function originOf(number) {
  if (number < 0 || heap.kinds[number] !== "t") {
    return -1;
  }
  return VALUES.has(heap.names[number].replace(/\[[,\]]*$/, "")) ? 3 : typeRow(number)?.[5] ?? -1;
}

const COLOURS = 9;

/**
 * The keys with the most bytes have their own colours, the same throughout the page; the others share one.
 * @param {(type: TypeRow) => string} key
 */
function largest(key) {
  /** @type {Map<string, number>} */
  const sizes = new Map();
  for (const type of heap.types) {
    sizes.set(key(type), (sizes.get(key(type)) ?? 0) + type[3]);
  }
  return [...sizes].sort((a, b) => b[1] - a[1]).slice(0, COLOURS).map(([name]) => name);
}

/** @param {() => string[]} make  called when first needed */
function lazily(make) {
  /** @type {string[] | null} */
  let made = null;
  return () => made ??= make();
}

export const NO_MODULE = "(no module)";

const namespaces = lazily(() => largest(t => namespaceOf(t[0])));
export const modules = lazily(() => largest(t => visible(t[1]) || NO_MODULE));

/** @typedef {{title: string, names: () => string[], kind?: string, other: string | null, of: (number: number) => number}} Colouring */

// Possible meanings of colours, the default first: the first names have their own colours.  kind: of the colours, "colour" by default.
/** @type {Record<string, Colouring>} */
export const COLOURINGS = {
  ...data.kind === "diff" ? {growth: {title: "growth", names: () => GROWTHS, kind: "growth", other: NOT_COMPARED,
                                      of: (/** @type {number} */ n) => growthOf(heap.names[n])}} : {},
  origin: {title: "whose code", names: () => ORIGINS, other: null, of: originOf},
  namespace: {title: "namespace", names: namespaces, other: "other namespaces", of: n => namespaces().indexOf(namespaceOf(n))},
  module: {title: "module", names: modules, other: "other modules", of: n => modules().indexOf(visible(typeRow(n)?.[1] ?? "") || NO_MODULE)},
};

/**
 * @param {{kind: string, number: number, name: string}} node
 * @param {string} colouring
 */
export function colourOf(node, colouring) {
  if (node.kind === "n") {
    const i = colouring === "namespace" ? namespaces().indexOf(node.name) : -1;
    return i >= 0 ? `colour${i}` : "colour-none";
  }
  if (node.number < 0 || heap.kinds[node.number] !== "t") {
    return "colour-none";
  }
  const {of, kind = "colour"} = COLOURINGS[colouring];
  const i = of(node.number);
  return i < 0 ? "colour-other" : `${kind}${i}`;
}
