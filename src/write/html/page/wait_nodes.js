// @ts-check
// Stacks of asynchronous operations as trees: from the waiting methods to what is awaited, or the other way round.
import {heap} from "./data.js";
import {shortFrame, shortName, visible} from "./names.js";
import {sum} from "./numbers.js";
import * as words from "./words.js";

const NONE = {operations: 0, stacks: 0, different: 0, bytes: 0, ages: false, names: [], frames: [], rows: []};
const waits = heap.waits ?? NONE;

/** @typedef {import("./data.js").WaitRow} WaitRow */
/** @typedef {{row: WaitRow, frame: number}} Cursor  a stack, and one of its frames */
/** @typedef {(row: WaitRow) => number} Measure */

// Frames with one name at one place, from these stacks.  bytes is the quantity that the picture shows.
export class WaitNode {
  /**
   * @param {Cursor[]} cursors
   * @param {Measure} measure
   * @param {(cursors: Cursor[]) => {children: Cursor[], own: Cursor[]}} below
   */
  constructor(cursors, measure, below) {
    const [, name, , type] = waits.frames[cursors[0].frame];
    const flags = cursors.reduce((all, c) => all | waits.frames[c.frame][2], 0);
    this.name = visible(waits.names[name]);
    this.short = waits.frames[cursors[0].frame][0] < 0 ? shortName(this.name) : shortFrame(this.name);
    this.kind = "t";
    this.number = type;
    this.note = words.frameNote((flags & 1) !== 0, (flags & 2) !== 0, (flags & 4) !== 0);
    this.measure = measure;
    this.below = below;
    this.objects = sum(cursors, c => c.row[1]);
    this.old = sum(cursors, c => c.row[2]);
    this.retained = sum(cursors, c => c.row[3]);
    this.bytes = sum(cursors, c => measure(c.row));
    const {own, children} = below(cursors);
    this.next = children;
    this.ownBytes = sum(own, c => measure(c.row));
    this.ownObjects = sum(own, c => c.row[1]);
    /** @type {WaitNode[] | null} */
    this.made = null;
  }

  children() {
    this.made ??= nodesOf(this.next, this.measure, this.below);
    return this.made;
  }
}

/**
 * Frames with one name are one node; the largest come first.
 * @param {Cursor[]} cursors
 * @param {Measure} measure
 * @param {(cursors: Cursor[]) => {children: Cursor[], own: Cursor[]}} below
 */
function nodesOf(cursors, measure, below) {
  /** @type {Map<number, Cursor[]>} */
  const groups = new Map();
  for (const cursor of cursors) {
    const name = waits.frames[cursor.frame][1];
    const same = groups.get(name);
    if (same === undefined) {
      groups.set(name, [cursor]);
    } else {
      same.push(cursor);
    }
  }
  return [...groups.values()].map(same => new WaitNode(same, measure, below)).sort((a, b) => b.bytes - a.bytes || b.objects - a.objects);
}

/** @param {Cursor[]} cursors  towards what is awaited */
function inwards(cursors) {
  const inner = (/** @type {Cursor} */ c) => waits.frames[c.frame][0];
  return {children: cursors.filter(c => inner(c) >= 0).map(c => ({row: c.row, frame: inner(c)})), own: cursors.filter(c => inner(c) < 0)};
}

/** @param {Cursor[]} cursors  towards the waiting methods */
function outwards(cursors) {
  /** @type {Cursor[]} */
  const children = [];
  /** @type {Cursor[]} */
  const own = [];
  for (const {row, frame} of cursors) {
    let at = row[0];
    while (at !== frame && waits.frames[at][0] !== frame) {
      [at] = waits.frames[at];
    }
    (at === frame ? own : children).push({row, frame: at});
  }
  return {children, own};
}

/** @param {number} frame */
function innermost(frame) {
  let at = frame;
  while (waits.frames[at][0] >= 0) {
    [at] = waits.frames[at];
  }
  return at;
}

/**
 * The tree of all stacks.  fromInside: what is awaited is outermost.
 * @param {boolean} fromInside
 * @param {Measure} measure
 */
export function waitTree(fromInside, measure) {
  const cursors = waits.rows.map(row => ({row, frame: fromInside ? innermost(row[0]) : row[0]}));
  const nodes = nodesOf(cursors, measure, fromInside ? outwards : inwards);
  return {name: words.ALL_STACKS, kind: "o", number: -1, objects: sum(nodes, n => n.objects), bytes: sum(nodes, n => n.bytes), ownObjects: 0,
          ownBytes: 0, old: sum(nodes, n => n.old), retained: sum(nodes, n => n.retained), note: "", children: () => nodes};
}
