// @ts-check
// All types, and the paths to some of them.
import {heap} from "./data.js";
import {bytesCell, countCell, el, named, roomy, section, shareCell} from "./dom.js";
import {heldTree} from "./held.js";
import {nameOf, visible} from "./names.js";
import {wholeTree} from "./nodes.js";
import {plural} from "./numbers.js";
import {sortableTable} from "./table.js";
import * as words from "./words.js";

let showPaths = (/** @type {number} */ _type) => {};

/** @param {number} type */
function pathButton(type) {
  return el("button", {type: "button", class: "chip", "aria-label": `Paths to ${nameOf(type)}`, click: () => showPaths(type)}, "paths");
}

export function typeSection() {
  const withPaths = new Set(heap.paths.map(p => p.type));
  const total = heap.totals.bytes;
  const [others, otherObjects, otherBytes] = heap.other_types;
  const row = (/** @type {string} */ name, /** @type {number} */ objects, /** @type {number} */ size) =>
    el("tr", {}, el("th", {scope: "row"}, name), countCell(objects), bytesCell(size), roomy(shareCell(size, total)), el("td"),
       el("td", {class: "roomy"}));
  const foot = document.createDocumentFragment();
  if (others > 0) {
    foot.append(row(`${plural(others, "more type")}, the smallest`, otherObjects, otherBytes));
  }
  foot.append(row("All", heap.totals.objects, total));
  section("types", "Types", words.EXPLANATIONS.types, sortableTable({
    caption: "Types with the number, own size and retained size of their objects",
    rows: heap.types, sortBy: 4, foot,
    search: {id: "type-search", label: "Search types", hint: "part of a name or module", text: t => `${heap.names[t[0]]} ${t[1]}`.toLowerCase()},
    columns: [
      {title: "Type", value: t => nameOf(t[0]), cell: t => el("th", {scope: "row"}, named({name: nameOf(t[0]), kind: "t"}),
        withPaths.has(t[0]) ? pathButton(t[0]) : null)},
      {title: "Objects", number: true, value: t => t[2], cell: t => countCell(t[2])},
      {title: "Own size", number: true, value: t => t[3], cell: t => bytesCell(t[3])},
      {title: "Share", number: true, bar: true, narrow: false, value: t => t[3], cell: t => shareCell(t[3], total)},
      {title: "Retained", number: true, value: t => t[4], cell: t => bytesCell(t[4])},
      {title: "Module", narrow: false, value: t => t[1], cell: t => el("td", {class: "module"}, visible(t[1]))},
    ],
  }));
}

export function pathSection() {
  if (heap.paths.length === 0) {
    return;
  }
  const place = el("div", {"aria-live": "off"});
  const choice = el("select", {id: "path-type", change: () => show(choice.selectedIndex)},
                    ...heap.paths.map(p => el("option", {}, nameOf(p.type))));
  /** @param {number} i */
  function show(i) {
    choice.selectedIndex = i;
    const whole = wholeTree(heap.paths[i].tree, "");
    place.replaceChildren(heldTree(`Shortest paths to ${nameOf(heap.paths[i].type)}`, whole.children(), whole.bytes, "Ends here"));
  }
  const card = section("paths", "Paths", words.EXPLANATIONS.paths,
                       el("div", {class: "search"}, el("label", {for: "path-type"}, "Paths to"), choice), place);
  show(0);
  showPaths = type => {
    show(heap.paths.findIndex(p => p.type === type));
    card.scrollIntoView();
    choice.focus();
  };
}
