// @ts-check
// What has grown since an older dump, from the data of the pages of both: as gcdumpc diff writes it into a page of two dumps.
import {boundsOf, comeIn} from "./come.js";
import {shortName} from "./names.js";
import {comeAdvice, comeText, filling, fillsArray, isLimited, itGrew, itHas, suspectHasGrown} from "./words.js";

/** @typedef {import("./data.js").Heap} Heap */
/** @typedef {import("./data.js").Suspect} Suspect */
/** @typedef {[objects: number, bytes: number, retained: number]} Sizes */
/** @typedef {{kind: string, name: string, field: string, call: string, fold: number, sizes: [Sizes, Sizes],
 *            own: [number, number], below: Map<string, Step>}} Step
 * own: objects, without those of the steps below */
/** @typedef {{come: import("./come.js").Come | null, bounds: import("./come.js").Bounds}} Answer */

// Rows of the tree.
const STEPS = 8000;
// A suspect is worth a word if it has this part of the growth, and this one of the heap or, with so many more objects, so many bytes.
const WORTH = 0.1;
const WORTH_HEAP = 0.01;
const WORTH_OBJECTS = 0.1;
const WORTH_BYTES = 65536;
const NONE = /** @type {Sizes} */ ([0, 0, 0]);

/**
 * The sizes of all types by name.
 * @param {Heap} heap
 * @param {[string, ...any[]][]} rest  the types that are compressed in the page
 */
export function typesByName(heap, rest) {
  /** @type {Map<string, Sizes>} */
  const types = new Map();
  const add = (/** @type {string} */ name, /** @type {Sizes} */ [objects, bytes, retained]) => {
    const before = types.get(name) ?? NONE;
    types.set(name, [before[0] + objects, before[1] + bytes, before[2] + retained]);
  };
  heap.types.forEach(([name, , ...sizes]) => add(heap.names[name], [sizes[0], sizes[1], sizes[2]]));
  rest.forEach(([name, , ...sizes]) => add(name, [sizes[0], sizes[1], sizes[2]]));
  return types;
}

/**
 * @param {[Heap, Heap]} heaps
 * @param {Map<string, Sizes>[]} types
 */
function typeRows(heaps, types) {
  // A type that is in one page alone may be one of those that the other page only counts.
  const counted = heaps.map(heap => heap.other_types[0] > 0);
  const other = [0, heaps[0].other_types[1], heaps[0].other_types[2], heaps[1].other_types[1], heaps[1].other_types[2]];
  other[0] = Math.max(heaps[0].other_types[0], heaps[1].other_types[0]);
  /** @type {[string, ...number[]][]} */
  const rows = [];
  for (const name of new Set([...types[0].keys(), ...types[1].keys()])) {
    const [before, after] = types.map(one => one.get(name));
    if ((before === undefined && counted[0]) || (after === undefined && counted[1])) {
      [before ?? NONE, after ?? NONE].forEach(([objects, bytes], i) => {
        other[1 + 2 * i] += objects;
        other[2 + 2 * i] += bytes;
      });
    } else {
      rows.push([name, ...before ?? NONE, ...after ?? NONE]);
    }
  }
  return {rows: rows.sort((a, b) => (b[6] - b[3]) - (a[6] - a[3])), other_rows: other};
}

/**
 * Adds the dominator tree of HEAP to the steps below ALL.
 * @param {Step} all
 * @param {Heap} heap
 * @param {0 | 1} when
 * @returns {number} the largest size that a missing step can have
 */
function addTree(all, heap, when) {
  const calls = new Map(heap.calls);
  const left = heap.tree.map(row => row[5] - row[3]);
  /** @type {Step[]} */
  const steps = [];
  for (const [parent, number, own, , objects, bytes, field = 0, fold = 0] of heap.tree) {
    const kind = heap.kinds[number];
    const name = kind === "s" ? `static variable ${heap.names[number]}` : heap.names[number];
    const up = parent < 0 ? all : steps[parent];
    const key = `${kind}${field > 0 ? heap.fields[field - 1] : ""}\n${name}`;
    const step = up.below.get(key) ?? {kind, name, field: field > 0 ? heap.fields[field - 1] : "", call: "", fold, below: new Map(), own: [0, 0],
                                       sizes: /** @type {[Sizes, Sizes]} */ ([[0, 0, 0], [0, 0, 0]])};
    step.call = calls.get(number) ?? step.call;
    step.own[when] += own;
    step.sizes[when][0] += objects;
    step.sizes[when][1] += bytes;
    up.below.set(key, step);
    steps.push(step);
    if (parent >= 0) {
      left[parent] -= bytes;
    }
  }
  return left.some(n => n > 0) ? heap.tree.reduce((least, row) => Math.min(least, row[5]), Infinity) : 1;
}

/** @param {Step} step */
function changed({sizes: [before, after]}) {
  return after[1] - before[1];
}

/**
 * The steps that have changed by LEAST or more, each before those below it.
 * @param {Step} all
 * @param {number} least
 */
function stepsOf(all, least) {
  /** @type {{depth: number, step: Step}[]} */
  const found = [];
  const open = [{depth: -1, step: all}];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const {depth, step} = at;
    if (depth >= 0) {
      found.push(at);
    }
    const below = [...step.below.values()].filter(one => Math.abs(changed(one)) >= least).sort((a, b) => changed(a) - changed(b));
    open.push(...below.map(one => ({depth: depth + 1, step: one})));
  }
  return found;
}

/** @param {Step} all @param {number} leastStep */
function stepRows(all, leastStep) {
  let least = leastStep;
  let found = stepsOf(all, least);
  while (found.length > STEPS) {
    least *= 2;
    found = stepsOf(all, least);
  }
  const texts = (/** @type {"call" | "field"} */ key) => found.flatMap(({step}, i) => step[key] === "" ? [] : [[i, step[key]]]);
  return {steps: found.map(({depth, step: {name, fold, sizes: [before, after]}}) => [depth, name, fold, before[0], before[1], after[0], after[1]]),
          least_step: least, calls: texts("call"), fields: texts("field")};
}

/**
 * At most so many bytes of a suspect are new: the heap has no more of what moved to it from other holders.
 * @param {Suspect} s
 * @param {Heap} heap
 * @param {Map<string, Sizes>[]} types
 */
function newBytes(s, heap, types) {
  const come = (/** @type {string} */ name) => {
    const [before, after] = types.map(all => all.get(name) ?? NONE);
    return Math.max(0, after[1] - before[1]);
  };
  const all = [...types[1].keys()].reduce((sum, name) => sum + come(name), 0);
  const told = s.content.map(([number, , size]) => [size, come(heap.names[number])]);
  const sum = (/** @type {number[]} */ numbers) => numbers.reduce((a, b) => a + b, 0);
  return sum(told.map(([size, one]) => Math.min(size, one))) +
    Math.min(Math.max(0, s.bytes - sum(told.map(one => one[0]))), all - sum(told.map(one => one[1])));
}

/**
 * Is it an array as long as before, in which what has come has left no room?
 * @param {Suspect} s
 * @param {Suspect | undefined} same
 * @param {number | undefined} had
 * @param {number} has
 */
function isFull({elements: [, , places = 0] = [0, 0]}, same, had, has) {
  return places > 0 && same?.elements?.[2] === places && has >= places && had !== undefined && has > had;
}

/**
 * The objects of a suspect of the type NAME, of which there are many.
 * @param {Suspect} s
 * @param {Heap} heap
 * @param {string} name
 */
function countIn({elements, held, own}, heap, name) {
  const parts = [...elements === undefined ? [] : [elements], ...held, ...own.slice(0, 1)];
  const counts = parts.filter(part => heap.names[part[0]] === name).map(part => part[1]);
  return counts.length > 0 ? Math.max(...counts) : undefined;
}

/**
 * Of objects of the type NAME in a suspect, what it had, if that is known, and has.
 * @param {Suspect} s
 * @param {Suspect | undefined} same  that of the older dump
 * @param {[Heap, Heap]} heaps
 * @param {Map<string, Sizes>[]} types
 * @param {string} many
 */
function partsOf(s, same, heaps, types, many) {
  const inHeap = types.map(all => all.get(many)?.[0] ?? 0);
  const has = countIn(s, heaps[1], many) ?? 0;
  const had = inHeap[0] === 0 ? 0 : same === undefined ? undefined : countIn(same, heaps[0], many);
  const objects = had === undefined ? inHeap : [had, has];
  return {many, had, has, inHeap, objects, hasMore: many === "" || objects[1] > objects[0], full: isFull(s, same, had, has)};
}

/** @param {Suspect} s @param {Heap} heap */
function manyIn(s, heap) {
  const number = s.elements?.[0] ?? (s.held.length > 0 && s.held[0][1] > 1 ? s.held[0][0] : -1);
  return number >= 0 ? heap.names[number] : "";
}

/** The program's type of which most of a collection consists, within its elements. @param {Suspect} s @param {Heap} heap */
function withinIn({elements, own: [own], bytes}, heap) {
  return elements !== undefined && own !== undefined && own[0] !== elements[0] && own[2] >= Math.floor(bytes / 2) ? heap.names[own[0]] : "";
}

/**
 * By how many bytes a suspect has grown, and the objects of which there are more.
 * @param {Suspect} s
 * @param {[Heap, Heap]} heaps
 * @param {Map<string, Sizes>[]} types
 */
function growthOf(s, heaps, types) {
  const same = heaps[0].suspects.find(other => other.title === s.title && other.place === s.place);
  const last = (s.path ?? []).filter(step => step[0] >= 0).at(-1);
  const holder = last === undefined ? "" : heaps[1].names[last[0]];
  const [before, after] = types.map(all => all.get(manyIn(s, heaps[1])) ?? NONE);
  const [one, now] = types.map(all => all.get(holder) ?? NONE);
  // The only object of its type keeps what its type keeps.
  const grown = same !== undefined ? s.bytes - same.bytes : one[0] <= 1 && now[0] === 1 ? s.bytes - one[2]
    : after[0] > before[0] ? Math.round(s.bytes * (after[0] - before[0]) / after[0]) : 0;
  const parts = partsOf(s, same, heaps, types, manyIn(s, heaps[1]));
  const within = partsOf(s, same, heaps, types, withinIn(s, heaps[1]));
  return {grown: Math.min(grown, newBytes(s, heaps[1], types)), ...!parts.hasMore && within.many !== "" && within.hasMore ? within : parts,
          sameElements: !parts.hasMore};
}

/** Without what exists to observe the process. @param {Heap} heap */
function ownBytes({totals: {bytes, observed}}) {
  return bytes - observed;
}

/**
 * What has come in an element of a suspect, of which there are no more, is told instead of it; and of what has a limit nothing is accused.
 * @param {import("./come.js").Come} come
 * @param {Suspect} s
 * @param {number} grown  by how many bytes
 * @param {string[]} names
 */
function explains(come, s, grown, names) {
  return come.bytes >= grown / 2 || (come.ownerBytes >= grown / 2 && s.own.some(([number]) => names[number] === come.element.name));
}

/**
 * The suspects of the newer dump, the most grown first.
 * @param {[Heap, Heap]} heaps
 * @param {Map<string, Sizes>[]} types
 * @param {Answer} answer
 */
function growths(heaps, types, {come, bounds: {limit}}) {
  const all = Math.max(0, ownBytes(heaps[1]) - ownBytes(heaps[0]));
  const complete = heaps.map(h => h.verdict.complete);
  return heaps[1].suspects.map((s, suspect) => {
    const {grown, many, had, has, inHeap, objects, full, sameElements} = growthOf(s, heaps, types);
    const part = all === 0 || grown > all * 1.1 ? 0 : Math.min(grown, all) / all;
    const more = objects[1] > objects[0] && objects[1] - objects[0] >= WORTH_OBJECTS * objects[0];
    const least = Math.max(WORTH * all, more ? WORTH_BYTES : WORTH_HEAP * heaps[1].totals.bytes);
    const counts = many === "" ? "" : itHas(shortName(many), had, has, inHeap);
    const told = come !== null && ((limit !== null && many === come.element.name) || (sameElements && explains(come, s, grown, heaps[1].names)));
    const worth = grown > 0 && grown >= least && !told;
    return {suspect, grown, worth: worth && !full, full: worth && full, counted: s.counted, ...suspectHasGrown(s, grown, part, counts, complete)};
  }).sort((a, b) => b.grown - a.grown);
}

/** What sentences call a step. @param {Step} step @returns {Step} */
function inShort(step) {
  return step.name.startsWith("static variable ") ? step : {...step, name: shortName(step.name)};
}

/**
 * What is said before the suspects, if none explains what has come.
 * @param {[Heap, Heap]} heaps
 * @param {Answer} answer
 * @param {{grown: number, worth: boolean, full: boolean, counted: boolean, growth: string}[]} suspects
 */
function saidOf(heaps, {come, bounds: {limit, equal, design}}, suspects) {
  const most = Math.max(0, ...suspects.map(({grown, worth, counted}) => worth && counted ? grown : 0));
  const array = suspects.find(({full}) => full);
  if (most === 0 && array !== undefined) {
    return {said: [fillsArray(array.growth)]};
  }
  const limited = limit !== null || design?.[2] === true;
  const said = come === null ? null : {...come, owner: inShort(come.owner), element: inShort(come.element)};
  if (said === null || come === null || (limited ? most > 0 : most >= come.bytes / 2)) {
    return {};
  }
  if (limited) {
    return {said: [design?.[2] === true ? isLimited(said, design[3]) : limit !== null ? filling(said, limit) : ""]};
  }
  return {said: [`${comeText(said)}.`, comeAdvice(said, design !== undefined, equal), itGrew(heaps[0].verdict.complete)]};
}

/** The types of the program. @param {Heap} heap @param {[string, ...any[]][]} rest */
export function ownTypes(heap, rest) {
  return new Set([...heap.types.filter(row => row[5] === 0).map(row => heap.names[row[0]]), ...rest.filter(row => row[5] === 0).map(row => row[0])]);
}

/** @param {Heap} heap @param {string} file @returns {import("./data.js").Side} */
function side({process, gc, totals, verdict}, file) {
  return {name: file, title: process.name, program: process.command_line, process: process.pid, verdict,
          ...gc.start_unix_ms === undefined ? {} : {unix_ms: timeOf(gc)},
          objects: totals.objects, bytes: totals.bytes, retained: totals.reachable_bytes};
}

/** @param {import("./data.js").Collection} gc */
export function timeOf({start_unix_ms: start = NaN, start_ns: after}) {
  return start + Math.round(after / 1e6);
}

/**
 * The data of a page of two dumps but for the newer one.
 * @param {[Heap, Heap]} heaps  older, newer
 * @param {[string, string]} files
 * @param {Map<string, Sizes>[]} types  of both
 * @param {Set<string>} own  types of the program
 */
export function compared(heaps, files, types, own) {
  const {rows, other_rows: others} = typeRows(heaps, types);
  /** @type {Step} */
  const all = {kind: "", name: "", field: "", call: "", fold: 0, below: new Map(), own: [0, 0], sizes: [[0, 0, 0], [0, 0, 0]]};
  const least = Math.max(addTree(all, heaps[0], 0), addTree(all, heaps[1], 1));
  const come = comeIn(all, [ownBytes(heaps[0]), ownBytes(heaps[1])], types, own);
  const answer = {come, bounds: come === null ? {limit: null, equal: null, design: undefined} : boundsOf(heaps, types, come)};
  const suspects = growths(heaps, types, answer);
  return {kind: "diff", gcdumpc: heaps[1].gcdumpc, retained: true, has_steps: true, dropped: true,
          sides: [side(heaps[0], files[0]), side(heaps[1], files[1])], rows, other_rows: others, ...stepRows(all, least), growths: suspects,
          ...saidOf(heaps, answer, suspects)};
}
