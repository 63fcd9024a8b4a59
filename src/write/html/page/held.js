// @ts-check
// Views of the whole heap by what holds what: the map and the tree.
import {heap} from "./data.js";
import {bytesCell, countCell, el, roomy, section, shareCell} from "./dom.js";
import {byNamespace, byOwnSize, wholeTree} from "./nodes.js";
import {treeTable, withTools} from "./tree.js";
import {HEAP_LOOK, treemap} from "./treemap.js";
import * as words from "./words.js";

/** @typedef {import("./nodes.js").Node} Node */

// fold of rows: 1 an internal object of the collection above it, 2 hidden.
const INSIDE = 1;
const HIDDEN = 2;
// Rectangles of the map that the first screen has.
const FIRST_TILES = 100;

/**
 * NODES without the internals of collections, and with one node for consecutive steps of the framework.  Both are made when they are shown.
 * @template {{fold: number, children: () => N[]}} N
 * @param {N[]} nodes
 * @returns {N[]}
 */
export function foldedNodes(nodes) {
  return nodes.flatMap(node => node.fold === INSIDE ? foldedNodes(node.children()) : [foldedNode(node)]);
}

/**
 * @template {{fold: number, children: () => N[]}} N
 * @param {N} node
 * @returns {N}
 */
function foldedNode(node) {
  let last = node;
  let hidden = node.fold === HIDDEN ? 1 : 0;
  for (let below = last.children(); hidden > 0 && below.length === 1 && below[0].fold === HIDDEN; below = last.children()) {
    [last] = below;
    hidden++;
  }
  /** @type {N[] | null} */
  let made = null;
  const children = () => {
    made ??= foldedNodes(last.children());
    return made;
  };
  const steps = {name: words.hiddenSteps(hidden), kind: "o", number: -1, call: undefined, field: undefined};
  return Object.assign(Object.create(node), {children}, hidden > 0 ? steps : {});
}

/**
 * A button that shows the folded steps, if there are any.
 * @param {boolean} any
 * @param {(all: boolean) => void} show
 */
export function unfoldButton(any, show) {
  const button = el("button", {type: "button", class: "chip", "aria-expanded": "false", click: () => {
    const all = button.getAttribute("aria-expanded") === "false";
    button.textContent = all ? words.FOLD : words.UNFOLD;
    button.setAttribute("aria-expanded", String(all));
    show(all);
  }}, words.UNFOLD);
  return any ? button : null;
}

/**
 * Paths as a tree, folded; the button unfolds them.
 * @param {string} label
 * @param {import("./data.js").TreeRow[]} rows
 */
export function pathTree(label, rows, short = false) {
  const whole = wholeTree(rows, "");
  const folded = foldedNodes(whole.children());
  const tree = heldTree(label, folded, whole.bytes, "Ends here", short);
  return {tree, button: unfoldButton(rows.some(row => (row[7] ?? 0) > 0), all => tree.replace(all ? whole.children() : folded))};
}

/**
 * @param {string} label
 * @param {Node[]} nodes
 * @param {number} whole  bytes
 * @param {string} own    name of the own bytes of a node
 */
export function heldTree(label, nodes, whole, own, short = false, /** @type {import("./tree.js").TreeColumn<Node>[]} */ more = []) {
  return treeTable({label, nodes, short, follow: node => node.bytes >= whole / 4, columns: [
    {title: "Bytes", kind: "number", cell: node => bytesCell(node.bytes)}, ...more,
    {title: "Share", kind: null, cell: node => shareCell(node.bytes, whole)},
    {title: "Objects", kind: "number", cell: node => countCell(node.objects)},
    {title: own, kind: "number roomy", cell: node => roomy(bytesCell(node.ownBytes))},
  ]});
}

/** @param {Node} dominatorTree */
export function mapSection(dominatorTree, explanation = words.EXPLANATIONS.map) {
  const views = [{title: "What holds it", root: () => dominatorTree}, {title: "Namespaces, retained", root: byNamespace},
                 {title: "Namespaces, own size", root: byOwnSize}];
  const map = treemap(views, HEAP_LOOK, FIRST_TILES);
  section("map", "Map", explanation, ...map.parts);
  return map;
}

/** @param {Node} dominatorTree @param {import("./tree.js").TreeColumn<Node>[]} more  columns: the growth since an older dump */
export function treeSection(dominatorTree, more = []) {
  const tree = heldTree("Dominator tree", dominatorTree.children(), heap.totals.bytes, "Own size", true, more);
  section("tree", "Dominator tree", more.length > 0 ? words.TREE_OF_TWO : words.EXPLANATIONS.tree,
          ...withTools("tree-search", "Search the tree", tree));
  return (/** @type {Node[]} */ way) => tree.reveal(way);
}
