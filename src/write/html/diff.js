// Two dumps side by side.  What gcdumpc wrote (src/write/html/html_diff.c):
//
//   sides       older and newer: {name, program, process, unix_ms, objects, bytes, retained, verdict}
//   retained    are retained sizes known?
//   rows        [type, objects, bytes (, retained) before, the same after], those first that have grown most
//   other_rows  [types, objects, bytes before, after] that are not in rows
//   steps       [depth, name, objects, bytes before, after], each before those below it; changes of less than least_step bytes are left out

function diffRow([name, ...numbers]) {
  const half = numbers.length / 2;
  const sum = ([objects, size, retained = 0]) => ({objects, bytes: size, retained});
  return {name: visible(name), kind: "t", before: sum(numbers.slice(0, half)), after: sum(numbers.slice(half))};
}

function delta(row, what) {
  return row.after[what] - row.before[what];
}

function signed(n, text) {
  return n > 0 ? `+${text(n)}` : n < 0 ? `\u2212${text(-n)}` : "0";
}

function deltaCell(n, text, exact) {
  return el("td", {class: `number ${n > 0 ? "grown" : n < 0 ? "shrunk" : "same"}`, title: exact ? signed(n, exact) : null}, signed(n, text));
}

function bytesDelta(n) {
  return deltaCell(n, bytes, exactBytes);
}

function growth({before, after}) {
  return before.objects === 0 ? Infinity : after.objects === 0 ? -Infinity : before.bytes > 0 ? after.bytes / before.bytes - 1 : 0;
}

function growthText(row) {
  const g = growth(row);
  if (g >= 10 && g !== Infinity) {
    return `\u00d7 ${count(Math.round(g + 1))}`;
  }
  return g === Infinity ? "new" : g === -Infinity ? "gone" : `${g < 0 ? "\u2212" : g > 0 ? "+" : ""}${(100 * Math.abs(g)).toFixed(1)} %`;
}

function diffHeading() {
  const [older, newer] = data.sides;
  head(`${visible(older.name)} → ${visible(newer.name)} – heap dumps`, `${visible(older.name)} → ${visible(newer.name)}`,
       [older, newer].map(s => s.unix_ms === undefined ? "" : timeText(s.unix_ms)).concat(visible(newer.program)));
}

function diffSummary() {
  const [before, after] = data.sides;
  const sums = [["Objects take", "bytes", bytes], ["Objects", "objects", count], ...(data.retained ? [["Alive", "retained", bytes]] : [])];
  const tiles = sums.map(([label, what, text]) =>
    tileOf(text(after[what]), label, `${signed(after[what] - before[what], text)}, before ${text(before[what])}`));
  const all = data.rows.map(diffRow);
  const fresh = all.filter(r => r.before.objects === 0).length;
  const gone = all.filter(r => r.after.objects === 0).length;
  section("summary", "Summary", "Objects have no identity between dumps: types are compared by name, nothing else.",
    verdictBox(before.verdict, "Older dump: "), verdictBox(after.verdict, "Newer dump: "),
    el("dl", {class: "stats"}, ...tiles, tileOf(count(fresh), "New types", null), tileOf(count(gone), "Vanished types", null)));
}

function diffTypes() {
  const rows = data.rows.map(diffRow);
  const others = diffRow(["", ...data.other_rows.slice(1)]);
  const more = row => el("td", {class: "roomy"}, row);
  const retained = data.retained ? [
    {title: "Retained", number: true, narrow: false, value: r => r.after.retained, cell: r => bytesCell(r.after.retained)},
    {title: "Retained ±", number: true, value: r => delta(r, "retained"), cell: r => bytesDelta(delta(r, "retained"))}] : [];
  const foot = data.other_rows[0] === 0 ? null : el("tr", {}, el("th", {scope: "row"}, `${plural(data.other_rows[0], "more type")}`),
    roomy(countCell(others.after.objects)), roomy(deltaCell(delta(others, "objects"), count)), roomy(bytesCell(others.after.bytes)),
    bytesDelta(delta(others, "bytes")),
    more(growthText(others)), ...retained.map(column => column.narrow === false ? more("") : el("td", {})));
  section("types", "Types", "What has grown most comes first; numbers without a sign are those of the newer dump.", sortableTable({
    caption: "Types with what has changed", rows, sortBy: 4, foot,
    search: {id: "type-search", label: "Search types", hint: "part of a name", text: r => r.name.toLowerCase()},
    columns: [
      {title: "Type", value: r => r.name, cell: r => el("th", {scope: "row"}, named(r))},
      {title: "Objects", number: true, narrow: false, value: r => r.after.objects, cell: r => countCell(r.after.objects)},
      {title: "Objects ±", number: true, narrow: false, value: r => delta(r, "objects"), cell: r => deltaCell(delta(r, "objects"), count)},
      {title: "Bytes", number: true, narrow: false, value: r => r.after.bytes, cell: r => bytesCell(r.after.bytes)},
      {title: "Bytes ±", number: true, value: r => delta(r, "bytes"), cell: r => bytesDelta(delta(r, "bytes"))},
      {title: "Growth", number: true, narrow: false, value: r => growth(r), cell: r => el("td", {class: "number"}, growthText(r))},
      ...retained,
    ],
  }));
}

// Steps as nodes: each holds those that come behind it and are deeper.
function stepTree() {
  const top = [];
  const open = [];
  for (const [depth, ...row] of data.steps) {
    const node = Object.assign(diffRow(row), {kind: depth === 0 ? "r" : "t", below: [], children: () => node.below});
    open.length = depth;
    (depth === 0 ? top : open[depth - 1].below).push(node);
    open.push(node);
  }
  return top;
}

function diffPaths() {
  if (!data.has_steps) {
    return;
  }
  const nodes = stepTree();
  const most = Math.max(1, ...nodes.map(n => Math.abs(delta(n, "bytes"))));
  section("paths", "What holds it", "Shortest paths from the roots, merged by name: where the objects hang that have come or gone. " +
          (data.least_step > 1 ? `Steps that have changed by less than ${exactBytes(data.least_step)} are left out.`
                               : "Steps that have not changed are left out."),
    nodes.length === 0 ? el("p", {}, "Nothing has changed.") : treeTable({
      label: "What has grown, by what holds it", nodes, follow: node => Math.abs(delta(node, "bytes")) >= most / 4, columns: [
        {title: "Bytes ±", kind: "number", cell: n => bytesDelta(delta(n, "bytes"))},
        {title: "Objects ±", kind: "number", cell: n => deltaCell(delta(n, "objects"), count)},
        {title: "Bytes", kind: "number roomy", cell: n => roomy(bytesCell(n.after.bytes))},
        {title: "Growth", kind: "number roomy", cell: n => roomy(el("td", {class: "number"}, growthText(n)))},
      ]}));
}
