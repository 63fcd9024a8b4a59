// @ts-check
// The heading of the page and the composition of the dump.
import {data, heap} from "./data.js";
import {byId, el, section, swatch} from "./dom.js";
import {linkedName} from "./links.js";
import {visible} from "./names.js";
import {bytes, count, exactBytes, milliseconds, plural, sum, timeText} from "./numbers.js";
import {lineOf} from "./sites.js";
import {headlineLine, noteLines, suspectLines, waitingLines} from "./suspects.js";
import * as words from "./words.js";

// Number of suspects at the top.
const SHOWN = 5;

/** @param {[string, string][]} pairs */
function facts(pairs) {
  return el("dl", {class: "facts"}, ...pairs.filter(([, value]) => value !== "").map(([name, value]) =>
    el("div", {}, el("dt", {}, name), el("dd", {}, el("bdi", {dir: "ltr"}, value)))));
}

function dumpTime() {
  return timeText(heap.gc.start_unix_ms === undefined ? NaN : heap.gc.start_unix_ms + Math.round(heap.gc.start_ns / 1e6));
}

export function heading() {
  const {name, pid, runtime_version: runtime} = heap.process;
  const title = visible(name) || (pid ? `Process ${pid}` : "Heap dump");
  const dart = heap.process.format === "dart";
  byId("kicker").textContent = dart ? "Dart heap dump" : ".NET heap dump";
  head(`${title} – heap dump`, title, [dumpTime(), pid && name ? `process ${pid}` : "", runtime ? `.NET ${visible(runtime)}` : "",
                                       words.whichDump(heap.loss.number, heap.loss.dumps)]);
}

/**
 * @param {string} windowTitle
 * @param {string} title
 * @param {string[]} notes
 */
export function head(windowTitle, title, notes) {
  document.title = windowTitle;
  byId("title").append(el("bdi", {dir: "ltr"}, title));
  byId("subtitle").textContent = notes.filter(note => note !== "").join("  ·  ");
  byId("footer").textContent = words.writtenBy(data.gcdumpc);
}

/**
 * Completeness in one line; the details unfold.
 * @param {import("./data.js").Verdict} verdict
 * @param {import("./data.js").Loss} [loss]
 */
export function verdictBox({complete, unverified, reasons}, of = "", loss = undefined, objects = 0) {
  if (complete) {
    return unverified ? el("div", {class: "verdict unsure"}, el("p", {}, el("strong", {}, `${of}Not verified. `), words.UNVERIFIED))
                      : el("div", {class: "verdict good"}, el("p", {}, el("strong", {}, `${of}Complete. `), words.COMPLETE));
  }
  const list = el("ul", {}, ...reasons.map(reason => el("li", {}, words.reason(visible(reason)))));
  const onlyNames = loss?.first === "types_undescribed" && reasons.length === 1;
  const said = loss === undefined ? words.INCOMPLETE
    : onlyNames ? `${words.NO_NAMES} ${words.remedy(loss)}` : `${words.arrived(loss, objects)} ${words.INCOMPLETE} ${words.remedy(loss)}`;
  return el("div", {class: "verdict bad"}, el("p", {}, el("strong", {}, onlyNames ? `${of}Without names. ` : `${of}Incomplete. `), said),
            el("details", {open: loss === undefined}, el("summary", {}, "What is missing"), list));
}

function rootlessBox() {
  return el("div", {class: "verdict unsure"}, el("p", {}, el("strong", {}, "No roots. "), words.noRoots(heap.totals.stand_ins)));
}

/**
 * The memory of the process outside its objects, before the dump.
 * @param {import("./data.js").Memory} memory
 * @returns {[string, string][]}
 */
function memoryFacts({resident, gc, native, file, shared, swapped, cgroup_limit: limit, cgroup_used: used}) {
  return [["Resident before the dump", bytes(resident)], ["GC heap", gc === undefined ? "not known" : bytes(gc)],
          ["Native or unknown", native === undefined ? "" : bytes(native)], ["Files", bytes(file)], ["Shared memory", bytes(shared)],
          ["Swapped out", swapped > 0 ? bytes(swapped) : ""], ["Cgroup", limit > 0 ? `${bytes(used)} of ${bytes(limit)}` : ""]];
}

/** @param {string} text */
function nativeBox(text) {
  return el("div", {class: "verdict unsure"}, el("p", {}, el("strong", {}, "Native memory. "), words.beforeTheDump(text)));
}

/**
 * @param {string} value
 * @param {string} label
 * @param {string | null} note
 */
export function tileOf(value, label, note) {
  return el("div", {class: "stat"}, el("dt", {}, label),
            el("dd", {}, el("span", {class: "value"}, value), note ? el("span", {class: "note"}, note) : null));
}

/**
 * Pieces side by side, each as wide as its bytes.  WHOLE: the base of shares; free memory is beside it.
 * @param {{kind: string, name: string, bytes: number}[]} pieces
 * @param {number} whole
 * @param {string} name  class of the whole
 */
function stacked(pieces, whole, name = "answer-bar") {
  const all = sum(pieces, p => p.bytes);
  const shown = pieces.filter(p => p.bytes > 0);
  const line = el("span", {class: "bar stacked", "aria-hidden": "true"}, ...shown.map(p => {
    const piece = el("span", {class: p.kind, title: words.piece(p.name, p.bytes, p.kind === "free" ? 0 : whole)});
    piece.style.width = `${100 * p.bytes / all}%`;
    return piece;
  }));
  return el("div", {class: name}, line, el("p", {class: "legend muted"},
    ...shown.map(p => swatch(p.kind, words.piece(p.name, p.bytes, p.kind === "free" ? 0 : whole)))));
}

// All memory of the heap: what the suspects keep alive (without those whose bytes others have), what the program's other objects keep alive, the
// other live objects, what nothing holds, and what is free.
function answerBar() {
  const {bytes: whole, reachable_bytes: live, own_bytes: own} = heap.totals;
  const all = heap.suspects.map((s, i) => ({kind: `suspect${Math.min(i, SHOWN)}`, name: visible(s.place), bytes: s.counted ? s.bytes : 0}));
  const further = all.slice(SHOWN);
  const suspects = [...all.slice(0, SHOWN), {kind: `suspect${SHOWN}`, name: words.furtherOnes(heap.suspects), bytes: sum(further, s => s.bytes)}];
  const left = Math.max(0, live - sum(suspects, s => s.bytes));
  const mine = Math.min(own, left);
  return stacked([...suspects, {kind: "colour0", name: suspects.some(s => s.bytes > 0) ? "My other code" : "My code", bytes: mine},
                  {kind: "colour2", name: "Framework and libraries", bytes: left - mine}, {kind: "dead", name: "Not reachable", bytes: whole - live},
                  {kind: "free", name: "Free", bytes: sum(heap.generations, g => g[3])}], whole);
}

// The colours of the parts of the process's memory; what nobody can tell is hatched.
const PARTS = new Map([["alive", "colour0"], ["not_reachable", "dead"], ["free", "free"], ["unused", "unused"], ["native_or_unknown", "unknown"],
                       ["files", "colour2"], ["shared", "colour4"]]);

// Dead objects by type, each with the lines that allocate the type where allocations were sampled.
function deadTypes() {
  const rows = heap.dead ?? [];
  const more = (heap.dead_types ?? 0) - rows.length;
  return rows.length === 0 ? null : el("div", {class: "dead-types"}, el("h3", {}, words.DEAD), el("ul", {class: "parts"},
    ...rows.map(([type, objects, size]) => el("li", {}, linkedName(type, true), el("span", {class: "muted"},
      ` ${words.each(size, objects)}${words.allocatedAt(lineOf(type))}`)))),
    more > 0 ? el("p", {class: "muted"}, words.moreTypes(more)) : null);
}

// Where all memory of the process is; what is not known is in the legend without a number.
function memoryBar() {
  const parts = heap.memory_parts;
  const bar = stacked(parts.map(([key, title, size]) => ({kind: PARTS.get(key) ?? "unknown", name: title, bytes: size})), 0, "memory-bar");
  const unknown = parts.filter(([, , size, known]) => size === 0 && !known)
    .map(([key, title]) => key === "not_reachable" ? words.DIED_BEFORE : title);
  bar.prepend(el("p", {}, words.whereMemoryIs(heap.memory?.resident)));
  if (unknown.length > 0) {
    bar.append(el("p", {class: "legend muted"}, swatch("unknown", words.notKnown(unknown))));
  }
  return el("details", {open: heap.memory !== undefined}, el("summary", {}, "All memory of the process"), bar, deadTypes());
}

/** What is missing, and what else makes the numbers doubtful. */
export function warnings() {
  return [verdictBox(heap.verdict, "", heap.loss, heap.totals.objects), heap.totals.stand_ins > 0 ? rootlessBox() : null,
          heap.memory?.look_for_native ? nativeBox(heap.memory.text) : null];
}

// In a heap without suspects, calls that hang are the answer; else they are on the first screen, too, above what is long.
function answers() {
  const none = heap.suspects.length === 0;
  return [...none ? waitingLines() : [], headlineLine(), ...none ? [] : waitingLines(), suspectLines(SHOWN),
          heap.suspects.length > SHOWN ? el("p", {}, el("a", {href: "#suspects"}, words.furtherSuspects(heap.suspects.length - SHOWN))) : null];
}

// An event dump has none: they died before it.
/** @param {typeof heap.totals} t */
function deadTile(t) {
  const dead = t.bytes - t.reachable_bytes;
  return dead > 0 ? tileOf(bytes(dead), "Not reachable", words.objectsAndShare(dead, t.bytes, t.objects - t.reachable_objects)) : null;
}

// The suspects, unless they come FIRST and are above already, and the sizes of everything.  LAST: what comes behind them.
export function summarySection(first = false, /** @type {HTMLElement | null} */ last = null) {
  const t = heap.totals;
  const strong = sum(heap.roots, n => n) - heap.roots[heap.root_groups.indexOf("weak roots")];
  const p = heap.process;
  document.body.classList.add("heap");
  document.body.classList.toggle("incomplete", !heap.verdict.complete);
  section("summary", "Summary", null, ...first ? [] : warnings(),
    t.bytes > 0 ? answerBar() : null,
    ...first ? [] : answers(),
    ...first ? [] : noteLines(),
    t.bytes > 0 ? memoryBar() : null,
    el("dl", {class: "stats"},
      tileOf(bytes(t.bytes), "Objects take", exactBytes(t.bytes)),
      tileOf(count(t.objects), "Objects", `of ${plural(t.types, "type")}`),
      tileOf(count(t.references), "References", t.dependent_handles > 0 ? `and ${plural(t.dependent_handles, "dependent handle")}` : null),
      tileOf(count(strong), "Roots", "that keep objects alive"),
      deadTile(t),
      heap.memory ? tileOf(bytes(heap.memory.resident), "Process", words.residentBefore(heap.memory.gc)) : null,
      heap.gc.pause_ns > 0 ? tileOf(milliseconds(heap.gc.pause_ns), "Pause", "for this dump") : null),
    el("details", {}, el("summary", {}, "Process and runtime"), facts([
      ["Process", visible(p.name)], ["Process id", p.pid ? String(p.pid) : ""], ["Command line", visible(p.command_line)],
      ["Runtime", visible(p.runtime_version)], ["System", visible(p.os)], ["Architecture", visible(p.architecture)], ["Time", dumpTime()],
      ["Dump", words.whichDump(heap.loss.number, heap.loss.dumps)],
      ["Garbage collection", heap.gc.number > 0 ? `number ${heap.gc.number}` : ""],
      ["GC heaps", heap.gc.heaps > 0 ? String(heap.gc.heaps) : ""], ...(heap.memory ? memoryFacts(heap.memory) : [])])), last);
}
