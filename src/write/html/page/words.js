// @ts-check
// The sentences of the page.  Views pass numbers and names, and get sentences.
import {bytes, count, duration, exactBytes, growthText, partOf, plural, separated, share, signed, wholePercent} from "./numbers.js";

export const COMPLETE = "Every event of the dump arrived: all counts and sums agree.";
export const INCOMPLETE = "All numbers on this page are lower limits or may be wrong, and so are shares.";
export const NO_NAMES = "Objects and sizes are all there, but some types have no names.";
export const UNKNOWN_ROOT = "Not known which root";
export const NO_DETAIL = "The page says no more about types as small as this one.";
export const NOT_IN_TREE = "Its objects are too small for the map and the tree.";
export const VARIABLE = "Static variable";
export const COPY_PATHS = "all paths: copy the command that shows them";
export const COPY_COMPARE = "compare: copy the command for an older dump";
export const MAP_KEYS = "Map of the memory; arrow keys move, Enter goes in, Escape goes out";
// Texts for pairs without a holder: no single object, nothing at all.
export const HOLDERS = ["no single object", "nothing: not reachable"];
export const UNVERIFIED = "The file that this comes from does not tell whether anything is missing.";
export const NO_RANGES = "The recording does not tell where the generations lie, so nothing can be said about them.";

export const GENERATIONS = ["Generation 0", "Generation 1", "Generation 2", "Large objects", "Pinned objects", "nongc: frozen, or in no range"];

export const ALL_BELOW = "Open all below";
export const ALL_BELOW_KEY = "All below the row that was chosen last; key *";
// What the objects of a type keep alive, compared with the older dump: the colours of the map.
export const GROWTHS = ["new type", "twice as much or more", "more than before", "about the same", "less than before"];
export const NOT_COMPARED = "not compared";

export const HELD_BY = "Held by, from the outside in";

/** @param {number} n @param {number} size */
export function moreBelow(n, size) {
  return `${count(n)} more …${size > 0 ? ` ${bytes(size)}` : ""}`;
}

// Explanations after the headings of sections.
export const EXPLANATIONS = {
  map: "The area is the memory. By what holds it: each rectangle keeps alive what lies inside of it. Click a rectangle to go in, " +
       "a name above the map to go out.",
  types: "Own size is what the objects take themselves. Retained is what would be freed at least if all objects of " +
         "the type went: it holds other types as well, so the column has no sum.",
  tree: "What keeps what alive. An object stands below the one without which it would be freed; objects of one type " +
        "side by side are one row, and so are those of one type that hold each other, such as the links of a list.",
  largest: "Single objects by what they keep alive.",
  shared: "Objects that two to four fields or static variables of the program lead to. None of them keeps these alive alone, so they count for " +
          "no holder: they go when all let go. Sorted by what the objects retain; rows may overlap.",
  paths: "How the garbage collector reaches the objects of a type: their shortest paths from the roots, " +
         "merged. Counts and bytes are those of the type.",
  roots: "What the roots of each kind keep alive alone. Weak handles keep nothing alive; what several roots hold together would " +
         "stay if any one of them went.",
  variable: "A static variable, with what it keeps alive alone.",
  generations: "Where the objects lie after the collection. Free is what lies between and behind them in memory that is in use.",
  diff: "Objects have no identity between dumps: types are compared by name, nothing else.",
  diffTypes: "What has grown most comes first; numbers without a sign are those of the newer dump. Retained is what would be freed at least " +
             "if all objects of the type went.",
  trend: "Types are compared by name. A type grows when it is never smaller than in the dump before, and larger at the end.",
  trendTypes: "What has grown most from the first dump to the last comes first. Per hour: the slope of a line through all dumps. Retained is what " +
              "would be freed at least if all objects of the type went.",
  trendLines: "What of the sampled allocations of a line was alive at the walk, per hour: in the first and in the last dump with samples. " +
              "Only growth beyond three standard errors of both is shown.",
  dumps: "The dumps that are compared, in this order.",
  diffMap: "The newer dump: the area is its memory, and each rectangle keeps alive what lies inside of it. The colour says how much more the " +
           "objects of the type keep alive than in the older dump.",
};

export const TREE_OF_TWO = `${EXPLANATIONS.tree} The columns with ± say how much has come since the older dump; they are empty where nothing has ` +
  "changed, or where the same path does not lead to the same objects.";

/**
 * How much of an incomplete dump has arrived.
 * @param {import("./data.js").Loss} loss
 * @param {number} objects
 */
export function arrived(loss, objects) {
  const all = objects + loss.objects;
  return loss.objects === 0 ? "Something of this dump is missing."
    : `${count(objects)} of ${loss.exact ? "" : "at least "}${count(all)} objects arrived (${partOf(objects, all)}).`;
}

// Remedies by the first reason for which a dump is incomplete.
/** @type {Record<string, string>} */
const REMEDIES = {
  events_lost: "Dump it again with a larger buffer (gcdumpc --pid N --buffer MB), or record it again as gcdumpc does.",
  memory_missing: "Take another core dump, of type 2 (heap) or 4 (full).",
  trace_truncated: "Copy the file again if the original is whole, or record it again.",
  trace_damaged: "Copy the file again if the original is whole, or record it again.",
  input_damaged: "Copy the file again if the original is whole, or record it again.",
  types_undescribed: "The process had told its names to another tool that still listens, or sends none (Native AOT): stop the tool, dump again.",
};

/** @param {import("./data.js").Loss} loss */
export function remedy(loss) {
  return Object.hasOwn(REMEDIES, loss.first) ? REMEDIES[loss.first] : "";
}

/** @param {string} text  of a reason, with long numbers */
export function reason(text) {
  return separated(text);
}

/** @param {string} name @param {{bytes: number, objects: number}} node @param {number} whole */
export function sizes(name, node, whole) {
  return `${name}: ${bytes(node.bytes)}, ${share(node.bytes, whole)}, ${plural(node.objects, "object")}`;
}

/** @param {string} name  as shown @param {string} described @param {boolean} branch */
export function tile(name, described, branch) {
  return `${name}${described.replace(/^:/, "")}${branch ? "" : ", nothing inside"}`;
}

/** @param {string} name @param {number} size @param {number} whole  0: without a share */
export function piece(name, size, whole) {
  return `${name} ${bytes(size)}${whole > 0 ? `, ${share(size, whole)}` : ""}`;
}

/** @param {number | undefined} resident */
export function whereMemoryIs(resident) {
  return resident === undefined ? "What the process had besides its heap is not in this recording."
    : `${bytes(resident)} were resident before the dump; the objects are those that it found.`;
}

export const HELD_TOGETHER = "held together";
export const SHARED = "Each of them leads to the objects, so they go only when all let go.";

/** @param {string[]} holders */
export function heldTogether(holders) {
  return `Held by ${listed(holders)}`;
}

/** @param {string[]} others  other holders of what a suspect holds */
export function alsoIn(others) {
  return `also held by ${listed(others)}`;
}

/** @param {number} size @param {string[]} holders */
export function inBoth(size, holders) {
  return `${bytes(size)}, in ${listed(holders)}`;
}

/** @param {string} holder */
export function pathOf(holder) {
  return `The path to ${holder}`;
}

/** @param {number} objects @param {string} name  of their type */
export function some(objects, name) {
  return `${count(objects)} ${name}`;
}

/** @param {string[]} names */
function listed(names) {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`;
}

export const DEAD = "Not reachable, by type";

/** @param {string} line  that allocates a type, "" = not sampled */
export function allocatedAt(line) {
  return line === "" ? "" : `; the type is allocated in ${line}`;
}

/** @param {number} n */
export function moreTypes(n) {
  return `and ${plural(n, "more type")}, each with less`;
}

export const DIED_BEFORE = "objects that died before the dump";

/** @param {string[]} parts */
export function notKnown(parts) {
  return `Not known: ${parts.join("; ")}`;
}

/** @param {number} size @param {number} whole */
export function sizeAndShare(size, whole) {
  return `${bytes(size)}, ${share(size, whole)} (${exactBytes(size)})`;
}

/** @param {number} size @param {number} retained */
export function objectSizes(size, retained) {
  return retained > size ? `keeps ${bytes(retained)}, own ${bytes(size)}` : bytes(size);
}

/** @param {number} i @param {number} objects @param {number} size */
export function inGeneration(i, objects, size) {
  return `${GENERATIONS[i]}: ${inObjects(size, objects)}`;
}

/** @param {string} name @param {boolean} one */
export function holds(name, one) {
  return `What ${name} ${one ? "holds" : "hold"}`;
}

/** @param {number} n */
export function references(n) {
  return plural(n, "reference");
}

/** @param {string} field  "._byUser", "[].key" */
export function through(field) {
  return ` in ${field.replace(/^\./, "")}`;
}

/** @param {number} n */
export function moreObjects(n) {
  return plural(n, "more object");
}

/** @param {string} type  a name; quoted so that a shell interprets none of it */
export function pathsCommand(type) {
  return `gcdumpc paths FILE --type '${type.replaceAll("'", "'\\''")}'`;
}

/** A shell command that compares the dump with an older one. */
export function compareCommand() {
  return "gcdumpc diff OLDER-FILE FILE -o diff.html";
}

/** @param {number} n @param {number} of */
export function whichDump(n, of) {
  return of > 1 ? `dump ${n} of ${of}` : "";
}

/** @param {{size_only?: boolean}[]} suspects */
export function suspectsTitle(suspects) {
  return suspects.length > 0 && suspects.every(s => s.size_only) ? "Large holders" : "Suspects";
}

/**
 * The level of one of SUSPECTS, where they have both.
 * @param {{size_only?: boolean}} one
 * @param {{size_only?: boolean}[]} suspects
 */
export function levelOf(one, suspects) {
  const mixed = suspects.some(s => s.size_only) && !suspects.every(s => s.size_only);
  return mixed ? one.size_only ? "Large holder: " : "Suspect: " : "";
}

/** @param {{size_only?: boolean}[]} suspects */
export function furtherOnes(suspects) {
  return suspects.every(s => s.size_only) ? "Further holders" : "Further suspects";
}

/**
 * @param {number} i
 * @param {string} title  what kind it is
 * @param {boolean | undefined} sizeOnly  nothing but its size speaks against it
 */
export function suspectTitle(i, title, sizeOnly) {
  return `${sizeOnly ? "Large holder" : "Suspect"} ${i + 1}: ${title.charAt(0).toLowerCase()}${title.slice(1)}`;
}

/** @param {number} n */
export function furtherSuspects(n) {
  return `${count(n)} more below`;
}

/** @param {number} n */
export function noRoots(n) {
  return `The dump has none that keeps objects alive, so ${plural(n, "object")} that nothing refers to serve as pseudo-roots: ` +
         "retained sizes and paths are guesses.";
}

/** @param {string} healthy  the sentence of leaks @param {number} limit @param {boolean} consumer */
export function noSuspects(healthy, limit, consumer) {
  return `${healthy} Suspects retain ${bytes(limit)} or more; what grows slowly shows when two dumps are compared.` +
         (consumer ? " The largest consumer is:" : "");
}

/** @param {{bytes: number}} suspect @param {number} whole @param {string} what  of which there are many, the average and the largest one */
export function holdsWhat(suspect, whole, what) {
  return `${bytes(suspect.bytes)}, ${share(suspect.bytes, whole)} of all${what === "" ? "" : `: ${what}`}`;
}

export const BY_GROWTH = "What may be a leak, by what it has grown since the older dump. Whether it should is for you to say.";
export const SECOND_DUMP = "What has grown? Compare with another dump";
export const HOW_TO_COMPARE = "Drop the page of another dump of the program here (gcdumpc convert OTHER-FILE -o other.html), or choose it. " +
  "Nothing leaves this page.";
export const OTHER_PAGE = "Page of another dump";
export const COMPARED_HERE = "Compared in this page, from what both pages have: reload it for one dump. gcdumpc diff OLDER-FILE FILE -o diff.html " +
  "compares whole dumps.";

/** @param {string} file */
export function comparing(file) {
  return `Comparing with ${file} …`;
}

/** @param {string} file */
export function noPage(file) {
  return `${file} is not a page of one dump written by gcdumpc.`;
}

/**
 * Where it is not known what a suspect had, what the heap had and has is told.
 * @param {string} many
 * @param {number | undefined} had
 * @param {number} has
 * @param {number[]} inHeap
 */
export function itHas(many, had, has, [before, after]) {
  return had !== undefined ? `${count(had)} -> ${count(has)} ${many}` : `${count(has)} ${many} (in the heap ${count(before)} -> ${count(after)})`;
}

/**
 * @param {{place: string}} suspect
 * @param {number} size  of what has come
 * @param {number} part  of all growth
 * @param {string} objects  what there is of it, "" = nothing
 * @param {boolean[]} complete  the older and the newer dump
 */
export function suspectHasGrown({place}, size, part, objects, complete) {
  const ofAll = part > 0 ? `, ${wholePercent(part)} of the growth` : "";
  return {growth: size > 0 ? `${place}: ${objects}${objects === "" ? "" : ", "}+${bytes(size)}${ofAll}`
            : `${place} has not grown${objects === "" ? "" : `: ${objects}`}`,
          evidence: size > 0 ? itGrew(complete[0]) : complete[1] ? "It did not grow between the two dumps."
            : "The newer dump is incomplete: it may have grown all the same."};
}

/** @param {boolean} complete  the older dump */
export function itGrew(complete) {
  return complete ? "It grew between two dumps: a third one shows whether that goes on or ends at a limit (gcdumpc diff)."
    : "The older dump is incomplete: what seems to have grown may be missing in it.";
}

/** @param {import("./compared.js").Step} step */
function nameOf({name, call}) {
  return call === "" ? name : call;
}

/** The method if these are calls of an asynchronous one, else "".  @param {import("./compared.js").Step} step */
function methodOf(step) {
  return nameOf(step).startsWith("async ") ? nameOf(step).slice(6) : "";
}

/** @param {import("./come.js").Come} come */
export function comeText({owner, field, element, objects, bytes: size, share: part}) {
  const elements = methodOf(element) === "" ? nameOf(element) : `calls of ${methodOf(element)}`;
  return `${nameOf(owner)}${field === "" ? "" : `.${field}`}: ${count(objects[0])} -> ${count(objects[1])} ${elements}, +${bytes(size)}, ` +
         `${wholePercent(part)} of the growth`;
}

/**
 * @param {import("./come.js").Come} come
 * @param {boolean} isDesign  a cache or a pool
 * @param {import("./come.js").Limit | null} equal
 */
export function comeAdvice({owner, field, element, listens}, isDesign, equal) {
  if (!listens && methodOf(element) !== "") {
    return "These calls have not ended: gcdumpc async shows what they wait for.";
  }
  const look = !listens ? `ook in ${nameOf(owner)} for what adds ${nameOf(element)} objects and never removes them.`
    : `ook in ${nameOf(element)} for what adds a method of each of its objects to ${nameOf(owner)}${field === "" ? "" : `.${field}`} ` +
      "and never removes it.";
  return isDesign ? `That is a cache or a pool, which may still fill up to its limit. If it has none, l${look}`
    : equal === null ? `L${look}`
    : `${count(equal.many)} of ${count(equal.owners)} ${nameOf(owner)} have ${count(equal.most)} each: ` +
      `if that is their limit, nothing is wrong. Else l${look}`;
}

/** @param {string} said  how it has grown */
export function fillsArray(said) {
  return `${notGrown(true)} ${said}. It fills an array that is as long as before, and has no room for more.`;
}

/** @param {import("./come.js").Come} come @param {string} advice  about the limit */
export function isLimited(come, advice) {
  return `${notGrown(true)} ${comeText(come)}. ${advice}`;
}

/** @param {import("./come.js").Limit} limit */
function limitOf({many, before, trimmed, field, limit}) {
  if (limit !== undefined) {
    return `, and the limit of each is ${count(limit)} (${field}): they fill up to it.`;
  }
  return trimmed ? ` (before: ${count(before)}), and ${count(many)} have at least three quarters of that: they seem to be cut back to a ` +
    "limit. A third dump shows whether any gets more." : `, as before, and ${count(many)} have so many: they fill up to a limit.`;
}

/** @param {import("./come.js").Come} come @param {import("./come.js").Limit} limit */
export function filling(come, limit) {
  return `${notGrown(true)} ${comeText(come)}. None of the ${count(limit.owners)} ${nameOf(come.owner)} has more than ${count(limit.most)} ` +
         `${nameOf(come.element)}${limitOf(limit)}`;
}

/** @param {boolean} complete  both dumps */
export function notGrown(complete) {
  return complete ? "No suspect has grown much between the two dumps."
    : "No suspect has grown much in what has arrived of the two dumps; not all has.";
}

/** @param {string} text  "Carts: 10 -> 40 Cart, +1.8 MiB" */
export function growth(text) {
  return `${text.replace(/(?<=(?:: |in the heap )[\d,]+) -> (?=\d)/, " \u2192 ")}.`;
}

/** @param {number} n  suspects */
export function grewLess(n) {
  return `${plural(n, "more place")}, which grew less or not`;
}

/** @param {number} limit */
export function someSuspects(limit) {
  return `What may be a leak, or is large: what keeps ${bytes(limit)} or more alive, the largest first, and what there is very much of. ` +
         "Whether it should is for you to say.";
}

/** @param {number} least @param {number} leastBytes */
export function limits(least, leastBytes) {
  return [least > 0 ? count(least) : "", leastBytes > 0 ? bytes(leastBytes) : ""].filter(text => text !== "").join(", ");
}

export const ALLOCATED_IN = "Allocated in";
export const NO_LINE_KEEPS_MORE = "No line keeps more per hour than in the first dump, beyond the error of both; " +
  "gcdumpc sites shows what each keeps all the time.";
export const UNKNOWN_CODE = "(unknown code)";
export const ALL_ALLOCATIONS = "All sampled allocations";
export const SITE_KEYS = "Stacks of allocations; arrow keys move, Enter goes in, Escape goes out";
export const SITE_TREE = "Stacks of allocations";

/** @param {import("./data.js").Sites} sites */
export function allocated({samples, alive, window_ms: window, settle_ms: settle, followed, objects, bytes: size, rows, different}) {
  const left = different - rows.length;
  return `What was allocated in ${duration(window)} and was alive ${duration(settle)} later: about ${bytes(size)} in ` +
         `${plural(objects, "object")}, estimated from ${plural(alive, "living sample")} of ${count(samples)}. ` +
         "Callers first: below a method stands what it calls, last of all the type." +
         (followed ? "" : " Small objects were not followed: they are approximate, by type and size.") +
         (left > 0 ? ` ${plural(left, "smaller stack")} ${left === 1 ? "is" : "are"} left out.` : "");
}

/** @param {number} size @param {number} objects @param {number} error */
export function estimate(size, objects, error) {
  return `about ${bytes(size)} ± ${bytes(error)} in ${plural(objects, "object")}`;
}

export const ALL_STACKS = "All stacks";
export const WAIT_KEYS = "Stacks of asynchronous methods; arrow keys move, Enter goes in, Escape goes out";
export const WAIT_CRUMBS = "Where the picture of the stacks is";
export const FRAMES = "Methods, and what is awaited";
export const WAIT_TREE = "Stacks of asynchronous methods";

/** @param {import("./data.js").Waits} waits */
export function waiting({operations, stacks: all, bytes: retained, rows, different, ages}) {
  const left = different - rows.length;
  return `${plural(operations, "asynchronous operation")} in ${stacks(all)} that keep ${bytes(retained)} alive. ` +
         "Callers first: below a method stands what it waits for. Awaited first: below what is awaited stands who waits for it." +
         (ages ? " Old are those that have survived an earlier collection." : "") +
         (left > 0 ? ` ${plural(left, "rarer stack")} ${left === 1 ? "is" : "are"} left out.` : "");
}

/** @param {number} n */
export function stacks(n) {
  return plural(n, "stack");
}

/** @param {number} n */
export function sizeText(n) {
  return bytes(n);
}

/** @param {string} name @param {{objects: number, retained?: number, old?: number}} node @param {number} whole */
export function waitSizes(name, {objects, retained, old}, whole) {
  return `${name}: ${stacks(objects)}, ${share(objects, whole)}${retained ? `, ${keeps(retained)}` : ""}${old ? `, ${count(old)} old` : ""}`;
}

/** @param {boolean} probable @param {boolean} repeats @param {boolean} cut */
export function frameNote(probable, repeats, cut) {
  return [repeats ? "several times one after another" : "", probable ? "(probably)" : "", cut ? "and more" : ""].filter(t => t !== "").join(" ");
}

/** @param {number} size @param {number} objects */
export function inObjects(size, objects) {
  return `${bytes(size)} in ${plural(objects, "object")}`;
}

/** @param {number} size @param {number} objects */
export function each(size, objects) {
  return `${inObjects(size, objects)}${objects > 1 ? `, ${bytes(Math.round(size / objects))} each` : ""}`;
}

/** @param {number} part @param {number} whole @param {number} objects */
export function objectsAndShare(part, whole, objects) {
  return `${plural(objects, "object")}, ${share(part, whole)}`;
}

/** @param {string} text  what gcdumpc says about the memory of the process */
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

/** @param {number} n  bytes; smaller changes are left out @param {boolean} dominators */
export function leftOut(n, dominators) {
  return (dominators ? "What keeps what alive, merged by name: where the objects hang that have come or gone. "
                     : "Shortest paths from the roots, merged by name: where the objects hang that have come or gone. ") +
         (n > 1 ? `Steps that have changed by less than ${exactBytes(n)} are left out.` : "Steps that have not changed are left out.");
}

/** @param {string} version */
export function writtenBy(version) {
  return `Written by gcdumpc ${version}. This page loads nothing and sends nothing.`;
}

/** @param {number | undefined} before @param {number | undefined} after  ms since 1970 */
export function between(before, after) {
  return before === undefined || after === undefined ? "" : after < before ? "the second dump is older" : `${duration(after - before)} apart`;
}

/** @typedef {import("./data.js").Side} Side */

/** @param {Side} before @param {Side} after */
export function change(before, after) {
  const time = before.unix_ms === undefined || after.unix_ms === undefined || after.unix_ms < before.unix_ms ? ""
    : ` in ${duration(after.unix_ms - before.unix_ms)}`;
  const part = before.bytes > 0 ? ` (${growthText(after.bytes / before.bytes - 1)})` : "";
  return `${signed(after.bytes - before.bytes, bytes)}${part}${time}`;
}

/** @param {string} before @param {string} now */
export function beforeAndNow(before, now) {
  return `before ${before}, now ${now}`;
}

/** @param {number} n  types */
export function sumOf(n) {
  return `${plural(n, "type")} above`;
}

/** The name of the file, without folders, ".dll" and ".exe". @param {string} path */
function fileOf(path) {
  return path.replace(/^.*[\\/]/, "").replace(/\.(dll|exe)$/, "");
}

/** Events, memory and core files have other command lines of the same process. @param {string} one @param {string} other */
function isSameProgram(one, other) {
  const [words, others] = [one, other].map(line => line.split(" ").filter(word => word !== ""));
  const named = (/** @type {string[]} */ all) => fileOf((fileOf(all[0]) === "dotnet" ? all.find(word => word.endsWith(".dll")) : all[0]) ?? all[0]);
  const elsewhere = words[0].startsWith("/") && others[0].startsWith("/") && words[0] !== others[0] && fileOf(words[0]) === fileOf(others[0]);
  return named(words) === named(others) && !elsewhere;
}

/** @param {Side} before @param {Side} after  what makes a comparison doubtful */
export function differences(before, after) {
  const said = [];
  const [one, other] = before.program !== "" && after.program !== "" ? [before.program, after.program] : [before.title, after.title];
  if (one !== "" && other !== "" && !isSameProgram(one, other)) {
    said.push("The dumps come from different programs.");
  } else if (before.process > 0 && after.process > 0 && before.process !== after.process) {
    said.push("The dumps come from different processes: what fills up slowly starts again with each of them.");
  }
  if (before.unix_ms !== undefined && after.unix_ms !== undefined && after.unix_ms < before.unix_ms) {
    said.push("The newer dump was made before the older one: are they in the right order?");
  }
  if (before.verdict.complete !== after.verdict.complete) {
    said.push("Only one of the dumps is complete: what seems to have changed may be lost.");
  }
  return said;
}

/** @param {number} size */
export function fromBeingObserved(size) {
  return `${bytes(size)} come from being observed: descriptions that the runtime makes of its own events.`;
}

/** @param {number} size @param {number} objects @param {boolean} retained */
export function grown(size, objects, retained) {
  const more = objects === 0 ? "with as many objects as before" : `with ${signed(objects, count)} objects`;
  return `${retained ? "keeps" : "takes"} ${signed(size, bytes)} ${retained ? "alive " : ""}${more}`;
}

// The trend of a quantity over several dumps, in the order of enum gcd_trend.
export const WAYS = ["steady", "grows", "shrinks", "varies"];
export const STEADY = 0;
export const GROWS = 1;
export const SHRINKS = 2;
export const LINES_OF_HEAP = "Lines over time: the bytes of all objects. The numbers are in the table of dumps.";
export const LINES_OF_TYPES = "Lines over time: types that grow most. The numbers are in their panels and in the table of types.";

/** @param {number} n  index of WAYS; -1 = unknown */
export function way(n) {
  return WAYS[n] ?? "not known";
}

/** @param {boolean} retained */
export function linesOf(retained) {
  return retained ? "What types keep alive" : "What types take";
}

/** @param {string} name */
export function overTime(name) {
  return `${name} over time`;
}

/** @param {number} n */
export function dumpNumber(n) {
  return `dump ${count(n)}`;
}

/** @param {number} n */
export function howMany(n) {
  return plural(n, "dump");
}

/** @param {number} course @param {number} dumps */
export function goes(course, dumps) {
  return course === GROWS && dumps > 2 ? "grows from dump to dump." : "has grown.";
}

/** @param {number} course  index of WAYS */
export function typesThat(course) {
  return course === GROWS ? "Types that grow" : "Types that shrink";
}

/** @param {number} size @param {number} objects @param {boolean} retained @param {number | null} hourly */
export function grownOverTime(size, objects, retained, hourly) {
  return grown(size, objects, retained) + (hourly === null ? "" : `, ${signed(hourly, bytes)} per hour`);
}

/** @param {import("./trend_rows.js").TypeTrend} row @param {boolean} retained */
export function went(row, retained) {
  const {way: course, hourly} = retained ? row.retained : row.bytes;
  const verb = course === STEADY || course < 0 ? "is " : "";
  return `What its objects ${retained ? "keep alive" : "take"} ${verb}${way(course)}` +
         `${hourly === null ? "" : `: ${signed(hourly, bytes)} per hour`}.`;
}

/** @param {string} text  a sentence about two dumps @param {number[]} numbers  of the second ones */
export function fromDumpOn(text, numbers) {
  const shown = numbers.slice(0, 10).map(n => `${n - 1} and ${n}`).join(", ");
  return `${text} (Dumps ${shown}${numbers.length > 10 ? " and others" : ""}.)`;
}

/** @param {number[]} bad  numbers of dumps @param {number} all @param {boolean} unsure */
export function allComplete(bad, all, unsure) {
  const shown = bad.slice(0, 10).join(", ");
  return bad.length > 0
    ? `${count(bad.length)} of ${plural(all, "dump")} ${bad.length === 1 ? "is" : "are"} incomplete (${shown}${bad.length > 10 ? ", …" : ""}): ` +
      "what seems to have changed may be lost."
    : unsure ? "Some of the files do not tell whether anything is missing." : all === 2 ? "Both dumps are complete."
    : `All ${plural(all, "dump")} are complete.`;
}

/** @param {import("./data.js").Verdict} verdict @param {(text: string) => string} visible */
export function verdictOf({complete, unverified, reasons}, visible) {
  return complete ? unverified ? "not verified" : "complete" : `incomplete: ${reasons.map(text => reason(visible(text))).join("; ")}`;
}

/** @param {number} n  types */
export function leftOutTypes(n) {
  return `${plural(n, "type")} that changed less ${n === 1 ? "is" : "are"} left out`;
}

/** @param {number} n  types */
export function unchanged(n) {
  return `Also ${plural(n, "unchanged type")}`;
}

/**
 * How a type has changed.
 * @param {{objects: number, bytes: number, retained: number}} before
 * @param {{objects: number, bytes: number, retained: number}} after
 * @param {boolean} retained  is it known?
 */
export function since(before, after, retained) {
  const said = [`${signed(after.objects - before.objects, count)} objects`, `own size ${signed(after.bytes - before.bytes, bytes)}`];
  return [...said, ...retained ? [`retained ${signed(after.retained - before.retained, bytes)}`] : []].join(", ");
}

/** @param {{objects: number, bytes: number}} before */
export function inOlder(before) {
  return before.objects === 0 ? "no objects" : inObjects(before.bytes, before.objects);
}
