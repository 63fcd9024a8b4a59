#!/usr/bin/env python3
"""The top of the page: one bar of all memory, an action for each suspect; and the map, which stays in its place."""
import json
import os

import page_test
from page_test import cli_support
from page_test import PageTest

MIB = 1 << 20
NOTHING = "Nothing looks like a leak."


SESSIONS = 256


def heap(suspect=24 * MIB, own=3 * MIB, framework=2 * MIB, dead=MIB):
    """A store with sessions that have arrays of bytes, a cache of the program with one, a framework's object with one, and one that nothing holds."""
    lines = ["a 2 shop 0", "t 1 Shop.SessionStore", "t 2 System.Byte[]", "t 3 Shop.Cache", "t 4 System.Net.Pool", "t 5 Shop.Session",
             "r 1000 4 0 1", "r 2000 4 0 1", "r 3000 4 0 1", f"o 1000 1 {8 * SESSIONS:x} " + " ".join(f"{0x10000 + 0x100 * i:x}" for i in range(SESSIONS)),
             *(f"o {0x10000 + 0x100 * i:x} 5 20 {0x10000000 * (i + 1):x}\no {0x10000000 * (i + 1):x} 2 {suspect // SESSIONS:x}" for i in range(SESSIONS)),
             f"o 2000 3 20 70000000000\no 70000000000 2 {own:x}", f"o 3000 4 20 80000000000\no 80000000000 2 {framework:x}",
             f"o 90000000000 2 {dead:x}", "c shop 0"]
    return "\n".join(lines) + "\n"


class Bar(PageTest):
    def pieces(self):
        return self.page.texts("#summary .answer-bar .legend > span")

    def test_all_memory_in_one_bar(self):
        self.put("x.gclog", heap().encode())
        page = self.show("x.gclog")
        self.assertEqual(page.count("#summary .answer-bar .stacked"), 1)
        self.assertEqual(page.count("#summary .memory-bar .stacked"), 1)
        self.assertEqual(page.texts("#summary .memory-bar .legend > span"),
                         ["live objects 29.0 MiB", "not reachable 1.0 MiB",
                          "Not known: free between objects; dead or unused; native or unknown; files; shared memory"])
        self.assertEqual(page.texts("#summary .dead-types h3, #summary .dead-types li"), ["Not reachable, by type", "Byte[] 1.0 MiB in 1 object"])
        self.assertEqual(self.pieces(), ["SessionStore 24.0 MiB, 80.0 %", "My other code 3.0 MiB, 10.0 %", "Framework and libraries 2.0 MiB, 6.7 %",
                                         "Not reachable 1.0 MiB, 3.3 %"])
        self.assertIn("80.0 % of the heap (24.0 MiB)", page.text("#summary .answers"))
        self.assertEqual(page.texts("#summary .answers .advice"), ["If it grows, look in SessionStore for why it still keeps Session objects."])
        advice = json.loads(page.text("#data"))["suspects"][0]["advice"]
        self.assertIn(advice, self.show("x.gclog", scripts=False).text("noscript"))
        widths = page.run("[...document.querySelectorAll('#summary .answer-bar .stacked span')].map(e => parseFloat(e.style.width))")
        self.assertAlmostEqual(sum(widths), 100, delta=0.01)

    def test_without_suspects(self):
        self.put("x.gclog", heap(suspect=4000, own=3000, framework=2000, dead=1000).encode())
        page = self.show("x.gclog")
        self.assertEqual([piece.split(",")[0] for piece in self.pieces()],
                         ["My code 16.7 KiB", "Framework and libraries 2.0 KiB", "Not reachable 1000 bytes"])
        self.assertIn(f"{NOTHING} Largest: ", page.text("#summary"))
        self.assertIn("Suspects retain 4.0 MiB or more; what grows slowly shows when two dumps are compared.", page.text("#summary"))

    def test_nothing_looks_like_a_leak_only_where_something_could(self):
        """A heap of 12 MiB: twelve objects of one type are a suspect, twelve objects of twelve types are not."""
        for types, suspects in ((12, 0), (1, 1)):
            self.put("x.gclog", "\n".join(["a 2 shop 0", *(f"t {i:x} Shop.Type{i}[]" for i in range(1, types + 1)),
                                           *(f"r {i:x}0000000 4 0 1\no {i:x}0000000 {1 + i % types:x} {MIB:x}" for i in range(1, 13)),
                                           "c shop 0"]).encode() + b"\n")
            page = self.show("x.gclog")
            self.assertEqual(len(json.loads(page.text("#data"))["suspects"]), suspects)
            self.assertEqual(NOTHING in page.text("#summary"), suspects == 0)

    def test_free_memory_is_beside_the_shares(self):
        self.show()
        free = [piece for piece in self.pieces() if piece.startswith("Free")]
        self.assertEqual(len(free), 1)
        self.assertNotIn("%", free[0])

    def test_mine_says_what_is_mine(self):
        self.put("x.gclog", heap(suspect=4000, own=3000, framework=2000, dead=1000).encode())
        self.done("convert", "x.gclog", "-o", "m.html", "--mine", "System.Net.*")
        self.page = self.browser.open(self.path("m.html"))
        self.assertEqual(self.pieces()[0].split(",")[0], "My code 2.0 KiB")
        self.page.click("#types .chip")
        self.assertEqual([row[0] for row in self.rows("types")], ["System.Net.Pool"])


class Names(PageTest):
    def test_the_tree_has_short_names_and_the_whole_ones_on_hover_and_focus(self):
        self.put("x.gclog", heap().encode())
        page = self.show("x.gclog")
        names = page.texts("#tree td.node .name")
        self.assertIn("SessionStore", names)
        self.assertNotIn("Shop.SessionStore", names)
        row = "[...document.querySelectorAll('#tree tbody tr')].find(r => r.querySelector('.name').textContent === 'SessionStore')"
        behind = f"getComputedStyle({row}.querySelector('.name'), '::after').content"
        self.assertEqual(page.run(f"{row}.querySelector('.name').title"), "Shop.SessionStore")
        self.assertEqual(page.run(behind), "none")
        page.run(f"{row}.focus()")
        self.assertIn("Shop.SessionStore", page.run(f"{behind} + {row}.querySelector('.name').title"))
        self.assertNotEqual(page.run(behind), "none")

    def test_the_panel_of_a_suspect_says_how_large_its_elements_are(self):
        self.put("x.gclog", heap().encode())
        page = self.show("x.gclog")
        page.click("#summary .answers a")
        self.assertEqual(page.text("#panel .explanation"), "24.0 MiB, 80.0 % of all: 256 Session objects, 96.0 KiB each")


class Colours(PageTest):
    def test_only_what_is_in_the_bar_has_a_colour(self):
        """A thousand handlers that are below the limits are no suspect."""
        handlers = [(f"{0x100000 + 0x100 * i:x}", f"{0x900000 + 0x100 * i:x}") for i in range(1000)]
        lines = ["a 2 shop 0", "t 1 Shop.Big", "t 2 System.Action", "t 3 System.Object[]", "t 4 Shop.Target", "r 1000 4 0 1", "r 2000 4 0 1",
                 "o 1000 1 4c4b40", "o 2000 2 40 2000 3000", "o 3000 3 2000 " + " ".join(handler for handler, _ in handlers),
                 *(f"o {handler} 2 40 {target}\no {target} 4 40" for handler, target in handlers), "c shop 0"]
        self.put("handlers.gclog", "\n".join(lines).encode() + b"\n")
        page = self.show("handlers.gclog")
        self.assertEqual(page.count("#summary .answers > li"), 1)
        self.assertEqual(page.count("#summary .answers .swatch"), 1)
        self.assertNotIn("Action", page.text("#summary .answer-bar"))
        page.click("#summary .actions a", 0)
        self.assertEqual(page.text("#panel h2"), "Large holder 1: one object")


class Actions(PageTest):
    def test_path_content_and_commands(self):
        self.put("x.gclog", heap().encode())
        page = self.show("x.gclog")
        self.assertEqual(page.texts("#summary .actions > *"), ["path", "content", "all paths", "compare"])
        page.click("#summary .actions a", 0)
        self.assertIn("SessionStore", page.text("#panel .path"))
        page.key("Escape")
        self.assertEqual(page.run("document.activeElement.textContent"), "path")     # what opened the panel has the focus again
        page.click("#summary .actions a", 1)
        self.assertEqual(page.count("#panel .path"), 0)
        self.assertIn("Byte[] 24.0 MiB in 256 objects", page.text("#panel"))
        page.key("Escape")
        page.key("Enter")                                # by keys alone, too
        self.assertIn("Byte[] 24.0 MiB in 256 objects", page.text("#panel"))
        page.key("Escape")
        self.assertEqual(page.run("document.activeElement.textContent"), "content")
        page.run("navigator.clipboard.writeText = text => { window.copied = text; return Promise.resolve(); }")
        page.click("#summary .actions .chip", 0)
        self.assertEqual(page.run("window.copied"), "gcdumpc paths FILE --type 'Shop.SessionStore'")
        page.click("#summary .actions .chip", 1)
        self.assertEqual(page.run("window.copied"), "gcdumpc diff OLDER-FILE FILE -o diff.html")


class Drilling(PageTest):
    """Long chains of long names above the map once took many lines and moved the map down."""
    def deep(self):
        names = [f"Shop.Some.Namespace.AnOuterTypeWithALongName{i}<Shop.Some.Argument{i}>" for i in range(30)]
        lines = ["a 2 shop 0", *(f"t {i:x} {name}" for i, name in enumerate(names, 1)), "t 40 System.Byte[]", "t 41 Shop.Other", "r 1000 4 0 1",
                 *(f"o {0x1000 * i:x} {i:x} 1000 {0x1000 * (i + 1):x}" for i in range(1, 30)), "o 1e000 1e 1000 100000 200000", "o 100000 40 40000",
                 "o 200000 41 20000", "c shop 0"]
        self.put("deep.gclog", "\n".join(lines).encode() + b"\n")

    def test_the_map_stays(self):
        self.deep()
        for width, height in ((1400, 900), (1100, 700), (390, 844)):
            page = self.show("deep.gclog", width=width, height=height)
            box = lambda: page.run("(() => { const m = document.querySelector('#map .map'); const b = m.getBoundingClientRect();"
                                   "return [Math.round(b.top + scrollY), b.height]; })()")
            before = box()
            page.run("[...document.querySelectorAll('#map .tile.branch')].at(-1).click()")
            page.settle()
            self.assertGreater(len(page.texts("#map .crumbs li")), 3)
            self.assertEqual(box(), before, width)
            last = page.run("(() => { const c = document.querySelector('#map .crumbs'); const l = c.querySelector('li:last-child');"
                            "return l.getBoundingClientRect().right - c.getBoundingClientRect().right; })()")
            self.assertLessEqual(last, 4)                # where one is can be seen
            self.assertLessEqual(page.run("document.documentElement.scrollWidth"), width)

    def test_the_page_does_not_scroll_by_drilling(self):
        self.deep()
        page = self.show("deep.gclog", width=1100, height=700)
        page.run("document.querySelector('#map .map').scrollIntoView({block: 'end'})")
        page.settle()
        before = page.run("scrollY")
        page.run("(() => { const t = document.querySelector('#map .tile.branch'); t.focus({preventScroll: true}); t.click(); })()")
        page.settle()
        self.assertEqual(page.run("scrollY"), before)

    def test_back_stays_on_the_page(self):
        self.deep()
        page = self.show("deep.gclog")
        entries = page.run("history.length")
        page.run("document.querySelector('#map .tile.branch').click()")
        page.settle()
        self.assertEqual(page.run("history.length"), entries + 1)
        page.run("new Promise(done => { addEventListener('hashchange', () => done(0), {once: true}); history.back(); })")
        page.settle()
        self.assertEqual(page.texts("#map .crumbs li"), ["All objects"])
        self.assertTrue(page.run("location.pathname.endsWith('x.html')"))


class SuspectsFirst(PageTest):
    def leaks(self, source, code=0, **options):
        self.done("leaks", source, "-o", "l.html", code=code)
        self.page = self.browser.open(self.path("l.html"), **options)
        return self.page

    def test_what_comes_first(self):
        self.put("x.gclog", heap().encode())
        said = json.loads(self.done("leaks", "x.gclog", "--json").out)["suspects"]
        for width in (1400, 390):
            page = self.leaks("x.gclog", width=width)
            self.assertEqual(page.texts("#sections a")[:4], ["Large holders", "Summary", "Map", "Types"])
            self.assertEqual(page.text("main > section h2"), "Large holders")
            self.assertIn("1 large holder: SessionStore, 24.0 MiB", page.text("#suspects .headline"))
            text = page.text("#suspects")
            for suspect in said:
                self.assertEqual(text.count(suspect["sentence"]), 1)
                self.assertIn(suspect["advice"], text)
            self.assertTrue(text.startswith("Large holders?"), text)
            self.assertLess(text.index("Not verified."), text.index(said[0]["sentence"]))
            top = page.run("document.querySelector('#suspects article p').getBoundingClientRect().top")
            self.assertLess(top, 400)
            self.assertEqual(page.count("#summary .answers, #summary .verdict"), 0)
            self.assertEqual(page.count("#summary .answer-bar .stacked"), 1)
            self.assertLessEqual(page.run("document.documentElement.scrollWidth"), width)
        page.run("navigator.clipboard.writeText = text => { window.copied = text; return Promise.resolve(); }")
        page.click("#suspects .actions .chip", 1)
        self.assertIn("gcdumpc diff", page.run("window.copied"))

    def test_what_waits_comes_second(self):
        page = self.leaks(os.path.join(cli_support.SOURCE, "traces", "shop", "evening.nettrace.gz"))
        order = page.run("[...document.querySelectorAll('#suspects > :is(.headline, article, .note)')].map(e => e.className || e.tagName)")
        self.assertEqual(order[:4], ["headline", "note", "suspect", "suspect"])
        self.assertIn("Waiting: 296 calls", page.text("#suspects > .note"))
        self.assertNotIn("Waiting:", page.text("#summary"))
        self.assertIn("UserSession 5.9 MiB in 2,700 objects, 2.2 KiB each", page.text("#suspects .parts"))

    def test_incomplete_and_without_suspects(self):
        page = self.leaks(self.link("net10-wks-lossy"), code=3)
        self.assertIn("objects arrived (> 99.9 %)", page.text("#suspects .verdict.bad"))
        self.assertIn("No statement is possible: of 95.0 % of the heap", page.text("#suspects"))
        self.assertIn("The largest consumer is:", page.text("#suspects"))
        self.assertEqual(page.count("#suspects article"), 1)


if __name__ == "__main__":
    page_test.main()
