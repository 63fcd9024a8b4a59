// @ts-check
// Views of what holds what: the map and the tree of the whole heap.
import {heap} from "./data.js";
import {bytesCell, countCell, roomy, section, shareCell} from "./dom.js";
import {byNamespace, byOwnSize} from "./nodes.js";
import {treeTable, withTools} from "./tree.js";
import {HEAP_LOOK, treemap} from "./treemap.js";
import * as words from "./words.js";

/** @typedef {import("./nodes.js").Node} Node */

/**
 * @param {string} label
 * @param {Node[]} nodes
 * @param {number} whole  bytes
 * @param {string} own    what the own bytes of a node are called
 */
export function heldTree(label, nodes, whole, own, short = false) {
  return treeTable({label, nodes, short, follow: node => node.bytes >= whole / 4, columns: [
    {title: "Bytes", kind: "number", cell: node => bytesCell(node.bytes)}, {title: "Share", kind: null, cell: node => shareCell(node.bytes, whole)},
    {title: "Objects", kind: "number", cell: node => countCell(node.objects)},
    {title: own, kind: "number roomy", cell: node => roomy(bytesCell(node.ownBytes))},
  ]});
}

/** @param {Node} dominatorTree */
export function mapSection(dominatorTree, explanation = words.EXPLANATIONS.map) {
  const views = [{title: "What holds it", root: () => dominatorTree}, {title: "Namespaces, retained", root: byNamespace},
                 {title: "Namespaces, own size", root: byOwnSize}];
  const map = treemap(views, HEAP_LOOK);
  section("map", "Map", explanation, ...map.parts);
  return (/** @type {Node[]} */ way) => map.reveal(way);
}

/** @param {Node} dominatorTree */
export function treeSection(dominatorTree) {
  const tree = heldTree("Dominator tree", dominatorTree.children(), heap.totals.bytes, "Own size");
  section("tree", "Dominator tree", words.EXPLANATIONS.tree, ...withTools("tree-search", "Search the tree", tree));
  return (/** @type {Node[]} */ way) => tree.reveal(way);
}
