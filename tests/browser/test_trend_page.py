#!/usr/bin/env python3
"""The page of several dumps over time: which type grows, lines that are as high as the numbers, a panel for each type, what is wrong with the dumps."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from cli_support import SOURCE, types_trace             # noqa: E402

import page_test                                        # noqa: E402
from page_test import HOSTILE, PageTest                 # noqa: E402
from test_diff_page import store                        # noqa: E402

SESSIONS = (1000, 1500, 1500, 4000)
WAYS = ["steady", "grows", "shrinks", "varies"]


class TrendTest(PageTest):
    def over_time(self, *dumps, code=0, **options):
        names = [f"{i}.gclog" for i in range(1, len(dumps) + 1)]
        for name, text in zip(names, dumps):
            self.put(name, text.encode())
        return self.trend(*names, code=code, **options)

    def trend(self, *names, code=0, **options):
        self.names = names
        self.done("trend", *names, "-o", "t.html", code=code)
        self.page = self.browser.open(self.path("t.html"), **options)
        return self.page


class Page(TrendTest):
    def test_what_grows_steadily(self):
        page = self.over_time(*(store(n, blob=400 - n // 100) for n in SESSIONS))
        self.assertRegex(page.text("#summary .answer"), r"^\+1\.2 MiB \(\+[\d.]+ %\): UserSession grows from dump to dump\.$")
        self.assertRegex(page.texts("#summary .answers li")[0], r"^UserSession keeps \+1\.1 MiB alive with \+3,000 objects$")    # no times, no hours
        self.assertEqual(page.texts("#sections a"), ["Summary", "Types", "Dumps"])
        self.assertIn("Some of the files do not tell", page.text("#summary .verdict"))

    def test_the_numbers_are_those_of_the_table(self):
        page = self.over_time(*(store(n, gone=5000 if n == 1500 else 0) for n in SESSIONS))
        said = json.loads(self.done("trend", *self.names, "--json", "--retained").out)["types"]
        data = {row[0]: dict(zip(("bytes", "count", "retained"), row[2:])) for row in json.loads(page.text("#data"))["rows"]}
        self.assertEqual(set(data) - {t["type"] for t in said}, {"Shop.Still"})
        for t in said:
            for key, (way, hourly, *values) in data[t["type"]].items():
                self.assertEqual((WAYS[way], values), (t[f"{key}_trend"], [t[f"{key}_{i}"] for i in range(1, 5)]), (t["type"], key))
                self.assertIsNone(hourly)
        page.click("#types .search .chip")               # those that stay the same, too
        shown = {row[0]: row for row in self.rows("types")}
        self.assertEqual(set(shown), set(data))
        self.assertEqual({name: row[1] for name, row in shown.items()}, {t["type"]: t["retained_trend"] for t in said} | {"Shop.Still": "steady"})

    def test_lines_are_as_high_as_the_numbers(self):
        page = self.over_time(*(store(n) for n in SESSIONS))
        bytes_ = [d["bytes"] for d in json.loads(page.text("#data"))["dumps"]]
        d = page.run("document.querySelector('#summary .plot .line0').getAttribute('d')")
        points = [tuple(map(float, point.split())) for point in d[1:].split("L")]
        heights = [1000 - y for _, y in points]
        self.assertEqual([round(x) for x, _ in points], [0, 333, 667, 1000])
        for height, n in zip(heights, bytes_):
            self.assertAlmostEqual(height / heights[0], n / bytes_[0], delta=0.01)
        top = page.run("document.querySelector('#summary .levels span:last-child').textContent")
        self.assertLessEqual(bytes_[-1], float(top.split()[0]) * 1024 * 1024)
        self.assertEqual(page.count("#summary .plot"), 2)
        self.assertEqual(page.count("#types .spark"), len(self.rows("types")))
        plot = page.run("(() => { const b = document.querySelector('#summary .plot').getBoundingClientRect(); return [b.width, b.height]; })()")
        self.assertGreater(min(plot), 150)

    def test_time_is_to_scale(self):
        self.link("net8-wks-two-dumps")
        page = self.trend("net8-wks-two-dumps.nettrace.gz#1", "net8-wks-two-dumps.nettrace.gz#2")
        self.assertRegex(page.text("#summary .ends"), r"^20\d\d-\d\d-\d\d [\d:]+ UTC20\d\d-\d\d-\d\d [\d:]+ UTC$")
        self.assertIn("per hour", page.text("#summary .answers") + page.text("#types thead").lower())

    def test_a_type_has_a_panel(self):
        page = self.over_time(*(store(n) for n in SESSIONS))
        page.click("#types tbody a", [row[0] for row in self.rows("types")].index("Shop.UserSession"))
        self.assertEqual(page.text("#panel h2"), "UserSession")
        rows = page.run("[...document.querySelectorAll('#panel tbody tr')].map(r => [...r.cells].map(c => c.textContent))")
        self.assertEqual([(row[0], row[2]) for row in rows], [("1", "1,000"), ("2", "1,500"), ("3", "1,500"), ("4", "4,000")])
        self.assertEqual(page.count("#panel .plot"), 2)
        self.assertIn("gcdumpc paths FILE --type 'Shop.UserSession'", page.text("#panel"))
        address = page.run("location.hash")
        self.page = self.browser.open(self.path("t.html"), address=address)
        self.assertEqual(self.page.text("#panel h2"), "UserSession")

    def test_what_is_wrong_with_the_dumps(self):
        page = self.trend(self.link("net8-wks"), self.link("net10-wks-lossy"), self.link("net10-wks"), code=3)
        self.assertIn("1 of 3 dumps is incomplete (2)", page.text("#summary .verdict.bad"))
        self.assertRegex(page.text("#summary .verdict.unsure"), r"different (programs|processes).*\(Dumps 1 and 2")
        rows = self.rows("dumps")
        self.assertEqual([row[2] for row in rows], [os.path.basename(name) for name in self.names])
        self.assertEqual([row[-1].split(":")[0] for row in rows], ["complete", "incomplete", "complete"])
        self.assertIn("were lost", rows[1][-1])

    def test_summaries(self):
        """A summary lists only the largest types: for the others the page shows neither 0 nor a change."""
        names = tuple(f"type{i}" for i in range(30))
        for i, n in enumerate((1000, 1500)):
            self.put(f"{i}.gclog", store(n, names=names).encode())
            self.done("convert", f"{i}.gclog", "--summary", f"{i}.json", "--top", "3")
        page = self.trend("0.json", "1.json", "1.gclog")
        rows = {row[0]: row for row in self.rows("types")}
        self.assertEqual(rows["Shop.UserSession"][1], "grows")
        self.assertEqual(rows["Shop.Fresh"][1:3], ["not known", "–"])
        self.assertEqual(page.run("document.body.innerText").count("NaN"), 0)
        page.click("#types tbody a", [row[0] for row in self.rows("types")].index("Shop.Fresh"))
        cells = page.run("[...document.querySelectorAll('#panel tbody tr')].map(r => r.cells[2].textContent)")
        self.assertEqual(cells, ["–", "–", "1"])

    def test_lines_that_keep_more(self):
        """Two summaries of recordings with sampled allocations; texts of a summary are as hostile as all others."""
        recording = os.path.join(SOURCE, "traces", "sites", "leaks.nettrace.gz")
        self.done("convert", recording, "--summary", "same.json", "--quiet")
        with open(self.path("same.json"), encoding="utf-8") as f:
            summary = json.load(f)
        line70 = next(s for s in summary["sites"] if s["line"] == 70)
        kept = line70["kept_bytes_per_hour"]
        line70["kept_bytes_per_hour"] //= 4
        self.put("old.json", json.dumps(summary).encode())
        summary["sites"] += [{**line70, "kept_bytes_per_hour": 9 * kept + i, "error_bytes_per_hour": 1, "type": name, "method": name, "file": name}
                             for i, name in enumerate(HOSTILE)]
        self.put("hostile.json", json.dumps(summary).encode())
        page = self.trend("old.json", recording)
        self.assertEqual(page.texts("#sections a"), ["Summary", "Types", "Lines", "Dumps"])
        row, = self.rows("lines")
        self.assertEqual(row[:2], ["SiteLab.cs:70 SiteLab.Journal.Append", "Int32[]"])
        self.assertEqual([round(float(text.split()[0].strip("+"))) for text in row[2:5]], [round(n / 2**30) for n in (kept // 4, kept, kept - kept // 4)])
        page.click("#lines tbody a")
        self.assertEqual(page.text("#panel h2"), "Int32[]")
        page = self.trend("same.json", recording)
        self.assertIn("No line keeps more per hour than in the first dump", page.text("#lines"))
        page = self.trend("old.json", "hostile.json")
        self.assertEqual(len(self.rows("lines")), len(HOSTILE))
        self.assertIsNone(page.run("window.pwned"))

    def test_names_are_text(self):
        for i, factor in enumerate((1, 2)):
            with open(self.path(f"{i}.nettrace"), "wb") as f:
                f.write(types_trace(*((name, 1, 1000 * factor + 8 * k) for k, name in enumerate(HOSTILE))))
        self.trend("0.nettrace", "1.nettrace")
        self.assertIsNone(self.page.run("window.pwned"))
        for at in range(4):
            self.page.click("#types tbody a", at)
            self.assertEqual(self.page.count("#panel h2"), 1)
            self.page.key("Escape")
        self.assertIsNone(self.page.run("window.pwned"))
        self.page = plain = self.browser.open(self.path("t.html"), scripts=False)
        self.assertEqual(plain.count("noscript img, noscript svg, noscript script, noscript b"), 0)
        self.assertIn("0.nettrace", plain.text("noscript"))

    def test_narrow_and_print(self):
        page = self.over_time(*(store(n) for n in SESSIONS), width=390, height=844)
        self.assertLessEqual(page.run("document.documentElement.scrollWidth"), 390)
        self.assertGreater(page.run("document.querySelector('#summary .plot').getBoundingClientRect().width"), 200)
        page.call("Emulation.setEmulatedMedia", media="print")
        page.settle()
        self.assertFalse(page.run("[...document.querySelectorAll('.search, nav')].some(e => e.offsetParent !== null)"))
        plots = page.run("[...document.querySelectorAll('.plot')].map(e => getComputedStyle(e.querySelector('.line0')).stroke)")
        self.assertTrue(all(re.match(r"rgb\(", stroke) for stroke in plots), plots)


class Bounds(TrendTest):
    def test_nothing_grows(self):
        for dumps in ([store(100)] * 3, ["a 2 shop 0\nc shop 0\n"] * 2):
            page = self.over_time(*dumps)
            self.assertIn("0", page.text("#summary .answer"))
            self.assertEqual((page.count("#summary .answers li"), self.rows("types")), (0, []))
            text = page.run("document.body.innerText")
            for word in ("NaN", "undefined", "null", "Infinity"):
                self.assertNotIn(word, text)


if __name__ == "__main__":
    page_test.main()
