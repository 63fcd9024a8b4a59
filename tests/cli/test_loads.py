"""Assemblies that are loaded several times: their types are one type each, unless --separate-loads tells the loads apart."""
import csv
import io
import json
import os
import unittest

from cli_support import HAVE_SQLITE, CliTest, main, trace

GUEST, LOADS = "HeapLab.Guest", ["HeapLab.Guest [HeapLab 0x02000024 #1]", "HeapLab.Guest [HeapLab 0x02000024 #2]"]      # 10 and 5 objects


class Loads(CliTest):
    name = trace("net10-wks-ranges")

    def json(self, *args, code=0):
        return json.loads(self.done(*args, "--json", code=code).out)

    def guests(self, rows, name="type", count="count"):
        return sorted((r[name], r[count]) for r in rows if r[name].startswith(GUEST))

    def test_report(self):
        one, two = [(GUEST, 15)], list(zip(LOADS, (10, 5)))
        for words, wanted, types in (((), one, 201), (("--separate-loads",), two, 202)):
            whole = self.json("report", self.name, *words)
            self.assertEqual(self.guests(whole["types"]), wanted)
            self.assertEqual(whole["type_count"], types)
            self.assertEqual(sum(t["bytes"] for t in whole["types"]), whole["bytes"])
            rows = list(csv.DictReader(io.StringIO(self.done("report", self.name, "--csv", *words).text)))
            self.assertEqual([(n, int(c)) for n, c in self.guests(rows)], wanted)
            lines = [line.split(None, 3) for line in self.done("report", self.name, *words).text.splitlines()]
            self.assertEqual(sorted((line[3], int(line[0])) for line in lines if line[-1].startswith(GUEST)), wanted)
            metrics = self.done("report", self.name, "-f", "prometheus", "--top=1000", *words).text
            for n, count in wanted:
                self.assertEqual(sum(line.startswith("gcdumpc_type_objects{") and f'type="{n}"' in line and line.endswith(f" {count}")
                                     for line in metrics.splitlines()), 1)

    def test_patterns(self):
        for pattern, words, wanted in ((GUEST, (), [(GUEST, 15)]), (GUEST, ("--separate-loads",), list(zip(LOADS, (10, 5)))),
                                       (LOADS[1], (), [(LOADS[1], 5)]), ("HeapLab.Guest [HeapLab]", (), [(GUEST, 15)]),
                                       ("HeapLab.Guest [HeapLab #1]", (), [(LOADS[0], 10)])):
            self.assertEqual(self.guests(self.json("report", self.name, f"--filter={pattern}", *words)["types"]), wanted)
        for pattern, count in ((GUEST, 15), (LOADS[0], 10), (LOADS[1], 5), ("HeapLab.Gue*", 15)):
            for limit, code in ((count, 0), (count - 1, 4)):
                self.done("diff", trace("net9-wks"), self.name, "--fail-if", f"count({pattern}) > {limit}", code=code)
            self.assertEqual(self.json("paths", self.name, f"--type={pattern}")["objects"], count)
            self.assertEqual(sum(t["count"] for t in self.json("retained", self.name, f"--type={pattern}")["types"]), count)

    def test_diff_and_trend(self):
        for command in ("diff", "trend"):
            self.done(command, trace("net9-wks"), self.name, "--fail-if", "count(HeapLab.Guest) > 14", code=4)
        whole = self.json("trend", self.name, trace("net10-wks-killed"), code=3)
        self.assertFalse([t for t in whole["types"] if t["type"].startswith(GUEST + " [HeapLab")])

    def test_what_they_retain(self):
        for words, wanted in (((), 1), (("--separate-loads",), 2)):
            largest = self.json("retained", self.name, "--largest=types", "--top=1000", *words)["largest_types"]
            self.assertEqual(sum(t["type"].startswith(GUEST) for t in largest), wanted)
            self.assertEqual(len(self.json("retained", self.name, f"--type={GUEST}", *words)["types"]), 2 * wanted - 1)      # and all together
            steps = self.json("paths", self.name, f"--type={GUEST}", "--to-root", *words)["paths"]
            self.assertEqual(sum(s["depth"] == 0 and s["kind"] == "type" for s in steps), wanted)
            self.done("leaks", self.name, *words)

    def test_other_formats(self):
        """Outputs by type name have one type; tables with type numbers, and a gclog, have the recorded types."""
        for suffix, wanted in (("gcdump", 1), ("dartheap", 1), ("gclog", 2)):
            self.done("convert", self.name, "-q", "-o", f"x.{suffix}")
            self.assertEqual(len(self.guests(self.json("report", f"x.{suffix}")["types"])), wanted, suffix)
        self.done("convert", self.name, "-q", "-o", "x.heapsnapshot")
        self.assertEqual([s for s in json.loads(self.get("x.heapsnapshot"))["strings"] if s.startswith(GUEST)], [GUEST])
        self.done("convert", self.name, "-q", "-o", "x.folded")
        lines = [line for line in self.get("x.folded").decode().splitlines() if GUEST in line]
        self.assertEqual(len({line.rpartition(" ")[0] for line in lines}), len(lines))
        self.done("convert", self.name, "-q", "-o", "x.csv")
        with open(os.path.join(self.path("x.csv"), "types.csv"), encoding="utf-8") as f:
            rows = [(r["name"], r["objects"]) for r in csv.DictReader(f)]
        self.assertEqual(sorted(r for r in rows if r[0].startswith(GUEST)), [(GUEST, "10"), (GUEST, "5")])

    @unittest.skipUnless(HAVE_SQLITE, "built without SQLite")
    def test_a_database(self):
        import sqlite3
        self.done("convert", self.name, "-q", "-o", "x.sqlite")
        with sqlite3.connect(self.path("x.sqlite")) as db:
            self.assertEqual(db.execute("SELECT sum(objects), count(*) FROM types WHERE name = ?", (GUEST,)).fetchall(), [(15, 2)])

    def test_modules_that_are_not_known(self):
        """Without known modules, nothing proves that the types are the same."""
        rows = self.json("report", trace("net8-svr"))["types"]
        self.assertEqual(self.guests(rows), [("HeapLab.Guest [0x02000024 #1]", 10), ("HeapLab.Guest [0x02000024 #2]", 5)])


if __name__ == "__main__":
    main()
