// @ts-check
// What has come between two dumps, what keeps it, and whether its owners only fill up to a limit: the rules of answer_come.c and answer_fill.c.

/** @typedef {import("./data.js").Heap} Heap */
/** @typedef {import("./compared.js").Sizes} Sizes */
/** @typedef {import("./compared.js").Step} Step */
/**
 * Objects of ELEMENT in FIELD of OWNER; BYTES: by which its step has grown;
 * ownerBytes: that of OWNER, if there are many, else 0; SHARE of all growth; listens: by methods that are in FIELD.
 * @typedef {{owner: Step, field: string, element: Step, objects: [number, number], bytes: number, ownerBytes: number, share: number,
 *            listens: boolean}} Come
 */
// many: owners that are full, or trimmed and nearly.
/** @typedef {{owners: number, most: number, many: number, before: number, trimmed: boolean, field?: string, limit?: number}} Limit */
// equal: all owners have nearly as many; design: a note has what has come.
/** @typedef {{limit: Limit | null, equal: Limit | null, design: import("./data.js").DesignRow | undefined}} Bounds */

// A step is on the way as long as it has this part of the growth above.
const LARGE_PART = 1 / 3;
// Smaller parts of all growth, or of the heap, are no answer; nor are these of objects that are not the program's own.
const WORTH_GROWTH = 0.1;
const WORTH_HEAP = 0.01;
const WORTH_OTHER_GROWTH = 1 / 3;
const WORTH_OTHER_HEAP = 0.05;
const WORTH_BYTES = 65536;
// What exists to observe the process, also for a dump, is no answer.
const OBSERVING = /^(static variable )?System\.Diagnostics\.Tracing\.(Native)?RuntimeEventSource(\.|$)/;
// Delegates, as far as names tell.
const DELEGATE = /^(System\.(Action|Func|EventHandler)|[^<]+EventHandler)(<|$)/;
// The owner of what has come is there once for so many.
const OWNED = 10;
// So many of its elements, and one part in so many, are few.
const FEW = 8;
const FEW_PART = 64;
// One owner in so many is full.
const FULL_OF = 4;
// The fullest trimmed owner grows by at most one part in so many of what the others do; and of fewer objects three quarters are too near to all.
const SMALL_PART = 8;
const LEAST_TRIMMED = 8;
// Without so small a part, all owners are equal.
const NEARLY_ALL_OF = 10;

/** @param {Step} step */
function grown({sizes: [before, after]}) {
  return Math.max(0, after[1] - before[1]);
}

/** @param {Step} step @param {number} above */
function mostGrown({below}, above) {
  /** @type {Step | null} */
  let most = null;
  for (const step of below.values()) {
    most = !OBSERVING.test(step.name) && grown(step) > (most === null ? 0 : grown(most)) ? step : most;
  }
  return most !== null && grown(most) >= LARGE_PART * above ? most : null;
}

/**
 * The objects of the type NAME in a step and below it.
 * @param {Step} step
 * @param {string} name
 */
function countIn(step, name) {
  const counts = /** @type {[number, number]} */ ([0, 0]);
  const open = [step];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const own = at.name === name ? at.own : [0, 0];
    own.forEach((n, i) => { counts[i] += n; });
    open.push(...at.below.values());
  }
  return counts;
}

/**
 * The elements in one field of the owner, with the few of them that are in others, too.
 * @param {Step} owner
 * @param {Step} field
 * @param {string} name
 */
function countElements(owner, field, name) {
  const inField = countIn(field, name);
  const all = countIn(owner, name);
  return all.every((n, i) => n <= inField[i] + Math.floor(inField[1] / FEW_PART) + FEW) ? all : inField;
}

/**
 * How many objects of the type NAME this step has more, if the heap has more of them.
 * @param {Step} step
 * @param {string} name
 * @param {Map<string, Sizes>[]} types
 */
function comeOf(step, name, types) {
  const [before, now] = types.map(one => one.get(name)?.[0] ?? 0);
  return now > before ? Math.max(0, step.own[1] - step.own[0]) : 0;
}

/**
 * Down to the first own objects of which there are more, and which are many for each owner; else to the last objects of which there are more.
 * @param {Step} all
 * @param {Map<string, Sizes>[]} types
 * @param {Set<string>} own
 */
function wayOf(all, types, own) {
  /** @type {{owner?: Step, field?: Step, element?: Step, own: boolean, listens: boolean}} */
  let way = {own: false, listens: false};
  let before = 0;
  for (let step = mostGrown(all, 0), depth = 0; step !== null && !way.own; step = mostGrown(step, grown(step)), depth++) {
    const name = depth > 0 && step.kind === "t" ? step.name : "";
    const come = comeOf(step, name, types);
    const isArray = step.name.endsWith("]");
    const isOwn = own.has(name) && !isArray;
    if (way.owner !== undefined && way.field === undefined) {
      way.field = step;
    }
    way.listens ||= way.owner !== undefined && DELEGATE.test(step.name);
    if (way.owner !== undefined && come > 0 && Math.floor(come / OWNED) >= before && !isArray) {
      way = {...way, element: step, own: isOwn};
    } else if (isOwn) {
      way = {owner: step, own: false, listens: false};
      before = come;
    }
  }
  return way;
}

/**
 * By how many bytes other steps of objects of this NAME have shrunk.
 * @param {Step} all
 * @param {string} name
 */
function lostElsewhere(all, name) {
  let lost = 0;
  const open = [...all.below.values()];
  for (let step = open.pop(); step !== undefined; step = open.pop()) {
    lost += step.name === name ? Math.max(0, step.sizes[0][1] - step.sizes[1][1]) : 0;
    open.push(...step.below.values());
  }
  return lost;
}

/**
 * Is it an answer that a heap of so many bytes has grown by MORE, of which SIZE are of one type?
 * @param {number} size
 * @param {number} more
 * @param {number} heap
 * @param {boolean} isOwn
 */
function isWorth(size, more, heap, isOwn) {
  return more > 0 && more >= (isOwn ? WORTH_HEAP : WORTH_OTHER_HEAP) * heap &&
         size >= Math.max(WORTH_BYTES, more * (isOwn ? WORTH_GROWTH : WORTH_OTHER_GROWTH));
}

/**
 * What has come, or null.
 * @param {Step} top  the steps of both dumps
 * @param {[number, number]} heaps  bytes
 * @param {Map<string, Sizes>[]} types
 * @param {Set<string>} own  types of the program
 * @returns {Come | null}
 */
export function comeIn(top, heaps, types, own) {
  const {owner, field, element, own: isOwn, listens} = wayOf(top, types, own);
  const more = heaps[1] - heaps[0];
  if (owner === undefined || field === undefined || element === undefined || !isWorth(grown(element), more, heaps[0], isOwn) ||
      lostElsewhere(top, element.name) >= grown(element) / 2) {
    return null;
  }
  // With the tables of the collection they are in.
  const all = grown(field);
  const size = Math.min(grown(element) >= all - Math.floor(all / 4) ? Math.max(all, grown(element)) : grown(element), more);
  const many = (types[1].get(owner.name)?.[0] ?? 0) >= OWNED;
  return {owner, field: field.field, element, objects: countElements(owner, field, element.name),
          bytes: size, ownerBytes: many ? grown(owner) : 0, share: size / more, listens: listens && isOwn};
}

/**
 * Have the owners IS no more than the fullest had before, and many as much?
 * @param {import("./data.js").FillRow} was
 * @param {import("./data.js").FillRow} is
 * @returns {Limit & {isLimit: boolean}}
 */
function fullness(was, is) {
  const [, , ownersBefore, elementsBefore, before, , nearlyBefore] = was;
  const [, , owners, elements, most, full, nearly, field, limit] = is;
  const isFull = most <= before && full >= Math.floor(owners / FULL_OF);
  const each = elements / owners * (ownersBefore / elementsBefore) - 1;
  const trimmed = !isFull && most / before - 1 <= each / SMALL_PART && nearlyBefore >= Math.floor(ownersBefore / FULL_OF) &&
    nearly >= Math.floor(owners / FULL_OF) && most >= LEAST_TRIMMED;
  return isFull || trimmed ? {owners, most, many: trimmed ? nearly : full, before, trimmed, isLimit: true}
    : {owners, most, many: full, before, trimmed, field, limit, isLimit: field !== undefined};
}

/**
 * What is known about a limit of what has COME.
 * @param {[Heap, Heap]} heaps
 * @param {Map<string, Sizes>[]} types
 * @param {Come} come
 * @returns {Bounds}
 */
export function boundsOf(heaps, types, {owner, element}) {
  const names = heaps[1].names;
  const design = heaps[1].designs?.find(([of, parts]) =>
    (typeof of === "string" ? `static variable ${of}` : names[of]) === owner.name && parts.some(part => names[part] === element.name));
  const [was, is] = heaps.map(heap => (heap.fills ?? []).find(row => heap.names[row[0]] === owner.name && heap.names[row[1]] === element.name));
  if (was === undefined || is === undefined) {
    return {limit: null, equal: null, design};
  }
  const found = fullness(was, is);
  // New owners bring their own: what holds the owners is the question then.  Those that had none are not new.
  const counts = types.map(one => one.get(owner.name)?.[0] ?? 0);
  const newOwners = counts[1] > 0 ? counts[1] - counts[0] : is[2] - was[2];
  if (newOwners > Math.floor(Math.floor(Math.max(0, is[3] - was[3]) / found.most) / 2)) {
    return {limit: null, equal: null, design};
  }
  const isEqual = found.most > found.before && found.most >= LEAST_TRIMMED && found.many >= found.owners - Math.floor(found.owners / NEARLY_ALL_OF);
  return {limit: found.isLimit ? found : null, equal: isEqual && !found.isLimit ? found : null, design};
}
