// @ts-check
// The changes between two dumps for their views: rows of types and of steps from the roots, and cells with signs.
import {diff, heap} from "./data.js";
import {el} from "./dom.js";
import {changeIn, changeOf} from "./growth.js";
import {typeNumber} from "./links.js";
import {labelOf, originOf, visible} from "./names.js";
import {bytes, exactBytes, signed} from "./numbers.js";

/** @typedef {import("./growth.js").Sizes} Sizes */
/** @typedef {{name: string, kind: string, number: number, before: Sizes, after: Sizes}} Row  number: of its name in the newer dump, or -1 */
/** @typedef {Row & {call?: string, field?: string, fold: number, below: Step[], children: () => Step[]}} Step */

// Changes are sorted by this: by retained bytes if they are known.
/** @type {keyof Sizes} */
export const METRIC = diff.retained ? "retained" : "bytes";

/**
 * @param {[string, ...number[]]} row
 * @returns {Row}
 */
export function typeRow([name, ...numbers]) {
  return {name: visible(name), kind: "t", number: typeNumber(name), ...changeIn(numbers)};
}

/**
 * @param {Row} row
 * @param {keyof Sizes} what
 */
export function delta(row, what) {
  return row.after[what] - row.before[what];
}

/**
 * @param {number} n
 * @param {(n: number) => string} text
 * @param {(n: number) => string} [exact]
 */
export function deltaCell(n, text, exact) {
  return el("td", {class: `number ${n > 0 ? "grown" : n < 0 ? "shrunk" : "same"}`, title: exact ? signed(n, exact) : null}, signed(n, text));
}

/** @param {number} n */
export function bytesDelta(n) {
  return deltaCell(n, bytes, exactBytes);
}

/**
 * A change with a bar to the left or the right.
 * @param {number} n
 * @param {number} most
 */
export function barDelta(n, most) {
  const cell = bytesDelta(n);
  cell.classList.add("both-ways", n < 0 ? "back" : "forth");
  cell.style.setProperty("--share", `${most > 0 ? Math.min(50, 50 * Math.abs(n) / most) : 0}%`);
  return cell;
}

/** @param {Row} row */
export function growth({before, after}) {
  return before.objects === 0 ? Infinity : after.objects === 0 ? -Infinity : before.bytes > 0 ? after.bytes / before.bytes - 1 : 0;
}

// Labels of roots and static variables in the newer dump.
const numbers = new Map(heap.names.map((name, i) => [`${heap.kinds[i]}${heap.kinds[i] === "r" ? labelOf(name) : name}`, i]));
const VARIABLE = "static variable ";

/**
 * @param {number} depth
 * @param {string} name
 * @returns {{name: string, kind: string, number: number}}
 */
function place(depth, name) {
  if (depth === 0) {
    return {name: labelOf(visible(name)), kind: "r", number: numbers.get(`r${labelOf(visible(name))}`) ?? -1};
  }
  if (depth === 1 && name.startsWith(VARIABLE)) {
    const variable = name.slice(VARIABLE.length);
    return {name: visible(variable), kind: "s", number: numbers.get(`s${variable}`) ?? -1};
  }
  return {name: visible(name), kind: "t", number: typeNumber(name)};
}

// Steps from the roots as nodes: each contains the deeper ones that follow it.
export function stepTree() {
  /** @type {Step[]} */
  const top = [];
  /** @type {Step[]} */
  const open = [];
  const calls = new Map(diff.calls), fields = new Map(diff.fields);
  for (const [i, [depth, name, fold, ...sizes]] of diff.steps.entries()) {
    const call = calls.get(i);
    /** @type {Step} */
    const node = {...place(depth, name), ...changeIn(sizes), call: call && visible(call), field: visible(fields.get(i) ?? ""), fold,
      below: [], children: () => node.below};
    open.length = depth;
    (depth === 0 ? top : open[depth - 1].below).push(node);
    open.push(node);
  }
  return top;
}

// What exists to observe the process, also for a dump, is no answer.
const OBSERVING = ["NativeRuntimeEventSource", "RuntimeEventSource"].map(name => `System.Diagnostics.Tracing.${name}`);
// Share of the growth of the step above.
const NEARLY_ALL = 0.9;
export const LARGE_PART = 0.3;

/**
 * The path from the roots through the step that has grown most, down to where the growth branches: where no step has this PART of the growth above.
 * @param {Step[]} top
 */
export function wayOfGrowth(top, part = NEARLY_ALL) {
  /** @type {Step[]} */
  const way = [];
  for (let nodes = top, least = 1; ;) {
    const most = nodes.filter(n => !OBSERVING.includes(n.name)).reduce((/** @type {Step | null} */ best, n) =>
      best === null || delta(n, "bytes") > delta(best, "bytes") ? n : best, null);
    if (most === null || delta(most, "bytes") < least) {
      return way;
    }
    way.push(most);
    least = Math.max(1, part * delta(most, "bytes"));
    nodes = most.children();
  }
}

/** @param {Step} step  returns the number of new objects of its type */
function come(step) {
  const change = changeOf(step.name);
  return change === undefined ? 0 : change.after.objects - change.before.objects;
}

/** @param {Step} step  is its type the program's own, and no array? */
function isOwn(step) {
  return step.kind === "t" && originOf(step.number) === 0 && !step.name.endsWith("]");
}

/**
 * What has been added on the WAY, and what keeps it: both types of the program's own, if there are any.
 * @param {Step[]} way
 */
export function answerOn(way) {
  const types = way.filter(step => step.kind === "t");
  const element = types.find(step => isOwn(step) && come(step) > 0) ?? types.find(step => come(step) > 0);
  if (element === undefined) {
    return null;
  }
  const before = way.slice(0, way.indexOf(element)).filter(step => step.kind === "t" ? 10 * come(step) < come(element) : step.kind === "s");
  const owner = before.filter(isOwn).at(-1) ?? before.filter(step => step.kind === "s").at(-1) ?? before.at(-1);
  return owner === undefined ? null : {owner, element, objects: come(element)};
}
