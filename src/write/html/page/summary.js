// @ts-check
// The heading of the page and what the dump consists of.
import {data, heap} from "./data.js";
import {byId, el, section} from "./dom.js";
import {visible} from "./names.js";
import {bytes, count, exactBytes, milliseconds, plural, sum, timeText} from "./numbers.js";
import * as words from "./words.js";

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
  head(`${title} – heap dump`, title, [dumpTime(), pid && name ? `process ${pid}` : "", runtime ? `.NET ${visible(runtime)}` : ""]);
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

/** @param {import("./data.js").Verdict} verdict */
export function verdictBox({complete, unverified, reasons}, of = "") {
  if (!complete) {
    return el("div", {class: "verdict bad"}, el("p", {}, el("strong", {}, `${of}Incomplete. `), words.INCOMPLETE),
              el("ul", {}, ...reasons.map(reason => el("li", {}, visible(reason)))));
  }
  return unverified ? el("div", {class: "verdict unsure"}, el("p", {}, el("strong", {}, `${of}Not verified. `), words.UNVERIFIED))
                    : el("div", {class: "verdict good"}, el("p", {}, el("strong", {}, `${of}Complete. `), words.COMPLETE));
}

function rootlessBox() {
  return el("div", {class: "verdict unsure"}, el("p", {}, el("strong", {}, "No roots. "), words.noRoots(heap.totals.stand_ins)));
}

/**
 * What the process had besides its objects, before the dump.
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

export function summarySection() {
  const t = heap.totals;
  const dead = t.bytes - t.reachable_bytes;
  const strong = sum(heap.roots, n => n) - heap.roots[heap.root_groups.indexOf("weak handles")];
  const p = heap.process;
  section("summary", "Summary", null, verdictBox(heap.verdict), t.stand_ins > 0 ? rootlessBox() : null,
    heap.memory?.look_for_native ? nativeBox(heap.memory.text) : null,
    el("dl", {class: "stats"},
      tileOf(bytes(t.bytes), "Objects take", exactBytes(t.bytes)),
      tileOf(count(t.objects), "Objects", `of ${plural(t.types, "type")}`),
      tileOf(count(t.references), "References", t.dependent_handles > 0 ? `and ${plural(t.dependent_handles, "dependent handle")}` : null),
      tileOf(count(strong), "Roots", "that keep objects alive"),
      tileOf(bytes(dead), "Not reachable", words.objectsAndShare(dead, t.bytes, t.objects - t.reachable_objects)),
      heap.memory ? tileOf(bytes(heap.memory.resident), "Process", words.residentBefore(heap.memory.gc)) : null,
      heap.gc.pause_ns > 0 ? tileOf(milliseconds(heap.gc.pause_ns), "Pause", "for this dump") : null),
    el("details", {}, el("summary", {}, "Process and runtime"), facts([
      ["Process", visible(p.name)], ["Process id", p.pid ? String(p.pid) : ""], ["Command line", visible(p.command_line)],
      ["Runtime", visible(p.runtime_version)], ["System", visible(p.os)], ["Architecture", visible(p.architecture)], ["Time", dumpTime()],
      ["Garbage collection", heap.gc.number > 0 ? `number ${heap.gc.number}` : ""],
      ["GC heaps", heap.gc.heaps > 0 ? String(heap.gc.heaps) : ""], ...(heap.memory ? memoryFacts(heap.memory) : [])])));
}
