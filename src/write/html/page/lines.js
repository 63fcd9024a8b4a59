// @ts-check
// Quantities over time as lines.  The lines are stretched to the available room, with words beside them; users who see no lines have the table.
import {el, svg} from "./dom.js";
import {ticks} from "./numbers.js";

// Width and height inside a picture.
const SIZE = 1000;
// Maximum number of marked points; more would look like a band.
const MARKED = 60;

/** @typedef {(number | null)[]} Values  null: not known */
/** @typedef {{values: Values, label: () => globalThis.Node}} Line */

/** @param {Values} values */
function largest(values) {
  return values.reduce((/** @type {number} */ most, value) => Math.max(most, value ?? 0), 0);
}

/**
 * The positions of the values; "" = unknown.
 * @param {Values} values
 * @param {number[]} at  positions in time, from 0 to 1
 * @param {number} most  value at the upper edge
 */
function points(values, at, most) {
  return values.map((value, i) => value === null ? "" : `${SIZE * at[i]} ${SIZE * (1 - value / most)}`);
}

/**
 * From each point to the next known one.
 * @param {string[]} all
 */
function joined(all) {
  return `M${all.filter(point => point !== "").join("L")}`;
}

/** @param {string} kind @param {string} d */
function path(kind, d) {
  return svg("path", {class: kind, d, "vector-effect": "non-scaling-stroke"});
}

/** @param {number} i  of a line */
function key(i) {
  return svg("svg", {class: "key", viewBox: "0 0 30 10", "aria-hidden": "true"}, path(`line line${i}`, "M0 5h30"));
}

/**
 * DESCRIBED: for users who do not see the lines.  BINARY: bytes, else numbers.  ENDS: texts for the left and the right edge.
 * @param {{described: string, lines: Line[], at: number[], text: (n: number) => string, binary: boolean, ends: string[]}} chart
 */
export function lineChart({described, lines, at, text, binary, ends}) {
  const highest = Math.max(...lines.map(line => largest(line.values)));
  const levels = ticks(highest, binary);
  const most = levels[levels.length - 1];
  const all = lines.map(line => points(line.values, at, most));
  const picture = svg("svg", {class: "plot", viewBox: `0 0 ${SIZE} ${SIZE}`, preserveAspectRatio: "none", role: "img", "aria-label": described},
    ...levels.map(level => path("grid", `M0 ${SIZE * (1 - level / most)}h${SIZE}`)),
    ...all.map((line, i) => path(`line line${i}`, joined(line))),
    ...at.length > MARKED ? []
      : all.map((line, i) => path(`dots line${i}`, line.filter(point => point !== "").map(point => `M${point}h0`).join(""))));
  const scale = el("div", {class: "levels muted", "aria-hidden": "true"}, ...levels.map(level => {
    const mark = el("span", {}, text(level));
    mark.style.bottom = `${100 * level / most}%`;
    return mark;
  }));
  return el("div", {class: "lines"}, scale, picture,
    el("p", {class: "ends muted", "aria-hidden": "true"}, ...ends.map(end => el("span", {}, end))),
    el("p", {class: "legend"}, ...lines.map((line, i) => el("span", {}, key(i), line.label()))));
}

/**
 * A line without words, from 0 to its largest value.
 * @param {Values} values
 * @param {number[]} at
 */
export function spark(values, at) {
  const most = Math.max(1, largest(values));
  return svg("svg", {class: "spark", viewBox: `0 0 ${SIZE} ${SIZE}`, preserveAspectRatio: "none", "aria-hidden": "true"},
             path("line", joined(points(values, at, most))));
}
