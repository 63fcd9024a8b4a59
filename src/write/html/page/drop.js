// @ts-check
// A second dump in the same page: the file of another page is dropped here or chosen, and this page then shows what has grown.
import {compared, ownTypes, timeOf, typesByName} from "./compared.js";
import {byId, el, listen, stopListening} from "./dom.js";
import {visible} from "./names.js";
import {restOf} from "./rest.js";
import * as words from "./words.js";

// Where the data of a page are; this text must not end its own script.
const BEGIN = '<script type="application/json" id="data">';
const END = "<\/script>";
// Bytes; a page has at most 5 MB.
const MOST = 64 << 20;

/**
 * The data of one dump in the text of a page, or null.
 * @param {string} page
 */
function dataIn(page) {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END, begin);
  return begin < 0 || end < 0 ? null : heapIn(page.slice(begin + BEGIN.length, end));
}

/** @param {string} text  data of a page */
function heapIn(text) {
  const heap = JSON.parse(text);
  return heap.kind === "heap" ? {text, heap: /** @type {import("./data.js").Heap} */ (heap)} : null;
}

/**
 * Runs the page again with other data.
 * @param {string} text
 */
function showInstead(text) {
  stopListening();
  byId("data").textContent = text;
  document.body.className = "";
  document.documentElement.removeAttribute("data-ready");
  for (const id of ["kicker", "title", "subtitle", "sections", "content", "panel", "footer"]) {
    byId(id).replaceChildren();
  }
  byId("panel").hidden = true;
  const script = document.scripts[document.scripts.length - 1];
  const again = el("script");
  again.textContent = script.textContent;
  script.replaceWith(again);
  scrollTo(0, 0);
  byId("content").focus({preventScroll: true});
}

/** The file of this page; its address may not be well-formed. */
function ownFile() {
  const [, name = ""] = /([^/]*)$/.exec(location.pathname) ?? [];
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** @param {File} file */
async function compareWith(file) {
  const mine = heapIn(byId("data").textContent ?? "");
  const other = file.size > MOST ? null : dataIn(await file.text());
  if (mine === null || other === null) {
    throw new TypeError("not the page of one dump");
  }
  const name = ownFile();
  // The dropped one is the older one, unless it was made later.
  const later = timeOf(other.heap.gc) > timeOf(mine.heap.gc);
  const [older, newer] = later ? [mine, other] : [other, mine];
  const rest = [await restOf(older.heap), await restOf(newer.heap)];
  const types = [typesByName(older.heap, rest[0]), typesByName(newer.heap, rest[1])];
  const all = compared([older.heap, newer.heap], later ? [name, file.name] : [file.name, name], types, ownTypes(newer.heap, rest[1]));
  const begin = JSON.stringify(all).replaceAll("<", "\\u003c");
  showInstead(`${begin.slice(0, -1)},"newer":${newer.text}}`);
}

/** The place in the page where a second dump can be chosen; the whole page takes one that is dropped. */
export function dropPlace() {
  const said = el("p", {role: "status", class: "muted"});
  /** @param {File | undefined} file */
  async function take(file) {
    if (file === undefined) {
      return;
    }
    try {
      said.textContent = words.comparing(visible(file.name));
      await compareWith(file);
    } catch {
      said.textContent = words.noPage(visible(file.name));
      said.scrollIntoView({block: "nearest"});
    }
  }
  const input = el("input", {type: "file", id: "second-dump", accept: ".html,.htm", change: () => take(input.files?.[0])});
  const files = (/** @type {DragEvent} */ event) => [...event.dataTransfer?.types ?? []].includes("Files");
  listen(document, "dragover", event => {
    if (event instanceof DragEvent && files(event)) {
      event.preventDefault();
    }
  });
  listen(document, "drop", event => {
    if (event instanceof DragEvent && files(event)) {
      event.preventDefault();
      take(event.dataTransfer?.files[0]);
    }
  });
  return el("details", {class: "second"}, el("summary", {}, words.SECOND_DUMP), el("p", {class: "muted"}, words.HOW_TO_COMPARE),
            el("div", {class: "search"}, el("label", {for: input.id}, words.OTHER_PAGE), input), said);
}
