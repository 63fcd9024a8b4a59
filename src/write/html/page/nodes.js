// @ts-check
// Trees of the content of a dump, for their views.
import {heap} from "./data.js";
import {callOf, fieldName, fitsName, nameOf, namespaceOf} from "./names.js";
import {sum} from "./numbers.js";

/** @typedef {import("./data.js").TreeRow} TreeRow */
/** @typedef {Rows | Group} Node */
/**
 * Rows with the numbers of the rows below each of them.  marks: of the last test.
 * @typedef {{rows: TreeRow[], below: number[][], top: number[], test?: (name: string) => boolean, marks?: Uint8Array}} Tree
 */

// Sibling rows with one name and field, folded into one.  children() is made when first needed.
export class Rows {
  /**
   * @param {Tree} tree
   * @param {number[]} rows
   */
  constructor(tree, rows) {
    this.tree = tree;
    this.rows = rows;
    this.number = tree.rows[rows[0]][1];
    this.kind = heap.kinds[this.number];
    const {name, call, field} = namesIn(tree.rows[rows[0]]);
    this.name = name;
    this.call = call;
    this.field = field;
    this.ownObjects = sum(rows, r => tree.rows[r][2]);
    this.ownBytes = sum(rows, r => tree.rows[r][3]);
    this.objects = sum(rows, r => tree.rows[r][4]);
    this.bytes = sum(rows, r => tree.rows[r][5]);
    this.fold = Math.min(...rows.map(r => tree.rows[r][7] ?? 0));
    /** @type {Node[] | null} */
    this.made = null;
  }

  children() {
    this.made ??= withRest(this, folded(this.tree, this.rows.flatMap(r => this.tree.below[r])));
    return this.made;
  }

  /**
   * Is there a matching name below?  Does not make the nodes.
   * @param {(name: string) => boolean} test
   */
  has(test) {
    const {below} = this.tree;
    const marks = marked(this.tree, test);
    return this.rows.some(r => below[r].some(child => marks[child] === 1));
  }
}

/** @param {TreeRow} row  siblings with one result are one node */
function kindOf([, number, , , , , field = 0]) {
  return number + field * heap.names.length;
}

/** @param {TreeRow} row */
function namesIn([, number, , , , , field]) {
  return {name: nameOf(number), call: callOf(number), field: fieldName(field)};
}

/**
 * For each row, whether it or one below it has a matching name; remembered for the last test.
 * @param {Tree} tree
 * @param {(name: string) => boolean} test
 */
function marked(tree, test) {
  if (tree.test !== test || tree.marks === undefined) {
    const marks = new Uint8Array(tree.rows.length);
    const fits = new Map();
    for (let i = tree.rows.length - 1; i >= 0; i--) {
      const [parent] = tree.rows[i];
      const key = kindOf(tree.rows[i]);
      if (!fits.has(key)) {
        fits.set(key, fitsName(namesIn(tree.rows[i]), test));
      }
      marks[i] = marks[i] === 1 || fits.get(key) ? 1 : 0;
      if (marks[i] === 1 && parent >= 0) {
        marks[parent] = 1;
      }
    }
    tree.test = test;
    tree.marks = marks;
  }
  return tree.marks;
}

/**
 * The path to the largest row with this name; empty = there is none.
 * @param {Node} whole
 * @param {number} number
 */
export function wayTo(whole, number) {
  let at = -1;
  heap.tree.forEach((row, i) => {
    at = row[1] === number && (at < 0 || row[5] > heap.tree[at][5]) ? i : at;
  });
  /** @type {number[]} */
  const rows = [];
  for (; at >= 0; [at] = heap.tree[at]) {
    rows.unshift(at);
  }
  /** @type {Node[]} */
  const way = [];
  for (const row of rows) {
    const next = (way.at(-1) ?? whole).children().find(node => node instanceof Rows && node.rows.includes(row));
    if (next === undefined) {
      return [];
    }
    way.push(next);
  }
  return way;
}

// An artificial node: a namespace, or everything left out below another node.
export class Group {
  /**
   * @param {string} name
   * @param {string} kind
   * @param {{objects: number, bytes: number, ownObjects?: number, ownBytes?: number}} sizes
   * @param {Node[]} children
   */
  constructor(name, kind, sizes, children) {
    this.name = name;
    this.kind = kind;
    this.number = -1;
    this.objects = sizes.objects;
    this.bytes = sizes.bytes;
    this.ownObjects = sizes.ownObjects ?? 0;
    this.ownBytes = sizes.ownBytes ?? 0;
    this.fold = 0;
    this.made = children;
  }

  children() {
    return this.made;
  }
}

/**
 * Something without parts.
 * @param {string} name
 * @param {string} kind
 * @param {number} objects
 * @param {number} bytes
 */
export function leaf(name, kind, objects, bytes) {
  return new Group(name, kind, {objects, bytes, ownObjects: objects, ownBytes: bytes}, []);
}

/** @param {Node[]} nodes */
function total(nodes) {
  return {objects: sum(nodes, n => n.objects), bytes: sum(nodes, n => n.bytes)};
}

/** @param {Node[]} nodes */
export function largestFirst(nodes) {
  return nodes.sort((a, b) => b.bytes - a.bytes || b.objects - a.objects);
}

/**
 * @param {Tree} tree
 * @param {number[]} rows
 * @returns {Node[]}
 */
function folded(tree, rows) {
  return largestFirst([...groupBy(rows, r => kindOf(tree.rows[r])).values()].map(same => new Rows(tree, same)));
}

/**
 * @template T, K
 * @param {T[]} items
 * @param {(item: T) => K} key
 * @returns {Map<K, T[]>}
 */
function groupBy(items, key) {
  const groups = new Map();
  for (const item of items) {
    const same = groups.get(key(item));
    if (same === undefined) {
      groups.set(key(item), [item]);
    } else {
      same.push(item);
    }
  }
  return groups;
}

/**
 * The file has only the largest nodes; one more child has what is missing from the sums of NODE.
 * @param {Node} node
 * @param {Node[]} children
 */
function withRest(node, children) {
  const bytes = node.bytes - node.ownBytes - sum(children, c => c.bytes);
  const objects = node.objects - node.ownObjects - sum(children, c => c.objects);
  if (bytes > 0 && objects > 0) {
    children.push(leaf(children.length > 0 ? "(smaller ones)" : "(in detail not listed)", "o", objects, bytes));
  }
  return children;
}

/**
 * @param {TreeRow[]} rows
 * @returns {Tree}
 */
function treeOf(rows) {
  /** @type {Tree} */
  const tree = {rows, below: rows.map(() => []), top: []};
  rows.forEach((row, i) => (row[0] < 0 ? tree.top : tree.below[row[0]]).push(i));
  return tree;
}

/**
 * @param {TreeRow[]} rows
 * @param {string} name
 */
export function wholeTree(rows, name) {
  const tree = treeOf(rows);
  const top = folded(tree, tree.top);
  return new Group(name, "o", total(top), top);
}

/** @param {Node[]} nodes */
function wholeHeap(nodes) {
  const all = new Group("All objects", "o", heap.totals, nodes);
  withRest(all, nodes);
  return all;
}

export function makeDominatorTree() {
  return wholeHeap(wholeTree(heap.tree, "").children());
}

// The outermost types of the dominator tree by namespace: each with all that it keeps alive.
export function byNamespace() {
  const tree = treeOf(heap.tree);
  const isType = (/** @type {number} */ row) => row >= 0 && heap.kinds[tree.rows[row][1]] === "t";
  const outermost = tree.rows.flatMap((row, i) => isType(i) && !isType(row[0]) ? [i] : []);
  return wholeHeap(largestFirst([...groupBy(outermost, r => namespaceOf(tree.rows[r][1]))].map(([name, rows]) => {
    const types = folded(tree, rows);
    return new Group(name, "n", total(types), types);
  })));
}

// All types by namespace: each with its own bytes.
export function byOwnSize() {
  return wholeHeap(largestFirst([...groupBy(heap.types, t => namespaceOf(t[0]))].map(([name, rows]) => {
    const types = rows.map(t => Object.assign(leaf(nameOf(t[0]), "t", t[2], t[3]), {number: t[0], call: callOf(t[0])}));
    return new Group(name, "n", total(types), largestFirst(types));
  })));
}
