#!/usr/bin/env python3
"""The address keeps what is open, sorted and zoomed; every name opens the panel; the top of the page; the page checked by axe's rules."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from cli_support import SOURCE, genheap                 # noqa: E402

import page_test                                        # noqa: E402
from page_test import PageTest                          # noqa: E402
from page_tools import need_page_tools                  # noqa: E402

# A store that keeps 2,000 entries of a type whose name is hard to quote in a shell.
SESSION = "Shop.Session'$(x)<System.String>"


def leak(path):
    lines = ["a 2 shop 0", "t 1 Shop.SessionStore", f"t 2 {SESSION}[]", f"t 3 {SESSION}", "t 4 Shop.Outer.Middle", "t 5 =1+1,2", "o 9000 5 20", "r 1000 4 0 1",
             "o 1000 1 18 1800", "o 1800 4 18 2000", "o 2000 2 2000 " + " ".join(f"{0x10000 + 0x4000 * i:x}" for i in range(2000)),
             *(f"o {0x10000 + 0x4000 * i:x} 3 2800" for i in range(2000)), "c shop 0"]
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")


class StateTest(PageTest):
    def address(self):
        return self.page.run("Object.fromEntries(new URLSearchParams(location.hash.slice(1)))")

    def back(self, steps=1):
        for _ in range(abs(steps)):
            self.page.run(f"new Promise(done => {{ addEventListener('hashchange', () => done(0), {{once: true}}); history.go({1 if steps < 0 else -1}); }})")
            self.page.settle()


class Address(StateTest):
    def test_back_and_forward(self):
        page = self.show()
        page.click("#map .tile .label", page.texts("#map .tile .label").index("Leaf[]"))
        crumbs = page.texts("#map .crumbs li")
        self.assertIn("at", self.address())
        page.click("#types tbody a")
        opened = page.text("#panel h2")
        page.click("#panel .parts a.open")
        self.assertNotEqual(page.text("#panel h2"), opened)
        self.back()
        self.assertEqual(page.text("#panel h2"), opened)
        self.back()
        self.assertTrue(page.run("document.querySelector('#panel').hidden"))
        self.assertEqual(page.texts("#map .crumbs li"), crumbs)
        self.back()
        self.assertEqual(page.texts("#map .crumbs li"), ["All objects"])
        self.back(-2)
        self.assertEqual((page.text("#panel h2"), page.texts("#map .crumbs li")), (opened, crumbs))

    def test_a_mailed_link(self):
        page = self.show()
        page.click("#type-search")
        page.type("leaf")
        page.click("#types thead button", 1)
        page.click("#map .choice:first-child label", 2)
        page.click("#types tbody a")
        self.assertEqual(self.address(), {"q": "leaf", "sort": "-Objects", "by": "2", "open": "type:HeapLab.Leaf"})
        address = page.run("location.hash")
        self.page = other = self.browser.open(self.path("x.html"), address=address)
        self.assertEqual(other.text("#panel h2"), "Leaf")
        self.assertEqual([row[0] for row in self.rows("types")], ["HeapLab.Leaf", "HeapLab.Leaf[]"])
        self.assertEqual(other.text("#types [aria-sort]"), "Objects")
        self.assertEqual(other.run("document.querySelector('#type-search').value"), "leaf")
        self.assertIn("HeapLab", other.texts("#map .tile .label"))

    def test_nonsense_in_the_address(self):
        self.show()
        for text in ("#x", "#open=type:__proto__", "#open=suspect:9", "#open=object:-1", "#at=9.9.9&by=7&colour=constructor", "#sort=nothing&q=%00",
                     "#view=nowhere", "#open=module:none", "#open=root:constructor", "#picture=flame&at=0.0.0.0.0.0.0.0"):
            self.page = page = self.browser.open(self.path("x.html"), address=text)
            self.assertGreater(page.count("#map .tile"), 0)
            self.assertTrue(page.run("document.querySelector('#panel').hidden"), text)
            self.assertEqual(page.complaints, [])

    def test_the_list_of_sections_marks_the_place(self):
        page = self.show()
        marked = "[...document.querySelectorAll('#sections [aria-current]')].map(e => e.textContent).join()"
        names = page.texts("#sections a")
        self.assertEqual(page.run(marked), "Summary")
        for name, seen in (("Types", ["Types"]), ("Roots", ["Roots", "Generations"]), ("Summary", ["Summary"])):
            page.click("#sections a", names.index(name))             # after the last ones there may be no room to scroll further
            page.run(f"new Promise(done => {{ const look = () => {json.dumps(seen)}.includes({marked}) ? done() : setTimeout(look, 20); look(); }})")
            self.assertEqual(self.address()["view"], name.lower())
        page.run("document.querySelector('#types').scrollIntoView()")
        page.run(f"new Promise(done => {{ const look = () => {marked} === 'Types' ? done() : setTimeout(look, 20); look(); }})")


class Panel(StateTest):
    def leak_page(self, **options):
        leak(self.path("leak.gclog"))
        return self.show("leak.gclog", **options)

    def test_every_name_of_a_type_opens_it(self):
        page = self.leak_page()
        for place in ("#types tbody a", "#tree a.open", "#largest tbody a", "#suspects .path a.open"):
            names = page.texts(place)
            at = next(i for i, name in enumerate(names) if name.endswith(("Session'$(x)<System.String>[]", "Session'$(x)<String>[]")))
            page.click(place, at)
            self.assertEqual(page.text("#panel h2"), "Session'$(x)<String>[]", place)
            page.key("Escape")
            self.assertTrue(page.run("document.querySelector('#panel').hidden"))
        page.click("#roots a")
        self.assertEqual(page.text("#panel h2"), "Static variables")

    def test_what_it_says_of_a_type(self):
        page = self.leak_page()
        page.run(f"location.hash = new URLSearchParams({{open: 'type:' + {json.dumps(SESSION)}}})")
        page.settle()
        text = page.text("#panel")
        for said in ("2,000", "19.5 MiB, 100.0 %", "Kept alive by", "Session'$(x)<String>[] 19.5 MiB in 2,000 objects", "Static variables",
                     "Largest objects", "0x10000", "gcdumpc paths FILE --type 'Shop.Session'\\''$(x)<System.String>'"):
            self.assertIn(said, text)
        self.assertEqual(page.count("#panel [tabindex='-1']:focus"), 1)

    def test_copying(self):
        page = self.leak_page()
        page.click("#largest tbody a", 1)
        page.run("navigator.clipboard.writeText = text => { window.copied = text; return Promise.resolve(); }")
        page.click("#panel .chip", page.texts("#panel .chip").index("gcroot"))
        self.assertEqual(page.run("window.copied"), f"gcroot {page.text('#panel .explanation').removeprefix('0x')}")
        page.key("Escape")
        page.click("#types .search .chip", page.texts("#types .search .chip").index("Copy as CSV"))
        lines = page.run("window.copied").split("\r\n")
        self.assertEqual(lines[0], "Type,Objects,Own size,Share,Retained,Module")
        self.assertIn(f"{SESSION},2000,20480000,20480000,20480000,", lines)
        self.assertIn("\"'=1+1,2\",1,32,32,0,", lines)

    def test_to_the_map_and_the_tree(self):
        page = self.leak_page()
        page.run(f"location.hash = new URLSearchParams({{open: 'type:' + {json.dumps(SESSION)}}})")
        page.settle()
        page.click("#panel .actions .chip", 1)
        self.assertEqual(page.run("document.activeElement.cells[0].querySelector('.name').title"), SESSION)     # the text is short
        page.click("#panel .actions .chip", 0)
        self.assertIn("Session", page.run("document.activeElement.ariaLabel"))
        self.assertTrue(page.run("document.querySelector('#panel').hidden"))

    def test_three_clicks_to_the_variable_that_holds_it(self):
        page = self.leak_page()
        page.click("#summary .actions a")
        self.assertIn("Static variables", page.text("#panel .path"))
        self.assertIn("SessionStore", page.text("#panel .path"))

    def test_labels_of_the_flame_graph_are_seen(self):
        self.put("two.gclog", b"a 2 shop 0\nt 1 Shop.Store\nt 2 Shop.Large\nt 3 Shop.Small\nr 1000 4 0 1\no 1000 1 18 2000 200000\n"
                 b"o 2000 2 100000\no 200000 3 80000\nc shop 0\n")
        page = self.show("two.gclog")
        page.click("#map .choice:nth-child(2) label", 1)
        self.assertEqual(page.texts("#map .tile.leaf .label"), ["Large", "Small"])
        self.assertEqual(page.run("[...document.querySelectorAll('#map .label')].filter(e => e.offsetHeight < 14).map(e => e.textContent)"), [])

    def test_the_answer_stands_on_top(self):
        page = self.leak_page(width=1400, height=900)
        self.assertIn("(19.5 MiB)", page.text("#summary .answers li"))
        self.assertIn("Middle 19.5 MiB, 100.0 %", page.text("#summary .answer-bar"))
        box = page.run("document.querySelector('#map .map').getBoundingClientRect().bottom")
        self.assertLessEqual(box, 900)


class Wide(PageTest):
    def test_no_large_rest_without_names(self):
        for shape in ("list", "mix"):
            self.done_genheap(shape)
            page = self.show("wide.nettrace")
            if shape == "mix":                           # more than the first ones (held.js)
                self.assertGreater(page.count("#map .tile"), 100)
            data = json.loads(page.text("#data"))
            below = {}
            for row in data["tree"]:
                below[row[0]] = below.get(row[0], 0) + row[5]
            rests = [row[5] - row[3] * (data["names"][row[1]] != "...") - below.get(i, 0) for i, row in enumerate(data["tree"])]
            self.assertLess(max(rests), 0.05 * data["totals"]["bytes"], shape)
            tiles = page.run("[...document.querySelectorAll('#map .tile.leaf')].map(t => [t.ariaLabel, Number(t.dataset.bytes)])")
            nameless = [t for t in tiles if t[0].startswith(("(", "Further down"))]
            self.assertLess(max([size for _, size in nameless], default=0), 0.05 * data["totals"]["bytes"], nameless)

    def done_genheap(self, shape):
        program = genheap(self.path(""))
        subprocess.run([program, "-n", "60000", "--shape", shape, self.path("wide.nettrace")], check=True, capture_output=True)


# Axe takes seconds for each of them, and finds what a width or the dark colours break in the few.
MORE_VIEWS = ({"dark": True}, {"width": 390, "height": 844}, {"width": 768, "dark": True}, {"width": 1920}) if os.environ.get("GCDUMPC_LONG") == "1" else ()


class Axe(PageTest):
    """The rules of axe-core for WCAG 2.2 A and AA and its best practices."""
    RUN = "axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']}).then(r => r.violations.map(" \
          "v => [v.id, v.nodes.slice(0, 3).map(n => n.html.slice(0, 160) + ' ' + (n.any[0]?.message ?? ''))]))"

    # A table has hundreds of rows and the map hundreds of tiles of a few kinds, and axe looks at each for a while.
    FEW = "document.querySelectorAll('tbody').forEach(b => [...b.rows].slice(25).forEach(row => row.remove()));" \
          "[...document.querySelectorAll('#map .tile')].slice(60).forEach(tile => tile.remove())"

    def violations(self, page):
        page.run(self.FEW)
        with open(os.path.join(need_page_tools(), "node_modules", "axe-core", "axe.min.js"), encoding="utf-8") as f:
            page.call("Runtime.evaluate", expression=f.read())
        return page.run(self.RUN)

    def test_no_violations(self):
        for options in ({}, {"width": 390, "height": 844, "dark": True}, {"media": "print"}) + MORE_VIEWS:
            page = self.show(**options)
            if not options:                          # what is closed at first is seen below, too
                self.assertEqual(self.violations(page), [])
            page.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
            page.run("document.querySelector('#types tbody a').click()")
            page.settle()
            self.assertEqual(self.violations(page), [], options)
        self.done("diff", self.link("net8-wks"), self.link("net8-wks-two-dumps"), "-o", "d.html")
        for dark in (False, True):
            self.page = page = self.browser.open(self.path("d.html"), dark=dark)
            self.assertEqual(self.violations(page), [])
        self.done("trend", self.link("net8-wks"), self.link("net8-wks-two-dumps"), "-o", "t.html")
        for options in ({}, {"width": 390, "height": 844, "dark": True}) + MORE_VIEWS:
            self.page = page = self.browser.open(self.path("t.html"), **options)
            page.run("document.querySelector('#types tbody a').click()")
            page.settle()
            self.assertEqual(self.violations(page), [], options)
        self.done("leaks", os.path.join(SOURCE, "traces", "sites", "leaks.nettrace.gz"), "-o", "l.html")
        self.page = page = self.browser.open(self.path("l.html"), "#open=type:System.Int32[]", dark=True)
        self.assertEqual((page.count("#allocated .tile") > 5, "Journal.Append" in page.text("#panel")), (True, True))
        self.assertEqual(self.violations(page), [])


if __name__ == "__main__":
    page_test.main()
