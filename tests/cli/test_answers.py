"""One answer, shown by every renderer: CSV, JSON and MCP have the same keys and values; --json=1 has those of 0.2.0."""
import csv
import io
import json
import os
import subprocess

from cli_support import SECONDS, SOURCE, CliTest, main, trace
from mcp_client import MODERN, Client

NAME = "net10-wks-ranges"
# command; key of its rows; tool, its arguments, key of its rows
ANSWERS = (
    (("report", "--retained", "--sort", "retained"), "types", "types", {"retained": True, "sort": "retained"}, "types"),
    (("report", "--sort", "name"), "types", "types", {"sort": "name"}, "types"),
    (("retained", "--largest", "types", "--top", "10000"), "largest_types", "types", {"retained": True, "sort": "retained"}, "types"),
    (("retained", "--largest", "objects", "--top", "1000"), "largest_objects", "retained", {}, "objects"),
    (("retained", "--content", "HeapLab.Lab", "--top", "1000"), "content", "retained", {"by": "content", "type": "HeapLab.Lab"}, "content"),
    (("retained", "--by-dominator", "System.String", "--top", "1000"), "dominators", "retained", {"by": "dominators", "type": "System.String"},
     "dominators"),
    (("retained", "--by-field", "--top", "1000"), "fields", "retained", {"by": "fields"}, "fields"),
    (("async",), "stacks", "async", {}, "stacks"),
    (("leaks", "--min-bytes", "3000"), "suspects", None, None, None),
    (("paths", "--type", "System.String"), "paths", None, None, None),
    (("paths", "--object", "50"), "paths", None, None, None),
    (("retained", "--tree", "3"), "tree", "tree", {"by": "types", "depth": 3}, "types"),
)


class Answers(CliTest):
    def test_csv_and_json_have_the_same_keys(self):
        for words, key, *_ in ANSWERS:
            rows = json.loads(self.done(words[0], trace(NAME), *words[1:], "--json").text)[key]
            table = list(csv.DictReader(io.StringIO(self.done(words[0], trace(NAME), *words[1:], "--csv").text, newline="")))
            self.assertEqual(len(table), len(rows), words)
            self.assertEqual(list(table[0]), [k for k, v in rows[0].items() if not isinstance(v, list)], words)

    def test_agents_get_the_keys_and_values_of_diff(self):
        names = ["net8-wks", NAME]
        process = self.start("mcp", "--root", os.path.join(SOURCE, "traces"), stdin=subprocess.PIPE)
        client = Client(process, MODERN, 4 * SECONDS)
        for name in names:
            client.call("open", file=f"{name}/heap.nettrace.gz")
        want = json.loads(self.done("diff", *map(trace, names), "--retained", "--json").text)["types"]
        got = client.all("diff", "types", old="h1", new="h2", retained=True, limit=1000, max_chars=1_000_000)
        self.assertEqual(got, [{k: round(v, 4) if isinstance(v, float) else v for k, v in row.items() if v is not None} for row in want])
        table = csv.DictReader(io.StringIO(self.done("diff", *map(trace, names), "--retained", "--csv").text, newline=""))
        self.assertEqual(table.fieldnames, list(want[0]))
        self.finish(process, b"")

    def test_agents_get_the_keys_and_values_of_json(self):
        process = self.start("mcp", "--root", os.path.join(SOURCE, "traces"), stdin=subprocess.PIPE)
        client = Client(process, MODERN, 4 * SECONDS)
        client.call("open", file=f"{NAME}/heap.nettrace.gz")
        for words, key, tool, arguments, of_tool in (row for row in ANSWERS if row[2]):
            rows = json.loads(self.done(words[0], trace(NAME), *words[1:], "--json").text)[key]
            got = client.all(tool, of_tool, limit=1000, max_chars=1_000_000, **arguments)
            self.assertGreater(len(got), 0, words)
            for i, row in enumerate(got[:len(rows)]):
                self.assertLessEqual(set(row), set(rows[i]), words)
                for k, v in row.items():
                    self.assertEqual(v, round(rows[i][k], 4) if isinstance(v, float) else rows[i][k], (words, i, k))
        self.finish(process, b"")

    def test_the_keys_of_the_last_version(self):
        for words, new, old, change in (
                (("report", "--retained"), "types", "types", {"type": "name"}), (("report", "--by", "length"), "lengths", "lengths", {"type": "name"}),
                (("leaks", "--min-bytes", "3000"), "suspects", "suspects", {"holds": "held", "own_types": "own"}),
                (("retained",), "largest_objects", "largest_objects", {"retained_bytes": "retained"}),
                (("retained", "--tree", "3"), "tree", "tree", {"retained_bytes": "retained"})):
            got = json.loads(self.done(words[0], trace(NAME), *words[1:], "--json=2").text)
            self.assertEqual((got["schema"], got), (2, json.loads(self.done(words[0], trace(NAME), *words[1:], "--json").text)))
            before = json.loads(self.done(words[0], trace(NAME), *words[1:], "--json=1").text)
            self.assertEqual((before["schema"], "guessed_roots" in before), (1, False))
            self.assertEqual("stand_ins" in before, "guessed_roots" in got)
            self.assertEqual(before[old], [{change.get(k, k): v for k, v in row.items()} for row in got[new]])
        self.refused(2, "--json takes 1 or 2, .*", "report", trace(NAME), "--json=3")


if __name__ == "__main__":
    main()
