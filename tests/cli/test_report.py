"""report and info: the numbers add up, text and JSON agree, the order is as requested."""
import json
import os
import re

from cli_support import CliTest, Ev, V4File, is_called, main, numbered, small_trace, trace, trace_bytes, types_trace

RECORDINGS = ("net8-wks", "net8-svr", "net9-wks", "net9-svr", "net10-wks", "net10-svr", "net10-wks-ranges", "net10-wks-nonames",
              "net8-wks-two-dumps", "net10-wks-lossy", "net10-wks-killed")
INCOMPLETE = {"net10-wks-lossy": ["events_lost", "edges_unbalanced", "objects_lost", "edges_lost", "edges_dropped"], "net10-wks-killed": ["trace_truncated", "loss_unverified"],
              "net10-wks-nonames": ["types_undescribed"]}
ROW = re.compile(r" *(\d+) +(\d+) +(\d+\.\d\d)%  (.+)")


def parsed(text):
    """(rows, rest, total) of a report; a row is (objects, bytes, share, name)."""
    head, *lines = text.splitlines()
    if head.startswith("(INCOMPLETE dump: "):
        head, *lines = lines
    assert head.split() == ["Count", "Bytes", "Share", "Type"], head
    rows = [ROW.fullmatch(line).groups() for line in lines]
    rows = [(int(count), int(size), share, name) for count, size, share, name in rows]
    total = rows.pop()
    rest = rows.pop() if rows and re.fullmatch(r"\(\d+ more types?\)", rows[-1][3]) else None
    return rows, rest, total


class Report(CliTest):
    def report(self, name="net10-wks", *words, code=None):
        run = self.done("report", trace(name), *words, code=code if code is not None else 3 if name in INCOMPLETE else 0)
        return run.text

    def test_text(self):
        for name in ("net10-wks", "net10-wks-lossy"):
            run = self.done("report", self.link(name), code=3 if name in INCOMPLETE else 0)
            self.expected(f"report-{name}.txt", run.text)
        self.expected("report-net8-wks-two-dumps-second-top-10.txt", self.report("net8-wks-two-dumps", "--walk=2", "--top=10"))

    def test_sums(self):
        for name in RECORDINGS:
            rows, rest, total = parsed(self.report(name))
            facts = json.loads(self.done("info", trace(name), "--json", "-q", code=3 if name in INCOMPLETE else 0).text)["dump"]
            self.assertIsNone(rest)
            self.assertEqual(total, (facts["objects"], facts["bytes"], "100.00", f"total, {facts['types']} types"))
            self.assertEqual(len(rows), facts["types"])
            self.assertEqual(sum(r[0] for r in rows), total[0])
            self.assertEqual(sum(r[1] for r in rows), total[1])
            for _, size, share, _ in rows:
                self.assertAlmostEqual(float(share), 100 * size / total[1], delta=0.00501)

    def test_what_the_program_in_the_recording_counted(self):
        with open(os.path.join(os.path.dirname(trace("net10-wks")), "counts.json"), encoding="utf-8") as f:
            counted = {t["name"]: t for t in json.load(f)["types"]}
        rows = parsed(self.report())[0]
        checked = 0
        for count, size, _, name in rows:
            truth = counted.get(name, {})
            if "count" in truth:
                self.assertEqual(count, truth["count"], name)
                self.assertEqual(size, truth.get("bytes", size), name)
                checked += 1
        self.assertGreater(checked, 50)

    def test_a_filter_of_invalid_utf8(self):
        text = b"/[^\xff]/".decode(errors="surrogateescape")
        self.assertEqual(json.loads(self.report("net10-wks", "--json", "--filter", text))["filter"], "/[^?]/")

    def test_top(self):
        rows, _, total = parsed(self.report())
        for n in (1, 5, len(rows) - 1):
            shown, rest, same_total = parsed(self.report("net10-wks", "--top", n))
            self.assertEqual((shown, same_total), (rows[:n], total))
            self.assertEqual(rest[:2], (sum(r[0] for r in rows[n:]), sum(r[1] for r in rows[n:])))
            self.assertEqual(rest[3], f"({len(rows) - n} more type{'s' if len(rows) - n > 1 else ''})")
        for n in (len(rows), len(rows) + 1, 2**32 - 1):
            self.assertEqual(self.report("net10-wks", "--top", n), self.report())

    def test_order(self):
        def by(*keys):
            return lambda r: tuple({"bytes": -r[1], "count": -r[0], "name": r[3].split("  [")[0].encode()}[k] for k in keys)
        for words, key in (((), by("bytes", "count", "name")), (("--sort", "bytes"), by("bytes", "count", "name")),
                           (("--sort", "count"), by("count", "bytes", "name")), (("-sname",), by("name", "bytes", "count"))):
            rows, _, _ = parsed(self.report("net10-wks", "--names=raw", *words))
            self.assertEqual(rows, sorted(rows, key=key), words)

    def test_order_of_equals(self):
        rows = [("d", 1, 40), ("a", 2, 20), ("c", 1, 40), ("b", 4, 10), ("e", 1, 90), ("B", 1, 40)]
        self.put("six", types_trace(*rows))
        for key, order in (("bytes", "ebaBcd"), ("count", "baeBcd"), ("name", "Babcde")):
            run = self.done("report", "six", "--sort", key)
            self.assertEqual("".join(r[3] for r in parsed(run.text)[0]), order)
            run = self.done("report", "six", "--sort", key, "--json", "--top", "4")
            self.assertEqual("".join(t["type"] for t in json.loads(run.text)["types"]), order[:4])

    def test_names_that_people_say(self):
        """Sorted by name, text is in the order of the names that it shows, JSON and CSV in that of the types'."""
        names = [r[3] for r in parsed(self.report("net10-wks", "--sort=name"))[0]]
        self.assertIn("async HeapLab.Machines.WaitFor", names)
        self.assertEqual(names, sorted(names, key=os.fsencode))
        types = [t["type"] for t in json.loads(self.report("net10-wks", "--sort=name", "--json"))["types"]]
        self.assertIn("AsyncStateMachineBox<System.Int32, HeapLab.Machines.<WaitFor>d__2>", types)
        self.assertEqual(types, sorted(types, key=os.fsencode))
        self.assertNotIn("async ", self.report("net10-wks", "--names=raw"))

    def test_equal_names_get_their_module(self):
        names = [r[3] for r in parsed(self.report())[0]]
        self.assertEqual(sum(n.startswith("<>c [") for n in names), 3)
        self.assertIn("<>c [System.Console]", names)
        self.assertEqual(len(set(names)), len(names))

    def test_json_says_the_same(self):
        for name in RECORDINGS:
            rows, _, total = parsed(self.report(name))
            got = json.loads(self.report(name, "--json"))
            self.assertEqual((got["schema"], got["recording"]), (2, trace(name)))
            self.assertEqual((got["objects"], got["bytes"], got["type_count"]), (total[0], total[1], len(rows)))
            self.assertEqual([(t["count"], t["bytes"], f"{100 * t['share']:.2f}") for t in got["types"]], [r[:3] for r in rows])
            for row, of_json in zip(rows, got["types"]):
                self.assertTrue(is_called(row[3], of_json["type"]), (row[3], of_json["type"]))
                self.assertRegex(of_json["id"], r"\A0x[0-9a-f]+\Z")
                self.assertLessEqual({"type", "module", "id", "count", "bytes", "share"}, set(of_json))
            self.assertEqual([r["code"] for r in got["verdict"]["reasons"]], INCOMPLETE.get(name, []))
            self.assertEqual(got["verdict"]["complete"], name not in INCOMPLETE)

    def test_json_with_top_keeps_the_totals(self):
        whole, top = json.loads(self.report("net10-wks", "--json")), json.loads(self.report("net10-wks", "--json", "--top=3"))
        self.assertEqual(top["types"], whole["types"][:3])
        self.assertEqual({k: v for k, v in top.items() if k != "types"}, {k: v for k, v in whole.items() if k != "types"})

    def test_from_a_pipe(self):
        with open(trace("net10-wks"), "rb") as f:
            data = f.read()
        for command in ("report", "info"):
            run = self.done(command, "-", data=data)
            self.assertEqual(run.text.replace("standard input", "X"), self.done(command, trace("net10-wks")).text.replace(
                trace("net10-wks"), "X"))
        self.assertEqual(self.folder(), {})

    def test_incomplete(self):
        for name in INCOMPLETE:
            for command in ("report", "info"):
                for words in ((), ("-q",), ("--json",)):
                    run = self.done(command, trace(name), *words, code=3)
                    self.assertNotEqual(run.out, b"")
                    self.assertRegex(run.err.decode(), r"\Agcdumpc: .*: the dump is incomplete: .+\n\Z")

    def test_quiet(self):
        for command in ("report", "info"):
            run = self.done(command, trace("net8-wks-two-dumps"))
            self.assertEqual(len(run.lines), 1)
            quiet = self.done(command, trace("net8-wks-two-dumps"), "-q")
            self.assertEqual((quiet.text, quiet.err), (run.text, b""))


class Memory(CliTest):
    """A recording that gcdumpc made has the memory of the process."""
    MIB = 1 << 20

    def test_info(self):
        name = self.with_memory("net10-wks")
        lines = [line.strip() for line in self.done("info", name).text.splitlines()]
        at = lines.index("process memory     943718400 bytes resident before the dump: anonymous 838860800, files 94371840, shared 10485760")
        self.assertEqual(lines[at + 1:at + 5], [
            "of the anonymous memory 125829120 in the ranges of the GC, 713031680 native or unknown", "besides, 5242880 bytes swapped out",
            "its cgroup uses 996147200 of 1073741824 bytes", "the GC heap is 120 MiB of 900 MiB resident: look for native memory (680 MiB)"])
        got = json.loads(self.done("info", name, "--json").out)["process_memory"]
        self.assertEqual(got, {
            "measured": "2026-11-23T06:25:32.296Z", "resident": 900 * self.MIB, "anonymous": 800 * self.MIB, "file": 90 * self.MIB,
            "shared": 10 * self.MIB, "swapped": 5 * self.MIB, "gc_heap": 120 * self.MIB, "native_or_unknown": 680 * self.MIB,
            "cgroup_limit": 1024 * self.MIB, "cgroup_used": 950 * self.MIB, "look_for_native": True,
            "text": "the GC heap is 120 MiB of 900 MiB resident: look for native memory (680 MiB)"})
        self.done("convert", name, "-o", "x.gcdump")             # which cannot store it
        self.assertIsNone(json.loads(self.done("info", "x.gcdump", "--json").out)["process_memory"])

    def test_report_and_leaks(self):
        """What the heap does not explain is said with its answers."""
        name = self.with_memory("net10-wks")
        line = "(before the dump, the GC heap is 120 MiB of 900 MiB resident: look for native memory (680 MiB))"
        self.assertEqual(self.done("report", name).text.splitlines()[-1], line)
        leaks = self.done("leaks", name).text.splitlines()
        self.assertEqual(leaks[0], line)
        said = " ".join(leaks[2:6])
        self.assertTrue(said.startswith("Most memory is outside the managed heap: 680.0 MiB of 900.0 MiB resident are native or unknown; "
                                            "20 Pending objects with a finalizer can own some of it. Nothing in the heap looks like a leak. Largest: "), said)
        for command in ("report", "leaks"):
            self.assertEqual(json.loads(self.done(command, name, "--json").out)["process_memory"]["native_or_unknown"], 680 * self.MIB)

    def test_unreachable_objects(self):
        self.done("convert", self.link("net10-wks-lossy"), "-o", "x.gclog", "-q", code=3)
        said = "21,712 objects (638.8 KiB, 95.01 % of the heap) are not reachable from roots, by size mostly HeapLab.Extra"
        for command, at in (("info", None), ("report", -1), ("leaks", 1)):
            lines = self.done(command, "x.gclog", code=3).text.splitlines()
            self.assertIn(said, " ".join(" ".join(lines).split()) if at is None else lines[at], command)
            got = json.loads(self.done(command, "x.gclog", "--json", code=3).out)
            self.assertEqual(got["unreachable"]["objects"], 21712, command)
        self.assertIsNone(json.loads(self.done("report", self.link("net10-wks"), "--json").out)["unreachable"])

    def test_prometheus(self):
        lines = self.done("report", self.with_memory("net10-wks"), "-f", "prometheus").text.splitlines()
        kinds = {"gc_heap": 120, "native_or_unknown": 680, "file": 90, "shared": 10}
        self.assertEqual([line for line in lines if line.startswith("gcdumpc_process_memory_bytes")],
                         [f'gcdumpc_process_memory_bytes{{process="HeapLab",pid="9873",kind="{kind}"}} {size * self.MIB}'
                          for kind, size in kinds.items()])
        for metric, size in (("process_resident", 900), ("process_swapped", 5), ("cgroup_limit", 1024), ("cgroup_used", 950)):
            self.assertIn(f'gcdumpc_{metric}_bytes{{process="HeapLab",pid="9873"}} {size * self.MIB}', lines)
        self.assertNotIn("gcdumpc_process_", self.done("report", self.link("net10-wks"), "-f", "prometheus").text)


class Info(CliTest):
    def info(self, name, *words):
        return self.done("info", self.link(name), *words, code=3 if name in INCOMPLETE else 0).text

    def test_text(self):
        for name in ("net10-wks", "net10-wks-ranges", "net8-svr", "net8-wks-two-dumps", "net10-wks-lossy", "net10-wks-killed",
                     "net10-wks-nonames"):
            self.expected(f"info-{name}.txt", self.info(name))

    def test_json(self):
        for name in ("net10-wks", "net10-wks-lossy"):
            self.expected(f"info-{name}-json.txt", self.info(name, "--json"))

    def test_json_says_the_same(self):
        for name in RECORDINGS:
            text = self.info(name)
            got = json.loads(self.info(name, "-j"))
            rows = {line[:18].strip(): line[19:] for line in text.splitlines()}
            dump, gc = got["dump"], got["gc"]
            self.assertEqual(got["recording"], rows["recording"])
            self.assertEqual((dump["objects"], dump["bytes"], dump["edges"]), tuple(int(rows[k]) for k in ("objects", "bytes", "references")))
            self.assertEqual((dump["statics"], dump["dependent_handles"], dump["ranges"]),
                             tuple(int(rows[k]) for k in ("static variables", "dependent handles", "generation ranges")))
            self.assertEqual(dump["types"], int(rows["types"].split(",")[0]))
            kinds = [dump["roots"][k] for k in ("stack", "finalizer", "handle", "other")]
            self.assertEqual([int(n) for n in re.findall(r"\d+", rows["roots"])], [sum(kinds), *kinds])
            self.assertIn(f"version {got['trace']['version']}, {8 * got['trace']['pointer_bytes']}-bit process, "
                          f"{got['trace']['bytes']} bytes, ", rows["format"])
            self.assertEqual(rows["process"], ", ".join(str(got["process"][k]) for k in ("pid", "name") if got["process"][k]))
            self.assertIn(f"number {gc['number']}, induced, blocking, generation {gc['generation']}, ", rows["GC"])
            self.assertEqual(rows["verdict"], "complete" if got["verdict"]["complete"] else "incomplete")
            self.assertEqual([r["code"] for r in got["verdict"]["reasons"]], INCOMPLETE.get(name, []))
            for reason in got["verdict"]["reasons"]:
                self.assertIn(reason["text"], text)
            self.assertEqual(got["dumps"], 2 if name == "net8-wks-two-dumps" else 1)

    def test_unknown_values(self):
        """Unknown values are null, not empty or zero."""
        got = json.loads(self.done("info", self.put("nameless", small_trace(process_name=False)), "--json").text)
        self.assertEqual(got["process"], {"pid": 1234, "name": None, "command_line": None, "os": None, "architecture": None,
                                          "runtime_version": None})
        self.assertIsNone(got["gc"]["heaps"])

    def test_time_before_1970(self):
        data = small_trace()
        at = data.index(b"\xe8\x07\x05\x00")         # 2024-05
        self.put("old", data[:at] + b"\xa8\x07" + data[at + 2:at + 14] + b"\x07\x00" + data[at + 16:])
        self.assertIn("recorded           1960-05-07T10:00:00.007Z\n", self.done("info", "old").text)

    def test_long_path(self):
        """A path is never shortened in output for programs."""
        folder = "/".join(["f" * 200] * 3)
        os.makedirs(self.path(folder))
        name = self.put(f"{folder}/größe.nettrace", small_trace())
        for command in ("info", "report"):
            self.assertEqual(json.loads(self.done(command, name, "--json").text)["recording"], name)
        self.assertIn(f"recording          {name}\n", self.done("info", name).text)
        self.refused(1, rf"{folder}/missing: cannot open: No such file or directory; .*", "info", f"{folder}/missing")

    def test_long_command_line(self):
        line = "dotnet shop.dll " + "ä" * 3000
        name = self.put("long", types_trace(("A", 1, 24), command_line=line))
        self.assertEqual(json.loads(self.done("info", name, "--json").text)["process"]["command_line"], line)
        shown = re.search(r"^command line +(.*)$", self.done("info", name).text, re.M)[1]
        self.assertTrue(shown == line or re.fullmatch(r"dotnet shop\.dll ä{400,}\.\.\.", shown), shown[-20:])

    def test_names_of_invalid_utf8(self):
        name = b"a\xffb.nettrace".decode(errors="surrogateescape")
        self.put(name, small_trace())
        self.assertEqual(json.loads(self.done("info", name, "--json").text)["recording"], "a?b.nettrace")


class Events(CliTest):
    """info --events: a recording with or without a heap dump."""

    def counted(self, name, *words, code=0, **options):
        """(rows, total) with rows (events, bytes, id, version, provider)."""
        head, *lines = self.done("info", "--events", name, *words, code=code, **options).text.splitlines()
        self.assertEqual(head.split(), ["Events", "Payload", "bytes", "Id", "V", "Provider"])
        rows = [line.split(None, 4) for line in lines if not line.startswith("thread ")]
        total = rows.pop()
        self.assertEqual(total[2:], ["total"])
        return [(*map(int, r[:4]), r[4]) for r in rows], tuple(map(int, total[:2]))

    def test_text(self):
        self.expected("events-net10-wks.txt", self.done("info", "--events", self.link("net10-wks")).text)
        run = self.done("info", "-e", self.link("net10-wks-lossy"), code=3)
        self.expected("events-net10-wks-lossy.txt", run.text)
        self.assertEqual(run.lines, ["gcdumpc: net10-wks-lossy.nettrace.gz: 171 events were lost in the target"])

    def test_sums(self):
        for name in RECORDINGS:
            whole = INCOMPLETE.get(name, ["types_undescribed"]) == ["types_undescribed"]     # of the events, none is lost
            rows, total = self.counted(trace(name), code=0 if whole else 3)
            self.assertEqual(total, (sum(r[0] for r in rows), sum(r[1] for r in rows)))
            self.assertEqual(rows, sorted(rows, key=lambda r: (r[4].encode(), r[2], r[3])))
            facts = json.loads(self.done("info", "--json", "-q", trace(name), code=3 if name in INCOMPLETE else 0).text)
            self.assertEqual(total[0], facts["trace"]["events"])

    def test_from_a_pipe(self):
        with open(trace("net10-wks"), "rb") as f:
            self.assertEqual(self.counted("-", data=f.read()), self.counted(trace("net10-wks")))

    def test_without_a_dump(self):
        file = V4File()
        file.define((1, "Other\x1b[31m-Provider", 7, 2))
        file.events(*numbered([Ev(1, 2000 + i, bytes(10)) for i in range(3)]))
        file.sequence_point(3000, ((7, 3),))
        rows, total = self.counted(self.put("other", file.end()))
        self.assertEqual((rows, total), ([(3, 30, 7, 2, "Other?[31m-Provider")], (3, 30)))

    def test_cut(self):
        data = trace_bytes("net10-wks")
        run = self.done("info", "--events", self.put("cut", data[:400000]), code=3)
        self.assertRegex(run.err.decode(), r"\Agcdumpc: cut: the recording ends early.* \(at byte 400000\)\n\Z")

    def test_json_is_given_or_refused(self):
        run = self.gcdumpc("info", "--events", "--json", trace("net10-wks"))
        if run.code == 2:
            self.assertRegex(run.err, rb"\Agcdumpc: .*--json.*\n\Z")
        else:
            self.assertEqual(run.code, 0)
            json.loads(run.text)


if __name__ == "__main__":
    main()
