// @ts-check
// Names of what is in a dump, safe to show, and their colours.
import {data, heap} from "./data.js";

// Labels that are more than the frame without its brackets.
/** @type {Record<string, string>} */
const LABELS = {"[several roots]": "Several roots together", "...": "Further down, and rarer paths"};

// Control characters and those that turn the direction of writing could make a name look like another one.
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

// The namespaces with most bytes have colours of their own, the same all over the page; the others share one.
const COLOURS = 9;

function largestNamespaces() {
  const sizes = new Map();
  for (const [name, , , size] of heap.types) {
    sizes.set(namespaceOf(name), (sizes.get(namespaceOf(name)) ?? 0) + size);
  }
  return [...sizes].sort((a, b) => b[1] - a[1]).slice(0, COLOURS).map(([name]) => name);
}

/** @type {string[]} */
export const colours = data.kind === "heap" ? largestNamespaces() : [];

/** @param {string} namespace */
export function colourOf(namespace) {
  const i = colours.indexOf(namespace);
  return `colour${i < 0 ? "-other" : i}`;
}
