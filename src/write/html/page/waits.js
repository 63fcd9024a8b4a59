// @ts-check
// What asynchronous operations wait for: stacks of async methods as a flame graph and as a tree.
import {heap} from "./data.js";
import {bytesCell, countCell, roomy, section, shareCell} from "./dom.js";
import {valueOf, watch} from "./state.js";
import {treeTable, withTools} from "./tree.js";
import {HEAP_LOOK, treemap} from "./treemap.js";
import {stackTree} from "./wait_nodes.js";
import * as words from "./words.js";

const BY = "waits-by";

/** @type {{title: string, fromInside: boolean, memory: boolean}[]} */
const VIEWS = [{title: "Callers first, by number", fromInside: false, memory: false},
               {title: "Callers first, by memory", fromInside: false, memory: true},
               {title: "Awaited first, by number", fromInside: true, memory: false},
               {title: "Awaited first, by memory", fromInside: true, memory: true}];

export function waitSection() {
  const {waits} = heap;
  if (waits === undefined) {
    return;
  }
  const chosen = () => VIEWS[Number(valueOf(BY))] === undefined ? 0 : Number(valueOf(BY));
  const rootOf = (/** @type {number} */ i) => {
    const {fromInside, memory} = VIEWS[i];
    return stackTree(waits, fromInside, row => memory ? row[3] : row[1], words.ALL_STACKS);
  };
  const nodes = () => rootOf(chosen()).children();
  const picture = treemap(VIEWS.map(({title}, i) => ({title, root: () => /** @type {any} */ (rootOf(i))})), {
    prefix: "waits-", label: words.WAIT_KEYS, crumbs: words.WAIT_CRUMBS, whole: waits.stacks, pictures: ["flame"], chains: false, colours: false,
    size: node => VIEWS[chosen()].memory ? words.sizeText(node.bytes) : words.stacks(node.bytes),
    describe: (node, name) => words.waitSizes(name, /** @type {any} */ (node), waits.stacks),
    columns: [{title: VIEWS[chosen()].memory ? "Bytes" : "Stacks", number: true, value: n => n.bytes,
               cell: n => VIEWS[chosen()].memory ? bytesCell(n.bytes) : countCell(n.bytes)}],
    open: HEAP_LOOK.open,
  });
  const whole = waits.stacks;
  /** @type {import("./tree.js").TreeColumn<import("./wait_nodes.js").WaitNode>[]} */
  const old = waits.ages ? [{title: "Old", kind: "number roomy", cell: node => roomy(countCell(node.old))}] : [];
  const follow = (/** @type {{objects: number}} */ node) => node.objects >= whole / 4;
  const tree = treeTable({label: words.WAIT_TREE, title: words.FRAMES, nodes: nodes(), measured: false, follow, columns: [
    {title: "Stacks", kind: "number", cell: node => countCell(node.objects)},
    {title: "Share", kind: null, cell: node => shareCell(node.objects, whole)},
    ...old,
    {title: "Retained", kind: "number", cell: node => bytesCell(node.retained)},
  ]});
  watch(BY, () => tree.replace(nodes()));
  section("waiting", "Waiting", words.waiting(waits), ...picture.parts, ...withTools("waits-search", "Search the stacks", tree));
}
