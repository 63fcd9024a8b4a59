// @ts-check
// For the panel: a type over several dumps.
import {trend} from "./data.js";
import {bytesCell, countCell, el, wideTable} from "./dom.js";
import {lineChart} from "./lines.js";
import {bytes, count, timeText} from "./numbers.js";
import {TIME, ends, known, typeTrends} from "./trend_rows.js";
import * as words from "./words.js";

/** @param {import("./trend_rows.js").TypeTrend} row */
function table(row) {
  const head = ["Dump", "Time", "Objects", "Bytes", ...trend.retained ? ["Retained"] : []];
  return wideTable(words.overTime(row.name), el("table", {}, el("thead", {}, el("tr", {}, ...head.map((title, i) =>
    el("th", {scope: "col", class: i > 1 ? "number" : null}, title)))), el("tbody", {}, ...trend.dumps.map((dump, i) => el("tr", {},
    el("th", {scope: "row"}, count(i + 1)), el("td", {}, dump.unix_ms === undefined ? "" : timeText(dump.unix_ms)),
    known(row.objects.values[i], countCell),
    known(row.bytes.values[i], bytesCell), trend.retained ? known(row.retained.values[i], bytesCell) : null)))));
}

/**
 * The facts and pictures of a type; null if there is no such type.
 * @param {string} name
 */
export function seriesOf(name) {
  const row = trend.kind === "trend" ? typeTrends().find(r => r.name === name) : undefined;
  if (row === undefined) {
    return null;
  }
  const label = (/** @type {string} */ text) => () => document.createTextNode(text);
  const own = {values: row.bytes.values, label: label("Own size")};
  const sizes = trend.retained ? [{values: row.retained.values, label: label("Retained")}, own] : [own];
  return {module: row.module, parts: [
    el("p", {}, words.went(row, trend.retained)),
    el("h3", {}, "Bytes"), lineChart({described: words.overTime(name), lines: sizes, at: TIME.at, text: bytes, binary: true, ends: ends()}),
    el("h3", {}, "Objects"), lineChart({described: words.overTime(name), lines: [{values: row.objects.values, label: label("Objects")}], at: TIME.at,
                                        text: count, binary: false, ends: ends()}),
    table(row)]};
}
