// @ts-check
// One panel for anything: a type, a group of roots, a module, a suspect, one of the largest objects.
import {heap} from "./data.js";
import {changeFacts} from "./diff_facts.js";
import {byId, copyButton, el, listen} from "./dom.js";
import {heldTree, pathTree} from "./held.js";
import {fieldBehind, holderOfKey, linkedName, linkedText, panelLink, typeOfKey} from "./links.js";
import {ORIGINS, nameOf, originOf, saidOf, shortName, shortStep, suffixOf, typeRow, visible} from "./names.js";
import {wayTo} from "./nodes.js";
import {count, exactBytes, sum} from "./numbers.js";
import {allTypes} from "./rest.js";
import {holderName, sharedList, sharedOf, sharedOfType, sharedParts} from "./shared.js";
import {linesOf} from "./sites.js";
import {addressOf, change, valueOf, watch} from "./state.js";
import {allocatedIn, namesOf, pathFromRoot, sentences, suspectContent, suspectDetails} from "./suspects.js";
import {moduleWord} from "./types.js";
import {seriesOf} from "./trend_panel.js";
import * as words from "./words.js";

/** @typedef {import("./nodes.js").Node} Node */
/** @typedef {{toMap: (way: Node[]) => void, toTree: (way: Node[]) => void, tree: Node}} Places */
/** @typedef {{title: string, subtitle: string, parts: (HTMLElement | null)[]}} Content */

/** @param {[string, string | HTMLElement][]} said */
function facts(said) {
  return el("dl", {class: "facts"}, ...said.filter(([, value]) => value !== "").map(([name, value]) =>
    el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

/**
 * @param {string} title
 * @param {import("./data.js").PairRow[] | undefined} rows
 * @param {(row: import("./data.js").PairRow) => string} said
 */
function pairs(title, rows, said) {
  return rows === undefined || rows.length === 0 ? null : el("div", {}, el("h3", {}, title), el("ul", {class: "parts"}, ...rows.map(row =>
    el("li", {}, row[0] < 0 ? el("span", {}, words.HOLDERS[-1 - row[0]]) : linkedName(row[0], true),
       row[3] === undefined ? null : el("span", {class: "muted"}, words.through(visible(row[3]))),
       el("span", {class: "muted"}, ` ${said(row)}`)))));
}

/** @param {string} text  what to type in a debugger or shell */
function command(text) {
  return el("div", {class: "command"}, el("code", {}, text), copyButton("Copy", `Copy: ${text}`, () => text));
}

/** @param {string | null} address @param {number} size @param {number} retained */
function object(address, size, retained) {
  const digits = address === null ? "" : address.slice(2);
  return el("li", {}, el("span", {}, words.objectSizes(size, retained)), address === null ? null : el("span", {class: "address"}, address, " ",
    copyButton("Copy", `Copy the address ${address}`, () => address),
    copyButton("dumpobj", `Copy the command dumpobj for ${address}`, () => `dumpobj ${digits}`),
    copyButton("gcroot", `Copy the command gcroot for ${address}`, () => `gcroot ${digits}`)));
}

/** @param {string} title @param {import("./data.js").ValueRow[] | undefined} rows  undefined: the page has none */
function fieldsOf(title, rows) {
  return rows === undefined ? null : el("div", {}, el("h3", {}, title), el("ul", {class: "parts"}, ...rows.map(([field, value, refers]) =>
    el("li", {}, el("bdi", {dir: "ltr"}, `${visible(field)}${refers === 1 ? " → " : value === "" ? "" : " = "}${visible(value)}`)))));
}

/**
 * Buttons that show this in its places, if it is there.
 * @param {number} number  of its name
 * @param {Places} places
 */
function inPlace(number, {toMap, toTree, tree}) {
  const way = wayTo(tree, number);
  return way.length === 0 ? el("p", {class: "muted"}, words.NOT_IN_TREE) : el("p", {class: "actions"},
    el("button", {type: "button", class: "chip", click: () => toMap(way)}, "Show in the map"),
    el("button", {type: "button", class: "chip", click: () => toTree(way)}, "Show in the tree"));
}

/**
 * @param {number} number
 * @param {Places} places
 * @returns {Content}
 */
function ofType(number, places) {
  const [, module, objects, size, retained] = /** @type {import("./data.js").TypeRow} */ (typeRow(number));
  const detail = heap.details.find(d => d.type === number);
  const rows = detail?.tree ?? heap.paths.find(p => p.type === number)?.tree;
  const name = nameOf(number);
  const paths = rows === undefined ? null : pathTree(`Shortest paths to ${saidOf(number)}`, rows, true);
  return {title: shortStep(number), subtitle: name, parts: [
    facts([["Objects", count(objects)], ["Own size", words.sizeAndShare(size, heap.totals.bytes)],
           ["Retained", words.sizeAndShare(retained, heap.totals.bytes)], ...changeFacts(heap.names[number]),
           ["Module", module === "" ? "" : el("span", {}, panelLink(`module:${module}`, el("bdi", {dir: "ltr"}, visible(module))))],
           ["Code", ORIGINS[originOf(number)] ?? ""],
           ["Generation", (detail?.generations ?? []).map(([i, n, own]) => words.inGeneration(i, n, own)).join("; ")]]),
    inPlace(number, places),
    paths === null ? null : el("div", {}, el("h3", {}, "How the roots reach its objects", paths.button), paths.tree.element),
    linesOf(number),
    pairs("Kept alive by", detail?.above, ([, n, held]) => words.inObjects(held, n)),
    pairs("Keeps alive directly", detail?.below, ([, n, held]) => words.inObjects(held, n)),
    pairs("Refers to", detail?.refs, ([, n]) => words.references(n)),
    sharedList(sharedOfType(number)),
    detail === undefined ? el("p", {class: "muted"}, words.NO_DETAIL) : el("div", {}, el("h3", {}, "Largest objects"),
      el("ul", {class: "parts"}, ...detail.largest.map(([address, own, all]) => object(address, own, all))),
      fieldsOf("Fields of the first", detail.largest[0]?.[3])),
    command(words.pathsCommand(heap.names[number])),
  ]};
}

/**
 * The content for a group of roots or a static variable.
 * @param {number} number
 * @param {Places} places
 * @returns {Content | null}
 */
function ofHolder(number, places) {
  const way = wayTo(places.tree, number);
  const node = way.at(-1);
  const variable = heap.kinds[number] === "s";
  return node === undefined ? null : {title: node.name, subtitle: variable ? words.VARIABLE : words.EXPLANATIONS.roots, parts: [
    facts([["Keeps alive", words.sizeAndShare(node.bytes, heap.totals.bytes)], ["Objects", count(node.objects)],
           ["One of", variable ? el("span", {}, linkedName(way[0].number)) : ""]]),
    inPlace(number, places),
    heldTree(words.holds(node.name, variable), node.children(), node.bytes, "Own size", variable).element]};
}

/** @param {string} name  of a type that the newer dump lacks, or that is too small @returns {Content | null} */
function ofChange(name) {
  const said = changeFacts(name);
  return said.length === 0 ? null : {title: shortName(visible(name)), subtitle: visible(name), parts: [facts(said)]};
}

/** @param {string} name  of a type in several dumps @returns {Content | null} */
function ofSeries(name) {
  const series = seriesOf(name);
  return series === null ? null : {title: shortName(name), subtitle: name, parts: [
    series.module === "" ? null : facts([["Module", series.module]]), ...series.parts, command(words.pathsCommand(name))]};
}

/** @param {string} module @returns {Content | null} */
function ofModule(module) {
  const types = heap.types.filter(t => t[1] === module).sort((a, b) => b[3] - a[3]);
  const size = sum(types, t => t[3]);
  return types.length === 0 ? null : {title: visible(module), subtitle: "", parts: [
    facts([["Types", count(types.length)], ["Objects", count(sum(types, t => t[2]))], ["Own size", words.sizeAndShare(size, heap.totals.bytes)]]),
    el("p", {class: "actions"}, el("button", {type: "button", class: "chip", click: () => change({q: moduleWord(module), view: "types", open: ""})},
       "Show in the table of types")),
    el("ul", {class: "parts"}, ...types.slice(0, 100).map(t => el("li", {}, linkedName(t[0], true),
      el("span", {class: "muted"}, ` ${words.inObjects(t[3], t[2])}`)))),
    types.length > 100 ? el("p", {class: "muted"}, words.moreBelow(types.length - 100, sum(types.slice(100), t => t[3]))) : null]};
}

/** @param {import("./data.js").Suspect} s  returns the name of the type at the end of its path, or -1 */
function lastStep(s) {
  return (s.path ?? []).filter(([number]) => number >= 0).at(-1)?.[0] ?? -1;
}

/** @param {number} i @param {Places} places @returns {Content | null} */
function ofSuspect(i, places, onlyContent = false) {
  const s = (heap.suspects.length > 0 ? heap.suspects : heap.consumer)[i];
  if (s === undefined) {
    return null;
  }
  const title = heap.suspects.length > 0 ? words.suspectTitle(i, s.title, s.size_only) : s.title;
  return {title, subtitle: words.holdsWhat(s, heap.totals.bytes, visible(s.what)), parts: [
    ...sentences(s), ...allocatedIn(s),
    s.advice ? el("p", {}, linkedText(visible(s.advice), namesOf(s))) : null,
    lastStep(s) < 0 ? null : inPlace(lastStep(s), places), sharedList(sharedOf(s)),
    onlyContent ? suspectContent(s, "h3") : suspectDetails(s, "h3")]};
}

/** @param {number} i  a row of what several hold @returns {Content | null} */
function ofShared(i) {
  const row = heap.shared?.[i];
  return row === undefined ? null : {title: words.heldTogether(row.holders.map(holderName)), subtitle: words.SHARED, parts: [
    facts([["Objects", count(row.objects)], ["Retained", words.sizeAndShare(row.bytes, heap.totals.bytes)]]), sharedParts(row),
    ...row.holders.map(holder => pathFromRoot(holder, "h3", words.pathOf(holderName(holder))))]};
}

/** @param {number} i @returns {Content | null} */
function ofObject(i) {
  const o = heap.largest[i];
  return o === undefined ? null : {title: shortStep(o[0]), subtitle: o[3] ?? "", parts: [
    facts([["Type", linkedName(o[0])], ["Own size", exactBytes(o[1])], ["Retained", words.sizeAndShare(o[2], heap.totals.bytes)]]),
    el("ul", {class: "parts"}, object(o[3], o[1], o[2])), fieldsOf("Fields", o[6]),
    el("h3", {}, "Held by"), el("ol", {class: "path"}, ...o[4].map((n, k) => el("li", {}, linkedName(n), fieldBehind(suffixOf(o[5][k])))))]};
}

/**
 * @param {string} key
 * @param {Places} places
 * @returns {Content | null}
 */
function contentOf(key, places) {
  const about = key.slice(key.indexOf(":") + 1);
  const type = typeOfKey(key);
  if (type !== undefined) {
    return ofType(type, places);
  }
  const holder = holderOfKey(key);
  return holder !== undefined ? ofHolder(holder, places) : key.startsWith("change:") ? ofChange(about)
    : key.startsWith("series:") ? ofSeries(about) : key.startsWith("module:") ? ofModule(about)
    : key.startsWith("suspect:") ? ofSuspect(Number(about), places)
    : key.startsWith("content:") ? ofSuspect(Number(about), places, true) : key.startsWith("object:") ? ofObject(Number(about))
    : key.startsWith("shared:") ? ofShared(Number(about)) : null;
}

/** @param {Places} places */
export function panel(places) {
  const place = byId("panel");
  /** @type {Element | null} */
  let before = null;

  function close() {
    change({open: ""});
    // what opened it may be gone, such as the row of a table that was sorted since
    (before instanceof HTMLElement && before.isConnected ? before : byId("content")).focus({preventScroll: true});
  }

  // Escape closes an explanation that has the focus, else the panel, wherever the focus is; a field of a search is emptied first.
  function escape() {
    const at = document.activeElement;
    const about = at?.closest(".about[open]");
    if (about instanceof HTMLDetailsElement) {
      about.open = false;
      about.querySelector("summary")?.focus();
    } else if (!place.hidden && !(at instanceof HTMLInputElement && at.type === "search" && at.value !== "")) {
      close();
    }
  }

  // KEY may be one of the small types.
  async function withAllTypes(/** @type {string} */ key) {
    if (await allTypes() && valueOf("open") === key) {
      show(key);
    }
  }

  /** @param {string} key */
  function show(key) {
    const content = key === "" ? null : contentOf(key, places);
    if (content === null && key.startsWith("type:")) {
      withAllTypes(key);
    }
    if (!place.contains(document.activeElement)) {
      before = document.activeElement;
    }
    place.hidden = content === null;
    document.body.classList.toggle("with-panel", content !== null);
    if (content === null) {
      place.replaceChildren();
      return;
    }
    const title = el("h2", {id: "panel-title", tabindex: "-1"}, el("bdi", {dir: "ltr"}, content.title));
    place.replaceChildren(el("div", {class: "panel-head"}, title,
        copyButton("Link", "Copy a link to this", () => location.href.split("#")[0] + addressOf({})),
        el("button", {type: "button", class: "chip", "aria-label": "Close", click: close}, "✕")),
      ...content.subtitle === "" || content.subtitle === content.title ? [] : [el("p", {class: "muted explanation"},
        el("bdi", {dir: "ltr"}, content.subtitle))],
      ...content.parts.filter(p => p !== null));
    place.scrollTop = 0;
    title.focus({preventScroll: true});
  }

  listen(window, "keydown", event => {
    if (event instanceof KeyboardEvent && event.key === "Escape" && !event.defaultPrevented) {
      escape();
    }
  });
  watch("open", show);
}
