// @ts-check
// All types, and the paths to some of them.
import {heap} from "./data.js";
import {barCell, bytesCell, countCell, el, roomy, section, shareCell} from "./dom.js";
import {pathTree} from "./held.js";
import {linkedName, panelLink} from "./links.js";
import {NO_MODULE, ORIGINS, callOf, modules, originOf, saidOf, visible} from "./names.js";
import {plural, sum} from "./numbers.js";
import {allTypes, waitingTypes} from "./rest.js";
import {change, valueOf, watch} from "./state.js";
import {sortableTable} from "./table.js";
import {withTools} from "./tree.js";
import * as words from "./words.js";

/**
 * A row of the foot: the sums of several types.
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
  const [others, otherObjects, otherBytes] = (heap.rest_types ?? [0, 0, 0]).map((n, i) => n + heap.other_types[i]);
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

// Search words for the origins of types.
const ORIGIN_WORDS = ["code:mine", "code:library", "code:framework", "code:values"];
// Number of modules that have chips.
const CHIPS = 6;

/** @param {string} module */
export function moduleWord(module) {
  return `module:${module.replace(/\s/g, "_")}`;
}

/**
 * Buttons that put a word into the search, at most one of each kind.
 * @param {[title: string, word: string][]} all
 */
function chips(all) {
  const given = () => valueOf("q").split(" ").filter(word => word !== "");
  const buttons = all.map(([title, word]) => el("button", {type: "button", class: "chip", "aria-pressed": "false", click: () => {
    const kind = word.slice(0, word.indexOf(":") + 1);
    change({q: [...given().includes(word) ? [] : [word], ...given().filter(other => !other.startsWith(kind))].join(" ")});
  }}, title));
  const mark = () => buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(given().includes(all[i][1]))));
  watch("q", mark);
  return el("span", {class: "chips"}, ...buttons);
}

/** @param {import("./data.js").TypeRow} type */
function searched(type) {
  return `${heap.names[type[0]]} ${callOf(type[0]) ?? ""} ${moduleWord(type[1])} ${ORIGIN_WORDS[originOf(type[0])] ?? ""}`.toLowerCase();
}

export function typeSection() {
  const moduleChips = modules().filter(module => module !== NO_MODULE).slice(0, CHIPS);
  section("types", "Types", words.EXPLANATIONS.types, sortableTable({
    caption: "Types with the number, own size and retained size of their objects",
    rows: heap.types, sortBy: 4, foot, keep: true, more: {waiting: waitingTypes, load: allTypes},
    search: {id: "type-search", label: "Search types", hint: "part of a name or module", text: searched,
             more: chips([...ORIGINS.map((title, i) => /** @type {[string, string]} */ ([title, ORIGIN_WORDS[i]])),
                          ...moduleChips.map(module => /** @type {[string, string]} */ ([module, moduleWord(module).toLowerCase()]))])},
    columns: [
      {title: "Type", value: t => saidOf(t[0]), cell: t => el("th", {scope: "row"}, linkedName(t[0]))},
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
  const treeAt = (/** @type {number} */ i) => pathTree(`Shortest paths to ${saidOf(heap.paths[i].type)}`, heap.paths[i].tree);
  const place = el("div", {"aria-live": "off"});
  const choice = el("select", {id: "path-type", change: () => show(choice.selectedIndex)},
                    ...heap.paths.map(p => el("option", {}, saidOf(p.type))));
  /** @param {number} i */
  function show(i) {
    choice.selectedIndex = i;
    const {tree, button} = treeAt(i);
    place.replaceChildren(...withTools("path-search", "Search the paths", tree, button));
  }
  section("paths", "Paths", words.EXPLANATIONS.paths,
          el("div", {class: "search"}, el("label", {for: "path-type"}, "Paths to"), choice), place);
  show(0);
}
