// @ts-check
// Several dumps over time: the types that grow, and the dumps.
import {trend} from "./data.js";
import {barDelta, bytesDelta, deltaCell} from "./diff_rows.js";
import {bytesCell, byId, countCell, el, section, wideTable} from "./dom.js";
import {lineChart, spark} from "./lines.js";
import {visible} from "./names.js";
import {bytes, count, signed, timeText} from "./numbers.js";
import {head, tileOf} from "./summary.js";
import {sortableTable} from "./table.js";
import {METRIC, TIME, change, ends, isOwn, isSteady, known, last, seriesLink} from "./trend_rows.js";
import * as words from "./words.js";

/** @typedef {import("./trend_rows.js").TypeTrend} TypeTrend */

// Number of types at the top, and of lines in a picture.
const SHOWN = 5;

/** @type {import("./data.js").Side[]} */
const dumps = trend.kind === "trend" ? trend.dumps : [];
const first = dumps[0];
const latest = dumps[dumps.length - 1];

export function trendHeading() {
  const title = visible(latest.title || latest.program || latest.name);
  byId("kicker").textContent = "Heap dumps over time";
  head(`${title} – heap dumps over time`, title, [words.howMany(trend.dumps.length), words.between(first.unix_ms, latest.unix_ms)]);
}

/**
 * The types that have grown; of these, those that grow from dump to dump, then those with more and more objects, then the program's own.  A filter
 * that would leave nothing does not apply.
 * @param {TypeTrend[]} rows
 */
function growing(rows) {
  let grown = rows.filter(r => (change(r[METRIC]) ?? 0) > 0);
  const grows = (/** @type {"bytes" | "objects" | "retained"} */ what) => (/** @type {TypeTrend} */ r) => r[what].way === words.GROWS;
  for (const is of [grows(METRIC), grows("objects"), isOwn]) {
    const better = grown.filter(is);
    grown = better.length > 0 ? better : grown;
  }
  return [...grown].sort((x, y) => (change(y[METRIC]) ?? 0) - (change(x[METRIC]) ?? 0)).slice(0, SHOWN);
}

/** @param {TypeTrend[]} grown */
function headline(grown) {
  const most = grown[0];
  return el("p", {class: "answer"}, words.change(first, latest), ...most === undefined || trend.dumps.length < 2 ? ["."]
    : [": ", seriesLink(most.name), ` ${words.goes(most[METRIC].way, trend.dumps.length)}`]);
}

// What makes the comparison of neighbours doubtful, each sentence once.
function doubts() {
  /** @type {Map<string, number[]>} */
  const said = new Map();
  trend.dumps.forEach((dump, i) => (i > 0 ? words.differences(trend.dumps[i - 1], dump) : []).forEach(text =>
    said.set(text, [...said.get(text) ?? [], i + 1])));
  return said.size === 0 ? null
    : el("div", {class: "verdict unsure"}, ...[...said].map(([text, numbers]) => el("p", {}, words.fromDumpOn(text, numbers))));
}

// In one line, with the numbers of the incomplete dumps.
function verdicts() {
  const bad = trend.dumps.flatMap((dump, i) => dump.verdict.complete ? [] : [i + 1]);
  const unsure = trend.dumps.some(dump => dump.verdict.unverified);
  const kind = bad.length > 0 ? "bad" : unsure ? "unsure" : "good";
  return el("div", {class: `verdict ${kind}`}, el("p", {}, words.allComplete(bad, trend.dumps.length, unsure)));
}

/** @param {TypeTrend[]} rows */
export function trendSummary(rows) {
  const grown = growing(rows);
  const total = {values: trend.dumps.map(d => d.bytes), label: () => document.createTextNode("All objects")};
  const alive = {values: trend.dumps.map(d => d.retained), label: () => document.createTextNode("Alive")};
  document.body.classList.toggle("incomplete", trend.dumps.some(dump => !dump.verdict.complete));
  section("summary", "Summary", words.EXPLANATIONS.trend, headline(grown), verdicts(), doubts(),
    el("ol", {class: "answers"}, ...grown.map(r => el("li", {}, seriesLink(r.name), " ",
      words.grownOverTime(change(r[METRIC]) ?? 0, change(r.objects) ?? 0, METRIC === "retained", r[METRIC].hourly)))),
    el("div", {class: "columns"},
      el("div", {}, el("h3", {}, "The heap"), lineChart({
        described: words.LINES_OF_HEAP, at: TIME.at, text: bytes, binary: true, ends: ends(), lines: [total, ...trend.retained ? [alive] : []]})),
      grown.length === 0 ? null : el("div", {}, el("h3", {}, words.linesOf(METRIC === "retained")), lineChart({
        described: words.LINES_OF_TYPES, at: TIME.at, text: bytes, binary: true, ends: ends(),
        lines: grown.map(r => ({values: r[METRIC].values, label: () => seriesLink(r.name)}))}))),
    el("dl", {class: "stats"},
      tileOf(signed(latest.bytes - first.bytes, bytes), "Objects take", words.beforeAndNow(bytes(first.bytes), bytes(latest.bytes))),
      tileOf(signed(latest.objects - first.objects, count), "Objects", words.beforeAndNow(count(first.objects), count(latest.objects))),
      ...[words.GROWS, words.SHRINKS].map(way => tileOf(count(rows.filter(r => r[METRIC].way === way).length), words.typesThat(way), null))));
}

/** @param {TypeTrend[]} all */
export function trendTypes(all) {
  const rows = all.filter(r => !isSteady(r));
  const most = rows.reduce((n, r) => Math.max(n, Math.abs(change(r[METRIC]) ?? 0)), 1);
  /** @type {import("./table.js").Column<TypeTrend>[]} */
  const own = trend.retained ? [
    {title: "Bytes ±", number: true, narrow: false, value: r => change(r.bytes) ?? 0, cell: r => known(change(r.bytes), bytesDelta)},
    {title: "Bytes", number: true, narrow: false, value: r => last(r.bytes) ?? 0, cell: r => known(last(r.bytes), bytesCell)}] : [];
  section("types", "Types", words.EXPLANATIONS.trendTypes, sortableTable({
    caption: "Types over time", rows, sortBy: 2, keep: true,
    others: {label: words.unchanged(all.length - rows.length), rows: all.filter(isSteady)},
    search: {id: "type-search", label: "Search types", hint: "part of a name", text: r => r.name.toLowerCase()},
    foot: () => trend.other_rows === 0 ? null : el("tr", {}, el("th", {scope: "row"}, words.leftOutTypes(trend.other_rows))),
    columns: [
      {title: "Type", value: r => r.name, cell: r => el("th", {scope: "row"}, seriesLink(r.name, false))},
      {title: "Over time", value: r => words.way(r[METRIC].way), cell: r => el("td", {class: "way"}, spark(r[METRIC].values, TIME.at),
                                                                             el("span", {}, words.way(r[METRIC].way)))},
      {title: trend.retained ? "Retained ±" : "Bytes ±", number: true, value: r => change(r[METRIC]) ?? 0,
       cell: r => known(change(r[METRIC]), n => barDelta(n, most))},
      {title: "Per hour", number: true, narrow: false, value: r => r[METRIC].hourly ?? 0, cell: r => known(r[METRIC].hourly, bytesDelta)},
      {title: trend.retained ? "Retained" : "Bytes", number: true, narrow: false, value: r => last(r[METRIC]) ?? 0,
       cell: r => known(last(r[METRIC]), bytesCell)},
      ...own,
      {title: "Objects ±", number: true, narrow: false, value: r => change(r.objects) ?? 0,
       cell: r => known(change(r.objects), n => deltaCell(n, count))},
      {title: "Objects", number: true, narrow: false, value: r => last(r.objects) ?? 0, cell: r => known(last(r.objects), countCell)},
    ],
  }));
}

/**
 * The lines that keep more, if two dumps have sampled allocations.
 * @param {TypeTrend[]} types  the names of those have panels
 */
export function trendLines(types) {
  const {sites} = trend;
  if (sites === undefined) {
    return;
  }
  const names = new Set(types.map(r => r.name));
  const most = sites.reduce((n, [, , , , before, after]) => Math.max(n, after - before), 1);
  const titles = ["Line", "Type", "First, per hour", "Last, per hour", "Change"];
  section("lines", "Lines", words.EXPLANATIONS.trendLines, sites.length === 0 ? el("p", {}, words.NO_LINE_KEEPS_MORE)
    : wideTable("Lines that keep more", el("table", {}, el("thead", {}, el("tr", {}, ...titles.map((title, i) =>
      el("th", {scope: "col", class: i > 1 ? "number" : null}, title)))), el("tbody", {}, ...sites.map(([raw, method, file, line, before, after]) => {
      const type = visible(raw);
      const place = line === 0 ? "" : `${visible(file.slice(file.lastIndexOf("/") + 1))}:${line} `;
      return el("tr", {}, el("th", {scope: "row"}, el("bdi", {class: "name", dir: "ltr"}, place + (visible(method) || words.UNKNOWN_CODE))),
        el("td", {}, names.has(type) ? seriesLink(type) : el("bdi", {class: "name", dir: "ltr"}, type)),
        bytesCell(before), bytesCell(after), barDelta(after - before, most));
    })))));
}

export function dumpSection() {
  const titles = ["Dump", "Time", "File", "Objects", "Bytes", ...trend.retained ? ["Alive"] : [], "Complete?"];
  section("dumps", "Dumps", words.EXPLANATIONS.dumps, wideTable("Dumps", el("table", {}, el("thead", {}, el("tr", {}, ...titles.map((title, i) =>
    el("th", {scope: "col", class: i > 2 && i < titles.length - 1 ? "number" : null}, title)))), el("tbody", {}, ...trend.dumps.map((dump, i) =>
    el("tr", {}, el("th", {scope: "row"}, count(i + 1)), el("td", {}, dump.unix_ms === undefined ? "" : timeText(dump.unix_ms)),
       el("td", {class: "file"}, el("bdi", {dir: "ltr"}, visible(dump.name))), countCell(dump.objects), bytesCell(dump.bytes),
       trend.retained ? bytesCell(dump.retained) : null, el("td", {}, words.verdictOf(dump.verdict, visible))))))));
}
