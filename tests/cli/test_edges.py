"""--min-bytes, --share and rounding of numbers at the limit between shown and hidden; the same in all outputs."""
import csv
import io
import json

from cli_support import CliTest, main, types_trace
from test_retained_paths import heap
from test_leaks import cache
from test_report_prometheus import parsed

TYPES = (("Big.One", 1, 5000), ("Big.Two", 2, 600), ("Small.Three", 3, 100))         # 5000, 1200 and 300 bytes
SIZES = {"Big.One": 5000, "Big.Two": 1200, "Small.Three": 300}


class Edges(CliTest):
    def rows(self, *words):
        return list(csv.DictReader(io.StringIO(self.done(*words, "--csv", "-q").text, newline="")))

    def both(self, show, sizes):
        """SHOW(least) -> the names shown with --min-bytes LEAST.  SIZES: name -> bytes."""
        for name, size in sizes.items():
            for least in (size - 1, size, size + 1):
                with self.subTest(name, least=least):
                    self.assertEqual(show(least), {n for n, s in sizes.items() if s >= least})

    def report_in(self, form, *words):
        if form == "csv":
            return lambda n: {r["type"] for r in self.rows("report", "in", *words, "--min-bytes", n)}
        if form == "json":
            return lambda n: {r["type"] for r in json.loads(self.done("report", "in", *words, "--json", "--min-bytes", n).text)["types"]}
        if form == "prometheus":
            return lambda n: {dict(k)["type"] for k in parsed(self.done("report", "in", "-f", "prometheus", "--min-bytes", n).text)["gcdumpc_type_bytes"]}
        return lambda n: {name for name in SIZES if name in self.done("report", "in", *words, "--min-bytes", n).text}

    def test_report(self):
        self.put("in", types_trace(*TYPES))
        for form in ("text", "csv", "json", "prometheus"):
            self.both(self.report_in(form), SIZES)

    def test_report_by(self):
        self.put("in", types_trace(*TYPES))
        for by, key, sizes in (("namespace", "namespace", {"Big": 6200, "Small": 300}), ("kind", "kind", {"class": 6500})):
            def show(least, by=by, key=key):
                return {row[key] for row in self.rows("report", "in", "--by", by, "--min-bytes", least)}
            self.both(show, sizes)

    def test_retained(self):
        data, _ = heap({"a": ("A", 100, ["b"]), "b": ("B", 1000, ["c"]), "c": ("C", 10000, [])}, [("a", "s_a")])
        self.put("in", data)
        alive = {"A": 11100, "B": 11000, "C": 10000}
        for table in ("objects", "types"):
            def show(least, table=table):
                got = json.loads(self.done("retained", "in", "--largest", table, "--json", "--min-bytes", least).text)
                return {row["type"] for row in got["largest_" + table]}
            self.both(show, alive)
        self.both(lambda least: {r["type"] for r in self.rows("retained", "in", "--largest", "types", "--min-bytes", least)}, alive)

    def tree(self, least):
        got = json.loads(self.done("retained", "in", "--tree", "9", "--json", "--min-bytes", least).text)
        return {row["type"] for row in got["tree"] if row["type"] in "ABC"}

    def test_tree(self):
        data, _ = heap({"a": ("A", 100, ["b"]), "b": ("B", 1000, ["c"]), "c": ("C", 10000, [])}, [("a", "s_a")])
        self.put("in", data)
        self.both(self.tree, {"A": 11100, "B": 11000, "C": 10000})

    def test_compare(self):
        """The size of the change, in either direction."""
        self.put("old", types_trace(("A", 1, 1000), ("B", 5, 100), ("C", 1, 64)))
        self.put("in", types_trace(("A", 1, 1300), ("B", 3, 100), ("C", 1, 64)))
        changed = {"A": 300, "B": 200}
        for command in ("diff", "trend"):
            self.both(lambda least, c=command: {r["type"] for r in self.rows(c, "old", "in", "--min-bytes", least)}, changed)

    def test_leaks(self):
        """The smallest suspect, as a size and as a share of the heap."""
        data, _ = cache(10, 1_000_000 - 64)
        self.put("in", data)
        total = json.loads(self.done("leaks", "in", "--json", "--min-bytes", "1").text)["heap_bytes"]
        array = 824 + 10 * (1_000_000 - 32)
        self.assertEqual(total, array + 664)

        def suspects(*words):
            got = json.loads(self.done("leaks", "in", "--json", *words).text)
            return got["threshold_bytes"], [s["bytes"] for s in got["suspects"]]
        self.assertEqual(suspects("--min-bytes", total), (total, [total]))           # the object above it: nothing below a limit that was given
        self.assertEqual(suspects("--min-bytes", total + 1), (total + 1, []))
        self.assertEqual(suspects("--min-bytes", 1, "--share", 1)[0], total // 100)
        self.assertEqual(suspects("--min-bytes", total // 100, "--share", 1)[0], total // 100)
        self.assertEqual(suspects("--min-bytes", total // 100 + 1, "--share", 1)[0], total // 100 + 1)
        self.assertEqual(suspects("--share", 100), (total, [total]))


if __name__ == "__main__":
    main()
