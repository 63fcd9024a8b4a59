"""diff and trend: the sums add up, all output formats agree, and incomparable inputs are refused."""
import collections
import csv
import io
import json
import os
import re
import struct
import subprocess

from test_retained_paths import heap
from cli_support import SOURCE, CliTest, genheap, main, trace, types_trace

START = struct.pack("<8H", 2024, 5, 2, 7, 10, 0, 0, 0)
OLD = (("Same", 2, 24), ("Grown", 1, 100), ("Shrunk", 5, 40), ("Gone", 3, 30), ("Thinner", 4, 50))
NEW = (("New", 2, 500), ("Same", 2, 24), ("Shrunk", 3, 40), ("Grown", 4, 100), ("Thinner", 8, 25))


def at(data, hour, minute=0):
    """The recording with another time on the same day."""
    assert data.count(START) == 1
    return data.replace(START, struct.pack("<8H", 2024, 5, 2, 7, hour, minute, 0, 0))


def of_process(data, pid):
    end = data.index(START) + len(START) + 16 + 4        # two times, the size of a pointer
    assert data[end:end + 4] == struct.pack("<i", 1234)
    return data[:end] + struct.pack("<i", pid) + data[end + 4:]


def rows_of(text):
    """The table behind that of the dumps: (title of its columns, rows split at two spaces)."""
    blocks = text.split("\n\n")
    lines = blocks[1 if re.search("^Dump ", blocks[0], re.M) else 2].splitlines()
    return re.split("  +", lines[0].strip()), lines[1:]


class Compare(CliTest):
    def setUp(self):
        super().setUp()
        self.put("old", at(types_trace(*OLD), 10))
        self.put("new", at(types_trace(*NEW), 12))

    def json(self, *words, code=0):
        return json.loads(self.done(*words, "--json", code=code).text)

    def types(self, name, *words, code=0):
        """{name: (count, bytes)} from the command report; types with one name in one module are added up."""
        found = {}
        for t in json.loads(self.done("report", name, *words, "--json", "-q", code=code).text)["types"]:
            name = t["type"].split(" 0x0")[0] + ("]" if " 0x0" in t["type"] else "")
            count, size = found.get(name, (0, 0))
            found[name] = (count + t["count"], size + t["bytes"])
        return found


class Diff(Compare):
    def test_text(self):
        self.expected("diff.txt", self.done("diff", "old", "new").text)
        self.expected("diff-top-2.txt", self.done("diff", "old", "new", "--top", "2").text)
        self.expected("diff.csv", self.done("diff", "old", "new", "--csv").text)
        self.expected("diff-json.txt", self.done("diff", "old", "new", "--json", "--fail-if=bytes>1K", code=4).text)

    def test_people_see_methods_and_programs_types(self):
        state, items = "Shop.Rpc+<CallAsync>d__2", "Shop.Cart+<Items>d__0"
        box = ("System.Runtime.CompilerServices.AsyncTaskMethodBuilder`1+AsyncStateMachineBox`1"
               f"[System.Threading.Tasks.VoidTaskResult,{state}]")
        for name, hour, n in (("few", 10, 1), ("many", 12, 5)):
            self.put(name, at(types_trace((box, n, 96), (state, n, 40), (items, n, 32)), hour))
        for command in ("diff", "trend"):
            rows = self.done(command, "few", "many").text
            for shown in ("async Shop.Rpc.CallAsync", "state of async Shop.Rpc.CallAsync", "iterator Shop.Cart.Items"):
                self.assertRegex(rows, f"  {re.escape(shown)}\n")
            self.assertNotIn("d__", rows)
            self.assertIn("<CallAsync>d__2\n", self.done(command, "few", "many", "--names", "raw").text)
            types = [t["type"] for t in self.json(command, "few", "many")["types"]]
            self.assertIn("Shop.Rpc.<CallAsync>d__2", types)
            self.assertNotIn("shown", self.done(command, "few", "many", "--csv").text.partition("\n")[0])

    def test_what_grows_together_is_one_row(self):
        """In text, a collection with what it has inside, a list with its array; for programs, with --filter and --retained each type."""
        table, things, list_of = ("System.Collections.Generic.Dictionary<System.String, Shop.Item>", "Shop.Thing",
                                  "System.Collections.Generic.List<Shop.Thing>")
        nested = "System.Collections.Generic.SortedSet<Shop.Item>"
        types = ((table, 1, 80), (table + ".Entry[]", 1, 1000), (things, 100, 24), (things + "[]", 10, 100), (list_of, 10, 32),
                 ("Shop.Other[]", 10, 100), ("System.Collections.Generic.List<Shop.Other>", 10, 32), (nested, 1, 40),
                 (nested + ".Node", 5, 40), (nested + ".Helper", 1, 24))
        grown = {table + ".Entry[]": (1, 90_000), things: (1_100, 24), things + "[]": (1_010, 100), list_of: (1_010, 32),
                 "Shop.Other[]": (2_010, 100), "System.Collections.Generic.List<Shop.Other>": (1_010, 32), nested + ".Node": (500, 40),
                 nested + ".Helper": (2, 24)}
        self.put("a", at(types_trace(*types), 10))
        self.put("b", at(types_trace(*((n, *grown.get(n, (count, size))) for n, count, size in types)), 12))
        _, lines = rows_of(self.done("diff", "a", "b").text)
        want = [("Shop.Other[]", 2_000, 200_000), (list_of + " with its array", 2_000, 132_000), (table + " with its Entry[]", 0, 89_000),
                ("System.Collections.Generic.List<Shop.Other>", 1_000, 32_000), (things, 1_000, 24_000),
                (nested + " with 2 types inside", 496, 19_824)]
        self.assertEqual([re.split("  +", line.strip())[-1] for line in lines[:-1]], [w[0] for w in want])
        cells = [line.split() for line in lines]
        self.assertEqual([(int(c[1]), int(c[3])) for c in cells[:-1]], [w[1:] for w in want])
        self.assertIn("(5 more types)", self.done("diff", "a", "b", "--top", "3").text)
        each = {t["type"] for t in self.json("diff", "a", "b")["types"]}
        self.assertEqual(each, set(grown))
        for words in ("--csv",), ("--retained",), ("--filter", "*"), ("--sort", "count"):
            self.assertNotIn("inside", self.done("diff", "a", "b", *words).text, words)

    def test_all_ways_to_print_say_the_same(self):
        got = self.json("diff", "old", "new")
        self.assertEqual([(d["recording"], d["count"], d["bytes"], d["types"], d["verdict"]["complete"]) for d in got["dumps"]],
                         [("old", 15, 638, 5, True), ("new", 19, 1768, 5, True)])
        self.assertEqual([(d["process"], d["retained_bytes"]) for d in got["dumps"]], 2 * [(1234, None)])
        self.assertEqual([d["time"] for d in got["dumps"]], ["2024-05-07T10:00:00.001Z", "2024-05-07T12:00:00.001Z"])
        self.assertEqual([(t["type"], t["count_delta"], t["bytes_delta"], t["change"]) for t in got["types"]],
                         [("New", 2, 1000, "new"), ("Grown", 3, 300, None), ("Thinner", 4, 0, None), ("Shrunk", -2, -80, None),
                          ("Gone", -3, -90, "gone")])
        rows = list(csv.DictReader(io.StringIO(self.done("diff", "old", "new", "--csv").text)))
        self.assertEqual([list(r) for r in rows], [list(t) for t in got["types"]])
        for row, t in zip(rows, got["types"]):
            self.assertEqual({k: v for k, v in row.items() if k != "growth"},
                             {k: "" if v is None else f"{v:+}" if k.endswith("delta") and v else str(v) for k, v in t.items() if k != "growth"})
            self.assertEqual(t["growth"], t["bytes_delta"] / t["bytes_before"] if t["bytes_before"] else None)

    def test_sums(self):
        """The rows shown, those not shown and the unchanged ones add up to the total."""
        for words in ((), ("--top=1",), ("--min-bytes=91",), ("--filter=*r*",), ("--top=1", "--filter=?[hr]*"), ("--filter=/n$/",)):
            titles, rows = rows_of(self.done("diff", "old", "new", *words).text) if words != ("--top=1", "--filter=?[hr]*") else ([], [])
            if not rows:
                continue
            self.assertEqual(titles, ["Count", "+/-", "Bytes", "+/-", "Growth", "Type"])
            numbers = [[int(w) for w in r.split()[:4]] for r in rows]
            for column in range(4):
                self.assertEqual(sum(n[column] for n in numbers[:-1]), numbers[-1][column], (words, column))

    def test_recordings(self):
        """Compared with the two reports, name by name."""
        for old, new, code in (("net8-wks", "net10-wks", 0), ("net10-wks", "net10-wks-lossy", 3), ("net10-wks-killed", "net10-wks", 3)):
            before = self.types(trace(old), code=3 if old.endswith("killed") else 0)
            after = self.types(trace(new), code=3 if new.endswith("lossy") else 0)
            got = self.json("diff", trace(old), trace(new), code=code)
            names = {n for n in {**before, **after} if before.get(n) != after.get(n)}
            apart = {n.split(" [")[0] for n in {**before, **after} if " [" in n}
            want = {n: before.get(n, (0, 0)) + after.get(n, (0, 0)) for n in names if n.split(" [")[0] not in apart}
            rows = {t["type"]: (t["count_before"], t["bytes_before"], t["count_after"], t["bytes_after"]) for t in got["types"]}
            self.assertEqual({n: r for n, r in rows.items() if n in want}, want)
            self.assertGreater(len(want), 1)
            for n in set(rows) - set(want):      # distinguished by their modules in one dump, or in both
                self.assertTrue(" [" in n or any(m.startswith(n + " [") for m in names), n)

    def test_order(self):
        for key, order in (("bytes", "New Grown Thinner Shrunk Gone"), ("count", "Thinner Grown New Shrunk Gone"),
                           ("name", "Gone Grown New Shrunk Thinner")):
            got = self.json("diff", "old", "new", "--sort", key)
            self.assertEqual(" ".join(t["type"] for t in got["types"]), order)
            got = self.json("diff", "old", "new", "--sort", key, "--top=3")
            self.assertEqual(" ".join(t["type"] for t in got["types"]), " ".join(order.split()[:3]))

    def test_selection(self):
        for words, names in ((("--min-bytes", "90"), "New Grown Gone"), (("--min-bytes", "91"), "New Grown"), (("--min-bytes", "1K"), ""),
                             (("--filter", "?r*"), "Grown"), (("--filter", "/^(New|Gone)$/"), "New Gone")):
            self.assertEqual(" ".join(t["type"] for t in self.json("diff", "old", "new", *words)["types"]), names, words)
        got = self.json("diff", "old", "new", "--filter", "G*")
        self.assertEqual([(d["count"], d["bytes"], d["types"]) for d in got["dumps"]], [(4, 190, 2), (4, 400, 1)])

    def test_types_that_look_alike(self):
        """A pattern matches them with and without the suffix that tells them apart."""
        for pattern, types in (("<>c", 3), ("<>c [*]", 3), ("<>c [System.Console]", 1)):
            got = self.json("diff", trace("net8-wks"), trace("net10-wks"), "--filter", pattern)
            self.assertEqual(got["dumps"][1]["types"], types, pattern)

    def test_a_filter_for_nothing(self):
        self.refused(1, r'no type matches "Grow"; near it: "Grown"', "diff", "old", "new", "--filter", "Grow")
        self.done("diff", "old", "new", "--filter", "Gone")
        self.done("diff", "old", "new", "--filter", "New")
        self.refused(2, r'"/\(/" is not a regular expression: .*', "diff", "no", "such", "--filter", "/(/")

    def test_the_same_twice(self):
        run = self.done("diff", "old", "old")
        self.assertEqual(run.err, b"gcdumpc: old: is the same file as old, so nothing has changed\n")
        self.assertEqual([r.split(maxsplit=5)[-1] for r in rows_of(run.text)[1]], ["(5 unchanged)", "total, 5 types"])
        self.assertEqual(self.json("diff", "old", "old")["types"], [])

    def test_hostile_names(self):
        evil = '=cmd|"x"\x1b[31m\n<b>,'
        self.put("evil", types_trace((evil, 1, 10)))
        run = self.done("diff", "old", "evil", "--filter", "*cmd*")
        self.assertIn('=cmd|"x"?[31m?<b>,', run.text)
        self.assertNotIn("\x1b", run.text)
        rows = list(csv.DictReader(io.StringIO(self.done("diff", "old", "evil", "--csv", "--filter", "*cmd*").text)))
        self.assertEqual(rows[0]["type"], "'=cmd|\"x\"?[31m?<b>,")
        self.assertEqual(self.json("diff", "old", "evil", "--filter", "*cmd*")["types"][0]["type"], evil)

    def test_formats(self):
        """A dump equals its conversion, except for names that have no unambiguous spelling in a file (src/names)."""
        self.link("net10-wks")
        for name in ("x.gclog", "x.gcdump", "x.dartheap"):
            self.done("convert", "net10-wks.nettrace.gz", "-o", name)
            got = self.json("diff", "net10-wks.nettrace.gz", name)
            self.assertEqual([d["count"] for d in got["dumps"]], [17646, 17646], name)
            if name != "x.dartheap":     # has only unique names
                names = {t["type"] for t in got["types"] if "," not in t["type"]}
                alike = {n for n in names if " [" in n}      # written to the file with the suffix that tells them apart
                self.assertEqual(names - alike - {n.split(" [")[0] for n in alike}, set(), name)

    def test_from_a_pipe(self):
        for words, file in ((("-", "new"), "old"), (("old", "-"), "new")):
            run = self.done("diff", *words, "--csv", data=self.get(file))
            self.assertEqual(run.text, self.done("diff", "old", "new", "--csv").text)
        self.assertIn("standard input", self.done("diff", "-", "new", data=self.get("old")).text)

    def test_a_full_disk(self):
        with open("/dev/full", "wb") as full:
            for words in ((), ("--json",), ("--csv",)):
                run = self.gcdumpc("diff", "old", "new", *words, stdout=full)
                self.assertEqual((run.code, len(run.lines)), (1, 1), run.err)

    def test_inputs(self):
        self.refused(1, r"no: .*", "diff", "old", "no")
        self.refused(1, r"no: .*", "diff", "no", "new")
        self.put("text", b"hello")
        self.refused(1, r"text: .*", "diff", "old", "text")

    def test_wrong_use(self):
        for words in (["a", "b", "c"], ["a", "b", "--pid", "1"]):
            self.refused(2, r"diff compares two dumps; gcdumpc trend compares more; see gcdumpc diff --help", "diff", *words)
        for words in ([], ["a"], ["--pid", "1"]):
            self.refused(2, r"diff needs two dumps: OLD and NEW, or OLD and a process; see gcdumpc diff --help", "diff", *words)
        for words in ([], ["a"]):
            self.refused(2, r"trend needs two dumps or more, the oldest first; see gcdumpc trend --help", "trend", *words)
        self.refused(2, r"standard input can be read only once; .*", "diff", "-", "-")
        self.refused(2, r"give one of --json and --csv; .*", "diff", "a", "b", "--json", "--csv")
        self.refused(2, r"--sort retained needs --retained; see gcdumpc diff --help", "diff", "a", "b", "--sort", "retained")
        self.refused(1, r"(?:there is no process 4294967295; .+|process 4294967295: this build .+)", "diff", "old", "--pid", "4294967295")

    def test_words_between_options(self):
        want = self.done("diff", "old", "new").text
        for words in (["--top", "9", "old", "new"], ["old", "--top=9", "new", "-q"], ["old", "-n", "9", "--", "new"], ["-qn9", "old", "new"]):
            self.assertEqual(self.done("diff", *words).text, want, words)


class Odd(Compare):
    """Warnings that a reader needs before trusting a difference."""

    def test_programs_and_processes(self):
        self.put("other", types_trace(*NEW, command_line="dotnet /srv/bank.dll"))
        run = self.done("diff", "old", "other")
        self.assertEqual(run.lines, ['gcdumpc: other: comes from a different program than old: "dotnet /srv/bank.dll", not "dotnet /srv/shop.dll"'])
        # events, memory and core files have other command lines of the same process
        for one, other, same in (("dotnet /srv/shop.dll", "shop", True), ("dotnet /srv/shop.dll", "./shop --all", True),
                                 ("/srv/shop /srv/shop.dll --all", "./out/shop --all", True), ("/srv/shop /srv/shop.dll", "/srv/shop", True),
                                 ("/srv/shop /srv/shop.dll", "bank", False), ("/srv/9/shop /srv/9/shop.dll", "/srv/10/shop", False),
                                 ("dotnet exec --x a.dll", "/usr/bin/dotnet exec b.dll", False)):
            self.put("one", types_trace(*OLD, command_line=one))
            self.put("two", types_trace(*NEW, command_line=other))
            lines = [line for line in self.done("diff", "one", "two").lines if "program" in line]
            self.assertEqual(lines == [], same, (one, other, lines))
        self.put("again", of_process(types_trace(*NEW), 4321))
        self.assertEqual(self.done("diff", "old", "again").lines, ["gcdumpc: again: comes from a different process than old: 4321, not 1234"])
        self.assertEqual(self.done("trend", "old", "old", "again").lines[1:], ["gcdumpc: again: comes from a different process than old: 4321, not 1234"])
        self.assertEqual(self.done("diff", "old", "new").err, b"")

    def test_the_file_of_a_graph_knows_no_command_line(self):
        """Only names are compared then."""
        for name in ("old", "new"):
            for suffix in ("gclog", "gcdump", "dartheap"):
                self.done("convert", name, "-q", "-o", f"{name}.{suffix}")
                for pair in ((f"{name}.{suffix}", "new"), ("old", f"{name}.{suffix}"), ("old.gclog", "old.gclog")):
                    if os.path.exists(self.path(pair[0])):
                        self.assertNotIn(b"program", self.done("diff", *pair).err, pair)
        self.put("bank", types_trace(*NEW, command_line="dotnet /srv/bank.dll"))
        self.done("convert", "bank", "-q", "-o", "bank.gclog")
        for pair in (("old", "bank.gclog"), ("old.gclog", "bank"), ("old.gclog", "bank.gclog")):
            self.assertEqual(self.done("diff", *pair).lines, [f'gcdumpc: {pair[1]}: comes from a different program than {pair[0]}: "bank", not "shop"'])

    def test_order_in_time(self):
        self.assertEqual(self.done("diff", "new", "old").lines, ["gcdumpc: old: is older than new"])

    def test_incomplete(self):
        self.link("net10-wks"), self.link("net10-wks-lossy")
        run = self.done("diff", "net10-wks.nettrace.gz", "net10-wks-lossy.nettrace.gz", "--filter=System.*", code=3)
        self.assertIn("net10-wks-lossy.nettrace.gz: the dump is incomplete: ", run.lines[0])
        self.assertEqual(run.lines[-1], "gcdumpc: only 1 of 2 dumps is complete: apparent changes may be lost data")
        got = self.json("diff", "net10-wks.nettrace.gz", "net10-wks-lossy.nettrace.gz", code=3)
        self.assertEqual([d["verdict"]["complete"] for d in got["dumps"]], [True, False])
        self.assertEqual(got["dumps"][1]["verdict"], json.loads(self.done("info", trace("net10-wks-lossy"), "--json", code=3).text)["verdict"])
        run = self.done("diff", "net10-wks-lossy.nettrace.gz", "net10-wks-lossy.nettrace.gz", code=3)
        self.assertFalse([line for line in run.lines if "only" in line])
        for command in (("diff",), ("diff", "--paths"), ("trend",)):
            run = self.done(*command, "net10-wks.nettrace.gz", "net10-wks-lossy.nettrace.gz", code=3)
            self.assertEqual(run.text.split("\n")[0], "(INCOMPLETE dump: net10-wks-lossy.nettrace.gz)", command)

    def test_several_dumps_in_a_recording(self):
        subprocess.run([genheap(self.path()), "-n", "3000", "--dumps", "3", "--seed", "5", self.path("three.nettrace")], check=True)
        both = ("three.nettrace#1", "three.nettrace#3")
        run = self.done("diff", *both)
        self.assertEqual(run.err, b"")
        before, after = self.types("three.nettrace", "--walk=1"), self.types("three.nettrace", "--walk=3")
        got = self.json("diff", *both)
        self.assertEqual([d["recording"] for d in got["dumps"]], list(both))
        self.assertGreater(got["dumps"][1]["count"], got["dumps"][0]["count"])
        want = {n: before.get(n, (0, 0)) + after.get(n, (0, 0)) for n in {**before, **after} if before.get(n) != after.get(n)}
        self.assertEqual({t["type"]: (t["count_before"], t["bytes_before"], t["count_after"], t["bytes_after"]) for t in got["types"]}, want)
        self.assertEqual(self.json("trend", *both)["types"][0]["bytes_delta"], got["types"][0]["bytes_delta"])
        notes = self.done("diff", "three.nettrace", "three.nettrace").lines
        self.assertEqual(notes, 2 * ['gcdumpc: three.nettrace: the recording holds 3 heap dumps, this is number 1; "FILE#N" chooses']
                         + ["gcdumpc: three.nettrace: is the same file as three.nettrace, so nothing has changed"])
        self.refused(1, r"three.nettrace: .*", "diff", "three.nettrace#1", "three.nettrace#4")
        for word in ("three.nettrace#0", "three.nettrace#x", "three.nettrace#123456", "#1"):
            self.refused(1, rf"{word}: .*", "diff", "three.nettrace#1", word)
        os.rename(self.path("new"), self.path("new#1"))
        self.assertEqual(self.json("diff", "old", "new#1")["types"][0]["type"], "New")


class Retained(Compare):
    def test_recordings(self):
        """The retained size of a type is at least its live bytes, and all types together retain everything."""
        old, new = trace("net8-wks"), trace("net10-wks")
        got = self.json("diff", old, new, "--retained", "--fail-if", "retained > +1G", "--fail-if", "retained(*) > +1G")
        for t in got["types"]:
            self.assertEqual(t["retained_delta"], t["retained_after"] - t["retained_before"])
        self.assertGreater(max(t["retained_after"] - t["bytes_after"] for t in got["types"]), 100000)
        total, everything = got["thresholds"]
        self.assertEqual((total["before"], total["after"]), (everything["before"], everything["after"]))
        self.assertEqual([d["retained_bytes"] for d in got["dumps"]], [total["before"], total["after"]])
        self.assertGreater(total["after"], max(t["retained_after"] for t in got["types"]))
        by_growth = self.json("diff", old, new, "--retained", "--sort", "retained")["types"]
        self.assertEqual([t["retained_delta"] for t in by_growth], sorted((t["retained_delta"] for t in by_growth), reverse=True))
        titles, rows = rows_of(self.done("diff", old, new, "--retained", "-q").text)
        self.assertEqual(titles, ["Count", "+/-", "Bytes", "+/-", "Growth", "Retained >=", "+/-", "Type"])
        self.assertIn(f" {total['after']} ", rows[-1])

    def test_of_a_threshold(self):
        """Computes retained sizes when needed; a pattern gets the size its types retain together, not the sum."""
        got = self.json("diff", trace("net8-wks"), trace("net10-wks"), "--fail-if", "retained(HeapLab.*) > 1G")
        sums = sum(t["retained_after"] for t in got["types"] if t["type"].startswith("HeapLab."))
        self.assertLess(got["thresholds"][0]["after"], 1378569)
        self.assertIn("retained_after", got["types"][0])
        self.assertNotEqual(got["thresholds"][0]["after"], sums)

    def test_without_roots(self):
        run = self.done("diff", "old", "new", "--retained")
        self.assertEqual([line.split(": ")[1] for line in run.lines], ["old", "new"])
        self.assertRegex(run.lines[0], "the dump has no roots; [0-9]+ objects")


class Paths(Compare):
    PAIR = ("net8-wks", "net10-wks")

    def steps(self, name):
        """{names along the path: (objects, bytes)} from the command paths, in its format for programs."""
        groups = {"statics": "static variables", "strong_handles": "strong handle", "pinned_handles": "pinned handle", "finalizer": "finalizer queue",
                  "locals": "thread stack", "other": "other root", "refcounted": "ref-counted handle", None: "(no root)"}
        found, way = {}, []
        for r in json.loads(self.done("paths", trace(name), "--type", "*", "--max-paths", "1000000", "--json").text)["paths"]:
            del way[r["depth"]:]
            if r["kind"] == "type":
                way.append((r["type"].split(" [")[0],))
            else:
                way.append((groups[r["root"]],) + ((f"static variable {r['label']}",) if r["root"] == "statics" else ()))
            names = sum(way, ())
            for i in ([1] if len(way[0]) == 2 and len(way) == 1 else []) + [len(names)]:
                old = found.get(names[:i], (0, 0))
                found[names[:i]] = (old[0] + r["count"], old[1] + r["bytes"])
        return found

    def test_against_the_paths_of_both(self):
        before, after = (self.steps(n) for n in self.PAIR)
        rows, way = {}, []
        for r in self.json("diff", *map(trace, self.PAIR), "--paths")["paths"]:
            way[r["depth"]:] = [r["name"]]
            self.assertNotIn(tuple(way), rows)
            rows[tuple(way)] = (r["count_before"], r["bytes_before"], r["count_after"], r["bytes_after"])
            self.assertEqual(r["change"], "new" if not r["count_before"] else "gone" if not r["count_after"] else None)
        want = {}
        for names in {**before, **after}:
            numbers = before.get(names, (0, 0)) + after.get(names, (0, 0))
            if all(before.get(names[:i]) != after.get(names[:i]) for i in range(1, len(names) + 1)):
                want[names] = numbers
        self.assertEqual(rows, want)
        self.assertGreater(len(rows), 100)

    def test_lines_add_up(self):
        for words in ((), ("--min-bytes", "1"), ("--top", "1"), ("--filter", "System.String"), ("--min-bytes", "1K", "--top", "3")):
            titles, rows = rows_of(self.done("diff", *map(trace, self.PAIR), "--paths", *words).text)
            self.assertEqual(titles, ["Count", "+/-", "Bytes", "+/-", "Growth", "Path"])
            at = rows[-1].index("total")
            top = [r.split() for r in rows[:-1] if r[at] != " "]
            for column in (1, 3):
                self.assertEqual(sum(int(r[column]) for r in top), int(rows[-1].split()[column]), words)
            if "--top" in words and words[1] == "1":
                self.assertEqual(len(top), 2)

    def test_text(self):
        text = self.done("diff", self.link("net8-wks"), self.link("net10-wks"), "--paths", "--min-bytes", "500").text
        self.expected("diff-paths.txt", text)

    def test_the_answer_comes_first(self):
        """What has come and what keeps it, where the dump grew; nothing where it did not."""
        shop = [os.path.join(SOURCE, "traces", "shop", f"{time}.nettrace.gz") for time in ("morning", "evening")]
        lines = self.done("diff", *shop, "--paths").text.splitlines()
        self.assertEqual(lines[:2], ["SessionStore: 1,000 -> 3,000 UserSession, +4.1 MiB, 53 % of the growth", ""])
        for pair in (shop[::-1], shop[:1] * 2, [trace(name) for name in self.PAIR]):
            self.assertTrue(self.done("diff", *pair, "--paths", "-q").text.startswith("Dump "), pair)

    def test_what_comes_from_being_observed_does_not_lead(self):
        """The runtime describes its events when it is first observed: more bytes than the program's own, but no growth of the program."""
        def dump(orders, infos):
            source = "System.Diagnostics.Tracing.NativeRuntimeEventSource"
            objects = {"orders": ("Shop.Order[]", 24 + 8 * orders, [f"o{i}" for i in range(orders)]), "source": (source, 24, [f"i{i}" for i in range(infos)])}
            objects |= {f"o{i}": ("Shop.Order", 100, []) for i in range(orders)} | {f"i{i}": ("System.Info", 1000, []) for i in range(infos)}
            return heap(objects, [("orders", "s_orders"), ("source", "s_source")])[0]
        for before, first in ((0, ["Shop.Order", "Shop.Order[]"]), (100, ["System.Info", "Shop.Order"])):
            self.put("old.gclog", dump(100, before))
            self.put("new.gclog", dump(400, 300))
            types = [line.split()[-1] for line in self.done("diff", "old.gclog", "new.gclog").text.split("\n") if " Shop." in line or " System." in line]
            self.assertEqual(types[:2], first)

    def test_steps_fold(self):
        """The inside of collections and steps of the framework are folded, as in paths; lines below a line still add up to its total without itself."""
        words = ("diff", *(os.path.join(SOURCE, "traces", "shop", f"{time}.nettrace.gz") for time in ("morning", "evening")), "--paths")
        folded, full = ([line.split() for line in rows_of(self.done(*words, *more).text)[1]] for more in ((), ("--full",)))
        names = [[" ".join(row[5:]) for row in rows] for rows in (folded, full)]
        inside = [name for name in names[1] if name.endswith((".Tables", ".VolatileNode[]", ".Node", "CartItem[]"))]
        self.assertEqual(len(inside), 4)
        self.assertEqual([name for name in names[1] if name not in inside and name not in names[0]], ["System.Threading.Tasks.Task[]"])
        self.assertEqual([name for name in names[0] if name not in names[1]], [])
        for column in (0, 2):
            rows = {name: int(row[column]) for name, row in zip(names[1], full)}
            self.assertEqual({name: int(row[column]) for name, row in zip(names[0], folded)},
                             {name: n for name, n in rows.items() if name in names[0]})
        self.assertEqual(collections.Counter(r["fold"] for r in self.json(*words)["paths"] if "Concurrent" in r["name"]), {"shown": 1, "inside": 3})
        text = self.done(*words, "--filter", "System.Decimal[]", "--mine", "No.Such.*").text
        self.assertRegex(text, r" {6}static variable CoffeeShop.*\n *1500 .* {8}\.\.\. 4 framework and library steps\n *1500 .* {10}System\.Decimal\[\]\n")

    def test_order(self):
        rows = self.json("diff", *map(trace, self.PAIR), "--paths", "--min-bytes=100")["paths"]
        last = {}
        for r in rows:
            self.assertGreaterEqual(abs(r["bytes_delta"]), 100)
            for depth in [d for d in last if d > r["depth"]]:
                del last[depth]
            self.assertLessEqual(r["bytes_delta"], last.get(r["depth"], r["bytes_delta"]))
            last[r["depth"]] = r["bytes_delta"]

    def test_small_changes_are_taken_together(self):
        lines = [len(self.done("diff", *map(trace, self.PAIR), "--paths", *words).text.splitlines())
                 for words in (["--min-bytes=1"], [], ["--min-bytes=2K"])]
        self.assertEqual(lines, sorted(lines, reverse=True))
        self.assertEqual(len(set(lines)), 3)

    def test_a_readable_number_of_lines(self):
        for seed in (1, 2):
            subprocess.run([genheap(self.path()), "-n", "30000", "--seed", str(seed), self.path(f"{seed}.nettrace")], check=True)
        words = ("diff", "1.nettrace", "2.nettrace", "--paths", "-q")
        self.assertGreater(len(self.json(*words)["paths"]), 5000)
        lines = rows_of(self.done(*words).text)[1]
        shown = [line for line in lines if " more)" not in line]
        self.assertLessEqual(len(shown), 201)
        self.assertGreater(len(shown), 20)

    def test_the_same_twice(self):
        self.assertEqual(self.json("diff", trace("net10-wks"), trace("net10-wks"), "--paths")["paths"], [])

    def test_without_roots(self):
        run = self.done("diff", "old", "new", "--paths")
        self.assertEqual(len([line for line in run.lines if "serve as pseudo-roots" in line]), 2)
        self.assertIn("(no root recorded)", run.text)

    def test_wrong_use(self):
        for words in (["--sort=name"], ["--retained"], ["--sort", "retained", "--retained"]):
            self.refused(2, r"--paths sorts by growth of bytes: it cannot be combined with --sort and --retained; .*", "diff", "a", "b", "--paths", *words)
        self.refused(2, r'trend has no option "--paths" \(an option of diff\); .*', "trend", "a", "b", "--paths")


class Trend(Compare):
    def setUp(self):
        super().setUp()
        self.put("third", at(types_trace(("New", 4, 500), ("Same", 2, 24), ("Shrunk", 4, 40), ("Grown", 5, 100)), 13))

    def test_text(self):
        self.expected("trend.txt", self.done("trend", "old", "new", "third").text)
        self.expected("trend-count.txt", self.done("trend", "old", "new", "third", "--sort", "count").text)
        self.expected("trend.csv", self.done("trend", "old", "new", "third", "--csv").text)

    def test_retained_as_text(self):
        """The same figures as --json, in named columns, for any --sort."""
        files = [trace("net10-wks"), trace("net8-wks"), trace("net10-wks-ranges")]
        got = self.json("trend", *files, "--retained", "-q")
        of_type = {t["type"]: t for t in got["types"]}
        for sort, first in (("bytes", "Bytes"), ("count", "Count"), ("retained", "Bytes"), ("name", "Bytes")):
            text = self.done("trend", *files, "--retained", "-q", "--sort", sort).text
            titles, rows = rows_of(text)
            self.assertEqual(titles, [f"{w} {what}" if what != "hour" else f"{w}/hour" for w in (first, "Retained")
                                      for what in ("1", "2", "3", "+/-", "hour", "trend")] + ["Type"])
            found = 0
            for row in rows:
                cells = row.split(maxsplit=12)
                if cells[-1] not in of_type or not cells[6].isdigit():
                    continue
                t, found = of_type[cells[-1]], found + 1
                self.assertEqual([int(c) for c in cells[:5]], [t[f"{first.lower()}_{k}"] for k in ("1", "2", "3", "delta", "per_hour")], row)
                self.assertEqual([int(c) for c in cells[6:11]], [t[f"retained_{k}"] for k in ("1", "2", "3", "delta", "per_hour")], row)
                self.assertEqual((cells[5], cells[11]), (t[f"{first.lower()}_trend"], t["retained_trend"]))
            self.assertGreater(found, 30)
            dumps = [line.split() for line in text.split("\n\n")[0].splitlines()]
            self.assertEqual(dumps[0], ["Dump", "Time", "Count", "Bytes", "Retained", "Types", "File"])
            self.assertEqual([int(d[4]) for d in dumps[1:]], [d["retained_bytes"] for d in got["dumps"]])

    def test_values(self):
        got = self.json("trend", "old", "new", "third")
        rows = {t["type"]: t for t in got["types"]}
        self.assertEqual([t["type"] for t in got["types"]], ["New", "Grown", "Shrunk", "Gone", "Thinner"])
        self.assertEqual([rows["New"][f"bytes_{i}"] for i in (1, 2, 3)], [0, 1000, 2000])
        self.assertEqual({n: (t["bytes_trend"], t["count_trend"]) for n, t in rows.items()},
                         {"New": ("grows", "grows"), "Grown": ("grows", "grows"), "Shrunk": ("varies", "varies"), "Gone": ("shrinks", "shrinks"),
                          "Thinner": ("shrinks", "varies")})
        hours, mean = (0, 2, 3), 5 / 3
        for t in rows.values():
            for key in ("count", "bytes"):
                values = [t[f"{key}_{i}"] for i in (1, 2, 3)]
                slope = sum((h - mean) * v for h, v in zip(hours, values)) / sum((h - mean) ** 2 for h in hours)
                self.assertAlmostEqual(t[f"{key}_per_hour"], slope, delta=0.51)
                self.assertEqual(t[f"{key}_delta"], values[2] - values[0])

    def test_without_times(self):
        for name in ("old", "new"):
            self.done("convert", name, "-o", name + ".gclog")
        run = self.done("trend", "old.gclog", "new.gclog")
        self.assertNotIn("/hour", run.text)
        got = self.json("trend", "old.gclog", "new.gclog")
        self.assertEqual([d["time"] for d in got["dumps"]], [None, None])
        self.assertIsNone(got["types"][0]["bytes_per_hour"])

    def test_of_two_it_is_diff(self):
        of_diff, of_trend = self.json("diff", "old", "new"), self.json("trend", "old", "new")
        self.assertEqual(of_diff["dumps"], of_trend["dumps"])
        self.assertEqual([(t["type"], t["bytes_before"], t["bytes_after"]) for t in of_diff["types"]],
                         [(t["type"], t["bytes_1"], t["bytes_2"]) for t in of_trend["types"]])

    def test_sums(self):
        for words in ((), ("--top", "2")):
            rows = rows_of(self.done("trend", "old", "new", "third", *words).text)[1]
            numbers = [[int(w) for w in r.split()[:5]] for r in rows]
            for column in range(4):
                self.assertEqual(sum(n[column] for n in numbers[:-1]), numbers[-1][column], words)

    def test_many(self):
        got = self.json("trend", *(["old", "new"] * 60), "-q")
        self.assertEqual(len(got["dumps"]), 120)
        self.assertEqual((got["types"][0]["bytes_119"], got["types"][0]["bytes_120"]), (0, 1000))


if __name__ == "__main__":
    main()
