#!/usr/bin/env python3
"""Past bugs of the page: lossy and tiny dumps, several dumps in a recording, other programs, print, phones, pages without scripts."""
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import cli_support                                      # noqa: E402
from cli_support import genheap                         # noqa: E402

import page_test                                        # noqa: E402
from page_test import HOSTILE, PageTest                 # noqa: E402


class Lossy(PageTest):
    def test_ratio_and_remedy(self):
        subprocess.run([genheap(self.path("")), "-n", "200000", "--drop", "node:2-60", self.path("lossy.nettrace")], check=True, capture_output=True)
        page = self.show("lossy.nettrace", code=3)
        text = page.text("#summary .verdict.bad p")
        self.assertRegex(text, r"^Incomplete\. [\d,]+ of (at least )?[\d,]+ objects arrived \([\d.]+ %\)\.")
        self.assertIn("larger buffer", text)
        self.assertRegex(page.text("#summary .verdict li"), r"\d,\d{3}|^\D*\d{1,4}\D")   # long numbers have separators
        self.assertTrue(page.run("document.body.classList.contains('incomplete')"))

    def test_only_names_are_missing(self):
        page = self.show("net10-wks-nonames", code=3)
        text = page.text("#summary .verdict.bad p")
        self.assertTrue(text.startswith("Without names. Objects and sizes are all there"), text)


class WhichDump(PageTest):
    def test_dump_one_of_two(self):
        page = self.show("net8-wks-two-dumps")
        self.assertIn("dump 1 of 2", page.text("#subtitle"))
        self.assertNotIn("dump", self.show().text("#subtitle"))

    def test_dart_is_not_called_dotnet(self):
        self.done("convert", self.link("net10-wks"), "-o", "x.dartheap")
        page = self.show("x.dartheap")
        self.assertEqual(page.text("#kicker"), "Dart heap dump")
        self.assertEqual(self.show().text("#kicker"), ".NET heap dump")


class TwoDumps(PageTest):
    def compare(self, old, new):
        for name, text in (("old.gclog", old), ("new.gclog", new)):
            self.put(name, text.encode())
        self.done("diff", "old.gclog", "new.gclog", "-o", "d.html")
        self.page = self.browser.open(self.path("d.html"))
        return self.page

    def heap(self, entries):
        lines = ["a 2 shop 0", "t 1 Shop.Store", "t 2 Shop.Entry", "t 3 Shop.Still", "r 1000 4 0 1", "r 5000 4 0 1", "o 5000 3 4000",
                 "o 1000 1 18 " + " ".join(f"{0x10000 + 0x1000 * i:x}" for i in range(entries)),
                 *(f"o {0x10000 + 0x1000 * i:x} 2 400" for i in range(entries)), "c shop 0"]
        return "\n".join(lines) + "\n"

    def test_the_owner_comes_first(self):
        page = self.compare(self.heap(100), self.heap(900))
        self.assertEqual(sorted(row[0] for row in self.rows("types")), ["Shop.Entry", "Shop.Store"])     # both keep 800 KiB more
        self.assertIn("Also 1 unchanged type", page.texts("#types .chip"))
        self.assertIn("+800.0 KiB", page.text("#summary .answer"))
        self.assertRegex(page.texts("#summary .answers li")[0], "^Store \\+800.0 KiB .*Store: 100 \u2192 900 Entry, \\+800.0 KiB")
        self.assertEqual(page.texts("#summary .side h3"), ["Older: shop", "Newer: shop"])

    def test_another_process_is_said_on_the_page(self):
        self.done("diff", self.link("net8-wks"), self.link("net10-wks"), "-o", "d.html")
        self.page = self.browser.open(self.path("d.html"))
        self.assertRegex(self.page.text("#summary .verdict.unsure"), "different (programs|processes)")


class Small(PageTest):
    def test_phone(self):
        page = self.show(width=390, height=844)
        self.assertLessEqual(page.run("document.documentElement.scrollWidth"), 390)
        right = page.run("Math.max(...[...document.querySelectorAll('#types tbody tr:first-child td, #largest tbody tr:first-child td')]"
                         ".filter(e => e.offsetWidth > 0).map(e => e.getBoundingClientRect().right))")
        self.assertLessEqual(right, 390)
        page.click("#types tbody a")
        self.assertLessEqual(page.run("document.querySelector('#panel').scrollWidth"), 390)

    def test_the_map_is_as_large_as_the_paper(self):
        """The browser draws a page for paper after all scripts have run, in another size."""
        page = self.show()
        ends = """(() => {
            const map = document.querySelector('#map .map');
            map.style.width = '600px';
            map.style.height = '300px';
            const tiles = [...map.querySelectorAll('.tile')].map(t => [t.offsetLeft + t.offsetWidth, t.offsetTop + t.offsetHeight]);
            return [tiles.length, ...[0, 1].map(i => Math.max(...tiles.map(t => t[i])))];
        })()"""
        tiles, right, bottom = page.run(ends)
        self.assertGreater(tiles, 10)
        self.assertTrue(596 <= right <= 601 and 296 <= bottom <= 301, (right, bottom))

    def test_the_map_is_as_wide_as_the_printed_page(self):
        """Also on wide paper, and if the window had two columns before."""
        for width in (1400, 800):
            page = self.show(width=width)
            page.call("Emulation.setEmulatedMedia", media="print")
            page.settle()
            whole, card, end, drawn = page.run("""(() => {
                const of = selector => document.querySelector(selector).getBoundingClientRect();
                return [of('main').width, of('#map').width, of('#map').right,
                        Math.max(...[...document.querySelectorAll('#map .map *')].map(e => e.getBoundingClientRect().right))];
            })()""")
            self.assertEqual(card, whole, width)
            self.assertLess(abs(drawn - end), 10, width)

    def test_print(self):
        page = self.show(media="print", width=720, height=1000)
        self.assertEqual(page.run("getComputedStyle(document.querySelector('body > nav')).display"), "none")
        self.assertEqual(page.run("getComputedStyle(document.body).printColorAdjust"), "exact")
        widest = page.run("Math.max(...[...document.querySelectorAll('#map .tile')].map(t => t.getBoundingClientRect().right))")
        self.assertLessEqual(widest, 720)
        name = page.run("(() => { const row = document.querySelector('#types tbody tr'); return row.cells[0].offsetWidth / row.offsetWidth; })()")
        self.assertGreater(name, 0.39)
        self.assertEqual(page.run("getComputedStyle(document.querySelector('#types .scroll')).overflowY"), "visible")
        # no title alone at the end of a page, and no half a page empty before an answer that is longer than that
        self.assertEqual(page.run("[...document.querySelectorAll('h2')].map(e => getComputedStyle(e).breakAfter).find(b => b !== 'avoid')"), None)
        self.assertEqual(page.run("getComputedStyle(document.querySelector('#suspects .suspect')).breakInside"), "auto")

    def test_short_names_and_chains(self):
        page = self.show()
        labels = page.texts("#map .tile .label")
        self.assertIn("s_lab › Lab › List<Object> › Object[]", labels)
        self.assertFalse([label for label in labels if label.startswith("System.")])

    def test_outer_types_stay(self):
        """A namespace is left out, a type is not: C# writes the same dot after both."""
        page = self.show("net10-wks")
        for name, short in (("Sack<HeapLab.Desk.Drawer, HeapLab.Crate<System.Int32>.Slot>", "Sack<Desk.Drawer, Crate<Int32>.Slot>"),
                            ("HeapLab.Box<HeapLab.Cabinet.Drawer.Compartment[]>", "Box<Cabinet.Drawer.Compartment[]>"),
                            ("Entry<System.Guid, System.Diagnostics.Tracing.EventSource.OverrideEventProvider>[]", "Entry<Guid, EventSource.OverrideEventProvider>[]")):
            page.run(f"location.hash = 'open=type:' + encodeURIComponent({name!r})")
            page.settle()
            self.assertEqual(page.text("#panel h2"), short)
        with open(self.path("x.html"), encoding="utf-8") as f:
            outer = json.loads(re.search(r'"outer":(\[[^]]*\])', f.read())[1])
        self.assertEqual([name for name in sorted(outer) if not name.startswith("System.")], ["HeapLab.Cabinet", "HeapLab.Desk", "HeapLab.Machines"])

    def test_what_is_behind_type_parameters_stays(self):
        """A dot after them follows a type."""
        with open(self.path("x.gclog"), "w", encoding="utf-8") as f:
            f.write("a 2 shop 0\nt 1 Shop.Store<System.String>.Shelf.Book\nt 4 Shop.App\nr 1000 4 0 1\no 1000 1 18\nc shop 0\n")
        page = self.show("x.gclog", address="#open=type:Shop.Store%3CSystem.String%3E.Shelf.Book")
        self.assertEqual(page.text("#panel h2"), "Store<String>.Shelf.Book")

    def test_the_tooltip_is_at_the_pointer(self):
        page = self.show(width=1100, height=700)
        box = page.run("(() => { const e = document.querySelectorAll('#map .tile')[2]; e.scrollIntoView({block: 'center'});"
                       "const b = e.getBoundingClientRect(); return [b.x + 10, b.y + 5]; })()")
        page.call("Input.dispatchMouseEvent", type="mouseMoved", x=box[0], y=box[1])
        page.settle()
        tip = page.run("(() => { const b = document.querySelector('#map .tip').getBoundingClientRect(); return [b.x, b.y, b.width]; })()")
        self.assertGreater(tip[2], 50)
        self.assertLess(abs(tip[1] - box[1]), 80)
        self.assertRegex(page.text("#map .tip"), r": [\d.]+ KiB, [\d.]+ %, ")

    def test_what_is_searched_for_in_the_map_stands_out(self):
        page = self.show()
        page.click("#map-search")
        page.type("byte[]")
        self.assertGreater(page.count("#map .tile.match"), 0)
        self.assertIn("rectangle", page.text("#map .found"))
        page.click("#map .choice:nth-child(2) label", 1)
        tops = page.run("[...new Set([...document.querySelectorAll('#map .tile')].map(t => t.offsetTop))]")
        self.assertEqual(tops, [22 * i for i in range(len(tops))])           # rows of the flame graph


class WithoutScripts(PageTest):
    def test_summary_and_types(self):
        page = self.show(scripts=False)
        text = page.text("noscript")
        for said in ("HeapLab", "Complete.", "17646 objects take 1378569 bytes", "System.Byte[]"):
            self.assertIn(said, text)
        self.assertEqual(page.count("noscript tbody tr"), 25)

    def test_names_are_text(self):
        rows = [(name, 1, 1000 + 8 * i) for i, name in enumerate(HOSTILE)]
        with open(self.path("bad.nettrace"), "wb") as f:
            f.write(cli_support.types_trace(*rows, command_line="</title><script>window.pwned=1</script>"))
        self.done("convert", "bad.nettrace", "-o", "raw.html", "--names", "raw")
        self.page = page = self.browser.open(self.path("raw.html"), scripts=False)
        self.assertEqual(page.count("noscript img, noscript svg, noscript script, noscript b"), 0)
        names = page.texts("noscript tbody bdi")
        for name in HOSTILE[:5]:
            self.assertIn(name, names)
        self.assertNotIn("\u202e", "".join(names))


if __name__ == "__main__":
    page_test.main()
