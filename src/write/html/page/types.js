// @ts-check
// All types, and the paths to some of them.
import {heap} from "./data.js";
import {barCell, bytesCell, countCell, el, roomy, section, shareCell} from "./dom.js";
import {heldTree} from "./held.js";
import {linkedName, panelLink} from "./links.js";
import {ORIGINS, nameOf, originOf, visible} from "./names.js";
import {wholeTree} from "./nodes.js";
import {plural, sum} from "./numbers.js";
import {change, valueOf} from "./state.js";
import {sortableTable} from "./table.js";
import * as words from "./words.js";

/**
 * A row of the foot: what TYPES have together.
 * @param {string} name
 * @param {number} objects
 * @param {number} size
 */
function sumRow(name, objects, size) {
  return el("tr", {}, el("th", {scope: "row"}, name), countCell(objects), bytesCell(size), roomy(shareCell(size, heap.totals.bytes)), el("td"),
            el("td", {class: "roomy"}));
}

/** @param {import("./data.js").TypeRow[]} found */
function foot(found) {
  const rows = document.createDocumentFragment();
  const [others, otherObjects, otherBytes] = heap.other_types;
  if (found.length < heap.types.length) {
    rows.append(sumRow(`${plural(found.length, "type")} found`, sum(found, t => t[2]), sum(found, t => t[3])));
    return rows;
  }
  if (others > 0) {
    rows.append(sumRow(`${plural(others, "more type")}, the smallest`, otherObjects, otherBytes));
  }
  rows.append(sumRow("All", heap.totals.objects, heap.totals.bytes));
  return rows;
}

// Words that find types by whose code they are.
const ORIGIN_WORDS = ["code:mine", "code:library", "code:framework", "code:values"];

// Buttons that put such a word into the search.
function chips() {
  return el("span", {class: "chips"}, ...ORIGINS.map((title, i) => el("button", {type: "button", class: "chip", click: () => {
    const others = valueOf("q").split(" ").filter(word => word !== "" && !word.startsWith("code:"));
    change({q: [...valueOf("q").split(" ").includes(ORIGIN_WORDS[i]) ? [] : [ORIGIN_WORDS[i]], ...others].join(" ")});
  }}, title)));
}

export function typeSection() {
  section("types", "Types", words.EXPLANATIONS.types, sortableTable({
    caption: "Types with the number, own size and retained size of their objects",
    rows: heap.types, sortBy: 4, foot, keep: true,
    search: {id: "type-search", label: "Search types", hint: "part of a name or module", more: chips(),
             text: t => `${heap.names[t[0]]} ${t[1]} ${ORIGIN_WORDS[originOf(t[0])] ?? ""}`.toLowerCase()},
    columns: [
      {title: "Type", value: t => nameOf(t[0]), cell: t => el("th", {scope: "row"}, linkedName(t[0]))},
      {title: "Objects", number: true, value: t => t[2], cell: t => countCell(t[2])},
      {title: "Own size", number: true, value: t => t[3], cell: t => bytesCell(t[3])},
      {title: "Share", number: true, bar: true, narrow: false, value: t => t[3], cell: t => shareCell(t[3], heap.totals.bytes)},
      {title: "Retained", number: true, value: t => t[4], cell: t => barCell(t[4], heap.totals.bytes)},
      {title: "Module", narrow: false, value: t => visible(t[1]), cell: t => el("td", {class: "module"}, t[1] === "" ? ""
        : panelLink(`module:${t[1]}`, el("bdi", {dir: "ltr"}, visible(t[1]))))},
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
    place.replaceChildren(heldTree(`Shortest paths to ${nameOf(heap.paths[i].type)}`, whole.children(), whole.bytes, "Ends here").element);
  }
  section("paths", "Paths", words.EXPLANATIONS.paths,
          el("div", {class: "search"}, el("label", {for: "path-type"}, "Paths to"), choice), place);
  show(0);
}
