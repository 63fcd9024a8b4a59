// @ts-check
// The data of the page as gcdumpc wrote them (html_json.c for one dump, html_diff.c for two side by side, html_trend.c for several).

/**
 * A row of a tree: parent row or -1, name, own objects, own bytes, objects and bytes with all below.  Parents come first.  field: of the parent, that
 * leads to it: 0 or 1 + its number in fields.  fold, only for paths: as in StepRow.
 * @typedef {[parent: number, name: number, ownObjects: number, ownBytes: number, objects: number, bytes: number, field?: number,
 *            fold?: number]} TreeRow
 */

// origin: 0 the program's own code, 1 a library, 2 the framework.
/** @typedef {[name: number, module: string, objects: number, bytes: number, retained: number, origin: number]} TypeRow */
/**
 * holders: from the root on; fields: of each the field that leads to the next one, as in TreeRow.
 * @typedef {[name: number, bytes: number, retained: number, address: string | null, holders: number[], fields: number[],
 *            values?: ValueRow[]]} LargeRow
 */
/** @typedef {[type: number, objects: number, bytes: number]} PartRow */
/**
 * @typedef {[name: number, repeats: number, retained: number, dependent: boolean, fold: number, field?: string]} StepRow
 * name -1: omitted objects; fold: 0 shown, 1 an internal object of the collection before it, 2 hidden; field: that leads to the next step,
 * "._byUser", and behind it the key, where it may be seen
 */

/**
 * held and content are types below it, own those of the program; elements: those of a collection, and the length of an array;
 * path goes from the root to it.  place, what: for its one line; evidence: how sure it
 * is.  counted: no other suspect has its bytes.  growth: what grew since the older of two dumps; grown: by how many
 * bytes; worth: a part of all growth that is worth a word.
 * @typedef {{title: string, sentence: string, keys?: string, allocated?: string, advice: string, evidence: string, size_only?: boolean,
 *            free?: boolean, place: string, what: string,
 *            objects: number, bytes: number, retained: number, counted: boolean, grown?: number, worth?: boolean, growth?: string,
 *            held: PartRow[], elements?: [name: number, objects: number, places?: number],
 *            content: PartRow[], own: PartRow[], root_group?: number, root_name?: string, path?: StepRow[]}} Suspect
 */

/**
 * path: from the root to what holds, which is its last step, with the field; none: the static variable itself.
 * @typedef {{root_group?: number, root_name?: string, path: StepRow[]}} HolderRow
 */
/**
 * What two to four hold together.  objects: the topmost ones, parts: these by type; all bytes are retained ones.
 * @typedef {{objects: number, bytes: number, parts: PartRow[], holders: HolderRow[]}} SharedRow
 */

/**
 * A note: its owner or static variable, the program's types in it, is its limit known, and the advice.
 * @typedef {[owner: number | string, types: number[], limited: boolean, advice: string]} DesignRow
 */

/**
 * A check and the largest numbers it has seen; a limit of 0 does not apply.
 * @typedef {[title: string, what: string, found: number, objects: number, leastObjects: number, bytes: number, leastBytes: number]} CheckRow
 */

/** @typedef {{complete: boolean, unverified: boolean, reasons: string[]}} Verdict */
/**
 * Memory before the dump, in bytes; cgroup 0: none.
 * @typedef {{resident: number, gc?: number, native?: number, file: number, shared: number, swapped: number, cgroup_limit: number,
 *            cgroup_used: number, look_for_native: boolean, text: string}} Memory
 */
/**
 * @typedef {{name: string, pid: number, command_line: string, os: string, architecture: string, runtime_version: string,
 *            format: string}} Process
 */
// Objects that did not arrive (exact, or a lower bound), types without a name, the first reason of the verdict; dump NUMBER of DUMPS.
/** @typedef {{objects: number, exact: boolean, undescribed: number, first: string, dumps: number, number: number}} Loss */
/** @typedef {{start_unix_ms?: number, start_ns: number, pause_ns: number, number: number, heaps: number}} Collection */

/**
 * own_bytes: of the program's own objects, with what they keep alive, outside the suspects.
 * @typedef {{objects: number, bytes: number, references: number, types: number, roots: number, dependent_handles: number,
 *            reachable_objects: number, reachable_bytes: number, own_bytes: number, observed: number, stand_ins: number}} Totals
 * observed: bytes of what exists to observe the process.
 */

/** @typedef {[field: string, value: string, refers?: number]} ValueRow  a field of an object; refers: the value is the type of what it refers to */
/** @typedef {[generation: number, objects: number, bytes: number]} AgeRow  generation: a number of generations below */
/** @typedef {[type: number, count: number, bytes: number, field?: string]} PairRow  type -1: no single object, -2: nothing; field: "._byUser" */

/**
 * Details of a type: the types that dominate its objects, that they dominate and refer to; the largest objects: address, own and retained bytes.
 * @typedef {{type: number, above: PairRow[], below: PairRow[], refs: PairRow[],
 *            largest: [address: string | null, own: number, retained: number, values?: ValueRow[]][],
 *            generations: AgeRow[], tree?: TreeRow[]}} Detail
 */

/**
 * How many objects of a type those of another one hold: owners that have any, their elements, the most in one, owners with as many, and with at
 * least three quarters.  Not in the newer part of a page of two dumps.
 * @typedef {[owner: number, element: number, owners: number, elements: number, most: number, full: number, nearly: number,
 *             field?: string, limit?: number]} FillRow
 */
/** @typedef {[objects: number, bytes: number, ranges: number, free: number, reserved: number]} GenerationRow */

/**
 * A frame that waits for its parent (-1: it is awaited itself); name: in names of the waits; flags: 1 it probably waits, 2 the method waits for
 * itself, 4 the frame includes those that wait for it; type: the name of a type or -1.
 * @typedef {[parent: number, name: number, flags: number, type: number]} WaitFrame
 */
/** @typedef {[frame: number, stacks: number, old: number, bytes: number]} WaitRow  frame: the outermost one */

/**
 * Stacks of asynchronous operations, the most frequent first.  bytes: what only these keep alive.  ages: the number of old ones is known.
 * @typedef {{operations: number, stacks: number, different: number, bytes: number, ages: boolean, jam?: string, names: string[],
 *            frames: WaitFrame[], rows: WaitRow[]}} Waits
 */

/**
 * Sampled allocations.  objects, bytes: alive, estimated.  names, frames, rows: stacks as in Waits, with callers as parents, and types as innermost
 * frames, which follow the methods.  lines: name of a type, method with its line, living objects, bytes, standard error.
 * @typedef {{samples: number, alive: number, window_ms: number, settle_ms: number, followed: boolean, objects: number, bytes: number,
 *            different: number,
 *            methods: number, names: string[], frames: WaitFrame[], rows: WaitRow[],
 *            lines: [type: number, line: string, objects: number, bytes: number, error: number][]}} Sites
 */

/**
 * One dump.  start: the first section, "map" or "suspects".
 * names and kinds: texts and what they name, "t" a type, "s" a static variable, "r" a group of roots or similar.  calls: what people
 * call objects of a type, "async Shop.Checkout.Pay", by the number of its name.  fields: names of fields, "_byUser".
 * outer: types in which types in names are nested, "Shop.Cart" of "Shop.Cart.Item".
 * rest_types, other_types: number, objects and bytes of those that are not in types; rest_packed has the rows of rest_types, with a text as name,
 * compressed with gzip, in base64.  dead: the largest of the dead_types types of dead objects.
 * consumer: the largest consumer if there are no suspects.
 * roots: number in each group of root_groups.  generations: 0, 1, 2, large, pinned, and outside of ranges.
 * paths: per type, the paths to its objects; own numbers count the objects at the end of a path.
 * @typedef {{kind: "heap", start: string, gcdumpc: string, verdict: Verdict, process: Process, loss: Loss, gc: Collection,
 *            memory?: Memory, memory_parts: [key: string, title: string, bytes: number, known: boolean][],
 *            totals: Totals, root_groups: string[], roots: number[], names: string[], kinds: string[],
 *            fields: string[], calls: [name: number, call: string][], outer: string[], types: TypeRow[],
 *            other_types: [number, number, number], rest_types?: [number, number, number], rest_packed?: string, tree: TreeRow[],
 *            largest: LargeRow[],
 *            paths: {type: number, tree: TreeRow[]}[], details: Detail[], suspects: Suspect[], consumer: Suspect[],
 *            suspect_bytes: number, headline: string, notes: string[][], shared?: SharedRow[], fills?: FillRow[],
 *            designs?: DesignRow[],
 *            dead?: PartRow[], dead_types?: number, checks: CheckRow[],
 *            generations: GenerationRow[], sites?: Sites, blocked?: string, waits?: Waits}} Heap
 */

/**
 * One of several dumps.  name: of its file.  title: name of the process.
 * @typedef {{name: string, title: string, program: string, process: number, unix_ms?: number, objects: number, bytes: number, retained: number,
 *            verdict: Verdict}} Side
 */

/** @typedef {[depth: number, name: string, fold: number, ...numbers: number[]]} StepChange */

/**
 * Two dumps.  sides: the older and the newer one.  rows: type, objects, bytes (and with retained the retained size) before, the same after.
 * other_rows: types, objects and bytes before and after that are not in rows.  steps: depth, name, fold (as in StepRow), objects and bytes before
 * and after; parents come first; changes of less than least_step bytes are left out.  calls: as in Heap, by the number of the step.
 * fields: what leads to a step, "_byUser", by its number.  newer: the newer dump as a whole.  dropped: steps are dominators.
 * @typedef {{kind: "diff", gcdumpc: string, sides: [Side, Side], retained: boolean, has_steps: boolean, rows: [string, ...number[]][],
 *            other_rows: number[], steps: StepChange[], calls: [step: number, call: string][], fields: [step: number, field: string][],
 *            least_step: number, newer?: Heap, dropped?: boolean, said?: string[]}} Diff
 * said: before the suspects: what has come, where to look, and how sure it is; or that none has grown.
 */

// A quantity over several dumps: its trend (an index of words.WAYS or -1), growth per hour (null: times are unknown), then its values (null: a
// summary does not list the type).
/** @typedef {[way: number, hourly: number | null, ...values: (number | null)[]]} SeriesRow */

/**
 * Several dumps, oldest first.  rows: name and module of a type, bytes, objects and, with retained, what they retain.  other_rows: types that are
 * not in rows.  sites: lines that keep more, in bytes per hour, of the first and the last dump with sampled allocations; most growth first.
 * @typedef {[type: string, method: string, file: string, line: number, before: number, after: number]} GrownSite
 * @typedef {{kind: "trend", gcdumpc: string, retained: boolean, dumps: Side[],
 *            rows: [name: string, module: string, bytes: SeriesRow, objects: SeriesRow, retained?: SeriesRow][], other_rows: number,
 *            sites?: GrownSite[]}} Trend
 */

// Large parts of a heap, each on its own line (html_json.c), so that the first screen need not parse what it does not show.
const LARGE = ["tree", "paths", "details"];

/**
 * LINE, `,"key":value`, becomes a value of OWNER when it is first read.
 * @param {object} owner
 * @param {string} key
 * @param {string} line
 */
function parseLater(owner, key, line) {
  const define = (/** @type {PropertyDescriptor} */ how) => Object.defineProperty(owner, key, {configurable: true, enumerable: true, ...how});
  define({get: () => {
    const value = JSON.parse(line.slice(line.indexOf(":") + 1));
    define({value, writable: true});
    return value;
  }});
}

function parsed() {
  const lines = /** @type {HTMLElement} */ (document.getElementById("data")).textContent.split("\n");
  const later = LARGE.map(key => ({key, line: lines.find(line => line.startsWith(`,"${key}":`))}));
  const all = JSON.parse(lines.filter(line => !later.some(part => part.line === line)).join(""));
  for (const {key, line} of later) {
    if (line !== undefined) {
      parseLater(all.newer ?? all, key, line);
    }
  }
  return all;
}

// The growth of suspects can be beside the newer dump, if another page has told it (compared.js).
function withGrowth(/** @type {any} */ all) {
  if (all.growths !== undefined) {
    all.newer.suspects = all.growths.map((/** @type {any} */ g) => ({...all.newer.suspects[g.suspect], ...g}));
  }
  return all;
}

/** @type {Heap | Diff | Trend} */
export const data = withGrowth(parsed());

/** @type {Heap} */
const none = /** @type {any} */ ({names: [], kinds: [], fields: [], calls: [], outer: [], types: [], tree: [], details: [], paths: [],
                                  largest: [], suspects: [], memory_parts: [],
                                  consumer: [], roots: [], root_groups: [], totals: {objects: 0, bytes: 0}});

// main.js decides which of them the page has, and uses only its views.  heap: the newer one of two dumps.
export const heap = data.kind === "heap" ? data : (data.kind === "diff" ? data.newer : undefined) ?? none;
export const diff = /** @type {Diff} */ (data);
export const trend = /** @type {Trend} */ (data);
