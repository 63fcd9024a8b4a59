// @ts-check
// What asynchronous operations wait for: stacks of async methods.
import {heap} from "./data.js";
import {bytesCell, countCell, el, named, section, shareCell} from "./dom.js";
import {visible} from "./names.js";
import {plural} from "./numbers.js";
import {sortableTable} from "./table.js";
import * as words from "./words.js";

/** @param {import("./data.js").WaitRow} row */
function stackCell([, , , leftOut, frames]) {
  const items = frames.map(([name, probable, repeats]) => el("li", {}, named({name: visible(name), kind: "t"}),
    repeats ? el("span", {class: "muted"}, " several times one after another") : null,
    probable ? el("span", {class: "muted"}, " (probably)") : null));
  return el("th", {scope: "row"}, el("ol", {class: "path"}, ...items,
            leftOut > 0 ? el("li", {class: "muted"}, `${plural(leftOut, "more frame")}`) : null));
}

export function waitSection() {
  const waits = heap.waits;
  if (waits === undefined) {
    return;
  }
  /** @type {import("./table.js").Column<import("./data.js").WaitRow>[]} */
  const old = waits.ages ? [{title: "Old", number: true, narrow: false, value: w => w[1], cell: w => countCell(w[1])}] : [];
  section("waiting", "Waiting", words.waiting(waits), sortableTable({
    caption: "Stacks of asynchronous methods",
    rows: waits.rows, sortBy: 1,
    columns: [
      {title: "Awaited, then who waits for it", value: w => w[4].map(frame => frame[0]).join(" "), cell: stackCell},
      {title: "Stacks", number: true, value: w => w[0], cell: w => countCell(w[0])},
      ...old,
      {title: "Retained", number: true, value: w => w[2], cell: w => bytesCell(w[2])},
      {title: "Share", number: true, bar: true, narrow: false, value: w => w[2], cell: w => shareCell(w[2], heap.totals.bytes)},
    ],
  }));
}
