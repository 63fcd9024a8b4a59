#!/usr/bin/env python3
"""The page of every kind of heap: wide, deep, tiny, empty, lossy, without names or roots, from Dart, with hostile names; rules for all of them."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from cli_support import genheap, types_trace            # noqa: E402

import page_test                                        # noqa: E402
from page_test import HOSTILE, PageTest                 # noqa: E402

# Names that a browser shows without anything behind them would have no sizes, NaN or undefined in them.
NONSENSE = ("NaN", "undefined", "[object", "null", "Infinity")


class Heaps(PageTest):
    def generated(self, shape, *options, objects=60_000):
        subprocess.run([genheap(self.path("")), "-n", str(objects), "--shape", shape, *options, self.path("heap.nettrace")], check=True, capture_output=True)
        return "heap.nettrace"

    def look(self, source, code=0, **options):
        """Rules for any heap: the numbers agree, everything large has a name, every view works."""
        page = self.show(source, code=code, width=1400, height=900, **options)
        data = json.loads(page.text("#data"))
        text = page.run("document.body.innerText")
        for word in NONSENSE:
            self.assertNotIn(word, text)
        tiles = page.run("[...document.querySelectorAll('#map .tile')].map(t => [t.ariaLabel, Number(t.dataset.bytes)])")
        total = data["totals"]["bytes"]
        nameless = [t for t in tiles if t[0].startswith(("(", "Further down"))]
        self.assertLessEqual(max([size for _, size in nameless], default=0), 0.05 * total, nameless)
        top = page.run("[...document.querySelectorAll('#tree tbody tr[aria-level=\"1\"]')].map(r => Number(r.cells[1].title.replace(/\\D/g, '')))")
        self.assertEqual(sum(top), total)
        self.assertEqual(sum(t[3] for t in data["types"]) + data.get("rest_types", [0, 0, 0])[2] + data["other_types"][2], total)
        if data["types"]:
            page.run("document.querySelector('#types tbody a').click()")        # a name can be taller than the window
            page.settle()
            self.assertIn("Own size", page.text("#panel .facts"))
            page.key("Escape")
            page.click("#tree .search button")          # all below
            page.click("#tree-search")
            page.type(data["names"][data["types"][0][0]][:3])
            self.assertGreater(page.count("#tree tbody tr"), 0)
            page.click("#map .choice:nth-child(2) label", 1)
            self.assertGreater(page.count("#map .tile"), 0)
        self.assertEqual(page.complaints, [])
        return page

    def test_wide(self):
        for shape in ("fan", "mix", "random"):
            self.look(self.generated(shape))

    def test_deep(self):
        self.look(self.generated("list"))

    def test_deep_by_turns(self):
        """A chain of objects of 300 types: more levels than any view has."""
        n = 300
        lines = ["a 2 shop 0", *(f"t {i:x} Shop.Level{i}" for i in range(1, n + 1)), "r 1000 4 0 1",
                 *(f"o {0x1000 * i:x} {i:x} 100 {0x1000 * (i + 1):x}" for i in range(1, n)), f"o {0x1000 * n:x} {n:x} 100000", "c shop 0"]
        self.put("deep.gclog", "\n".join(lines).encode() + b"\n")
        page = self.look("deep.gclog")
        self.assertIn("Level1 › … › Level21", " ".join(page.texts("#map .tile .label")))

    def test_tiny_and_empty(self):
        self.put("tiny.gclog", b"a 2 shop 0\nt 1 Shop.Only\nr 1000 4 0 1\no 1000 1 18\nc shop 0\n")
        page = self.look("tiny.gclog")
        self.assertIn("1 object", page.text("#types tfoot") + page.text("#map .detail"))
        self.put("empty.gclog", b"a 2 shop 0\nc shop 0\n")
        self.look("empty.gclog")
        self.put("zero.gclog", b"a 2 shop 0\nt 1 Shop.Nothing\nr 1000 4 0 1\no 1000 1 0\nc shop 0\n")
        self.show("zero.gclog")

    def test_lossy(self):
        for options in (("--drop", "node:2-60"), ("--drop", "edge:2-60"), ("--drop", "type"), ("--drop", "root"), ("--truncate", "2000000")):
            self.look(self.generated("mix", *options, objects=50_000), code=3)

    def test_without_names(self):
        self.look("net10-wks-nonames", code=3)
        self.look(self.generated("mix", "--empty-names", objects=20_000), code=3)

    def test_without_roots(self):
        self.put("bare.nettrace", types_trace(("Shop.Order", 3, 100), ("Shop.Item", 1, 50)))
        self.assertIn("No roots.", self.look("bare.nettrace").text("#summary"))

    def test_dart(self):
        self.done("convert", self.link("net10-wks"), "-o", "x.dartheap")
        page = self.look("x.dartheap")
        self.assertEqual(page.text("#kicker"), "Dart heap dump")

    def test_hostile_names(self):
        with open(self.path("bad.nettrace"), "wb") as f:
            f.write(types_trace(*((name, 1, 1000 + 8 * i) for i, name in enumerate(HOSTILE))))
        for i, name in enumerate(HOSTILE):
            page = self.look("bad.nettrace") if i == 0 else self.page
            key = name.replace("\u202e", "\ufffd")
            page.run(f"location.hash = new URLSearchParams({{open: 'type:' + {json.dumps(key)}}})")
            page.settle()
            self.assertEqual(page.run("typeof window.pwned"), "undefined")
        self.assertEqual(page.count("img, svg, iframe, b"), 0)


class ManyTypes(PageTest):
    """More types than there are rows in the page: the smallest are compressed."""
    TYPES = 9_000

    def setUp(self):
        super().setUp()
        types = range(1, self.TYPES + 1)
        lines = ["a 2 shop 0", *(f"t {i:x} Shop.Made.Kind{i:05}" for i in types), "t 10000 Tiny.Last",
                 *(f"o {i * 0x10000:x} {i:x} {24 + 8 * i:x}" for i in types), "o ff0000000 10000 18", "c shop 0"]
        self.put("many.gclog", "\n".join(lines).encode() + b"\n")
        self.page = self.show("many.gclog")

    def until(self, expression):
        self.page.run(f"new Promise(done => {{ const look = () => ({expression}) ? done() : setTimeout(look, 10); look(); }})")
        self.page.settle()

    def test_each_is_found(self):
        page = self.page
        self.assertEqual(page.text("#types [role=status]"), f"{self.TYPES + 1:,} rows")
        page.click("#type-search")
        page.type("last")
        self.until("document.querySelector('#types tbody tr') !== null")
        self.assertEqual([row[:3] for row in self.rows("types")], [["Tiny.Last", "1", "24 bytes"]])
        self.assertEqual(page.text("#types [role=status]"), f"1 of {self.TYPES + 1:,} rows")
        self.assertIn("1 type found", page.text("#types tfoot"))
        page.click("#types tbody a")
        self.assertEqual((page.text("#panel h2"), "too small" in page.text("#panel")), ("Last", True))
        page.key("Escape")
        page.run("(() => { const e = document.querySelector('#type-search'); e.value = ''; e.dispatchEvent(new Event('input')); })()")
        page.settle()
        self.assertIn("All", page.text("#types tfoot"))
        self.assertNotIn("more type", page.text("#types tfoot"))

    def test_a_link_to_a_small_one(self):
        self.page = self.browser.open(self.path("x.html"), address="#open=type:Tiny.Last")
        self.until("!document.querySelector('#panel').hidden")
        self.assertEqual(self.page.text("#panel h2"), "Last")

    def test_the_order_is_that_of_all(self):
        page = self.page
        page.click("#types thead button", 0)
        self.until("document.querySelector('#types tbody th').textContent === 'Shop.Made.Kind00001'")
        expected = [f"Shop.Made.Kind{i:05}" for i in range(1, self.TYPES + 1)] + ["Tiny.Last"]
        for _ in range(5):                           # each draws 40 rows more; the copy below has all of them, in the same order
            page.run("(() => { const e = document.querySelector('#types .scroll'); e.scrollTop = e.scrollHeight; })()")
            page.settle()
        names = [row[0] for row in self.rows("types")]
        self.assertGreater(len(names), 100)
        self.assertEqual(names, expected[:len(names)])
        self.assertEqual([line.split(",")[0] for line in self.copied()[1:-1]], expected)

    def copied(self):
        """The lines that the button of the table copies."""
        page = self.page
        page.run("navigator.clipboard.writeText = text => { window.copied = text; return Promise.resolve(); }")
        page.click("#types .search .chip", page.texts("#types .search .chip").index("Copy as CSV"))
        self.until("window.copied !== undefined")
        return page.run("window.copied").split("\r\n")

    def test_all_are_copied(self):
        lines = self.copied()
        self.assertEqual((len(lines), lines[-2]), (self.TYPES + 3, "Tiny.Last,1,24,24,24,"))


if __name__ == "__main__":
    page_test.main()
