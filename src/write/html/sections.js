// What the page consists of, from top to bottom.

function facts(pairs) {
  return el("dl", {class: "facts"}, ...pairs.filter(([, value]) => value !== "" && value !== null).map(([name, value]) =>
    el("div", {}, el("dt", {}, name), el("dd", {}, el("bdi", {dir: "ltr"}, value)))));
}

function dumpTime() {
  return timeText(data.gc.start_unix_ms === undefined ? NaN : data.gc.start_unix_ms + Math.round(data.gc.start_ns / 1e6));
}

function timeText(ms) {
  const time = new Date(ms);
  return Number.isNaN(time.getTime()) ? "" : `${time.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

function heading() {
  const {name, pid, runtime_version: runtime} = data.process;
  const title = visible(name) || (pid ? `Process ${pid}` : "Heap dump");
  head(`${title} – heap dump`, title, [dumpTime(), pid && name ? `process ${pid}` : "", runtime ? `.NET ${visible(runtime)}` : ""]);
}

function head(windowTitle, title, notes) {
  document.title = windowTitle;
  document.getElementById("title").append(el("bdi", {dir: "ltr"}, title));
  document.getElementById("subtitle").textContent = notes.filter(note => note !== "").join("  ·  ");
  document.getElementById("footer").textContent = `Written by gcdumpc ${data.gcdumpc}. This page loads nothing and sends nothing.`;
}

function verdictBox({complete, unverified, reasons}, of = "") {
  if (!complete) {
    return el("div", {class: "verdict bad"}, el("p", {}, el("strong", {}, `${of}Incomplete. `), "Something of this dump is " +
              "missing, so all numbers on this page are lower limits or may be wrong:"),
              el("ul", {}, ...reasons.map(reason => el("li", {}, visible(reason)))));
  }
  if (unverified) {
    return el("div", {class: "verdict unsure"}, el("p", {}, el("strong", {}, `${of}Not verified. `),
              "The file that this comes from does not tell whether anything is missing."));
  }
  return el("div", {class: "verdict good"}, el("p", {}, el("strong", {}, `${of}Complete. `),
            "Every event of the dump arrived: all counts and sums agree."));
}

function rootlessBox() {
  return el("div", {class: "verdict unsure"}, el("p", {}, el("strong", {}, "No roots. "), "The dump has none that keeps objects alive, so " +
            `${plural(data.totals.stand_ins, "object")} that nothing refers to serve as pseudo-roots: retained sizes and paths are guesses.`));
}

function tileOf(value, label, note) {
  return el("div", {class: "stat"}, el("dt", {}, label),
            el("dd", {}, el("span", {class: "value"}, value), note ? el("span", {class: "note"}, note) : null));
}

function summarySection() {
  const t = data.totals;
  const dead = t.bytes - t.reachable_bytes;
  const strong = sum(data.roots, n => n) - data.roots[data.root_groups.indexOf("weak handles")];
  const p = data.process;
  section("summary", "Summary", null, verdictBox(data.verdict), t.stand_ins > 0 ? rootlessBox() : null,
    el("dl", {class: "stats"},
      tileOf(bytes(t.bytes), "Objects take", exactBytes(t.bytes)),
      tileOf(count(t.objects), "Objects", `of ${plural(t.types, "type")}`),
      tileOf(count(t.references), "References", t.dependent_handles > 0 ? `and ${plural(t.dependent_handles, "dependent handle")}` : null),
      tileOf(count(strong), "Roots", "that keep objects alive"),
      tileOf(bytes(dead), "Not reachable", `${plural(t.objects - t.reachable_objects, "object")}, ${share(dead, t.bytes)}`),
      data.gc.pause_ns > 0 ? tileOf(`${(data.gc.pause_ns / 1e6).toFixed(0)} ms`, "Pause", "for this dump") : null),
    el("details", {}, el("summary", {}, "Process and runtime"), facts([
      ["Process", visible(p.name)], ["Process id", p.pid ? String(p.pid) : ""], ["Command line", visible(p.command_line)],
      ["Runtime", visible(p.runtime_version)], ["System", visible(p.os)], ["Architecture", visible(p.architecture)], ["Time", dumpTime()],
      ["Garbage collection", data.gc.number > 0 ? `number ${data.gc.number}` : ""], ["GC heaps", data.gc.heaps > 0 ? String(data.gc.heaps) : ""]])));
}

// From the root to what is suspected, one step below the other.
function suspectPath(s) {
  const root = s.root_group === undefined ? "Not known which root" : labelOf(data.root_groups[s.root_group]);
  const steps = s.path.map(([number, repeats, retained, dependent]) => el("li", {},
    number < 0 ? el("span", {class: "muted"}, `${plural(repeats, "more object")}`) : named({name: nameOf(number), kind: "t"}),
    number >= 0 && repeats > 1 ? el("span", {class: "muted"}, ` ${count(repeats)} one behind the other`) : null,
    dependent ? el("span", {class: "muted"}, " by a dependent handle") : null,
    el("span", {class: "muted"}, ` keeps ${bytes(retained)}`)));
  return el("div", {}, el("h4", {}, "Held by"), el("ol", {class: "path"}, el("li", {}, el("strong", {}, root),
            s.root_name ? el("span", {}, " ", named({name: visible(s.root_name), kind: "s"})) : null), ...steps));
}

function suspectParts(title, parts) {
  return el("div", {}, el("h4", {}, title), el("ul", {class: "parts"}, ...parts.map(([number, objects, size]) =>
    el("li", {}, named({name: nameOf(number), kind: "t"}), el("span", {class: "muted"}, ` ${bytes(size)} in ${plural(objects, "object")}`)))));
}

function suspectArticle(s, i) {
  return el("article", {class: "suspect", "aria-labelledby": `suspect-${i}`},
    el("h3", {id: `suspect-${i}`}, `${i + 1}. ${s.title}`,
       el("span", {class: "muted"}, ` ${bytes(s.bytes)}, ${share(s.bytes, data.totals.bytes)}`)),
    el("p", {}, el("bdi", {dir: "ltr"}, visible(s.sentence))),
    s.advice ? el("p", {}, el("bdi", {dir: "ltr"}, visible(s.advice))) : null,
    el("details", {open: i === 0}, el("summary", {}, "Details"), el("div", {class: "columns"},
      s.path ? suspectPath(s) : null,
      s.held.length > 0 ? suspectParts("Directly below it", s.held) : null,
      s.content.length > 0 ? suspectParts("All that it keeps, by type", s.content) : null)));
}

function suspectSection() {
  const limit = bytes(data.suspect_bytes);
  if (data.suspects.length === 0) {
    section("suspects", "Suspects", `Nothing keeps so much alive that it looks like a leak (${limit} or more). ` +
            "What grows slowly shows when two dumps are compared." + (data.consumer.length > 0 ? " The largest consumer is:" : ""),
      ...data.consumer.map(suspectArticle));
    return;
  }
  section("suspects", "Suspects", `What may be a leak: things that keep ${limit} or more alive, the largest first. ` +
          "Whether they should is for you to say.", ...data.suspects.map(suspectArticle));
}

function mapSection() {
  const views = [{title: "What holds it", root: dominatorTree}, {title: "Namespaces, retained", root: byNamespace()},
                 {title: "Namespaces, own size", root: byOwnSize()}];
  section("map", "Map", "The area is the memory. By what holds it: each rectangle keeps alive what lies inside of it. Click a rectangle to go in, " +
          "a name above the map to go out.", ...treemap(views));
}

function typeSection() {
  const withPaths = new Set(data.paths.map(p => p.type));
  const total = data.totals.bytes;
  const [others, otherObjects, otherBytes] = data.other_types;
  const row = (name, objects, size) => el("tr", {}, el("th", {scope: "row"}, name), countCell(objects), bytesCell(size),
                                          roomy(shareCell(size, total)), el("td", {}), el("td", {class: "roomy"}));
  const foot = [others > 0 ? row(`${plural(others, "more type")}, the smallest`, otherObjects, otherBytes) : null,
                row("All", data.totals.objects, total)];
  section("types", "Types", "Own size is what the objects take themselves. Retained is what would be freed at least if all objects of " +
          "the type went: it holds other types as well, so the column has no sum.",
    sortableTable({
      caption: "Types with the number, own size and retained size of their objects",
      rows: data.types, sortBy: 4, foot: foot.filter(r => r !== null).reduce((all, r) => (all.append(r), all), document.createDocumentFragment()),
      search: {id: "type-search", label: "Search types", hint: "part of a name or module", text: t => `${data.names[t[0]]} ${t[1]}`.toLowerCase()},
      columns: [
        {title: "Type", value: t => nameOf(t[0]), cell: t => el("th", {scope: "row"}, named({name: nameOf(t[0]), kind: "t"}),
          withPaths.has(t[0]) ? pathButton(t[0]) : null)},
        {title: "Objects", number: true, value: t => t[2], cell: t => countCell(t[2])},
        {title: "Own size", number: true, value: t => t[3], cell: t => bytesCell(t[3])},
        {title: "Share", number: true, bar: true, narrow: false, value: t => t[3], cell: t => shareCell(t[3], total)},
        {title: "Retained", number: true, value: t => t[4], cell: t => bytesCell(t[4])},
        {title: "Module", narrow: false, value: t => t[1], cell: t => el("td", {class: "module"}, visible(t[1]))},
      ],
    }));
}

function heldTree(label, nodes, whole, own) {
  return treeTable({label, nodes, follow: node => node.bytes >= whole / 4, columns: [
    {title: "Bytes", kind: "number", cell: node => bytesCell(node.bytes)}, {title: "Share", kind: null, cell: node => shareCell(node.bytes, whole)},
    {title: "Objects", kind: "number", cell: node => countCell(node.objects)},
    {title: own, kind: "number roomy", cell: node => roomy(bytesCell(node.ownBytes))},
  ]});
}

function treeSection() {
  section("tree", "Dominator tree", "What keeps what alive. An object stands below the one without which it would be freed; objects of one type " +
          "side by side are one row, and so are those of one type that hold each other, such as the links of a list.",
    heldTree("Dominator tree", dominatorTree.children(), data.totals.bytes, "Own size"));
}

function largestSection() {
  const cells = {
    holder: row => el("td", {class: "holders"}, ...row[4].slice(0, -1).flatMap((n, i) => [
      i > 0 ? el("span", {class: "arrow", "aria-label": "holds"}, " › ") : "", named({name: nameOf(n), kind: data.kinds[n]})])),
  };
  section("largest", "Largest objects", "Single objects by what they keep alive.",
    sortableTable({
      caption: "Objects with the largest retained sizes",
      rows: data.largest, sortBy: 1,
      columns: [
        {title: "Object", value: o => nameOf(o[0]), cell: o => el("th", {scope: "row"}, named({name: nameOf(o[0]), kind: "t"}),
                                                                 o[3] !== null ? el("span", {class: "address"}, o[3]) : null)},
        {title: "Retained", number: true, value: o => o[2], cell: o => bytesCell(o[2])},
        {title: "Share", number: true, bar: true, value: o => o[2], cell: o => shareCell(o[2], data.totals.bytes)},
        {title: "Own size", number: true, narrow: false, value: o => o[1], cell: o => bytesCell(o[1])},
        {title: "Held by", narrow: false, value: o => o[4].map(nameOf).join(" "), cell: cells.holder},
      ],
    }));
}

let showPaths = () => {};

function pathButton(type) {
  return el("button", {type: "button", class: "chip", "aria-label": `Paths to ${nameOf(type)}`, click: () => showPaths(type)}, "paths");
}

function pathSection() {
  if (data.paths.length === 0) {
    return;
  }
  const place = el("div", {"aria-live": "off"});
  const choice = el("select", {id: "path-type", change: () => show(choice.selectedIndex)},
                    ...data.paths.map(p => el("option", {}, nameOf(p.type))));
  function show(i) {
    choice.selectedIndex = i;
    const whole = wholeTree(data.paths[i].tree, "");
    place.replaceChildren(heldTree(`Shortest paths to ${nameOf(data.paths[i].type)}`, whole.children(), whole.bytes, "Ends here"));
  }
  const card = section("paths", "Paths", "How the garbage collector reaches the objects of a type: their shortest paths from the roots, " +
                       "merged. Counts and bytes are those of the type.",
                       el("div", {class: "search"}, el("label", {for: "path-type"}, "Paths to"), choice), place);
  show(0);
  showPaths = type => {
    show(data.paths.findIndex(p => p.type === type));
    card.scrollIntoView();
    choice.focus();
  };
}

function rootSection() {
  const held = new Map(data.tree.filter(row => row[0] < 0).map(row => [data.names[row[1]], row]));
  const row = (label, roots, node) => el("tr", {}, el("th", {scope: "row"}, label), el("td", {class: "number"}, roots),
    bytesCell(node ? node[5] : 0), shareCell(node ? node[5] : 0, data.totals.bytes), countCell(node ? node[4] : 0));
  const rows = data.root_groups.flatMap((group, i) => data.roots[i] > 0 ? [row(labelOf(group), count(data.roots[i]), held.get(`[${group}]`))] : []);
  for (const other of ["[several roots]", "[not reachable from roots]"]) {
    if (held.has(other)) {
      rows.push(row(labelOf(other), "", held.get(other)));
    }
  }
  section("roots", "Roots", "What the roots of each kind keep alive alone. Weak handles keep nothing alive; what several roots hold together would " +
          "stay if any one of them went.",
    el("div", {class: "scroll"}, el("table", {}, el("caption", {class: "hidden"}, "Roots by kind"), el("thead", {}, el("tr", {},
      el("th", {scope: "col"}, "Kind"), el("th", {scope: "col", class: "number"}, "Roots"), el("th", {scope: "col", class: "number"}, "Retained"),
      el("th", {scope: "col"}, "Share"), el("th", {scope: "col", class: "number"}, "Objects"))), el("tbody", {}, ...rows))));
}

function generationSection() {
  const names = ["Generation 0", "Generation 1", "Generation 2", "Large objects", "Pinned objects", "nongc: frozen, or in no range"];
  if (data.generations.length === 0) {
    section("generations", "Generations", "The recording does not tell where the generations lie, so nothing can be said about them.");
    return;
  }
  const largest = Math.max(...data.generations.map(g => g[1] + g[3]));
  const rows = data.generations.flatMap(([objects, size, ranges, free, reserved], i) => {
    if (objects === 0 && ranges === 0) {
      return [];
    }
    const stack = el("span", {class: "bar stacked", "aria-hidden": "true"});
    for (const [kind, part] of [["filled", size], ["free", free]]) {
      const piece = el("span", {class: kind});
      piece.style.width = `${100 * part / largest}%`;
      stack.append(piece);
    }
    const known = ranges > 0;
    return [el("tr", {}, el("th", {scope: "row"}, names[i]), countCell(objects), bytesCell(size),
      known ? bytesCell(free) : el("td", {class: "number"}, "–"), roomy(known ? bytesCell(reserved) : el("td", {class: "number"}, "–")),
      el("td", {class: "chart"}, stack))];
  });
  section("generations", "Generations", "Where the objects lie after the collection. Free is what lies between and behind them in " +
          "memory that is in use.",
    el("p", {class: "legend muted", "aria-hidden": "true"}, swatch("filled", "objects"), swatch("free", "free")),
    el("div", {class: "scroll"}, el("table", {}, el("caption", {class: "hidden"}, "Generations"), el("thead", {}, el("tr", {},
      ...["Generation", "Objects", "Bytes", "Free"].map((t, i) => el("th", {scope: "col", class: i > 0 ? "number" : null}, t)),
      el("th", {scope: "col", class: "number roomy"}, "Reserved"),
      el("th", {scope: "col"}, "Chart"))), el("tbody", {}, ...rows))));
}
