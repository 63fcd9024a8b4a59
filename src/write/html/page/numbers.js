// @ts-check
// Numbers for people.  Every number of the page is rounded here and nowhere else, so that a thing has the same number everywhere.

const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/**
 * With commas.  Many times faster than toLocaleString, and Intl takes a while to start.
 * @param {number} n
 */
export function count(n) {
  return String(n).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** @param {number} n */
export function bytes(n) {
  let unit = 0;
  let value = Math.abs(n);
  while (value >= 1023.95 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  // The texts of gcdumpc round what is between two numbers to the even one.
  const rounded = unit === 0 ? value.toFixed(0) : (value % 1 === 0.25 ? value - 0.01 : value).toFixed(1);
  return `${n < 0 ? "\u2212" : ""}${rounded} ${UNITS[unit]}`;
}

/** @param {number} n */
export function exactBytes(n) {
  return plural(n, "byte");
}

/**
 * @param {number} part
 * @param {number} whole
 */
export function share(part, whole) {
  const percent = whole > 0 ? 100 * part / whole : 0;
  return percent > 0 && percent < 0.1 ? "< 0.1 %" : `${percent.toFixed(1)} %`;
}

/** @param {number} part  from 0 to 1 */
export function wholePercent(part) {
  return `${(100 * part).toFixed(0)} %`;
}

/**
 * A share that is not rounded up to 100 %.
 * @param {number} part
 * @param {number} whole
 */
export function partOf(part, whole) {
  return part < whole && part >= 0.9995 * whole ? "> 99.9 %" : share(part, whole);
}

/**
 * @param {number} n
 * @param {string} one
 */
export function plural(n, one, many = one + "s") {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/**
 * @param {number} n
 * @param {(n: number) => string} text
 */
export function signed(n, text) {
  return n > 0 ? `+${text(n)}` : n < 0 ? `\u2212${text(-n)}` : "0";
}

/** @param {number} ns */
export function milliseconds(ns) {
  return `${count(Math.round(ns / 1e6))} ms`;
}

/**
 * The growth of what was 1 and is now 1 + GROWTH; infinite if it is new or gone.
 * @param {number} growth
 */
export function growthText(growth) {
  if (!Number.isFinite(growth)) {
    return growth > 0 ? "new" : "gone";
  }
  return growth >= 10 ? `\u00d7 ${count(Math.round(growth + 1))}`
    : `${growth < 0 ? "\u2212" : growth > 0 ? "+" : ""}${(100 * Math.abs(growth)).toFixed(1)} %`;
}

/**
 * The two largest units: "1 h 12 min".
 * @param {number} ms
 */
export function duration(ms) {
  const seconds = Math.round(ms / 1000);
  const parts = [
    [Math.floor(seconds / 86400), "d"], [Math.floor(seconds / 3600) % 24, "h"], [Math.floor(seconds / 60) % 60, "min"], [seconds % 60, "s"]];
  const first = parts.findIndex(([n]) => Number(n) > 0);
  return first < 0 ? `${count(ms)} ms` : parts.slice(first, first + 2).filter(([n]) => Number(n) > 0).map(([n, unit]) => `${n} ${unit}`).join(" ");
}

/** @param {number} ms  since 1970 */
export function timeText(ms) {
  const time = new Date(ms);
  return Number.isNaN(time.getTime()) ? "" : `${time.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/**
 * Round numbers for a scale, from 0 to MOST or a little more; at most six.
 * @param {number} most
 * @param {boolean} binary  of bytes
 */
export function ticks(most, binary) {
  const unit = binary ? 1024 ** Math.floor(Math.log(Math.max(most, 1)) / Math.log(1024)) : 1;
  const wanted = Math.max(most, 4) / unit / 4;
  const size = 10 ** Math.floor(Math.log10(wanted));
  const step = ([1, 2, 5].find(n => n * size >= wanted) ?? 10) * size * unit;
  return Array.from({length: Math.max(1, Math.ceil(most / step)) + 1}, (_, i) => i * step);
}

/**
 * @template T
 * @param {T[]} items
 * @param {(item: T) => number} value
 */
export function sum(items, value) {
  return items.reduce((total, item) => total + value(item), 0);
}

/** @param {string} text  in which numbers of five and more digits get separators */
export function separated(text) {
  return text.replace(/(?<![\w.])\d{5,15}(?![\w.])/g, digits => count(Number(digits)));
}
