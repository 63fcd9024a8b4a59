// @ts-check
// Two dumps side by side: what has grown, and what makes the comparison doubtful.
import {diff} from "./data.js";
import {byId, el, section} from "./dom.js";
import {LARGE_PART, METRIC, answerOn, delta, typeRow, wayOfGrowth} from "./diff_rows.js";
import {linked} from "./links.js";
import {originOf, visible} from "./names.js";
import {bytes, count, plural, signed, timeText} from "./numbers.js";
import {head, tileOf, verdictBox} from "./summary.js";
import {noteLines, saidLines, suspectLines, waitingLines} from "./suspects.js";
import * as words from "./words.js";

/** @typedef {import("./data.js").Side} Side */
/** @typedef {import("./diff_rows.js").Row} Row */
/** @typedef {import("./diff_rows.js").Step} Step */

export const hasNewer = diff.newer !== undefined;

// Parts of the heap by which it must have grown: for an answer, and for one about types that are not the program's own.
const WORTH_GROWTH = 0.01;
const WORTH_OTHERS = 0.05;
// Part of the growth that is an answer.
const WORTH_PART = 0.1;
// Types at the top.
const SHOWN = 5;

/** @param {Side} side */
function titleOf(side) {
  return visible(side.title || side.program || side.name);
}

export function diffHeading() {
  const [older, newer] = diff.sides;
  const title = titleOf(newer);
  byId("kicker").textContent = "Two heap dumps";
  head(`${title} – two heap dumps`, title, [words.between(older.unix_ms, newer.unix_ms)]);
}

/** @param {string} when @param {Side} side */
function sideColumn(when, side) {
  return el("div", {class: "side"}, el("h3", {}, `${when}: `, el("bdi", {dir: "ltr"}, titleOf(side))), el("dl", {class: "facts"}, ...[
    ["File", visible(side.name)], ["Program", visible(side.program || side.title) || "not known"],
    ["Process", side.process > 0 ? String(side.process) : "not known"],
    ["Time", side.unix_ms === undefined ? "not known" : timeText(side.unix_ms)],
    ["Objects take", `${bytes(side.bytes)} in ${plural(side.objects, "object")}`]].map(([name, value]) =>
    el("div", {}, el("dt", {}, name), el("dd", {}, el("bdi", {dir: "ltr"}, value))))), verdictBox(side.verdict, `${when} dump: `));
}

/** @param {number} part  of the older heap */
function hasGrownBy(part) {
  const [before, after] = diff.sides;
  return after.bytes > before.bytes && after.bytes - before.bytes >= part * before.bytes;
}

// Holds the descriptions that the runtime makes of its own events when the first event session opens.
const OBSERVED = "System.Diagnostics.Tracing.NativeRuntimeEventSource";

/**
 * The program's own types, if some of them have grown.
 * @param {Row[]} rows
 */
function largestGrowth(rows) {
  const all = rows.filter(r => delta(r, METRIC) > 0).sort((a, b) => delta(b, METRIC) - delta(a, METRIC));
  const own = all.filter(r => originOf(r.number) === 0);
  const observed = all.filter(r => r.name === OBSERVED).reduce((sum, r) => sum + delta(r, METRIC), 0);
  if (own.length === 0 && observed > 0 && observed >= (diff.sides[1].bytes - diff.sides[0].bytes) / 2) {
    return el("p", {class: "note"}, words.fromBeingObserved(observed));
  }
  const grown = (own.length > 0 ? own : hasGrownBy(WORTH_OTHERS) ? all : []).slice(0, SHOWN);
  return el("ol", {class: "answers"}, ...grown.map(r => el("li", {}, linked(r, true), " ",
    words.grown(delta(r, METRIC), delta(r, "objects"), METRIC === "retained"))));
}

/** @param {Step[]} steps */
function headline(steps) {
  const [before, after] = diff.sides;
  const answer = answerOn(wayOfGrowth(steps)) ?? answerOn(wayOfGrowth(steps, LARGE_PART));
  const worth = answer !== null && hasGrownBy(WORTH_GROWTH) && delta(answer.element, "bytes") >= WORTH_PART * (after.bytes - before.bytes);
  return el("p", {class: "answer"}, words.change(before, after), ...answer === null || !worth ? ["."]
    : [": ", linked(answer.owner, true), ` ${signed(answer.objects, count)} `, linked(answer.element, true)]);
}

/** @param {Step[]} steps */
export function diffSummary(steps) {
  const [before, after] = diff.sides;
  const rows = diff.rows.map(typeRow);
  const warnings = words.differences(before, after);
  document.body.classList.toggle("incomplete", diff.sides.some(side => !side.verdict.complete));
  section("summary", "Summary", words.EXPLANATIONS.diff,
    headline(steps),
    warnings.length > 0 ? el("div", {class: "verdict unsure"}, ...warnings.map(text => el("p", {}, text))) : null,
    ...waitingLines(),
    ...diff.newer?.suspects.some(s => s.worth) ? [...saidLines(), suspectLines(SHOWN)]
      : diff.said !== undefined && diff.said.length > 1 ? saidLines() : [...saidLines(), largestGrowth(rows)],
    ...noteLines(), diff.dropped ? el("p", {class: "muted"}, words.COMPARED_HERE) : null,
    el("div", {class: "columns"}, sideColumn("Older", before), sideColumn("Newer", after)),
    el("dl", {class: "stats"},
      tileOf(signed(after.bytes - before.bytes, bytes), "Objects take", words.beforeAndNow(bytes(before.bytes), bytes(after.bytes))),
      tileOf(signed(after.objects - before.objects, count), "Objects", words.beforeAndNow(count(before.objects), count(after.objects))),
      diff.retained ? tileOf(signed(after.retained - before.retained, bytes), "Alive",
                             words.beforeAndNow(bytes(before.retained), bytes(after.retained))) : null,
      tileOf(count(rows.filter(r => r.before.objects === 0).length), "New types", null),
      tileOf(count(rows.filter(r => r.after.objects === 0).length), "Vanished types", null)));
}

