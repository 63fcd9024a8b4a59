// @ts-check
// Types over several dumps, for their views.
import {trend} from "./data.js";
import {el} from "./dom.js";
import {panelLink} from "./links.js";
import {shortName, visible} from "./names.js";
import {timeText} from "./numbers.js";
import * as words from "./words.js";

// way: an index of words.WAYS, -1 = unknown; hourly: growth per hour.
/** @typedef {{values: import("./lines.js").Values, way: number, hourly: number | null}} Series */
/** @typedef {{name: string, module: string, bytes: Series, objects: Series, retained: Series}} TypeTrend */

// Types are sorted by this: by what they retain if that is known.
/** @type {"retained" | "bytes"} */
export const METRIC = trend.retained ? "retained" : "bytes";

/** @param {import("./data.js").SeriesRow | undefined} row @returns {Series} */
function series(row) {
  const [way, hourly, ...values] = row ?? [0, null];
  return {values, way, hourly};
}

export function typeTrends() {
  return trend.rows.map(([name, module, bytes, objects, retained]) => /** @type {TypeTrend} */ (
    {name: visible(name), module: visible(module), bytes: series(bytes), objects: series(objects), retained: series(retained)}));
}

/** @param {Series} s  from the first dump to the last; null: one of them is unknown */
export function change({values}) {
  const [first, latest] = [values[0], values[values.length - 1]];
  return first === null || latest === null ? null : latest - first;
}

/** @param {Series} s */
export function last({values}) {
  return values[values.length - 1];
}

/** @param {TypeTrend} row  all of it */
export function isSteady({bytes, objects, retained}) {
  return [bytes, objects, retained].every(s => s.way === words.STEADY);
}

const FRAMEWORK = /^(System|Microsoft|Internal|Interop|WindowsBase|mscorlib|netstandard)(\.|$)/;

/** @param {TypeTrend} row  of the program, as far as names tell */
export function isOwn({name, module}) {
  return !FRAMEWORK.test(module === "" ? name : module);
}

// The positions of the dumps between the first and the last: by their times, if all are known and none is older than the previous one.
function places() {
  const n = trend.dumps.length;
  const times = trend.dumps.map(d => d.unix_ms ?? NaN);
  const span = times[n - 1] - times[0];
  const ordered = span > 0 && times.every((t, i) => i === 0 || t >= times[i - 1]);
  return {timed: ordered, at: times.map((t, i) => ordered ? (t - times[0]) / span : n > 1 ? i / (n - 1) : 0)};
}

/** @type {{timed: boolean, at: number[]}} */
export const TIME = trend.kind === "trend" ? places() : {timed: false, at: []};

// Texts for the edges of pictures.
export function ends() {
  const [first, latest] = [trend.dumps[0], trend.dumps[trend.dumps.length - 1]];
  return TIME.timed ? [timeText(first.unix_ms ?? NaN), timeText(latest.unix_ms ?? NaN)] : [words.dumpNumber(1), words.dumpNumber(trend.dumps.length)];
}

/** @param {string} name  of a type */
export function seriesLink(name, short = true) {
  const text = short ? shortName(name) : name;
  return panelLink(`series:${name}`, el("bdi", {class: "name kind-t", dir: "ltr", title: text !== name ? name : null}, text));
}

/**
 * A cell for a value that may be unknown.
 * @param {number | null} n
 * @param {(n: number) => HTMLTableCellElement} cell
 */
export function known(n, cell) {
  return n === null ? el("td", {class: "number"}, "–") : cell(n);
}
