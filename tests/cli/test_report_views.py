"""report --by, --filter, --retained and similar options: sums, and the same numbers computed another way."""
import collections
import csv
import gzip
import io
import json
import os
import re
import sqlite3
import stat
import unittest

from cli_support import HAVE_SQLITE, INCOMPLETE, NO_ROOM, CliTest, Ev, Payloads, V4File, is_called, main, small_trace, trace, types_trace, write

RECORDINGS = ("net8-wks", "net9-svr", "net10-wks-ranges", "net10-wks-nonames", "net10-wks-lossy", "net10-wks-killed")
# --by, the name of the rows in JSON, the column that names a row
VIEWS = (("type", "types", "type"), ("module", "modules", "module"), ("namespace", "namespaces", "namespace"), ("kind", "kinds", "kind"),
         ("generation", "generations", "generation"), ("length", "lengths", "type"))
EVIL = ("=cmd|x", "A\x1b[31mred", "B\nC,\"D\"", "Größe`1[数据]", "E\x9b31m.F", "+1.G", "'H", "I;J", ".", "..K", "<>c", "a.")


def traced(*types, ranges=(), statics=(), nodes=()):
    """A complete recording: rows (name, objects, bytes of each[, flags]), one behind the other from 0x1000 on."""
    p, at, walk = Payloads(), 0x1000, list(nodes)
    for i, (_, objects, size, *_) in enumerate(types):
        for _ in range(objects):
            walk.append((at, size, 0x70 + i, 0))
            at += min(-(-size // 8) * 8, 2**32)
    events = [Ev(1, 2000, p.gc_start())]
    events += [Ev(38, 2001, p.statics(*statics))] if statics else []
    events += [Ev(18, 2002, p.nodes(0, *walk)),
               Ev(15, 2003, p.types(*((0x70 + i, t[0], t[3] if len(t) > 3 else 0, 0x02000001, ()) for i, t in enumerate(types))))]
    events += [Ev(23, 2004, p.generation_range(*r)) for r in ranges]
    return write(V4File(), events + [Ev(2, 2005, p.gc_end()), Ev(99, 2006, p.process_info("dotnet /srv/shop.dll"))])


class ReportTest(CliTest):
    def json(self, name, *words, code=None):
        path = trace(name) if name in RECORDINGS else name
        return json.loads(self.done("report", path, "--json", "-q", *words, code=code if code is not None else 3 if name in INCOMPLETE else 0).text)

    def csv(self, name, *words, code=0):
        path = trace(name) if name in RECORDINGS else name
        return list(csv.DictReader(io.StringIO(self.done("report", path, "--csv", "-q", *words, code=code).text, newline="")))


class Views(ReportTest):
    def views(self, name):
        return [v for v in VIEWS if v[0] != "generation" or name == "net10-wks-ranges"]

    def test_sums(self):
        """Whatever the grouping, all lines add up to the heap."""
        for name in RECORDINGS:
            for by, key, _ in self.views(name):
                got = self.json(name, "--by", by)
                self.assertEqual((got["by"], got["filter"], got["schema"]), (by, None, 2))
                self.assertEqual((sum(r["count"] for r in got[key]), sum(r["bytes"] for r in got[key])), (got["objects"], got["bytes"]), (name, by))
                self.assertAlmostEqual(sum(r["share"] for r in got[key]), 1)
                self.assertEqual(got["matched"], {"types": got["type_count"], "objects": got["objects"], "bytes": got["bytes"]})
                self.assertEqual(got["verdict"]["complete"], name not in INCOMPLETE)

    def test_text_and_csv_say_the_same(self):
        for by, key, label in VIEWS:
            rows = self.json("net10-wks-ranges", "--by", by)[key]
            of_csv = self.csv("net10-wks-ranges", "--by", by)
            self.assertEqual(list(of_csv[0]), list(rows[0]))
            for row, cells in zip(rows, of_csv, strict=True):
                for column, value in row.items():
                    if isinstance(value, float):
                        self.assertAlmostEqual(float(cells[column]), value, delta=1e-5)
                    else:
                        self.assertEqual(cells[column], "" if value is None else str(value), (by, column))
            head, *lines = self.done("report", trace("net10-wks-ranges"), "--by", by).text.splitlines()
            self.assertEqual(head.split()[:3], ["Count", "Bytes", "Share"])
            for row, line in zip(rows, lines):
                self.assertEqual(line.split()[:3], [str(row["count"]), str(row["bytes"]), f"{100 * row['share']:.2f}%"])
                self.assertTrue(is_called(line.split("  ")[-1].strip(), row[label]), (line, row[label]))
            self.assertEqual(len(lines), len(rows) + 1)
            self.assertRegex(lines[-1], rf"\A *17646 +1378569 +100\.00%.*  total, {len(rows)} {key}\Z")

    def test_text(self):
        for by in ("kind", "generation", "length", "root"):
            self.expected(f"report-by-{by}.txt", self.done("report", self.link("net10-wks-ranges"), "--by", by).text)
        self.expected("report-retained-top-10.txt", self.done("report", self.link("net10-wks-ranges"), "--retained", "--top=10").text)
        self.expected("report-by-root-retained.txt", self.done("report", self.link("net10-wks-ranges"), "--retained", "--by=root").text)

    def test_groups_are_those_of_the_types(self):
        def namespace(raw):
            return re.match(r"[^`\[<+*&,( ]*", raw)[0].rpartition(".")[0] or "(none)"
        for name in ("net10-wks-ranges", "net8-wks"):
            types = self.json(name)["types"]
            for by, key, label, group in (("module", "modules", "module", lambda t: t["module"] or "(unknown)"),
                                          ("namespace", "namespaces", "namespace", lambda t: namespace(t["raw_name"]))):
                wanted = collections.defaultdict(lambda: [0, 0])
                for t in types:
                    wanted[group(t)][0] += t["count"]
                    wanted[group(t)][1] += t["bytes"]
                self.assertGreater(len(wanted), 1 if name != "net8-wks" or by != "module" else 0)
                got = {r[label]: [r["count"], r["bytes"]] for r in self.json(name, "--by", by)[key]}
                self.assertEqual(got, dict(wanted))

    def test_kinds(self):
        """By the source of the recorded program (tests/target)."""
        for pattern, kind in (("System.String", "string"), ("System.Byte[]", "array"), ("HeapLab.Sample[,]", "array"),
                              ("HeapLab.Item[*]", "array"), ("System.Action", "delegate"), ("HeapLab.Colour", "boxed value"),
                              ("HeapLab.Point", "boxed value"), ("System.Int32", "boxed value"), ("HeapLab.Pending", "finalizable class"),
                              ("HeapLab.Node", "class"), ("HeapLab.Box<System.Int32[]>", "class")):
            self.assertEqual([r["kind"] for r in self.json("net10-wks-ranges", "--by=kind", "--filter", pattern)["kinds"]], [kind], pattern)
        kinds = {r["kind"]: r["count"] for r in self.json("net10-wks-ranges", "--by=kind")["kinds"]}
        self.assertEqual({r["kind"]: r["count"] for r in self.json("net10-wks-nonames", "--by=kind")["kinds"]}, kinds)   # flags, not names

    def test_files_of_graphs(self):
        """Files of graphs contain less, and the output says so."""
        for name in ("x.gclog", "x.gcdump", "x.dartheap"):
            self.done("convert", trace("net10-wks-ranges"), "-o", name, "-q")
            kinds = {r["kind"]: r["count"] for r in self.json(name, "--by=kind")["kinds"]}
            self.assertEqual((kinds["string"], kinds["array"]), (591, 107), name)
            self.assertEqual(sum(kinds.values()), 17646)
            self.refused(1, rf"{name}: it has no memory ranges, so generations are unknown; .*", "report", name, "--by=generation")
            roots = {r["group"]: r["roots"] for r in self.json(name, "--by=root")["roots"]}
            self.assertGreater(roots["statics"], 0)
            self.assertEqual(sum(r["retained_bytes"] for r in self.json(name, "--by=root", "--retained")["roots"]), 1378569)

    def test_from_a_pipe(self):
        with open(trace("net10-wks-ranges"), "rb") as f:
            data = f.read()
        for words in (["--by=generation"], ["--by=length"], ["--retained"], ["--format=prometheus"], ["--by=root", "--retained"]):
            self.assertEqual(self.done("report", "-", *words, data=data).text, self.done("report", trace("net10-wks-ranges"), *words).text)


class Generations(ReportTest):
    def test_of_a_real_heap(self):
        """traces/README.md"""
        rows = {r["generation"]: r for r in self.json("net10-wks-ranges", "--by", "generation")["generations"]}
        self.assertEqual({k: r["count"] for k, r in rows.items()}, {"gen0": 0, "gen1": 36, "gen2": 16994, "loh": 5, "poh": 3, "nongc": 608})
        self.assertEqual(sum(r["ranges"] or 0 for r in rows.values()), 6)
        for name, r in rows.items():
            if name == "nongc":
                self.assertEqual({r[k] for k in ("used_bytes", "free_bytes", "free_share", "reserved_bytes", "ranges")}, {None})
                continue
            self.assertLessEqual(r["bytes"] + r["free_bytes"], r["used_bytes"])
            self.assertLess(r["used_bytes"] - r["free_bytes"] - r["bytes"], 8 * r["count"] + 1)      # nothing but alignment
            self.assertLessEqual(r["used_bytes"], r["reserved_bytes"])

    def test_known_ranges(self):
        """Two ranges, holes, a range without objects, an object outside, an unknown generation."""
        self.put("r", traced(("A", 3, 20), ("B", 1, 40), nodes=((0x9000, 24, 0x71, 0), (0x5000, 100, 0x70, 0)),
                             ranges=((2, 0x1000, 100), (4, 0x5000, 200), (2, 0x7000, 50), (9, 0x8000, 0))))
        rows = {r["generation"]: r for r in self.json("r", "--by", "generation")["generations"]}
        keys = ("count", "bytes", "used_bytes", "free_bytes", "ranges")
        self.assertEqual({g: tuple(r[k] for k in keys) for g, r in rows.items()}, {
            "gen2": (4, 100, 150, 38, 2), "poh": (1, 100, 200, 96, 1), "nongc": (1, 24, None, None, None), "gen9": (0, 0, 0, 0, 1)})
        total = self.done("report", "r", "--by", "generation").text.splitlines()[-1].split()
        self.assertEqual(total[:6], ["6", "224", "100.00%", "350", "134", "38.29%"])

    def test_filtered(self):
        """Space used by other types is not free."""
        self.put("r", traced(("A", 3, 20), ("B", 1, 40), ranges=((2, 0x1000, 200),)))
        (row,) = self.json("r", "--by", "generation", "--filter", "A")["generations"]
        self.assertEqual((row["count"], row["bytes"], row["used_bytes"], row["free_bytes"], row["free_share"]), (3, 60, 200, None, None))

    def test_not_recorded(self):
        for words in ((), ("--json",), ("--csv",), ("-o", "out")):
            self.refused(1, r".*: it has no memory ranges, so generations are unknown; a recording with the keyword 0x400000 has them",
                         "report", trace("net9-svr"), "--by", "generation", *words)


class Lengths(ReportTest):
    def test_against_the_objects(self):
        self.done("convert", trace("net10-wks-ranges"), "-o", "t", "-f", "csv", "-q", "--names", "raw")
        with open(self.path("t", "types.csv"), encoding="utf-8", newline="") as f:
            names = {row["id"]: row["name"].removeprefix("'") for row in csv.DictReader(f)}
        sizes = {"System.String": (22, 2), "System.Byte[]": (24, 1), "System.Char[]": (24, 2), "System.Int32[]": (24, 4), "HeapLab.Item[]": (24, 8),
                 "HeapLab.Sample[,]": None, "HeapLab.Item[,]": (40, 8), "System.Byte[][]": (24, 8)}
        wanted = collections.defaultdict(list)
        with open(self.path("t", "objects.csv"), encoding="utf-8", newline="") as f:
            for row in csv.DictReader(f):
                rule = sizes.get(names[row["type_id"]])
                if rule is not None:
                    length = (int(row["size_bytes"]) - rule[0]) // rule[1]
                    wanted[names[row["type_id"]], length.bit_length()].append((length, int(row["size_bytes"])))
        self.assertGreater(len(wanted), 20)
        got = {}
        for row in self.json("net10-wks-ranges", "--by", "length", "--names", "raw")["lengths"]:
            if row["type"] in sizes:
                got[row["type"], row["length_min"].bit_length()] = (row["count"], row["bytes"], row["length_min"], row["length_max"])
                self.assertEqual(row["length"], "-".join(str(n) for n in sorted({row["length_min"], row["length_max"]})))
        self.assertEqual(got, {k: (len(v), sum(s for _, s in v), min(v)[0], max(v)[0]) for k, v in wanted.items()})

    def test_sizes_that_are_rounded(self):
        """As Mono does: no string has an odd size, so nothing is known of any length."""
        self.put("mono", traced(("System.String", 3, 24), ("System.Byte[]", 1, 40)))
        (row,) = self.json("mono", "--by", "length")["lengths"]
        self.assertEqual((row["count"], row["bytes"], row["type"], row["length"], row["length_min"]), (4, 112, "(no length)", None, None))
        self.put("core", traced(("System.String", 3, 24), ("System.Byte[]", 1, 40), nodes=((0x5000, 22, 0x70, 0),)))
        rows = [(r["type"], r["length"], r["count"]) for r in self.json("core", "--by", "length", "--names=raw", "--sort=name")["lengths"]]
        self.assertEqual(rows, [("System.Byte[]", "16", 1), ("System.String", "1", 3), ("System.String", "0", 1)])


class Roots(ReportTest):
    def test_counts(self):
        """traces/README.md"""
        for name in ("net10-wks-ranges", "net9-svr"):
            got = {r["group"]: r["roots"] for r in self.json(name, "--by", "root")["roots"]}
            self.assertEqual(got, {"statics": 314, "locals": 16, "finalizer": 20, "strong_handles": 17, "pinned_handles": 3, "weak": 20})

    def test_what_they_lead_to(self):
        """Compared with our own search in the tables."""
        self.done("convert", trace("net10-wks-ranges"), "-o", "t", "-f", "csv", "-q")
        tables = {}
        for table in ("objects", "edges", "roots", "dependent_handles"):
            with open(self.path("t", table + ".csv"), encoding="utf-8", newline="") as f:
                tables[table] = list(csv.DictReader(f))
        sizes = [int(o["size_bytes"]) for o in tables["objects"]]
        leads = collections.defaultdict(list)
        for e in tables["edges"]:
            leads[int(e["from_id"])].append(int(e["to_id"]))
        for d in tables["dependent_handles"]:
            leads[int(d["key_id"])].append(int(d["value_id"]))
        starts = collections.defaultdict(list)
        for r in tables["roots"]:
            if r["root_group"] != "weak":
                starts[r["root_group"]].append(int(r["object_id"]))
        reached = {}
        for group, nodes in starts.items():
            seen, stack = set(nodes), list(nodes)
            while stack:
                for to in leads[stack.pop()]:
                    if to not in seen:
                        seen.add(to)
                        stack.append(to)
            reached[group] = seen
        rows = {r["group"]: r for r in self.json("net10-wks-ranges", "--by", "root", "--retained")["roots"]}
        self.assertEqual(set(rows), set(reached) | {"weak", "several", "frozen"})
        order, earlier = ("statics", "strong_handles", "pinned_handles", "other", "locals", "refcounted", "finalizer"), set()
        for group in sorted(reached, key=order.index):
            seen, first = reached[group], reached[group] - earlier
            earlier |= seen
            self.assertEqual((rows[group]["claimed_objects"], rows[group]["claimed_bytes"]), (len(first), sum(sizes[n] for n in first)))
            alone = seen.difference(*(s for g, s in reached.items() if g != group))
            row = rows[group]
            self.assertEqual((row["objects"], row["bytes"]), (len(seen), sum(sizes[n] for n in seen)))
            self.assertEqual((row["retained_objects"], row["retained_bytes"]), (len(alone), sum(sizes[n] for n in alone)))
        dead = set(range(len(sizes))).difference(*reached.values())
        self.assertEqual((rows["frozen"]["retained_objects"], rows["frozen"]["retained_bytes"]), (len(dead), sum(sizes[n] for n in dead)))
        self.assertEqual(sum(r["retained_objects"] for r in rows.values()), len(sizes))
        self.assertEqual(sum(r["retained_bytes"] for r in rows.values()), sum(sizes))
        self.assertEqual(sum(r["claimed_bytes"] or 0 for r in rows.values()), sum(sizes))
        self.assertAlmostEqual(sum(r["claimed_share"] or 0 for r in rows.values()), 1)

    def test_without_roots(self):
        self.put("none", types_trace(("A", 2, 24), ("B", 1, 100)))
        run = self.done("report", "none", "--retained", "--json")
        self.assertRegex(run.err.decode(), r"\Agcdumpc: none: the dump has no roots; 3 objects .*\n\Z")
        self.assertEqual([(t["type"], t["retained_bytes"]) for t in json.loads(run.text)["types"]], [("B", 100), ("A", 48)])
        run = self.done("report", "none", "--retained", "--by=root", "--json")
        self.assertRegex(run.err.decode(), r"\Agcdumpc: none: the dump has no roots; 3 objects .*\n\Z")
        self.assertEqual([(r["group"], r["roots"], r["retained_bytes"]) for r in json.loads(run.text)["roots"]], [("stand_in", 3, 148)])


class Retained(ReportTest):
    @unittest.skipUnless(HAVE_SQLITE, "the dominators are read from a database")
    def test_against_the_dominators(self):
        """The sum over the objects of a group without an ancestor in the same group."""
        self.done("convert", trace("net10-wks-ranges"), "-o", "d.sqlite", "-q")
        db = sqlite3.connect(self.path("d.sqlite"))
        types = {i: (name, module) for i, name, module in db.execute("SELECT id, name, module FROM types")}
        type_of = dict(db.execute("SELECT id, type_id FROM objects"))
        parent = dict(db.execute("SELECT object_id, parent_id FROM dominators"))
        size = dict(db.execute("SELECT object_id, retained_bytes FROM dominators"))
        db.close()
        for by, key, label, column, prefix in (("type", "types", 0, "type", ""), ("module", "modules", 1, "module", ""),
                                               ("module", "modules", 1, "module", "System.")):
            group_of = {i: t[label] or "(unknown)" for i, t in types.items() if t[0].startswith(prefix)}
            wanted = collections.Counter()
            for node in parent:
                group, above = group_of.get(type_of[node]), parent[node]
                while above is not None and group_of.get(type_of[above]) != group:
                    above = parent[above]
                wanted[group] += size[node] if above is None else 0
            del wanted[None]
            rows = self.json("net10-wks-ranges", "--retained", "--by", by, "--filter", prefix + "*")[key]
            self.assertEqual({r[column]: r["retained_bytes"] for r in rows if r["retained_bytes"]}, dict(wanted))

    def test_order_and_total(self):
        rows = self.json("net10-wks-ranges", "--retained", "--sort", "retained")["types"]
        self.assertEqual([r["retained_bytes"] for r in rows], sorted((r["retained_bytes"] for r in rows), reverse=True))
        alive = sum(r["retained_bytes"] for r in self.json("net10-wks-ranges", "--retained", "--by=root")["roots"] if r["group"] != "frozen")
        total = self.done("report", trace("net10-wks-ranges"), "--retained").text.splitlines()[-1]
        self.assertEqual(total.split(), ["17646", "1378569", "100.00%", str(alive), "total,", "201", "types"])

    def test_the_rest_is_as_without(self):
        for words in ((), ("--by=namespace",)):
            def without(got):
                del got["guessed_roots"], got["unreachable"]         # only the graph tells them
                return {k: [{c: v for c, v in r.items() if c != "retained_bytes"} for r in v] if isinstance(v, list) else v for k, v in got.items()}
            self.assertEqual(without(self.json("net10-wks-ranges", "--retained", *words)),
                             {k: v for k, v in self.json("net10-wks-ranges", *words).items() if k != "unreachable"})


class LongNames(ReportTest):
    def test_people_see_both_ends(self):
        """All of it in JSON and CSV; what is shown means the type."""
        name = "Shop.Pair<" + "System.Int32, " * 1000 + "End>"
        self.put("in", types_trace((name, 2, 100), ("Shop.Other", 1, 24)))
        shown, = (line.split(None, 3)[3] for line in self.done("report", "in").text.splitlines() if "Pair" in line)
        self.assertEqual((len(shown), shown[:10], shown[98:101], shown[-6:]), (199, "Shop.Pair<", "...", ", End>"))
        whole = self.done("report", "in", "--json").out
        self.assertEqual(json.loads(whole)["types"][0]["type"], name.replace("System.Int32", "int") if "System.Int32" not in whole.decode() else name)
        self.assertIn(json.loads(whole)["types"][0]["type"], self.done("report", "in", "--csv").text)
        filtered = json.loads(self.done("report", "in", "--json", "--filter", shown).out)["types"]
        self.assertEqual([t["count"] for t in filtered], [2])

    def test_a_name_that_fits_into_no_event(self):
        self.put("in", types_trace(("", 2, 100), ("Shop.Other", 1, 24)))
        self.assertIn("1 type is named by module and token: its name does not fit into an event (64 KB)", self.done("info", "in").text)
        self.assertEqual(self.done("report", "in").text.splitlines()[1].split(None, 3)[3], "UNKNOWN 0x70")


class Choice(ReportTest):
    """--filter, --min-bytes, --top, --sort"""

    def test_filter(self):
        types = self.json("net10-wks-ranges")["types"]
        for pattern, match in (("HeapLab.*", r"HeapLab\..*"), ("System.Byte[]", r"System\.Byte\[\]"), ("*[]", r".*\[\]"),
                               ("System.Int??", r"System\.Int.."), (r"/^HeapLab\.(Node|Leaf)$/", r"HeapLab\.(Node|Leaf)"),
                               ("/String/", ".*String.*")):
            wanted = [t for t in types if re.fullmatch(match, t["type"])]
            self.assertGreater(len(wanted), 0, pattern)
            got = self.json("net10-wks-ranges", "--filter", pattern)
            self.assertEqual((got["types"], got["filter"]), (wanted, pattern))
            objects, size = (sum(t[k] for t in wanted) for k in ("count", "bytes"))
            self.assertEqual(got["matched"], {"types": len(wanted), "objects": objects, "bytes": size})
            self.assertEqual(got["bytes"], 1378569)
            text = self.done("report", trace("net10-wks-ranges"), "--filter", pattern).text.splitlines()[-1]
            self.assertTrue(text.endswith(f"  total, {len(wanted)} type{'' if len(wanted) == 1 else 's'}; {len(wanted)} of 201 types"), text)
            for by, key in (("module", "modules"), ("kind", "kinds"), ("length", "lengths"), ("generation", "generations")):
                rows = self.json("net10-wks-ranges", "--by", by, "--filter", pattern)[key]
                self.assertEqual((sum(r["count"] for r in rows), sum(r["bytes"] for r in rows)), (objects, size))

    def test_filter_by_either_spelling(self):
        for style in ("raw", "csharp"):
            for name in ("HeapLab.Box<System.Int32>", "HeapLab.Box`1[System.Int32]"):
                self.assertEqual(len(self.json("net10-wks-ranges", f"--names={style}", f"--filter={name}")["types"]), 1)

    def test_nothing_matches(self):
        name = trace("net10-wks-ranges")
        for words in ((), ("--json",), ("--csv",), ("--by=kind",), ("--retained",), ("-f", "prometheus"), ("-o", "x.prom")):
            self.refused(1, rf'{name}: no type matches "HeapLab\.Nodee"; near it: "HeapLab\.Node".*',
                         "report", name, "--filter", "HeapLab.Nodee", *words)
        self.refused(1, rf'{name}: no type matches "Zzzzzzzzzzzzzzzzzzzzzzzz"; gcdumpc report lists all types',
                         "report", name, "--filter", "Zzzzzzzzzzzzzzzzzzzzzzzz")

    def test_a_type_without_objects(self):
        self.put("s", traced(("A", 1, 24), ("Only.Static", 0, 0), statics=((0x1000, 0x71, "field"),)))
        self.refused(1, r's: no type with objects matches "Only\.\*"; .*', "report", "s", "--filter", "Only.*")

    def test_bad_patterns(self):
        for pattern, why in (("/(/", r'a "\(" is not closed; without the slashes only \* and \? are special'), ("/[/", r'a "\[" is not closed; .*'),
                             ("/a{2,1}/", "numbers in braces .*"), ("/\\/", "a backslash at its end .*"), ("/(a)\\1/", r".* are not supported; .*")):
            self.refused(2, rf'"{re.escape(pattern)}" is not a regular expression: {why}', "report", "missing", "--filter", pattern)
        self.refused(2, "a name pattern is empty; .*", "report", "missing", "--filter", "")
        self.refused(2, "a pattern for names is longer than 1000 characters", "report", "missing", "--filter", "/" + "(" * 2000 + "/")
        self.refused(2, "a pattern for names is longer than 10000 characters", "report", "missing", "--filter", "x" * 10001)
        self.refused(1, ".*missing: cannot open: .*", "report", "missing", "--filter", "?" * 1000)

    def test_a_long_name(self):
        """Every character is read once: quadratic time would take hours."""
        self.put("s", small_trace())
        self.done("convert", "s", "-o", "s.gclog")
        name = "a" * 2_000_000
        body = re.sub(rb"\nt \w+ \[gcdumpc [^\n]*", b"", self.get("s.gclog"))     # without its checksum
        self.put("long.gclog", body.replace(b"t 3 Shop.Order", f"t 3 {name}.End".encode()))
        self.refused(1, r'long\.gclog: no type matches "/a\.\*b/"; .*', "report", "long.gclog", "--filter", "/a.*b/")
        self.refused(1, r'long\.gclog: no type matches "\*a\*b\*"; .*', "report", "long.gclog", "--filter", "*a*b*")
        for pattern in ("/a.*End/", "/(a|aa)+\\.End$/", "*a*.End", "/^a+/"):
            self.assertEqual([t["type"] for t in self.json("long.gclog", "--filter", pattern)["types"]], [f"{name}.End"])
        for command in ("diff", "trend"):
            run = self.gcdumpc(command, "s.gclog", "long.gclog", "--json", "--filter", "/a.*End/", "--fail-if", "count(/a.*b|Store$/) > 1")
            self.assertEqual([t["type"] for t in json.loads(run.text)["types"]], [f"{name}.End"])
            self.assertEqual(run.code, 0, run.err)

    def test_least_bytes(self):
        for by, key, _ in VIEWS[:4]:
            rows = self.json("net10-wks-ranges", "--by", by)[key]
            for least in (1, 1000, 144000, 144001, 10**9):
                got = self.json("net10-wks-ranges", "--by", by, "--min-bytes", str(least))[key]
                self.assertEqual(got, [r for r in rows if r["bytes"] >= least])
            text = self.done("report", trace("net10-wks-ranges"), "--by", by, "--min-bytes=100K", "--top=2", "--sort=name").text.splitlines()
            shown = sorted((r for r in rows if r["bytes"] >= 102400), key=lambda r: r[list(r)[3]].encode())[:2]
            self.assertEqual([int(line.split()[1]) for line in text[1:-2]], [r["bytes"] for r in shown])
            self.assertIn(f"({len(rows) - len(shown)} more {key})", text[-2])
            self.assertEqual(int(text[-2].split()[1]), 1378569 - sum(r["bytes"] for r in shown))

    def test_what_does_not_go_together(self):
        for words, why in ((["--sort=retained"], "--sort retained needs --retained"),
                           (["--retained", "--by=generation"], "--retained is for types and what they have in common, and for roots"),
                           (["--retained", "--by=length"], "--retained is for .*"),
                           (["--by=root", "--filter=A"], "--filter, --min-bytes, --top and --sort are not for --by root"),
                           (["--by=root", "--top=1"], "--filter, .*"), (["--by=root", "--min-bytes=1"], "--filter, .*"),
                           (["--by=root", "--sort=name"], "--filter, .*"),
                           (["--by=kind", "-f", "prometheus"], "--format prometheus always shows types, generations and roots, without --by"),
                           (["--by=kind", "-o", "x.prom"], "--format prometheus always shows .*"),
                           (["--names=raw", "-f", "prometheus"], "--format prometheus needs different names .*")):
            self.refused(2, rf"{why}; see gcdumpc report --help", "report", "missing", *words)
        self.refused(2, "give one of --json and --csv; .*", "report", "missing", "--json", "--csv")
        for words in (["--json", "--format=text"], ["--csv", "-f", "csv"]):
            self.refused(2, "give one of --json, --csv and --format", "report", "missing", *words)
        self.refused(2, 'there is no format "xml" of reports; there is: text, json, csv, prometheus', "report", "missing", "-f", "xml")
        self.refused(2, '--by takes type, module, namespace, kind, generation, length or root, not "size"', "report", "missing", "--by", "size")


class Hostile(ReportTest):
    def test_names(self):
        self.put("evil", traced(*((name, 1 + i, 24) for i, name in enumerate(EVIL))))
        for by, key, _ in VIEWS[:4] + VIEWS[5:]:
            text = self.done("report", "evil", "--by", by, "--names=raw").text
            self.assertEqual([c for c in text if c < " " and c != "\n" or "\x7f" <= c < "\xa0"], [])
            got = self.json("evil", "--by", by, "--names=raw")
            self.assertEqual(sum(r["count"] for r in got[key]), sum(range(1, len(EVIL) + 1)))
            for row in self.csv("evil", "--by", by, "--names=raw"):
                for cell in row.values():
                    self.assertNotRegex(cell, r"\A *[=+\-@\t\r\n]|[\x00-\x1f]")
        self.assertEqual({t["type"] for t in self.json("evil", "--names=raw")["types"]}, set(EVIL))
        names = {r["namespace"] for r in self.json("evil", "--by=namespace")["namespaces"]}
        self.assertEqual(names, {"(none)", "E\x9b31m", "+1", ".", "a"} - {"+1"})

    def test_many_lengths(self):
        """Each array type with one object, all lengths different."""
        nodes = tuple((0x1000 + 64 * i, 24 + 8 * i, 0x70 + i, 0) for i in range(2000))
        self.put("many", traced(*((f"N.T{i}[]", 0, 0, 8) for i in range(2000)), nodes=nodes))
        got = self.json("many", "--by", "length")
        self.assertEqual(sum(r["count"] for r in got["lengths"]), 2000)

    def test_sums_that_saturate(self):
        self.put("huge", traced(("A", 2, 2**63), ("B", 2, 2**63 - 1), ("C", 1, 2**64 - 1)))
        for words in ((), ("--top=1",), ("--by=kind",), ("--by=length",), ("--retained",), ("--by=root", "--retained"), ("-f", "prometheus")):
            self.done("report", "huge", "-q", *words)
        self.assertEqual(self.json("huge")["bytes"], 2**63 - 1)


class Output(ReportTest):
    def test_formats_by_suffix(self):
        for name, first in (("a.json", b"{"), ("a.csv", b"count,bytes,"), ("a.prom", b"# HELP gcdumpc_info"), ("a.txt", b"Count"), ("a", b"Count")):
            run = self.done("report", trace("net10-wks-ranges"), "-o", name)
            self.assertEqual((run.out, run.err), (b"", b""))
            self.assertTrue(self.get(name).lstrip().startswith(first), name)
            self.done("report", trace("net10-wks-ranges"), "-o", name + ".gz")
            self.assertEqual(gzip.decompress(self.get(name + ".gz")), self.get(name))
        self.done("report", trace("net10-wks-ranges"), "-o", "b.json", "-f", "csv")
        self.assertEqual(self.get("b.json"), self.get("a.csv"))
        self.assertEqual(self.done("report", trace("net10-wks-ranges"), "-o", "-").out, self.get("a.txt"))

    def test_no_table_replaces_a_dump(self):
        """The name means a dump, the command a table: nothing is read or written until the user decides."""
        names = ["y.gclog", "y.gcdump", "y.gcdump.gz", "y.html", "y.htm", "y.heapsnapshot", "y.dartheap", "y.pb.gz", "y.folded", "y.csv/",
                 "y.nettrace", "y.nettrace.gz", "y.netperf", "y.etl", "y.sqlite", "y.db"]
        for name in names:
            if not name.endswith("/"):
                self.put(name, b"a dump")
            self.refused(2, rf'report writes tables, and "{re.escape(name)}" is the name of a dump \([a-z0-9]+\); .*: text, json, csv, prometheus',
                         "report", "missing", "-o", name)
            if not name.endswith("/"):
                self.assertEqual(self.get(name), b"a dump")
        for words in (("--json",), ("--csv",), ("-f", "text"), ("-f", "prometheus")):
            self.done("report", trace("net10-wks-ranges"), "-o", "y.gcdump", *words)
        self.done("report", trace("net10-wks-ranges"), "-o", "html")

    def test_modes(self):
        """A report is private; metrics are read by another user."""
        for umask, name, mode in ((0o022, "a.json", 0o600), (0o022, "a.prom", 0o644), (0o077, "b.prom", 0o600)):
            self.done("report", trace("net10-wks-ranges"), "-o", name, preexec_fn=lambda u=umask: os.umask(u))
            self.assertEqual(stat.S_IMODE(os.stat(self.path(name)).st_mode), mode)

    def test_all_or_nothing(self):
        self.put("x.prom", b"old")
        self.refused(1, "missing: cannot open: .*", "report", "missing", "-o", "x.prom")
        self.put("bad", b"no dump")
        self.refused(1, "bad: .*", "report", "bad", "-o", "x.prom")
        self.refused(1, ".*is a directory.*", "report", trace("net10-wks-ranges"), "-o", ".")
        self.refused(1, "no/x.prom: .*folder.*", "report", trace("net10-wks-ranges"), "-o", "no/x.prom")
        name = self.put("in.json", small_trace())
        self.refused(2, "in.json: is the input and the output; choose another name for -o", "report", name, "-o", "./in.json")
        self.refused(1, ".*: cannot write: .*", "report", trace("net10-wks-ranges"), "-o", "/dev/full")

    def test_incomplete(self):
        for words in ((), ("--by=kind",), ("--by=length",), ("--by=root",), ("--by=root", "--retained"), ("--retained",), ("--csv",),
                      ("-f", "prometheus"), ("-o", "x.json")):
            run = self.done("report", trace("net10-wks-lossy"), *words, code=3)
            self.assertRegex(run.err.decode().splitlines()[-1], r"\Agcdumpc: .*: the dump is incomplete: .+\Z")
        self.assertEqual([r["code"] for r in json.loads(self.get("x.json"))["verdict"]["reasons"]], ["events_lost", "edges_unbalanced", "objects_lost", "edges_lost", "edges_dropped"])

    def test_closed_output(self):
        with open("/dev/full", "wb") as full:
            for words in (["--csv"], ["--json"], ["--by=length"], ["-f", "prometheus"]):
                run = self.gcdumpc("report", trace("net10-wks-ranges"), *words, stdout=full)
                self.assertEqual((run.code, run.lines), (1, ["gcdumpc: standard output: " + NO_ROOM]))


if __name__ == "__main__":
    main()
