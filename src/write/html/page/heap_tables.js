// @ts-check
// The largest objects, the roots and the generations.
import {heap} from "./data.js";
import {bytesCell, countCell, el, roomy, section, shareCell, swatch, wideTable} from "./dom.js";
import {linkedName, panelLink} from "./links.js";
import {labelOf, saidOf, suffixOf} from "./names.js";
import {count} from "./numbers.js";
import {sortableTable} from "./table.js";
import * as words from "./words.js";

/** @param {import("./data.js").LargeRow} row */
function holders(row) {
  const steps = row[4].slice(0, -1).map((n, i) => [linkedName(n, true), suffixOf(row[5][i])]);
  const few = steps.length > 8 ? [...steps.slice(0, 4), ["…"], ...steps.slice(-3)] : steps;
  return el("td", {class: "holders"}, ...few.flatMap((step, i) => [i > 0 ? el("span", {class: "arrow"}, " › ") : "", ...step]));
}

export function largestSection() {
  section("largest", "Largest objects", words.EXPLANATIONS.largest, sortableTable({
    caption: "Objects with the largest retained sizes",
    rows: heap.largest, sortBy: 1,
    columns: [
      {title: "Object", value: o => saidOf(o[0]), cell: o => el("th", {scope: "row"}, linkedName(o[0]), el("span", {class: "address"},
        panelLink(`object:${heap.largest.indexOf(o)}`, o[3] ?? "this object")))},
      {title: "Retained", number: true, value: o => o[2], cell: o => bytesCell(o[2])},
      {title: "Share", number: true, bar: true, value: o => o[2], cell: o => shareCell(o[2], heap.totals.bytes)},
      {title: "Own size", number: true, narrow: false, value: o => o[1], cell: o => bytesCell(o[1])},
      {title: "Held by", narrow: false, value: o => o[4].map(saidOf).join(" "), cell: holders},
    ],
  }));
}

export function rootSection() {
  const held = new Map(heap.tree.filter(row => row[0] < 0).map(row => [heap.names[row[1]], row]));
  const row = (/** @type {string} */ label, /** @type {string} */ roots, /** @type {import("./data.js").TreeRow | undefined} */ node) =>
    el("tr", {}, el("th", {scope: "row"}, node ? linkedName(node[1]) : label), el("td", {class: "number"}, roots),
       bytesCell(node ? node[5] : 0), shareCell(node ? node[5] : 0, heap.totals.bytes), countCell(node ? node[4] : 0));
  const rows = heap.root_groups.flatMap((group, i) => heap.roots[i] > 0 ? [row(labelOf(group), count(heap.roots[i]), held.get(`[${group}]`))] : []);
  for (const other of ["[several roots]", "[not reachable from roots]", "[frozen]"]) {
    if (held.has(other)) {
      rows.push(row(labelOf(other), "", held.get(other)));
    }
  }
  section("roots", "Roots", words.EXPLANATIONS.roots,
    wideTable("Roots by kind", el("table", {}, el("thead", {}, el("tr", {},
      el("th", {scope: "col"}, "Kind"), el("th", {scope: "col", class: "number"}, "Roots"), el("th", {scope: "col", class: "number"}, "Retained"),
      el("th", {scope: "col"}, "Share"), el("th", {scope: "col", class: "number"}, "Objects"))), el("tbody", {}, ...rows))));
}

/**
 * @param {[string, number][]} pieces  kind and bytes
 * @param {number} whole
 */
function stackedBar(pieces, whole) {
  const stack = el("span", {class: "bar stacked", "aria-hidden": "true"});
  for (const [kind, size] of pieces) {
    const piece = el("span", {class: kind});
    piece.style.width = `${100 * size / whole}%`;
    stack.append(piece);
  }
  return stack;
}

export function generationSection() {
  if (heap.generations.length === 0) {
    section("generations", "Generations", words.NO_RANGES);
    return;
  }
  const largest = Math.max(...heap.generations.map(g => g[1] + g[3]));
  const unknown = () => el("td", {class: "number"}, "–");
  const rows = heap.generations.flatMap(([objects, size, ranges, free, reserved], i) => objects === 0 && ranges === 0 ? [] : [
    el("tr", {}, el("th", {scope: "row"}, words.GENERATIONS[i]), countCell(objects), bytesCell(size), ranges > 0 ? bytesCell(free) : unknown(),
       roomy(ranges > 0 ? bytesCell(reserved) : unknown()), el("td", {class: "chart"}, stackedBar([["filled", size], ["free", free]], largest)))]);
  section("generations", "Generations", words.EXPLANATIONS.generations,
    el("p", {class: "legend muted", "aria-hidden": "true"}, swatch("filled", "objects"), swatch("free", "free")),
    wideTable("Generations", el("table", {}, el("thead", {}, el("tr", {},
      ...["Generation", "Objects", "Bytes", "Free"].map((t, i) => el("th", {scope: "col", class: i > 0 ? "number" : null}, t)),
      el("th", {scope: "col", class: "number roomy"}, "Reserved"),
      el("th", {scope: "col"}, "Chart"))), el("tbody", {}, ...rows))));
}
