// @ts-check
// What may be a leak, with the path to it and what it holds.
import {data, heap} from "./data.js";
import {bytesCell, copyButton, countCell, el, section, unfolding, wideTable} from "./dom.js";
import {fieldBehind, linkedName, linkedText, linkedVariable, panelLink, variableNumber} from "./links.js";
import {labelOf, visible} from "./names.js";
import {bytes, share, signed} from "./numbers.js";
import {sharedLink} from "./shared.js";
import * as words from "./words.js";

/** @typedef {import("./data.js").Suspect} Suspect */

/**
 * The names that a suspect is about.
 * @param {Suspect} s
 */
export function namesOf({path, held, content, own, root_name: variable}) {
  return [variableNumber(variable), ...(path ?? []).map(step => step[0]), ...held.map(part => part[0]), ...content.map(part => part[0]),
          ...own.map(part => part[0])]
    .filter(number => number >= 0);
}

/** The suspects; of two dumps those that have grown, or the largest consumer.  The others come behind them. */
export function shownSuspects() {
  return heap.suspects.length > 0 ? heap.suspects.filter(s => s.worth !== false) : heap.consumer;
}

/** @param {import("./data.js").StepRow} step */
function pathStep([number, repeats, retained, dependent, fold, field = ""]) {
  return el("li", {class: fold > 0 ? "folded" : null},
    number < 0 ? el("span", {class: "muted"}, words.moreObjects(repeats)) : linkedName(number, true),
    fieldBehind(field),
    number >= 0 && repeats > 1 ? el("span", {class: "muted"}, ` ${words.repeated(repeats)}`) : null,
    dependent ? el("span", {class: "muted"}, " by a dependent handle") : null,
    el("span", {class: "muted"}, ` ${words.keeps(retained)}`));
}

/**
 * The steps, with a line before consecutive hidden ones that tells their number.
 * @param {import("./data.js").StepRow[]} steps
 */
function foldedSteps(steps) {
  return steps.flatMap((step, i) => {
    if (step[4] !== 2 || (i > 0 && steps[i - 1][4] === 2)) {
      return [pathStep(step)];
    }
    const end = steps.findIndex((other, k) => k > i && other[4] !== 2);
    return [el("li", {class: "fold muted"}, words.hiddenSteps((end < 0 ? steps.length : end) - i)), pathStep(step)];
  });
}

/**
 * The path from the root to a suspect or a holder, one step below the other; a button unfolds those of the framework.
 * @param {{root_group?: number, root_name?: string, path?: import("./data.js").StepRow[]}} s
 * @param {"h3" | "h4"} heading
 */
export function pathFromRoot(s, heading, title = "Held by") {
  const root = s.root_group === undefined ? null : labelOf(heap.root_groups[s.root_group]);
  const steps = s.path ?? [];
  const list = el("ol", {class: "path"}, el("li", {}, el("strong", {}, root === null ? words.UNKNOWN_ROOT : panelLink(`root:${root}`, root)),
                  s.root_name ? el("span", {}, " ", linkedVariable(s.root_name)) : null),
                  ...foldedSteps(steps));
  const toggle = el("button", {type: "button", class: "chip", "aria-expanded": "false", click: () => {
    const all = list.classList.toggle("unfolded");
    toggle.textContent = all ? words.FOLD : words.UNFOLD;
    toggle.setAttribute("aria-expanded", String(all));
  }}, words.UNFOLD);
  return el("div", {}, el(heading, {}, title, steps.some(step => step[4] > 0) ? toggle : null), list);
}

/**
 * @param {string} title
 * @param {import("./data.js").PartRow[]} parts
 * @param {"h3" | "h4"} heading
 */
function suspectParts(title, parts, heading) {
  return el("div", {}, el(heading, {}, title), el("ul", {class: "parts"}, ...parts.map(([number, objects, size]) =>
    el("li", {}, linkedName(number, true), el("span", {class: "muted"}, ` ${words.each(size, objects)}`)))));
}

/**
 * @param {Suspect} s
 * @param {"h3" | "h4"} heading  the level at this place
 */
export function suspectContent(s, heading) {
  return el("div", {class: "columns"}, s.held.length > 0 ? suspectParts("Directly below it", s.held, heading) : null,
            s.content.length > 0 ? suspectParts("All that it keeps, by type", s.content, heading) : null);
}

/**
 * @param {Suspect} s
 * @param {"h3" | "h4"} heading
 */
export function suspectDetails(s, heading) {
  const content = suspectContent(s, heading);
  content.prepend(...s.path ? [pathFromRoot(s, heading)] : []);
  return content;
}

/**
 * What is free is no part of what lives.
 * @param {Suspect} s
 */
function ofAll(s) {
  return s.free ? bytes(s.bytes) : `${bytes(s.bytes)}, ${share(s.bytes, heap.totals.bytes)} of all`;
}

/**
 * Where it is and how much, in one line.
 * @param {Suspect} s
 * @param {number} i
 */
function headline(s, i) {
  return [s.grown === undefined ? words.levelOf(s, heap.suspects) : null, panelLink(`suspect:${i}`, visible(s.place)),
          s.grown === undefined ? null : el("span", {class: s.grown > 0 ? "grown" : s.grown < 0 ? "shrunk" : "same"}, ` ${signed(s.grown, bytes)}`),
          el("span", {class: "muted"}, ` ${ofAll(s)}: ${visible(s.what)}`)];
}

/**
 * What has come since the older dump, and what it is.
 * @param {Suspect} s
 */
export function sentences(s) {
  const told = [el("p", {}, linkedText(visible(s.sentence), namesOf(s))), ...s.keys === undefined ? [] : [el("p", {}, visible(s.keys))]];
  return s.growth === undefined ? told : [el("p", {}, linkedText(visible(words.growth(s.growth)), namesOf(s))), ...told];
}

/**
 * Where most of it was allocated, if that was sampled.
 * @param {Suspect} s
 */
export function allocatedIn(s) {
  return s.allocated === undefined ? [] : [el("p", {}, linkedText(visible(s.allocated), namesOf(s)))];
}

/**
 * What to look at next, and how sure it is that something is wrong; the largest consumer of a healthy heap has neither.
 * @param {Suspect} s
 */
function advice(s) {
  const said = s.advice === "" ? [] : [el("p", {class: "advice"}, linkedText(visible(s.advice), namesOf(s)))];
  return s.evidence === "" || s.advice === "" ? said : [...said, el("p", {class: "muted"}, s.evidence)];
}

/**
 * @param {Suspect} s
 * @param {number} i
 * @param {boolean} first  nothing above tells what to do next
 */
function suspectArticle(s, i, first) {
  return el("article", {class: "suspect", "aria-labelledby": `suspect-${i}`},
    el("h3", {id: `suspect-${i}`}, `${i + 1}. `, ...headline(s, i)),
    ...sentences(s),
    ...allocatedIn(s),
    ...advice(s),
    first ? el("p", {class: "actions"}, sharedLink(s), ...copies(s)) : null,
    unfolding("Details", i === 0, () => suspectDetails(s, "h4")));
}

/**
 * Buttons that copy commands.
 * @param {Suspect} s
 */
function copies(s) {
  const last = (s.path ?? []).filter(step => step[0] >= 0).at(-1);
  return [last === undefined ? null : copyButton("all paths", words.COPY_PATHS, () => words.pathsCommand(heap.names[last[0]])),
          data.kind === "heap" ? copyButton("compare", words.COPY_COMPARE, words.compareCommand) : null];
}

/**
 * For the top of the page: the suspects and what to do next.  One that is not in the bar has no colour: it shares its bytes with others, or the page
 * of two dumps has no bar.
 * @param {number} most
 */
export function suspectLines(most) {
  return el("ol", {class: "answers"}, ...shownSuspects().slice(0, most).map((s, i) => el("li", {},
    s.counted && s.growth === undefined && heap.suspects.length > 0 ?
      el("span", {class: `swatch suspect${Math.min(i, 5)}`, "aria-hidden": "true"}) : null,
    el("strong", {}, ...headline(s, i)), ...sentences(s), ...allocatedIn(s), ...advice(s),
    el("span", {class: "actions"}, panelLink(`suspect:${i}`, s.path ? "path" : "details"),
       s.content.length > 0 ? panelLink(`content:${i}`, "content") : null, sharedLink(s), ...copies(s)))));
}

export function waitingLines() {
  return [heap.blocked ? el("p", {class: "note"}, "Waiting: ", visible(heap.blocked)) : null,
          heap.waits?.jam ? el("p", {class: "note"}, "Waiting: ", el("a", {href: "#waiting"}, visible(heap.waits.jam))) : null];
}

// What is large and no fault, such as pools; the largest consumer has said what it is.
export function noteLines() {
  const [told] = heap.suspects.length > 0 ? [] : heap.consumer;
  return heap.notes.map(([sentence, ...more]) => el("p", {class: "note"},
    visible(`Note: ${(sentence === told?.sentence ? more : [sentence, ...more]).join(" ")}`)));
}

// All checks, whether they have found something or not.
function checkTable() {
  const rows = heap.checks.map(([title, what, found, objects, least, size, leastBytes]) => el("tr", {}, el("th", {scope: "row"}, title),
    countCell(found), countCell(objects), el("td", {}, what), bytesCell(size), el("td", {}, words.limits(least, leastBytes))));
  const head = ["Kind", "Found", "Most", "Of", "Bytes", "Limit"].map(title => el("th", {scope: "col"}, title));
  return wideTable("What was looked for", el("table", {}, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...rows)));
}

// What is said first; the pages of two dumps begin with what has grown.
function headlineSentence() {
  return visible(heap.suspects.length > 0 ? heap.headline : words.noSuspects(heap.headline, heap.suspect_bytes, heap.consumer.length > 0));
}

export function headlineLine() {
  return heap.suspects[0]?.growth === undefined ? el("p", {class: "headline"}, headlineSentence()) : null;
}

/** What is said of two dumps before the suspects that have grown. */
export function saidLines() {
  const said = data.kind !== "diff" ? [] : data.said ?? [];
  return said.map((text, i) => el("p", {class: i === 1 ? "advice" : i === 2 ? "muted" : null},
    visible(i === 0 ? words.growth(text.replace(/\.$/, "")) : text)));
}

/**
 * @param {string} title
 * @param {(globalThis.Node | null)[]} top  what comes before them; nothing unless they come first
 */
export function suspectSection(title = words.suspectsTitle(heap.suspects), top = []) {
  const limit = heap.suspect_bytes;
  const shown = shownSuspects();
  const others = heap.suspects.slice(shown.length);
  const explanation = heap.suspects.length === 0 ? headlineSentence()
    : heap.suspects[0].growth === undefined ? words.someSuspects(limit) : words.BY_GROWTH;
  const first = top.length > 0;
  const complete = data.kind !== "diff" || data.sides.every(side => side.verdict.complete);
  const said = saidLines();
  section("suspects", title, explanation, ...top, ...first ? [headlineLine(), ...waitingLines()] : [],
    ...said, said.length === 0 && others.length > 0 && shown.length === 0 ? el("p", {}, words.notGrown(complete)) : null,
    ...shown.map((s, i) => suspectArticle(s, i, first)),
    others.length > 0 ? unfolding(words.grewLess(others.length), false, () =>
      el("div", {}, ...others.map((s, i) => suspectArticle(s, shown.length + i, first)))) : null,
    ...noteLines(), unfolding("What was looked for", false, checkTable));
}
