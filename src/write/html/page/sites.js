// @ts-check
// Which lines allocated what is still alive: stacks of sampled allocations as a flame graph and as a tree.
import {heap} from "./data.js";
import {bytesCell, countCell, el, section, shareCell} from "./dom.js";
import {valueOf, watch} from "./state.js";
import {treeTable, withTools} from "./tree.js";
import {HEAP_LOOK, treemap} from "./treemap.js";
import {stackTree} from "./wait_nodes.js";
import * as words from "./words.js";

const BY = "sites-by";
// In the order of VIEWS: is the allocating line outermost?
const LINE_FIRST = [false, true];
const VIEWS = ["Callers first", "Allocated type and line first"];

/** @param {number} type  the number of its name */
export function linesOf(type) {
  const lines = (heap.sites?.lines ?? []).filter(line => line[0] === type);
  return lines.length === 0 ? null : el("div", {}, el("h3", {}, words.ALLOCATED_IN), el("ul", {class: "parts"},
    ...lines.slice(0, 10).map(([, line, objects, size, error]) => el("li", {}, el("bdi", {dir: "ltr"}, line),
      el("span", {class: "muted"}, ` ${words.estimate(size, objects, error)}`)))));
}

/** @param {number} type  the number of its name  @returns {string} the line that allocated most of it in the window, "" = not sampled */
export function lineOf(type) {
  return (heap.sites?.lines ?? []).find(line => line[0] === type)?.[1] ?? "";
}

export function siteSection() {
  const {sites} = heap;
  if (sites === undefined) {
    return;
  }
  const chosen = () => VIEWS[Number(valueOf(BY))] === undefined ? 0 : Number(valueOf(BY));
  // the estimate of all, not the sum of the rounded ones of its rows
  const root = (/** @type {number} */ i) =>
    ({...stackTree(sites, !LINE_FIRST[i], row => row[3], words.ALL_ALLOCATIONS), objects: sites.objects});
  const nodes = () => root(chosen()).children();
  const picture = treemap(VIEWS.map((title, i) => ({title, root: () => /** @type {any} */ (root(i))})), {
    ...HEAP_LOOK,
    prefix: "sites-", label: words.SITE_KEYS, crumbs: words.WAIT_CRUMBS, whole: sites.bytes, pictures: ["flame"], chains: false, colours: false,
    size: node => words.sizeText(node.bytes), describe: (node, name) => words.sizes(name, node, sites.bytes),
  });
  const follow = (/** @type {{bytes: number}} */ node) => node.bytes >= sites.bytes / 4;
  const tree = treeTable({label: words.SITE_TREE, title: "Methods and lines", nodes: nodes(), measured: false, follow, columns: [
    {title: "Bytes", kind: "number", cell: node => bytesCell(node.bytes)},
    {title: "Share", kind: null, cell: node => shareCell(node.bytes, sites.bytes)},
    {title: "Objects", kind: "number", cell: node => countCell(node.objects)},
  ]});
  watch(BY, () => tree.replace(nodes()));
  section("allocated", "Allocated", words.allocated(sites), ...picture.parts, ...withTools("sites-search", "Search the stacks of allocations", tree));
}
