// @ts-check
// What has changed between two dumps, by type and by what holds it.
import {diff} from "./data.js";
import {METRIC, barDelta, bytesDelta, delta, deltaCell, growth, typeRow, wayOfGrowth} from "./diff_rows.js";
import {bytesCell, countCell, el, roomy, section} from "./dom.js";
import {foldedNodes, unfoldButton} from "./held.js";
import {linked, panelLink} from "./links.js";
import {count, growthText, plural, sum} from "./numbers.js";
import {sortableTable} from "./table.js";
import {treeTable} from "./tree.js";
import * as words from "./words.js";

/** @typedef {import("./diff_rows.js").Row} Row */
/** @typedef {import("./diff_rows.js").Sizes} Sizes */
/** @typedef {import("./diff_rows.js").Step} Step */

/** @param {Row} row  also of a type that is gone */
function nameCell(row) {
  const name = linked(row);
  return el("th", {scope: "row"}, row.number >= 0 ? name : panelLink(`change:${row.name}`, name));
}

/** @param {number} n */
function growthCell(n) {
  return el("td", {class: "number"}, growthText(n));
}

/** @param {Row[]} rows @returns {Row} */
function together(rows) {
  const of = (/** @type {"before" | "after"} */ when) =>
    ({objects: sum(rows, r => r[when].objects), bytes: sum(rows, r => r[when].bytes), retained: 0});
  return {name: "", kind: "t", number: -1, before: of("before"), after: of("after")};
}

export function diffTypes() {
  const all = diff.rows.map(typeRow);
  const has = (/** @type {Row} */ r) => delta(r, "objects") !== 0 || delta(r, "bytes") !== 0 || delta(r, "retained") !== 0;
  const rows = all.filter(has);
  const most = Math.max(1, ...rows.map(r => Math.abs(delta(r, METRIC))));
  /** @type {import("./table.js").Column<Row>[]} */
  const retained = diff.retained ? [
    {title: "Retained ±", number: true, value: r => delta(r, "retained"), cell: r => barDelta(delta(r, "retained"), most)},
    {title: "Retained", number: true, narrow: false, value: r => r.after.retained, cell: r => bytesCell(r.after.retained)}] : [];
  const sumRow = (/** @type {string} */ name, /** @type {Row} */ r) => el("tr", {}, el("th", {scope: "row"}, name),
    ...retained.map(column => column.narrow === false ? roomy(el("td")) : el("td")), bytesDelta(delta(r, "bytes")), roomy(bytesCell(r.after.bytes)),
    roomy(deltaCell(delta(r, "objects"), count)), roomy(countCell(r.after.objects)), roomy(growthCell(growth(r))));
  const foot = (/** @type {Row[]} */ found) => {
    const lines = document.createDocumentFragment();
    lines.append(sumRow(words.sumOf(found.length), together(found)));
    if (diff.other_rows[0] > 0) {
      lines.append(sumRow(plural(diff.other_rows[0], "more type"), typeRow(["", ...diff.other_rows.slice(1)])));
    }
    return lines;
  };
  section("types", "Types", words.EXPLANATIONS.diffTypes, sortableTable({
    caption: "Types with what has changed", rows, sortBy: 1, foot, keep: true,
    others: {label: words.unchanged(all.length - rows.length), rows: all.filter(r => !has(r))},
    search: {id: "type-search", label: "Search types", hint: "part of a name", text: r => r.name.toLowerCase()},
    columns: [
      {title: "Type", value: r => r.name, cell: nameCell},
      ...retained,
      {title: "Bytes ±", number: true, value: r => delta(r, "bytes"), cell: r => diff.retained ? bytesDelta(delta(r, "bytes"))
        : barDelta(delta(r, "bytes"), most)},
      {title: "Bytes", number: true, narrow: false, value: r => r.after.bytes, cell: r => bytesCell(r.after.bytes)},
      {title: "Objects ±", number: true, narrow: false, value: r => delta(r, "objects"), cell: r => deltaCell(delta(r, "objects"), count)},
      {title: "Objects", number: true, narrow: false, value: r => r.after.objects, cell: r => countCell(r.after.objects)},
      {title: "Growth", number: true, narrow: false, value: growth, cell: r => growthCell(growth(r))},
    ],
  }));
}

/** @param {{kind: string, name: string, field?: string}} node */
function placeOf({kind, name, field = ""}) {
  return `${kind}${field}\n${name}`;
}

/**
 * Columns of the tree of the newer dump: how each node has changed.  STEPS are the changes along paths, which are those of the tree where their
 * bytes agree; elsewhere the cells are empty.  The nodes below one that is shown find theirs before they are shown.
 * @param {import("./nodes.js").Node} whole
 * @param {Step[]} steps
 * @returns {import("./tree.js").TreeColumn<import("./nodes.js").Node>[]}
 */
export function growthColumns(whole, steps) {
  /** @type {WeakMap<object, Step | null>} */
  const changes = new WeakMap();
  const pair = (/** @type {import("./nodes.js").Node[]} */ nodes, /** @type {Step[]} */ below) => {
    const places = new Map(below.map(step => [placeOf(step), step]));
    nodes.forEach(node => changes.set(node, places.get(placeOf(node)) ?? null));
  };
  pair(whole.children(), steps);
  // a search shows nodes that are made of those of the tree
  const stepOf = (/** @type {import("./nodes.js").Node} */ node) => {
    const own = changes.has(node) ? node : /** @type {import("./nodes.js").Node} */ (Object.getPrototypeOf(node));
    const step = changes.get(own) ?? null;
    pair(own.children(), step === null ? [] : step.children());
    return step;
  };
  const cell = (/** @type {"bytes" | "objects"} */ what, /** @type {import("./nodes.js").Node} */ node) => {
    const step = stepOf(node);
    if (step === null || step.after.bytes !== node.bytes) {
      return el("td", {class: "number"});
    }
    return what === "bytes" ? bytesDelta(delta(step, what)) : deltaCell(delta(step, what), count);
  };
  return [{title: "Bytes ±", kind: "number", cell: node => cell("bytes", node)},
          {title: "Objects ±", kind: "number roomy", cell: node => roomy(cell("objects", node))}];
}

/** @param {Step[]} steps */
export function diffPaths(steps) {
  if (!diff.has_steps) {
    return;
  }
  const most = Math.max(1, ...steps.map(n => Math.abs(delta(n, "bytes"))));
  const folded = foldedNodes(steps);
  const tree = treeTable({
    label: "What has grown, by what holds it", nodes: folded, follow: () => false, begin: wayOfGrowth(folded), short: true, columns: [
      {title: "Bytes ±", kind: "number", cell: n => barDelta(delta(n, "bytes"), most)},
      {title: "Objects ±", kind: "number roomy", cell: n => roomy(deltaCell(delta(n, "objects"), count))},
      {title: "Bytes", kind: "number roomy", cell: n => roomy(bytesCell(n.after.bytes))},
      {title: "Growth", kind: "number roomy", cell: n => roomy(growthCell(growth(n)))},
    ]});
  const button = unfoldButton(diff.steps.some(step => step[2] > 0), all => {
    const nodes = all ? steps : folded;
    tree.replace(nodes, wayOfGrowth(nodes));
  });
  section("paths", "What holds it", words.leftOut(diff.least_step, diff.dropped === true),
    ...steps.length === 0 ? [el("p", {}, "Nothing has changed.")] : [el("p", {class: "actions"}, button), tree.element]);
}
