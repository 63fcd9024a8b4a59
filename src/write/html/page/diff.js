// @ts-check
// Two dumps side by side.
import {diff} from "./data.js";
import {byId, bytesCell, countCell, el, named, roomy, section} from "./dom.js";
import {shortName, visible} from "./names.js";
import {bytes, count, exactBytes, growthText, plural, signed, sum, timeText} from "./numbers.js";
import {head, tileOf, verdictBox} from "./summary.js";
import {sortableTable} from "./table.js";
import {treeTable} from "./tree.js";
import * as words from "./words.js";

/** @typedef {{objects: number, bytes: number, retained: number}} Sizes */
/** @typedef {{name: string, kind: string, before: Sizes, after: Sizes}} Row */
/** @typedef {Row & {below: Step[], children: () => Step[]}} Step */

/**
 * @param {[string, ...number[]]} row
 * @returns {Row}
 */
function diffRow([name, ...numbers]) {
  const half = numbers.length / 2;
  const sizes = (/** @type {number[]} */ [objects, size, retained = 0]) => ({objects, bytes: size, retained});
  return {name: visible(name), kind: "t", before: sizes(numbers.slice(0, half)), after: sizes(numbers.slice(half))};
}

/**
 * @param {Row} row
 * @param {keyof Sizes} what
 */
function delta(row, what) {
  return row.after[what] - row.before[what];
}

/**
 * @param {number} n
 * @param {(n: number) => string} text
 * @param {(n: number) => string} [exact]
 */
function deltaCell(n, text, exact) {
  return el("td", {class: `number ${n > 0 ? "grown" : n < 0 ? "shrunk" : "same"}`, title: exact ? signed(n, exact) : null}, signed(n, text));
}

/** @param {number} n */
function bytesDelta(n) {
  return deltaCell(n, bytes, exactBytes);
}

/** @param {Row} row */
function growth({before, after}) {
  return before.objects === 0 ? Infinity : after.objects === 0 ? -Infinity : before.bytes > 0 ? after.bytes / before.bytes - 1 : 0;
}

/** @param {import("./data.js").Side} side */
function timeOf(side) {
  return side.unix_ms === undefined ? "" : timeText(side.unix_ms);
}

export function diffHeading() {
  const [older, newer] = diff.sides;
  const title = visible(newer.program || newer.name);
  byId("kicker").textContent = "Two heap dumps";
  head(`${title} – two heap dumps`, title, [words.between(older.unix_ms, newer.unix_ms)]);
}

/** @param {string} title @param {import("./data.js").Side} side */
function sideColumn(title, side) {
  return el("div", {class: "side"}, el("h3", {}, title), el("dl", {class: "facts"}, ...[
    ["File", visible(side.name)], ["Program", visible(side.program) || "not known"],
    ["Process", side.process > 0 ? String(side.process) : "not known"],
    ["Time", timeOf(side) || "not known"], ["Objects take", `${bytes(side.bytes)} in ${plural(side.objects, "object")}`]].map(([name, value]) =>
    el("div", {}, el("dt", {}, name), el("dd", {}, el("bdi", {dir: "ltr"}, value))))), verdictBox(side.verdict, `${title} dump: `));
}

// What the types are ordered by: what they retain when that is known.
const METRIC = diff.retained ? "retained" : "bytes";

/** @param {Row[]} rows */
function answers(rows) {
  const grown = rows.filter(r => delta(r, METRIC) > 0).sort((a, b) => delta(b, METRIC) - delta(a, METRIC)).slice(0, 5);
  return el("ol", {class: "answers"}, ...grown.map(r => el("li", {}, named({name: shortName(r.name), kind: "t"}), " ",
    words.grown(delta(r, METRIC), delta(r, "objects"), METRIC === "retained"))));
}

export function diffSummary() {
  const [before, after] = diff.sides;
  const rows = diff.rows.map(row => diffRow(row));
  const warnings = words.differences(before, after);
  section("summary", "Summary", words.EXPLANATIONS.diff,
    el("p", {class: "answer"}, words.change(before, after)),
    answers(rows),
    warnings.length > 0 ? el("div", {class: "verdict unsure"}, ...warnings.map(text => el("p", {}, text))) : null,
    el("div", {class: "columns"}, sideColumn("Older", before), sideColumn("Newer", after)),
    el("dl", {class: "stats"},
      tileOf(signed(after.bytes - before.bytes, bytes), "Objects take", `before ${bytes(before.bytes)}, now ${bytes(after.bytes)}`),
      tileOf(signed(after.objects - before.objects, count), "Objects", `before ${count(before.objects)}, now ${count(after.objects)}`),
      diff.retained ? tileOf(signed(after.retained - before.retained, bytes), "Alive", `now ${bytes(after.retained)}`) : null,
      tileOf(count(rows.filter(r => r.before.objects === 0).length), "New types", null),
      tileOf(count(rows.filter(r => r.after.objects === 0).length), "Vanished types", null)));
}

/**
 * A change with a bar to the left or the right.
 * @param {number} n
 * @param {number} most
 */
function barDelta(n, most) {
  const cell = bytesDelta(n);
  cell.classList.add("both-ways", n < 0 ? "back" : "forth");
  cell.style.setProperty("--share", `${most > 0 ? Math.min(50, 50 * Math.abs(n) / most) : 0}%`);
  return cell;
}

export function diffTypes() {
  const all = diff.rows.map(row => diffRow(row));
  const rows = all.filter(r => delta(r, "objects") !== 0 || delta(r, "bytes") !== 0 || delta(r, "retained") !== 0);
  const most = Math.max(1, ...rows.map(r => Math.abs(delta(r, METRIC))));
  const others = diffRow(["", ...diff.other_rows.slice(1)]);
  const number = (/** @type {HTMLTableCellElement} */ cell) => roomy(cell);
  /** @type {import("./table.js").Column<Row>[]} */
  const retained = diff.retained ? [
    {title: "Retained ±", number: true, value: r => delta(r, "retained"), cell: r => barDelta(delta(r, "retained"), most)},
    {title: "Retained", number: true, narrow: false, value: r => r.after.retained, cell: r => bytesCell(r.after.retained)}] : [];
  const sumRow = (/** @type {string} */ name, /** @type {Row} */ r) => el("tr", {}, el("th", {scope: "row"}, name),
    ...retained.map(column => column.narrow === false ? roomy(el("td")) : el("td")), bytesDelta(delta(r, "bytes")), number(bytesCell(r.after.bytes)),
    number(deltaCell(delta(r, "objects"), count)), number(countCell(r.after.objects)), number(el("td", {class: "number"}, growthText(growth(r)))));
  const foot = (/** @type {Row[]} */ found) => {
    const lines = document.createDocumentFragment();
    const of = (/** @type {keyof Sizes} */ what, /** @type {"before" | "after"} */ when) => sum(found, r => r[when][what]);
    const both = {name: "", kind: "t", before: {objects: of("objects", "before"), bytes: of("bytes", "before"), retained: 0},
                  after: {objects: of("objects", "after"), bytes: of("bytes", "after"), retained: 0}};
    lines.append(sumRow(found.length < rows.length ? `${plural(found.length, "type")} found` : `${plural(found.length, "changed type")}`, both));
    if (diff.other_rows[0] > 0) {
      lines.append(sumRow(`${plural(diff.other_rows[0], "more type")}`, others));
    }
    return lines;
  };
  section("types", "Types", words.EXPLANATIONS.diffTypes, el("p", {class: "muted"}, words.unchanged(all.length - rows.length)), sortableTable({
    caption: "Types with what has changed", rows, sortBy: 1, foot, keep: true,
    search: {id: "type-search", label: "Search types", hint: "part of a name", text: r => r.name.toLowerCase()},
    columns: [
      {title: "Type", value: r => r.name, cell: r => el("th", {scope: "row"}, named(r))},
      ...retained,
      {title: "Bytes ±", number: true, value: r => delta(r, "bytes"), cell: r => diff.retained ? bytesDelta(delta(r, "bytes"))
        : barDelta(delta(r, "bytes"), most)},
      {title: "Bytes", number: true, narrow: false, value: r => r.after.bytes, cell: r => bytesCell(r.after.bytes)},
      {title: "Objects ±", number: true, narrow: false, value: r => delta(r, "objects"), cell: r => deltaCell(delta(r, "objects"), count)},
      {title: "Objects", number: true, narrow: false, value: r => r.after.objects, cell: r => countCell(r.after.objects)},
      {title: "Growth", number: true, narrow: false, value: r => growth(r), cell: r => el("td", {class: "number"}, growthText(growth(r)))},
    ],
  }));
}

// Steps as nodes: each holds those that come behind it and are deeper.
function stepTree() {
  /** @type {Step[]} */
  const top = [];
  /** @type {Step[]} */
  const open = [];
  for (const [depth, name, ...numbers] of diff.steps) {
    /** @type {Step} */
    const node = {...diffRow([name, ...numbers]), kind: depth === 0 ? "r" : "t", below: [], children: () => node.below};
    open.length = depth;
    (depth === 0 ? top : open[depth - 1].below).push(node);
    open.push(node);
  }
  return top;
}

export function diffPaths() {
  if (!diff.has_steps) {
    return;
  }
  const nodes = stepTree();
  const most = Math.max(1, ...nodes.map(n => Math.abs(delta(n, "bytes"))));
  section("paths", "What holds it", words.leftOut(diff.least_step),
    nodes.length === 0 ? el("p", {}, "Nothing has changed.") : treeTable({
      label: "What has grown, by what holds it", nodes, follow: node => Math.abs(delta(node, "bytes")) >= most / 4, columns: [
        {title: "Bytes ±", kind: "number", cell: n => bytesDelta(delta(n, "bytes"))},
        {title: "Objects ±", kind: "number", cell: n => deltaCell(delta(n, "objects"), count)},
        {title: "Bytes", kind: "number roomy", cell: n => roomy(bytesCell(n.after.bytes))},
        {title: "Growth", kind: "number roomy", cell: n => roomy(el("td", {class: "number"}, growthText(growth(n))))},
      ]}).element);
}
