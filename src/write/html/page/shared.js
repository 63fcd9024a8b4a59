// @ts-check
// What several holders keep alive together.
import {heap} from "./data.js";
import {bytesCell, countCell, el, section, shareCell} from "./dom.js";
import {fieldBehind, linkedName, linkedVariable, panelLink} from "./links.js";
import {shortStep, visible} from "./names.js";
import {sortableTable} from "./table.js";
import * as words from "./words.js";

/** @typedef {import("./data.js").SharedRow} SharedRow */
/** @typedef {import("./data.js").HolderRow} HolderRow */
/** @typedef {import("./data.js").Suspect} Suspect */

// What is a smaller part of a suspect is no news about it.
const WORTH_PART = 20;

// What holds: an object of the program, or nothing if it is a static variable.
function lastOf(/** @type {HolderRow} */ {path}) {
  return path.length > 0 ? path[path.length - 1] : undefined;
}

/** @param {HolderRow} holder */
export function holderName(holder) {
  const last = lastOf(holder);
  return last === undefined ? visible(holder.root_name ?? "") : `${shortStep(last[0])}${visible(last[5] ?? "")}`;
}

/** @param {HolderRow} holder */
function holderCell(holder) {
  const last = lastOf(holder);
  return el("li", {}, ...last === undefined ? [linkedVariable(holder.root_name ?? "")] : [linkedName(last[0], true), fieldBehind(last[5] ?? "")]);
}

/** @param {SharedRow} row */
function what(row) {
  return row.parts.map(([type, objects]) => words.some(objects, shortStep(type))).join(", ");
}

/** @param {SharedRow} row */
export function sharedParts({parts}) {
  return el("ul", {class: "parts"}, ...parts.map(([type, objects, size]) =>
    el("li", {}, linkedName(type, true), el("span", {class: "muted"}, ` ${words.each(size, objects)}`))));
}

/**
 * Is HOLDER on the path of a suspect?
 * @param {Suspect} s
 * @param {HolderRow} holder
 */
function isOf({path = [], root_name: variable}, holder) {
  const last = lastOf(holder);
  return last === undefined ? holder.root_name === variable
    : path.some(step => step[0] === last[0] && (step[5] === last[5] || step[5] === undefined || last[5] === undefined));
}

/**
 * The rows about what a suspect holds, or about the suspected objects.
 * @param {Suspect} s
 */
export function sharedOf(s) {
  const last = (s.path ?? []).at(-1)?.[0];
  return (heap.shared ?? []).filter(row => row.bytes >= s.bytes / WORTH_PART &&
    (row.parts[0]?.[0] === last || row.holders.some(holder => isOf(s, holder))));
}

/** @param {number} number  of the name of a type that holds, or is held */
export function sharedOfType(number) {
  return (heap.shared ?? []).filter(row => row.parts.some(part => part[0] === number) ||
    row.holders.some(holder => lastOf(holder)?.[0] === number));
}

/** @param {SharedRow} row */
function key(row) {
  return `shared:${(heap.shared ?? []).indexOf(row)}`;
}

/** @param {SharedRow[]} rows */
export function sharedList(rows) {
  return rows.length === 0 ? null : el("div", {}, el("h3", {}, "Held together"), el("ul", {class: "parts"}, ...rows.slice(0, 5).map(row =>
    el("li", {}, panelLink(key(row), el("bdi", {dir: "ltr"}, what(row))),
       el("span", {class: "muted"}, ` ${words.inBoth(row.bytes, row.holders.map(holderName))}`)))));
}

/**
 * What else holds the largest part of what a suspect holds.
 * @param {Suspect} s
 */
export function sharedLink(s) {
  const [row] = sharedOf(s);
  const others = row?.holders.filter(holder => !isOf(s, holder)) ?? [];
  return row === undefined ? null : panelLink(key(row), others.length > 0 ? words.alsoIn(others.map(holderName)) : words.HELD_TOGETHER);
}

export function sharedSection() {
  const rows = heap.shared ?? [];
  if (rows.length === 0) {
    return;
  }
  section("shared", "Held together", words.EXPLANATIONS.shared, sortableTable({
    caption: "Objects that several hold",
    rows, sortBy: 2,
    columns: [
      {title: "Objects", value: what, cell: row => el("th", {scope: "row"}, panelLink(key(row), el("bdi", {dir: "ltr"}, what(row))))},
      {title: "Held by", value: row => row.holders.map(holderName).join(" "),
       cell: row => el("td", {class: "holders"}, el("ul", {class: "parts"}, ...row.holders.map(holderCell)))},
      {title: "Retained", number: true, value: row => row.bytes, cell: row => bytesCell(row.bytes)},
      {title: "Share", number: true, bar: true, value: row => row.bytes, cell: row => shareCell(row.bytes, heap.totals.bytes)},
      {title: "Number", number: true, narrow: false, value: row => row.objects, cell: row => countCell(row.objects)},
    ],
  }));
}
