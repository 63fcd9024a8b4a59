// @ts-check
// Stacks as trees: of asynchronous operations, from the waiting methods to what is awaited, or the other way round; of allocations, whose innermost
// frame comes first, from it to its callers, or the other way round.
import {callOf, shortFrame, shortName, shortStep, visible} from "./names.js";
import {sum} from "./numbers.js";
import * as words from "./words.js";

/**
 * methods: frames from this number on are types; undefined: those without parents are.
 * @typedef {{names: string[], frames: import("./data.js").WaitFrame[], rows: WaitRow[], methods?: number}} Stacks
 */
/** @typedef {import("./data.js").WaitRow} WaitRow */
/** @typedef {{row: WaitRow, frame: number}} Cursor  a stack, and one of its frames */
/** @typedef {(row: WaitRow) => number} Measure */
/** @typedef {(stacks: Stacks, cursors: Cursor[]) => {children: Cursor[], own: Cursor[]}} Below */

// Frames with one name at one place, from these stacks.  bytes is the quantity that the picture shows.
export class WaitNode {
  /**
   * @param {Stacks} stacks
   * @param {Cursor[]} cursors
   * @param {Measure} measure
   * @param {Below} below
   */
  constructor(stacks, cursors, measure, below) {
    const [inner, name, , type] = stacks.frames[cursors[0].frame];
    const flags = cursors.reduce((all, c) => all | stacks.frames[c.frame][2], 0);
    this.stacks = stacks;
    this.name = visible(stacks.names[name]);
    this.short = (stacks.methods === undefined ? inner < 0 : cursors[0].frame >= stacks.methods) ? shortName(this.name) : shortFrame(this.name);
    this.kind = "t";
    this.number = type;
    if (stacks.methods !== undefined && type >= 0 && callOf(type) !== undefined) {
      this.short = shortStep(type);
    }
    this.note = words.frameNote((flags & 1) !== 0, (flags & 2) !== 0, (flags & 4) !== 0);
    this.measure = measure;
    this.below = below;
    this.objects = sum(cursors, c => c.row[1]);
    this.old = sum(cursors, c => c.row[2]);
    this.retained = sum(cursors, c => c.row[3]);
    this.bytes = sum(cursors, c => measure(c.row));
    const {own, children} = below(stacks, cursors);
    this.next = children;
    this.ownBytes = sum(own, c => measure(c.row));
    this.ownObjects = sum(own, c => c.row[1]);
    /** @type {WaitNode[] | null} */
    this.made = null;
  }

  children() {
    this.made ??= nodesOf(this.stacks, this.next, this.measure, this.below);
    return this.made;
  }
}

/**
 * Frames with one name are one node; the largest come first.
 * @param {Stacks} stacks
 * @param {Cursor[]} cursors
 * @param {Measure} measure
 * @param {Below} below
 */
function nodesOf(stacks, cursors, measure, below) {
  /** @type {Map<number, Cursor[]>} */
  const groups = new Map();
  for (const cursor of cursors) {
    const name = stacks.frames[cursor.frame][1];
    const same = groups.get(name);
    if (same === undefined) {
      groups.set(name, [cursor]);
    } else {
      same.push(cursor);
    }
  }
  return [...groups.values()].map(same => new WaitNode(stacks, same, measure, below)).sort((a, b) => b.bytes - a.bytes || b.objects - a.objects);
}

/** @param {Stacks} stacks @param {Cursor[]} cursors  towards what is awaited */
function inwards(stacks, cursors) {
  const inner = (/** @type {Cursor} */ c) => stacks.frames[c.frame][0];
  return {children: cursors.filter(c => inner(c) >= 0).map(c => ({row: c.row, frame: inner(c)})), own: cursors.filter(c => inner(c) < 0)};
}

/** @param {Stacks} stacks @param {Cursor[]} cursors  towards the waiting methods */
function outwards(stacks, cursors) {
  /** @type {Cursor[]} */
  const children = [];
  /** @type {Cursor[]} */
  const own = [];
  for (const {row, frame} of cursors) {
    let at = row[0];
    while (at !== frame && stacks.frames[at][0] !== frame) {
      [at] = stacks.frames[at];
    }
    (at === frame ? own : children).push({row, frame: at});
  }
  return {children, own};
}

/** @param {Stacks} stacks @param {number} frame */
function innermost(stacks, frame) {
  let at = frame;
  while (stacks.frames[at][0] >= 0) {
    [at] = stacks.frames[at];
  }
  return at;
}

/**
 * The tree of all stacks.  fromInside: what is awaited, or the last caller, is outermost.
 * @param {Stacks} stacks
 * @param {boolean} fromInside
 * @param {Measure} measure
 * @param {string} name
 */
export function stackTree(stacks, fromInside, measure, name) {
  const cursors = stacks.rows.map(row => ({row, frame: fromInside ? innermost(stacks, row[0]) : row[0]}));
  const nodes = nodesOf(stacks, cursors, measure, fromInside ? outwards : inwards);
  return {name, kind: "o", number: -1, objects: sum(nodes, n => n.objects), bytes: sum(nodes, n => n.bytes), ownObjects: 0,
          ownBytes: 0, old: sum(nodes, n => n.old), retained: sum(nodes, n => n.retained), note: "", children: () => nodes};
}
