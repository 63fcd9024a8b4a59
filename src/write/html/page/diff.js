// @ts-check
// Two dumps side by side.
import {diff} from "./data.js";
import {bytesCell, countCell, el, named, roomy, section} from "./dom.js";
import {visible} from "./names.js";
import {bytes, count, exactBytes, growthText, plural, signed, timeText} from "./numbers.js";
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
  const sum = (/** @type {number[]} */ [objects, size, retained = 0]) => ({objects, bytes: size, retained});
  return {name: visible(name), kind: "t", before: sum(numbers.slice(0, half)), after: sum(numbers.slice(half))};
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

export function diffHeading() {
  const [older, newer] = diff.sides;
  head(`${visible(older.name)} → ${visible(newer.name)} – heap dumps`, `${visible(older.name)} → ${visible(newer.name)}`,
       [older, newer].map(s => s.unix_ms === undefined ? "" : timeText(s.unix_ms)).concat(visible(newer.program)));
}

export function diffSummary() {
  const [before, after] = diff.sides;
  /** @type {[string, keyof Sizes, (n: number) => string][]} */
  const sums = [["Objects take", "bytes", bytes], ["Objects", "objects", count]];
  if (diff.retained) {
    sums.push(["Alive", "retained", bytes]);
  }
  const tiles = sums.map(([label, what, text]) =>
    tileOf(text(after[what]), label, `${signed(after[what] - before[what], text)}, before ${text(before[what])}`));
  const all = diff.rows.map(row => diffRow(row));
  const fresh = all.filter(r => r.before.objects === 0).length;
  const gone = all.filter(r => r.after.objects === 0).length;
  section("summary", "Summary", words.EXPLANATIONS.diff,
    verdictBox(before.verdict, "Older dump: "), verdictBox(after.verdict, "Newer dump: "),
    el("dl", {class: "stats"}, ...tiles, tileOf(count(fresh), "New types", null), tileOf(count(gone), "Vanished types", null)));
}

export function diffTypes() {
  const rows = diff.rows.map(diffRow);
  const others = diffRow(["", ...diff.other_rows.slice(1)]);
  const more = (/** @type {string} */ row) => el("td", {class: "roomy"}, row);
  /** @type {import("./table.js").Column<Row>[]} */
  const retained = diff.retained ? [
    {title: "Retained", number: true, narrow: false, value: r => r.after.retained, cell: r => bytesCell(r.after.retained)},
    {title: "Retained ±", number: true, value: r => delta(r, "retained"), cell: r => bytesDelta(delta(r, "retained"))}] : [];
  const foot = diff.other_rows[0] === 0 ? null : el("tr", {}, el("th", {scope: "row"}, `${plural(diff.other_rows[0], "more type")}`),
    roomy(countCell(others.after.objects)), roomy(deltaCell(delta(others, "objects"), count)), roomy(bytesCell(others.after.bytes)),
    bytesDelta(delta(others, "bytes")),
    more(growthText(growth(others))), ...retained.map(column => column.narrow === false ? more("") : el("td", {})));
  section("types", "Types", words.EXPLANATIONS.diffTypes, sortableTable({
    caption: "Types with what has changed", rows, sortBy: 4, foot,
    search: {id: "type-search", label: "Search types", hint: "part of a name", text: r => r.name.toLowerCase()},
    columns: [
      {title: "Type", value: r => r.name, cell: r => el("th", {scope: "row"}, named(r))},
      {title: "Objects", number: true, narrow: false, value: r => r.after.objects, cell: r => countCell(r.after.objects)},
      {title: "Objects ±", number: true, narrow: false, value: r => delta(r, "objects"), cell: r => deltaCell(delta(r, "objects"), count)},
      {title: "Bytes", number: true, narrow: false, value: r => r.after.bytes, cell: r => bytesCell(r.after.bytes)},
      {title: "Bytes ±", number: true, value: r => delta(r, "bytes"), cell: r => bytesDelta(delta(r, "bytes"))},
      {title: "Growth", number: true, narrow: false, value: r => growth(r), cell: r => el("td", {class: "number"}, growthText(growth(r)))},
      ...retained,
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
      ]}));
}
