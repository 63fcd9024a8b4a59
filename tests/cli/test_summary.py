"""--summary: one line of JSON per dump, with the same facts as the other commands, valid by its schema, and readable by trend."""
import json
import os
import unittest

from cli_support import SOURCE, CliTest, main, small_trace, trace, trace_bytes, types_trace
from fake_process import FakeProcess
from json_schema import problems
from test_convert import feed

with open(os.path.join(SOURCE, "tools", "doc", "summary.schema.json"), encoding="utf-8") as f:
    SCHEMA = json.load(f)
RECORDINGS = ("net10-wks", "net10-svr", "net10-wks-lossy", "net10-wks-killed", "net10-wks-nonames", "net10-wks-ranges", "net8-wks", "net9-svr",
              "net8-wks-two-dumps")
SHOP = [os.path.join(SOURCE, "traces", "shop", f"{name}.nettrace.gz") for name in ("morning", "evening")]
LIST = 100                       # types that a summary lists


class SummaryTest(CliTest):
    def summary(self, recording, *words, name="s.json", code=0):
        """The object, and the messages of the program."""
        run = self.done("convert", recording, "--summary", name, *words, code=code)
        line = self.get(name)
        self.assertEqual((line.count(b"\n"), line[-1:], run.out), (1, b"\n", b""))
        made = json.loads(line)
        self.assertEqual(list(problems(made, SCHEMA)), [])
        return made

    def edited(self, name, change, of="s.json"):
        """A copy of s.json with a change: CHANGE of its object, or the object to write."""
        made = json.loads(self.get(of))
        made = change(made) or made
        return self.put(name, json.dumps(made).encode())


class Content(SummaryTest):
    def test_it_says_what_the_others_say(self):
        for name in RECORDINGS:
            with self.subTest(name):
                code = 3 if name in ("net10-wks-lossy", "net10-wks-killed", "net10-wks-nonames") else 0
                got = self.summary(trace(name), "-n", "100000", code=code)
                info = json.loads(self.done("info", trace(name), "--json", code=code).text)
                for key, there in (("objects", "objects"), ("bytes", "bytes"), ("references", "edges"), ("type_count", "types"),
                                   ("complete", "complete")):
                    self.assertEqual(got[key], info["dump"][there], key)
                for key, there in (("name", "name"), ("pid", "pid"), ("os", "os"), ("architecture", "architecture"),
                                   ("runtime_version", "runtime_version")):
                    self.assertEqual(got[key], info["process"][there], key)
                self.assertEqual((got["pause_ns"], got["gc_heaps"], got["walks"]), (info["gc"]["pause_ns"], info["gc"]["heaps"], info["dumps"]))
                self.assertEqual((got["lost_events"], got["event_bytes"]), (info["trace"]["lost_events"], info["trace"]["bytes"]))
                self.assertEqual([r["code"] for r in got["reasons"]] == [], got["complete"])
                self.check_types(got, trace(name), code)
                self.check_findings(got, trace(name), code)

    def check_types(self, got, recording, code):
        report = json.loads(self.done("report", recording, "--retained", "--json", code=code).text)
        wanted = sorted((t["count"], t["bytes"], t["retained_bytes"]) for t in report["types"])
        for key in ("types", "holders"):
            self.assertEqual(sorted((t["count"], t["own_bytes"], t["retained_bytes"]) for t in got[key]), wanted, key)
        self.assertEqual([t["own_bytes"] for t in got["types"]], sorted((t["own_bytes"] for t in got["types"]), reverse=True))
        self.assertEqual([t["retained_bytes"] for t in got["holders"]], sorted((t["retained_bytes"] for t in got["holders"]), reverse=True))
        self.assertEqual(got["bytes"], sum(t["own_bytes"] for t in got["types"]))

    def check_findings(self, got, recording, code):
        leaks = json.loads(self.done("leaks", recording, "--json", code=code).text)
        self.assertEqual([(f["kind"], f["bytes"], f["retained_bytes"], f["sentence"], f["advice"], f["owner"]) for f in got["findings"]],
                         [(s["kind"], s["bytes"], s["retained_bytes"], s["sentence"], s["advice"], s["owner"]) for s in leaks["suspects"]])

    def test_findings_of_a_leak(self):
        first = self.summary(SHOP[1])["findings"][0]
        self.assertEqual((first["owner"], first["owner_module"], first["root_kind"], first["collection"], first["element"]),
                         ("CoffeeShop.SessionStore", "CoffeeShop.dll", "statics", "concurrent_dictionary", "CoffeeShop.UserSession"))
        self.assertEqual(first["root"], "static variable CoffeeShop.Services.Storefront")
        self.assertAlmostEqual(first["share"], 0.510791, 5)

    def test_memory_and_build(self):
        """Made up by tests/unit/named_recording.c: 120 of 900 MiB are the GC heap."""
        got = self.summary(self.with_memory("net10-wks"))
        self.assertEqual(got["memory"]["gc_heap_bytes"], 120 << 20)
        self.assertEqual(got["memory"]["resident_bytes"], 900 << 20)
        self.assertEqual(got["memory"]["native_or_unknown_bytes"], got["memory"]["anonymous_bytes"] - (120 << 20))

    def test_which_types_are_listed(self):
        """The first hundred, and ten times as many of the program's own."""
        system = [(f"System.T{i:04}", 1, 100000 - 8 * i) for i in range(LIST + 30)]
        own = [(f"Shop.T{i:04}", 1, 50000 - 8 * i) for i in range(1100)]
        self.put("many", types_trace(*system, *own))
        got = self.summary("many", "--mine", "Shop.*")
        names = [t["name"] for t in got["types"]]
        self.assertEqual(names, [t[0] for t in system[:LIST]] + [t[0] for t in own[:1000]])
        self.assertEqual((got["type_count"], len(got["holders"])), (len(system) + len(own), LIST))
        self.assertEqual({t["origin"] for t in got["types"] if t["name"].startswith("Shop")}, {"own"})
        few = self.summary("many", "--mine", "Shop.*", "--top", "3")
        self.assertEqual(([t["name"] for t in few["types"]], len(few["holders"])), (names[:3] + [t[0] for t in own[:30]], 3))

    def test_with_an_output(self):
        """The summary is the same for any output, except for the name and size of the dump."""
        alone = self.summary(SHOP[0])
        self.assertEqual((alone["file"], alone["file_bytes"]), ("morning.nettrace.gz", os.path.getsize(SHOP[0])))
        for name in ("x.gcdump", "x.nettrace.gz", "x.heapsnapshot.gz", "x.html", "x.folded", "x.gclog"):
            got = self.summary(SHOP[0], "-q", "-o", name)
            self.assertEqual((got.pop("file"), got.pop("file_bytes")), (name, len(self.get(name))), name)
            self.assertEqual(got, {k: v for k, v in alone.items() if k not in ("file", "file_bytes")}, name)
        self.assertEqual(self.get("x.gclog"), self.done("convert", SHOP[0], "-o", "-", "-f", "gclog").out)

    def test_from_a_graph(self):
        """A .gcdump knows less about the process; its objects are the same."""
        self.done("convert", SHOP[0], "-o", "x.gcdump")
        alone, got = self.summary(SHOP[0]), self.summary("x.gcdump")
        self.assertEqual([(t["name"], t["own_bytes"]) for t in got["types"]], [(t["name"], t["own_bytes"]) for t in alone["types"]])
        self.assertEqual((got["pause_ns"], got["generations"]), (None, []))

    def test_labels(self):
        got = self.summary(SHOP[0], "--label", "version=1.4.2", "--label", "team=a=b", "--label", "odd=\udcff\n\x1b")
        self.assertEqual(got["labels"], {"version": "1.4.2", "team": "a=b", "odd": "?\n\x1b"})
        self.assertNotIn(b"\x1b", self.get("s.json"))

    def test_no_secrets(self):
        """Command lines hold passwords."""
        self.put("secret", types_trace(("Shop.Order", 1, 100), command_line="dotnet /srv/shop.dll --password hunter2"))
        self.assertNotIn("hunter2", json.dumps(self.summary("secret")))

    def test_standard_output(self):
        run = self.done("convert", SHOP[0], "--summary", "-")
        self.assertEqual(json.loads(run.text), self.summary(SHOP[0]))
        self.assertEqual(run.lines, [])


class Use(SummaryTest):
    def test_wrong_use(self):
        self.put("in", small_trace())
        for words, text in ((("--label", "a=b", "-o", "x.gclog"), "--label is for a summary; .*"),
                            (("--top", "3", "-o", "x.gclog"), "--top is for a summary here; .*"),
                            (("--summary", "s", "--label", "a"), '--label takes KEY=VALUE, .* not "a"'),
                            (("--summary", "s", "--label", "=a"), '--label takes KEY=VALUE, .*'),
                            (("--summary", "s", "--label", "a=1", "--label", "a=2"), "--label a is given twice"),
                            (("--summary", "x", "-o", "x", "-f", "gclog"), "--summary needs a file of its own; .*"),
                            (("--summary", "-", "-o", "-"), "--summary needs a file of its own; .*"),
                            (("--summary", "in"), "in: is the input and the output; choose another name for --summary"),
                            ((), "convert needs an output: .*")):
            with self.subTest(words):
                self.refused(2, text, "convert", "in", *words)
        self.done("convert", "in", "--summary", "s", "--label", "aa=1", "--label", "a=2")

    def test_the_summary_file_is_checked_first_and_written_whole(self):
        """The summary file is opened before anything is read or written, and is complete or absent."""
        self.put("in", small_trace())
        self.refused(1, "no/s.json: .*", "convert", "in", "-o", "x.gclog", "--summary", "no/s.json")
        self.put("bad", small_trace()[:100])
        self.refused(1, "bad: .*", "convert", "bad", "--summary", "s.json")
        self.put("s.json", b"old")
        self.done("convert", "--strict", trace("net10-wks-lossy"), "--summary", "s.json", code=1)
        self.assertEqual(self.get("s.json"), b"old")

    def test_others_do_not_read_it(self):
        self.summary(SHOP[0])
        for command in (["report"], ["info"], ["leaks"], ["convert", "-o", "x.gclog"]):
            self.refused(1, "s.json: is neither a recording .*, and summaries of dumps are for gcdumpc trend", command[0], "s.json", *command[1:])
        for words in (("s.json", SHOP[1]), (SHOP[1], "s.json"), ("s.json", "s.json", "-o", "x.html"), ("s.json", SHOP[1], "--paths")):
            self.refused(1, "s.json: is the summary of a dump, without its objects; gcdumpc trend compares summaries", "diff", *words)


class Trend(SummaryTest):
    def trend(self, *words, code=0):
        return json.loads(self.done("trend", *words, "--json", code=code).text)

    def test_like_dumps(self):
        """Summaries that list all types give the table of the dumps, with names that only one side knows, alone and mixed."""
        for i, path in enumerate(SHOP):
            self.summary(path, "-n", "100000", name=f"{i}.json")
        for words in ((), ("--retained",), ("--filter", "CoffeeShop.*"), ("--fail-if", "bytes > +1", "--fail-if", "count(CoffeeShop.CartItem) > 1"),
                      ("--retained", "--fail-if", "retained > 1"), ("--sort", "count")):
            code = 4 if "--fail-if" in words else 0
            wanted = self.trend(*SHOP, *words, code=code)
            for files in (("0.json", "1.json"), (SHOP[0], "1.json"), ("0.json", SHOP[1])):
                got = self.trend(*files, *words, code=code)
                self.assertEqual([d["recording"] for d in got["dumps"]], list(files))
                for d in got["dumps"] + wanted["dumps"]:
                    d.pop("recording")
                self.assertEqual(got, wanted, (files, words))
                wanted = self.trend(*SHOP, *words, code=code)

    def test_full_and_raw_names(self):
        """The names of the runtime are in the summary, too: a recording without full names can be compared."""
        self.summary(trace("net10-wks-names"), "-n", "100000", name="full.json")
        wanted = self.trend(trace("net10-wks-names"), trace("net10-wks"))
        self.assertEqual(wanted["matched_by"], "raw_name")
        got = self.trend("full.json", trace("net10-wks"))
        self.assertEqual((got["matched_by"], got["types"]), ("raw_name", wanted["types"]))

    def test_what_is_not_listed(self):
        """A type that is not listed does not count as 0: it may exist or not."""
        self.put("one", types_trace(*((f"T{i}", 1, 1000 - i) for i in range(5)), ("Grows", 1, 10), ("Gone", 1, 2000)))
        self.put("two", types_trace(*((f"T{i}", 1, 1000 - i) for i in range(5)), ("Grows", 1, 3000), ("New", 1, 5)))
        for name in ("one", "two"):
            self.summary(name, "--top", "3", "--mine", "T0", name=f"{name}.json")
        got = {t["type"]: t for t in self.trend("one.json", "two.json")["types"]}
        self.assertEqual([got["Grows"][f"bytes_{k}"] for k in ("1", "2", "delta", "trend")], [None, 3000, None, None])
        self.assertEqual((got["Gone"]["bytes_1"], got["Gone"]["bytes_2"], got["Gone"]["count_delta"]), (2000, None, None))
        whole = self.trend("one.json", "two.json", "one")
        self.assertEqual([d["bytes"] for d in whole["dumps"]], [1000 * 5 - 10 + 2010, 1000 * 5 - 10 + 3005, 1000 * 5 - 10 + 2010])
        self.assertEqual([d["types"] for d in whole["dumps"]], [7, 7, 7])
        grows, = [t for t in whole["types"] if t["type"] == "Grows"]
        self.assertEqual((grows["bytes_1"], grows["bytes_3"], grows["bytes_delta"], grows["bytes_trend"]), (None, 10, None, "shrinks"))
        run = self.done("trend", "one.json", "two.json")
        self.assertRegex(run.text, r"\d+ +\d+ .*\(\d+ more types, and unlisted ones\)\n")
        self.assertRegex(run.text, r"\n +7000 +7995 +\+995 .*total\n")

    def test_holders(self):
        """The summary also has the types that hold the most, however small they are; a type in both lists counts once."""
        small = [self.summary(path, "-n", "5", name=f"{i}.json") for i, path in enumerate(SHOP)]
        wanted = {t["type"]: t for t in self.trend(*SHOP, "--retained")["types"]}
        got = {t["type"]: t for t in self.trend("0.json", "1.json", "--retained")["types"]}
        only = [h["name"] for h in small[1]["holders"] if h["name"] not in [t["name"] for t in small[1]["types"]]]
        self.assertEqual((len(only), len(set(only) & set(got))), (2, 2))
        for name in only + ["CoffeeShop.UserSession"]:
            for key in ("count_2", "bytes_2", "retained_2"):
                self.assertEqual(got[name][key], wanted[name][key], name)
        top = self.trend("0.json", "1.json", "--retained", "--sort", "retained", "--top", "5")["types"]
        self.assertEqual([t["type"] for t in top], [h["name"] for h in small[1]["holders"]])
        # a type of two modules counts as two types
        def in_two_modules(made):
            made["holders"].append({**made["holders"][0], "module": "/another.dll"})
        twice = self.trend(self.edited("x.json", in_two_modules, of="0.json"), "1.json", "--retained")["types"]
        self.assertEqual(sorted(t["module"] for t in twice if t["type"].startswith("CoffeeShop.Storefront [")), ["CoffeeShop", "another"])

    def test_the_rest_is_all_that_is_not_shown(self):
        for i, path in enumerate(SHOP):
            self.summary(path, name=f"{i}.json")
        lines = self.done("trend", "0.json", "1.json", "--top", "2").text.splitlines()
        rows = [[int(n) for n in line.split()[:2]] for line in lines if "  grows  " in line]
        self.assertEqual(len(rows), 4)
        for column in zip(*rows):
            self.assertEqual(sum(column[:3]), column[3])

    def test_thresholds_that_it_cannot_tell(self):
        self.put("one", types_trace(("Big", 1, 2000), ("Small", 7, 10)))
        for top, name in ((1, "part.json"), (9, "all.json")):
            self.summary("one", "--top", top, "--mine", "Big", name=name)
        self.refused(1, r'part.json: lists 1 of 2 types; with the others "Small" has 0 to 7 objects, which does not decide "count\(Small\) > 0"; '
                        r"a summary with --top 2 lists all", "trend", "one", "part.json", "--fail-if", "count(Small) > 0")
        self.done("trend", "one", "part.json", "--fail-if", "count > 7", code=4)
        self.done("trend", "one", "part.json", "--fail-if", "bytes(Big) > 1999", code=4)
        self.done("trend", "one", "all.json", "--fail-if", "count(Small) > 6", code=4)
        self.done("trend", "one", "all.json", "--fail-if", "count(None) > 0", code=0)
        run = self.done("trend", "one", "part.json", "--fail-if", "retained(Big) > 0", code=1)
        self.assertEqual(run.lines[-1], "gcdumpc: part.json: a summary does not tell what the types of a pattern retain together: retained(Big) > 0")
        self.refused(2, "part.json: is a summary, whose names are in C# spelling; .*", "trend", "one", "part.json", "--names", "raw")

    def test_what_is_not_listed_bounds_the_gates(self):
        """The unlisted types have 2 to 7 objects and 20 to 70 bytes: what that decides is decided as for the whole dump."""
        whole = (types_trace(("A.Big", 2, 1000), ("A.Rest", 2, 10)), types_trace(("A.Big", 5, 1000), ("A.Other", 7, 10)))
        for i, dump in enumerate(whole):
            self.put(f"{i}", dump)
            self.summary(f"{i}", "--top", 1, "--mine", "A.Big", name=f"{i}.json")
        decided = ("count(A.*) > 4", "count(A.*) > 12", "count(A.*) >= 13", "count(A.*) > +0", "count(A.*) > +10", "bytes(A.*) > 5070", "bytes(A.*) < 5000",
                   "bytes(A.*) > +400%", "count(/^A/) < -2", "count(A.Big) > +2", "count(A.Big) > +3", "count(Big) < 5", "count(A.Other) > 7",
                   "count(module(*)) > 99", "count > 11", "bytes > +2.9K")
        for expression in decided:
            whole = self.gcdumpc("trend", "0", "1", "-q", "--fail-if", expression)
            run = self.gcdumpc("trend", "0.json", "1.json", "-q", "--fail-if", expression)
            self.assertEqual(run.code, whole.code, (expression, run.err, whole.err))
        self.assertEqual(self.done("trend", "0.json", "1.json", "--fail-if", "count(A.*) > +0", code=4).lines,
                         ["gcdumpc: threshold exceeded: count(A.*) > +0: 2 to 4 -> 5 to 12"])
        row, = self.trend("0.json", "1.json", "--fail-if", "count(A.*) > +0", code=4)["thresholds"]
        self.assertEqual(row, {"expression": "count(A.*) > +0", "before": 2, "before_at_most": 4, "after": 5, "after_at_most": 12, "exceeded": True})
        for expression in ("count(A.*) > 5", "count(A.*) > 11", "count(A.*) <= 5", "count(A.*) > +1", "count(A.*) > +9", "bytes(A.*) > 5069",
                           "count(A.Other) > 6", "count(Other) > +0", "bytes(/A/) > +150%"):
            run = self.done("trend", "0.json", "1.json", "--fail-if", expression, code=1)
            self.assertEqual(run.out, b"", expression)
            self.assertRegex(run.lines[-1], r"^gcdumpc: 1.json: lists 1 of 2 types; with the others .* which does not decide ")

    def test_several_in_a_file(self):
        for i, path in enumerate(SHOP):
            self.summary(path, name=f"{i}.json")
        lines = self.get("0.json") + self.get("1.json")
        self.put("both.json", lines)
        self.put("apart.json", lines.replace(b"\n", b"\r\n\n "))
        want = self.trend("0.json", "1.json")["types"]
        for name in ("both.json", "apart.json"):
            self.assertEqual(self.trend(f"{name}#1", f"{name}#2")["types"], want)
            self.assertEqual(self.done("trend", name, "1.json").lines, [f'gcdumpc: {name}: holds 2 summaries, this is the first; "FILE#N" chooses'])
            self.refused(1, rf"{name}: has 2 summaries, number 3 was asked for", "trend", f"{name}#3", "0.json")

    def test_incomplete(self):
        self.summary(trace("net10-wks-lossy"), name="lossy.json", code=3)
        got = self.trend("lossy.json", trace("net10-wks-lossy"), code=3)["dumps"]
        self.assertEqual(got[0]["verdict"], got[1]["verdict"])
        self.assertFalse(got[0]["verdict"]["complete"])

    def test_hostile_files(self):
        """Any file leads to a message or a table, never to a crash."""
        self.summary(SHOP[0])
        good = self.get("s.json")
        strange = lambda o, **changes: o.update(changes)
        self.edited("x", lambda o: strange(o, schema=2))
        self.refused(1, "x: is a summary with schema 2; this gcdumpc reads schema 1", "trend", "x", "s.json")
        for change in (lambda o: strange(o, kind="other"), lambda o: strange(o, kind=7), lambda o: [o], lambda o: o.pop("kind") and None):
            self.refused(1, "x: is neither a recording .*", "trend", self.edited("x", change), "s.json")
        for data in (b"{", b"{}", good[:-2], good + b"{", good + b"x", good + b'{"kind":"x"}', b" " * 100 + b"{" * 100000,
                     b'{"kind":"summary"' + b'"a":[' * 5000):
            self.refused(1, "x: is neither a recording .*", "trend", self.put("x", data), "s.json")
        rows = json.loads(good)["types"]
        big = 2 ** 63 - 1
        for changes in ({"types": []}, {"types": 7}, {"types": [None, 7, {}, {"name": 7, "count": 1}, {"name": "x", "count": -1}]},
                        {"types": rows + rows}, {"types": [dict(r, own_bytes=big, count=big, retained_bytes=big) for r in rows]}, {"bytes": -1},
                        {"objects": "many"}, {"type_count": big}, {"unix_ms": big}, {"unix_ms": -big}, {"unix_ms": 1.5}, {"pid": big}, {"name": 7},
                        {"types": [dict(rows[0], name="\x1b[31m\u202e" + "x" * 100000, raw_name="\n", module="/../")]},
                        {"reasons": [{"code": "of a later version", "text": "x" * 1000, "amount": -3}] * 100}, {"reasons": {}}):
            with self.subTest(str(changes)[:60]):
                self.edited("x", lambda o, c=changes: strange(o, **c))
                run = self.gcdumpc("trend", "x", "s.json", "--retained")
                self.assertIn(run.code, (0, 3), run.err)
                self.assertNotIn(b"\x1b", run.out + run.err)
        self.edited("x", lambda o: strange(o, types=[dict(rows[0], own_bytes=-5)]))
        self.assertEqual([t["bytes_1"] for t in self.trend("x", "s.json")["types"] if t["type"] == rows[0]["name"]], [0])
        self.edited("x", lambda o: strange(o, complete=False, reasons=[{"code": "of a later version", "text": "t", "amount": 1}]))
        self.assertEqual(self.trend("x", "s.json", code=3)["dumps"][0]["verdict"]["reasons"], [{"code": "other", "amount": 1, "text": "t"}])

    def test_compressed_and_pipes(self):
        self.summary(SHOP[0])
        self.done("convert", SHOP[1], "--summary", "t.json.gz")
        self.assertEqual(self.trend("s.json", "t.json.gz")["dumps"][1]["bytes"], 12629793)
        os.mkfifo(self.path("fifo"))         # a pipe can be read only once, so it is not checked for a summary
        process = self.start("trend", "fifo", "s.json", "--json")
        with open(SHOP[1], "rb") as f:
            thread = feed(open(self.path("fifo"), "wb"), [f.read()])
        run = self.finish(process)
        thread.join()
        self.assertEqual((run.code, json.loads(run.out)["dumps"][0]["bytes"]), (0, 12629793), run.err)


@unittest.skipIf(os.environ.get("GCDUMPC_IPC") == "OFF", "this build has no support for living processes")
class Job(SummaryTest):
    def setUp(self):
        super().setUp()
        self.target = None

    def process(self):
        """One that only answers like a runtime, and sends a bundled recording."""
        self.target = FakeProcess(self.tmp, self.path(self.put("in", trace_bytes("net10-wks"))), f"sum-{os.getpid()}")
        os.unlink(self.path("in"))

    def tearDown(self):
        if self.target is not None:              # its socket is in the folder that must be empty
            self.target.close()
        super().tearDown()

    def collect(self, *words, code=0):
        """The line of --log json."""
        line, = self.done("collect", "--pid", self.target.pid, *words, "--log", "json", code=code).lines
        return json.loads(line)

    def made(self, name):
        made = json.loads(self.get(name))
        self.assertEqual(list(problems(made, SCHEMA)), [])
        return made

    def test_of_a_process(self):
        """Fields in its name, new folders, and the same content as of the recording."""
        self.process()
        line = self.collect("-o", "d/%n-%s.nettrace.gz", "--summary", "s/%n/%n-%p-%s.json", "--label", "version=2")
        self.assertRegex(line["summary"], rf"^s/([^/]+)/\1-{self.target.pid}-\d+\.json$")
        made, other = self.made(line["summary"]), self.summary(line["file"])
        self.assertEqual((made["file"], made["file_bytes"], made["host"]), (os.path.basename(line["file"]), line["file_bytes"], os.uname().nodename))
        self.assertIsNone(other["host"])         # the host of a recording is unknown
        for key in ("types", "holders", "findings", "roots", "objects", "bytes", "references", "pause_ns", "time"):
            self.assertEqual(made[key], other[key], key)
        self.assertEqual((made["labels"], made["memory"]["resident_bytes"] > 0), ({"version": "2"}, True))
        line = self.collect("-o", "plain.gclog", "--summary", "plain.json")
        self.assertEqual((line["summary"], self.made("plain.json")["file"]), ("plain.json", "plain.gclog"))

    def test_a_summary_without_a_dump(self):
        """There is no dump; the state of the last run is beside the summaries."""
        self.process()
        line = self.collect("--summary", "s/%p-%s.json")
        self.assertEqual((line["status"], line["file"], self.made(line["summary"])["file"]), ("done", None, None))
        self.assertTrue([n for n in os.listdir(self.path("s")) if n.endswith(".gcdumpc-last")])
        for words in (("--min-interval", "1h"), ("--if-grown", "10%")):
            self.assertEqual(self.collect("--summary", "s/%p-%s.json", *words)["status"], "skipped", words)
        self.done("collect", "--pid", self.target.pid, "--summary", "x.json", "-q")
        self.made("x.json")
        self.refused(2, "--keep, --keep-days, --max-total and --adopt need a name .*", "collect", "--pid", self.target.pid, "--summary", "s/%p-%s.json",
                     "--keep", "2")
        self.refused(2, "several processes need a --summary with %p in it; .*", "collect", "--all", "-o", "%p.gclog", "--summary", "s.json")
        self.refused(2, "%J is the name of a job, .*", "collect", "--pid", "1", "--summary", "%J.json")

    def test_keep_never_removes_summaries(self):
        """--keep removes dumps, never summaries."""
        self.process()
        os.mkdir(self.path("d"))
        for i in range(1, 5):
            self.put(f"d/{i}.gclog", b"old")
            self.put(f"d/{i}.json", b"old")
        line = self.collect("-o", "d/%s.gclog", "--summary", "d/%s.json", "--keep", "1", "--keep-days", "1", "--max-total", "1K", "--adopt")
        self.assertEqual(sorted(n for n in os.listdir(self.path("d")) if n[0] != "."),
                         sorted([f"{i}.json" for i in range(1, 5)] + [os.path.basename(line["file"]), os.path.basename(line["summary"])]))

    def test_a_failed_summary(self):
        """The dump is written, but the run has failed."""
        self.process()
        os.mkdir(self.path("s.json"))
        line = self.collect("-o", "%s.gclog", "--summary", "s.json", code=1)
        self.assertEqual(line["status"], "failed")
        self.assertEqual(line["reason"], "s.json: is a directory, a file name is needed")
        os.symlink("elsewhere", self.path(f"{self.target.pid}.json"))
        self.assertRegex(self.collect("-o", "%s.gclog", "--summary", "%p.json", code=1)["reason"], "exists and is not a regular file")

    def test_in_a_configuration(self):
        self.process()
        for name, text in (("a", "[one]\nsummary = x-%s.json\n[two]\nsummary = x-%s.json\n"),
                           ("b", "[one]\nsummary = %J-%s.json\n[two]\nsummary = %J-%s.json\n")):
            self.put(name, f"pid = {self.target.pid}\nlabel = team=shop\n{text}".encode())
            os.chmod(self.path(name), 0o600)
            self.assertEqual(len(self.done("run", "--check", "--config", name).lines), 1 if name == "a" else 0)
        self.done("run", "two", "--config", "b")
        file, = [n for n in os.listdir(self.dir) if n.startswith("two-")]
        self.assertEqual(self.made(file)["labels"], {"team": "shop"})


class Sites(CliTest):
    RECORDING = os.path.join(SOURCE, "traces", "sites", "leaks.nettrace.gz")

    def test_trend_shows_lines_that_keep_more(self):
        self.done("convert", self.RECORDING, "--summary", "new.json", "-q")
        with open(self.path("new.json"), encoding="utf-8") as f:
            summary = json.load(f)
        new = {s["line"]: s["kept_bytes_per_hour"] for s in summary["sites"]}
        alive = {s["line"]: s["bytes"] for s in json.loads(self.done("sites", self.RECORDING, "--json").text)["sites"]}
        window = json.loads(self.done("sites", self.RECORDING, "--json").text)["window_ms"]
        self.assertAlmostEqual(new[70] / (alive[70] * 3_600_000 / window), 1, 3)
        for site in summary["sites"]:
            site["kept_bytes_per_hour"] //= 3 if site["line"] in (70, 83) else 1
        self.put("old.json", (json.dumps(summary) + "\n").encode())
        for last in "new.json", self.RECORDING:
            grown = json.loads(self.done("trend", "old.json", last, "--json").text)["sites"]
            self.assertEqual([(s["line"], s["kept_bytes_per_hour_before"], s["kept_bytes_per_hour"]) for s in grown],
                             [(line, new[line] // 3, new[line]) for line in (70, 83)])
            self.assertIn("SiteLab.cs:70 SiteLab.Journal.Append (System.Int32[])", self.done("trend", "old.json", last).text)
        same = self.done("trend", "new.json", self.RECORDING)
        self.assertIn("No line keeps more per hour than in the first dump", same.text)


if __name__ == "__main__":
    main()
