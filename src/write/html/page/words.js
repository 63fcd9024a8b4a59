// @ts-check
// What the page says.  Views hand over numbers and names, and get sentences.
import {bytes, count, exactBytes, plural, share} from "./numbers.js";

export const COMPLETE = "Every event of the dump arrived: all counts and sums agree.";
export const INCOMPLETE = "Something of this dump is missing, so all numbers on this page are lower limits or may be wrong:";
export const UNVERIFIED = "The file that this comes from does not tell whether anything is missing.";
export const NO_RANGES = "The recording does not tell where the generations lie, so nothing can be said about them.";

export const GENERATIONS = ["Generation 0", "Generation 1", "Generation 2", "Large objects", "Pinned objects", "nongc: frozen, or in no range"];

// Behind the headings of sections.
export const EXPLANATIONS = {
  map: "The area is the memory. By what holds it: each rectangle keeps alive what lies inside of it. Click a rectangle to go in, " +
       "a name above the map to go out.",
  types: "Own size is what the objects take themselves. Retained is what would be freed at least if all objects of " +
         "the type went: it holds other types as well, so the column has no sum.",
  tree: "What keeps what alive. An object stands below the one without which it would be freed; objects of one type " +
        "side by side are one row, and so are those of one type that hold each other, such as the links of a list.",
  largest: "Single objects by what they keep alive.",
  paths: "How the garbage collector reaches the objects of a type: their shortest paths from the roots, " +
         "merged. Counts and bytes are those of the type.",
  roots: "What the roots of each kind keep alive alone. Weak handles keep nothing alive; what several roots hold together would " +
         "stay if any one of them went.",
  generations: "Where the objects lie after the collection. Free is what lies between and behind them in memory that is in use.",
  diff: "Objects have no identity between dumps: types are compared by name, nothing else.",
  diffTypes: "What has grown most comes first; numbers without a sign are those of the newer dump.",
};

/** @param {number} n */
export function noRoots(n) {
  return `The dump has none that keeps objects alive, so ${plural(n, "object")} that nothing refers to serve as pseudo-roots: ` +
         "retained sizes and paths are guesses.";
}

/** @param {number} limit @param {boolean} consumer */
export function noSuspects(limit, consumer) {
  return `Nothing keeps so much alive that it looks like a leak (${bytes(limit)} or more). ` +
         "What grows slowly shows when two dumps are compared." + (consumer ? " The largest consumer is:" : "");
}

/** @param {number} limit */
export function someSuspects(limit) {
  return `What may be a leak: things that keep ${bytes(limit)} or more alive, the largest first. Whether they should is for you to say.`;
}

/** @param {import("./data.js").Waits} waits */
export function waiting({operations, stacks, different, bytes: size, rows, ages}) {
  const left = different - rows.length;
  return `${plural(operations, "asynchronous operation")} in ${plural(stacks, "stack")} that keep ${bytes(size)} alive. ` +
         "Below what is awaited stands who waits for it, the innermost method first." +
         (ages ? " Old are those that have survived an earlier collection." : "") +
         (left > 0 ? ` The ${plural(left, "rarest form")} of stacks are left out.` : "");
}

/** @param {number} size @param {number} objects */
export function inObjects(size, objects) {
  return `${bytes(size)} in ${plural(objects, "object")}`;
}

/** @param {number} part @param {number} whole @param {number} objects */
export function objectsAndShare(part, whole, objects) {
  return `${plural(objects, "object")}, ${share(part, whole)}`;
}

/** @param {string} text  what gcdumpc says of the memory of the process */
export function beforeTheDump(text) {
  return `Before the dump, ${text}.`;
}

/** @param {number | undefined} gc  bytes of the GC heap */
export function residentBefore(gc) {
  return gc === undefined ? "resident before the dump" : `resident before the dump, ${bytes(gc)} of it the GC heap`;
}

export const UNFOLD = "all steps";
export const FOLD = "fewer steps";

/** @param {number} n */
export function hiddenSteps(n) {
  return `\u2026 ${plural(n, "step")} of the framework and libraries`;
}

/** @param {number} n */
export function repeated(n) {
  return `${count(n)} one behind the other`;
}

/** @param {number} n */
export function keeps(n) {
  return `keeps ${bytes(n)}`;
}

/** @param {number} n  bytes; changes below it are not there */
export function leftOut(n) {
  return "Shortest paths from the roots, merged by name: where the objects hang that have come or gone. " +
         (n > 1 ? `Steps that have changed by less than ${exactBytes(n)} are left out.` : "Steps that have not changed are left out.");
}

/** @param {string} version */
export function writtenBy(version) {
  return `Written by gcdumpc ${version}. This page loads nothing and sends nothing.`;
}
