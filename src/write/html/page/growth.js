// @ts-check
// How the types have changed since the older dump.
import {data, diff} from "./data.js";

/** @typedef {{objects: number, bytes: number, retained: number}} Sizes */
/** @typedef {{before: Sizes, after: Sizes}} Change */

// A type is about the same as before if it has grown by less than this factor.
const MORE = 1.05;

/** @param {number[]} numbers  objects and bytes, and what they retain, before and after */
export function changeIn(numbers) {
  const half = numbers.length / 2;
  const sizes = (/** @type {number[]} */ [objects, bytes, retained = 0]) => ({objects, bytes, retained});
  return {before: sizes(numbers.slice(0, half)), after: sizes(numbers.slice(half))};
}

/** @type {Map<string, Change>} */
const changes = new Map((data.kind === "diff" ? diff.rows : []).map(([name, ...numbers]) => [name, changeIn(numbers)]));

/** @param {string} name  of a type, as in the file */
export function changeOf(name) {
  return changes.get(name);
}

/**
 * How much the objects of a type keep alive, compared with before: an index of words.GROWTHS; -1 = unknown.
 * @param {string} name
 */
export function growthOf(name) {
  const change = changes.get(name);
  if (change === undefined) {
    return -1;
  }
  const before = diff.retained ? change.before.retained : change.before.bytes;
  const after = diff.retained ? change.after.retained : change.after.bytes;
  return change.before.objects === 0 ? 0 : after >= 2 * before && after > before ? 1 : after >= MORE * before && after > before ? 2
    : after * MORE >= before ? 3 : 4;
}
