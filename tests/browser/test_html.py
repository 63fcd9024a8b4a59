#!/usr/bin/env python3
"""The page of the format html in a real browser: with the mouse, with keys only, narrow, dark, and with names that contain markup."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from cli_support import SOURCE, types_trace                     # noqa: E402

import page_test                                        # noqa: E402
from page_test import HOSTILE, PageTest                 # noqa: E402


class Page(PageTest):
    def test_summary_is_that_of_the_report(self):
        page = self.show()
        report = json.loads(self.done("report", self.link("net10-wks-ranges"), "--json").out)
        summary = page.text("#summary")
        for text in ("Complete.", f"{report['bytes']:,} bytes", f"{report['objects']:,}", f"of {report['type_count']} types"):
            self.assertIn(text, summary)
        self.assertEqual(page.text("h1"), "HeapLab")
        self.assertIn("HeapLab", page.run("document.title"))
        types = {t["type"]: t for t in report["types"]}
        self.scroll_to_the_end("#types .scroll")
        rows = self.rows("types")
        self.assertEqual(len(rows), report["type_count"])
        names = page.run("[...document.querySelectorAll('#types tbody th .name')].map(e => e.title || e.textContent)")
        for name, (_, objects, *_) in zip(names, rows, strict=True):
            self.assertEqual(objects, f"{types[name]['count']:,}", name)

    def test_what_waits(self):
        page = self.show()
        self.assertEqual(page.texts("#waiting .tile .label"), ["Machines.WaitFor", "TaskCompletionSource<Point>"])
        frames = lambda: page.run("[...document.querySelectorAll('#waiting .tree tbody tr')].map(r => [...r.cells].map(c => c.textContent))")
        self.assertEqual(frames(), [["HeapLab.Machines.WaitFor", "1", "100.0 %", "1", "104 bytes"],
                                    ["TaskCompletionSource<HeapLab.Point>", "1", "100.0 %", "1", "104 bytes"]])
        page.click("#waiting .choice label", 2)         # the other way round
        self.assertEqual(page.texts("#waiting .tile .label"), ["TaskCompletionSource<Point>", "Machines.WaitFor"])
        self.assertEqual([row[0] for row in frames()], ["TaskCompletionSource<HeapLab.Point>", "HeapLab.Machines.WaitFor"])

    def test_memory_of_the_process(self):
        page = self.show(self.with_memory("net10-wks-ranges"))
        self.assertIn("Native memory. Before the dump, the GC heap is 120 MiB of 900 MiB resident: look for native memory (680 MiB).",
                      page.text("#summary"))
        self.assertIn("resident before the dump, 120.0 MiB of it the GC heap", page.text("#summary"))
        page.run("document.querySelectorAll('#summary details').forEach(d => d.open = true)")
        facts = " ".join(page.texts("#summary details"))
        for text in ("Native or unknown", "680.0 MiB", "Swapped out", "5.0 MiB", "Cgroup", "950.0 MiB of 1.0 GiB"):
            self.assertIn(text, facts)
        self.assertNotIn("resident", self.show().text("#summary"))

    def test_sorting(self):
        page = self.show()
        objects = lambda: [int(row[1].replace(",", "")) for row in self.rows("types")]
        heads = page.texts("#types thead th")
        self.assertEqual([page.run(f"document.querySelectorAll('#types th')[{i}].getAttribute('aria-sort')") for i in range(len(heads))],
                         [None, None, None, None, "descending", None])
        page.click("#types thead button", heads.index("Objects"))
        self.assertEqual(objects(), sorted(objects(), reverse=True))
        self.assertEqual(objects()[0], 6000)
        page.click("#types thead button", heads.index("Objects"))
        self.assertEqual(objects(), sorted(objects()))
        self.assertEqual(page.run("document.querySelector('#types [aria-sort]').textContent + document.querySelector('#types [aria-sort]').ariaSort"),
                         "Objectsascending")
        page.key("Enter")                               # the head has the focus: keys do the same
        self.assertEqual(objects()[0], 6000)
        page.click("#types thead button", heads.index("Type"))
        names = [row[0] for row in self.rows("types")]
        self.assertEqual(names, page.run(f"{json.dumps(names)}.sort((a, b) => a.localeCompare(b, 'en'))"))

    def test_searching(self):
        page = self.show()
        page.click("#type-search")
        page.type("LEAF")
        self.assertEqual(sorted(row[0] for row in self.rows("types")), ["HeapLab.Leaf", "HeapLab.Leaf[]"])
        self.assertIn("2 types found", page.text("#types tfoot"))    # the sum of what is found, not of all
        self.assertNotIn("17,646", page.text("#types tfoot"))
        self.assertEqual(page.text("#types [role=status]"), "2 of 201 rows")
        page.type(" []")
        self.assertEqual([row[0] for row in self.rows("types")], ["HeapLab.Leaf[]"])
        page.type(" nothing like it")
        self.assertEqual((self.rows("types"), page.text("#types [role=status]")), ([], "0 of 201 rows"))

    def test_the_map_by_mouse(self):
        page = self.show()
        self.assertEqual(page.texts("#map .crumbs li"), ["All objects"])
        self.assertGreater(page.count("#map .tile"), 20)
        page.click("#map .tile .label", page.texts("#map .tile .label").index("Leaf[]"))
        crumbs = page.texts("#map .crumbs li")
        self.assertEqual((crumbs[:2], crumbs[-1]), (["All objects", "Static variables"], "Leaf[]"))
        self.assertEqual(sorted(page.texts("#map .tile .label")), ["Leaf", "Leaf[] itself"])
        page.click("#map .crumbs button", 0)
        self.assertEqual(page.texts("#map .crumbs li"), ["All objects"])
        page.click("#map .choice label", 2)
        self.assertIn("HeapLab", page.texts("#map .tile .label"))
        self.assertEqual(page.count("#map .choice:first-child input:checked"), 1)

    def test_areas_are_bytes(self):
        page = self.show()
        page.click("#map .choice label", 2)
        page.click("#map .tile .label", page.texts("#map .tile .label").index("HeapLab"))
        tiles = page.run("[...document.querySelectorAll('#map .tile')].map(t => [Number(t.dataset.bytes), (t.offsetWidth + 1) * (t.offsetHeight + 1)])")
        whole = page.run("document.querySelector('#map .map').clientWidth * document.querySelector('#map .map').clientHeight")
        total = sum(size for size, _ in tiles)
        for size, area in tiles[:6]:
            self.assertAlmostEqual(area / whole, size / total, delta=0.01)

    def test_the_map_by_keys(self):
        page = self.show()
        page.run("document.querySelector('#map .tile[tabindex=\"0\"]').focus()")
        at = lambda: page.run("document.activeElement.ariaLabel")
        self.assertTrue(at().startswith("Static variables 1.3 MiB"), at())
        self.assertEqual(page.count("#map .tile[tabindex='0']"), 1)
        page.key("ArrowDown")
        self.assertTrue(at().startswith("s_lab"), at())
        self.assertEqual(page.count("#map .tile[tabindex='0']"), 1)
        page.key("Enter")
        self.assertEqual(page.texts("#map .crumbs li"), ["All objects", "Static variables", "s_lab", "Lab", "List<Object>", "Object[]"])
        self.assertEqual(page.count("#map .tile:focus"), 1)          # the focus stays in the map
        page.key("Enter")
        self.assertEqual(len(page.texts("#map .crumbs li")), 7)
        page.key("Escape", 5)
        self.assertEqual(page.texts("#map .crumbs li"), ["All objects", "Static variables"])
        self.assertTrue(at().startswith("s_lab"), at())
        page.key("Backspace")
        page.key("Escape")                              # nothing is further out
        self.assertEqual(page.texts("#map .crumbs li"), ["All objects"])
        for _ in range(200):                            # in any direction the focus moves or stays, and reaches the border
            page.run("document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true}))")
        right = page.run("[document.activeElement.offsetLeft + document.activeElement.offsetWidth, document.querySelector('#map .map').clientWidth]")
        self.assertGreater(right[0], right[1] - 60)

    def test_the_table_says_what_the_map_says(self):
        page = self.show()
        page.click("#map .as-table summary")
        names = page.texts("#map .as-table tbody th")
        self.assertEqual(names[:2], ["Static variables", "Frozen: literals and types, which only code holds"])
        page.click("#map .as-table tbody button", 0)
        self.assertEqual(page.texts("#map .crumbs li"), ["All objects", "Static variables"])
        self.assertEqual(page.texts("#map .as-table tbody th")[0], "s_lab")
        self.assertTrue(page.run("document.activeElement.closest('.as-table') !== null"))

    def test_the_tree_by_keys(self):
        page = self.show()
        page.run("document.querySelector('#tree [role=treegrid] tr[tabindex=\"0\"]').focus()")
        at = lambda: page.run("[document.activeElement.cells[0].textContent, document.activeElement.ariaLevel, document.activeElement.ariaExpanded]")
        self.assertEqual(at(), ["Static variables", "1", "true"])
        page.key("ArrowDown")
        self.assertEqual(at(), ["s_lab", "2", "true"])
        page.key("ArrowLeft")
        self.assertEqual(at(), ["s_lab", "2", "false"])
        page.key("ArrowLeft")
        self.assertEqual(at(), ["Static variables", "1", "true"])
        page.key("ArrowLeft")
        rows = page.count("#tree tbody tr")
        self.assertEqual(rows, page.count("#tree tbody tr[aria-level='1']"))
        page.key("End")
        self.assertEqual(at(), ["Pinned handles", "1", "false"])
        page.key("ArrowRight")
        self.assertEqual(at()[2], "true")
        page.key("ArrowRight")
        self.assertEqual(at()[1], "2")
        page.key("Home")
        self.assertEqual(at()[0], "Static variables")
        self.assertEqual(page.count("#tree tbody tr[tabindex='0']"), 1)
        page.key(" ")
        self.assertGreater(page.count("#tree tbody tr"), rows + 5)

    def test_the_tree_by_mouse_and_its_sums(self):
        page = self.show()
        for _ in range(3):
            closed = page.run("[...document.querySelectorAll('#tree tbody tr')].findIndex(r => r.ariaExpanded === 'false')")
            page.click("#tree tbody tr", closed)
        rows = [r for r in page.run("""[...document.querySelectorAll('#tree tbody tr')].map(r => [Number(r.ariaLevel), r.ariaExpanded, r.className,
            ...[1, 4].map(i => r.cells[i] ? Number(r.cells[i].title.replace(/\\D/g, '')) : 0)])""")]
        self.assertEqual(sum(r[3] for r in rows if r[0] == 1), 1378569)
        checked = 0
        for i, (level, opened, _, size, own) in enumerate(rows):
            end = next((k for k in range(i + 1, len(rows)) if rows[k][0] <= level), len(rows))
            below = [r for r in rows[i + 1:end] if r[0] == level + 1]
            if opened == "true" and not any(r[2] == "further" for r in below):
                self.assertEqual(size, own + sum(r[3] for r in below))
                checked += 1
        self.assertGreater(checked, 3)
        rows = page.count("#tree tbody tr")
        page.click("#tree tr.further td")               # "279 more ..."
        self.assertGreaterEqual(page.count("#tree tbody tr"), rows + 20)

    def test_paths(self):
        page = self.show()
        page.run("(() => { const s = document.querySelector('#path-type'); s.selectedIndex = [...s.options].findIndex(o => o.text === 'HeapLab.Leaf');"
                 "s.dispatchEvent(new Event('change')); })()")
        self.assertEqual(self.rows("paths")[0][0:1] + self.rows("paths")[0][3:4], ["Static variables", "6,000"])
        self.assertIn("HeapLab.Leaf", [r[0] for r in self.rows("paths")])        # opened down to where it branches

    def test_roots_and_generations(self):
        self.show()
        roots = {row[0]: row for row in self.rows("roots")}
        self.assertEqual((roots["Static variables"][1], roots["Pinned handles"][1], roots["Weak roots"][1:3]), ("314", "3", ["20", "0 bytes"]))
        generations = {row[0]: row[1] for row in self.rows("generations")}
        self.assertEqual(generations, {"Generation 0": "0", "Generation 1": "36", "Generation 2": "16,994", "Large objects": "5",
                                       "Pinned objects": "3", "nongc: frozen, or in no range": "608"})

    def test_without_ranges(self):
        page = self.show("net10-wks")
        self.assertIn("does not tell where the generations lie", page.text("#generations"))
        self.assertEqual(page.count("#generations table"), 0)

    def test_an_empty_heap(self):
        self.put("empty.gclog", b"a 2 shop 0\nc shop 0\n")
        page = self.show("empty.gclog")
        self.assertIn("0 bytes", page.text("#summary"))
        self.assertEqual((page.count("#map .tile"), self.rows("types"), self.rows("tree"), self.rows("roots")), (0, [], [], []))

    def test_incomplete(self):
        page = self.show("net10-wks-lossy", code=3)
        self.assertIn("Incomplete.", page.text("#summary .verdict.bad"))
        self.assertIn("171", page.text("#summary .verdict.bad li"))

    def test_not_verified(self):
        """Other programs write no checksum."""
        self.put("x.gclog", b"a 2 shop 0\nt 1 Shop.Order\nr 8 1 0\no 8 1 18\nc shop 0\n")
        page = self.show("x.gclog")
        self.assertIn("Not verified.", page.text("#summary .verdict.unsure"))


class Diff(PageTest):
    def compare(self, **options):
        self.done("diff", self.link("net8-wks"), self.link("net8-wks-two-dumps"), "-o", "d.html")
        self.page = self.browser.open(self.path("d.html"), **options)
        return self.page

    def test_types(self):
        page = self.compare()
        self.assertIn("HeapLab", page.text("h1"))
        self.assertIn("net8-wks.nettrace.gz", page.texts("#summary .side")[0])
        self.assertIn("net8-wks-two-dumps.nettrace.gz", page.texts("#summary .side")[1])
        self.assertEqual(page.texts("body > nav li"), ["Summary", "What holds it", "Types", "Map", "Suspects of the newer dump", "Dominator tree",
                                                         "Largest objects", "Held together", "Waiting", "Roots", "Generations"])
        self.assertIn("+3,084", page.text("#summary"))
        self.assertIn("before 17,633", page.text("#summary"))
        self.assertEqual(page.text("#types [aria-sort]"), "Retained ±")
        first = self.rows("types")[0]
        page.click("#types thead button", page.texts("#types thead th").index("Bytes ±"))
        self.assertNotEqual(self.rows("types")[0], first)
        page.click("#types thead button", page.texts("#types thead th").index("Bytes ±"))
        self.assertNotIn("0", {row[3] for row in self.rows("types") if row[1] == "0"})      # only what has changed
        page.click("#type-search")
        page.type("parameterinfo[")
        self.assertEqual([row[0] for row in self.rows("types")], ["System.Reflection.ParameterInfo[]"])

    def test_what_holds_it(self):
        page = self.compare()
        page.run("document.querySelector('#paths tr[tabindex=\"0\"]').focus()")
        at = lambda: page.run("[...document.activeElement.cells].slice(0, 2).map(c => c.textContent)")
        self.assertEqual(at(), ["Static variables", "+209.3 KiB"])
        page.key("ArrowRight")                          # already open: to its first child
        self.assertEqual(at(), ["Log", "+202.3 KiB"])
        self.assertEqual(page.run("document.activeElement.ariaLevel"), "2")

    def test_dark_and_narrow(self):
        page = self.compare(dark=True, width=400)
        self.assertLessEqual(page.run("document.documentElement.scrollWidth"), 400)
        worst = page.run(Looks.LUMINANCE)
        self.assertGreater(worst[0], 4.5, worst)


class Looks(PageTest):
    LUMINANCE = """(() => {
        const light = text => text.match(/[\\d.]+/g).slice(0, 3).map(v => v / 255)
            .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((n, v, i) => n + v * [0.2126, 0.7152, 0.0722][i], 0);
        const ground = e => {
            while (getComputedStyle(e).backgroundColor === 'rgba(0, 0, 0, 0)') e = e.parentElement;
            return getComputedStyle(e).backgroundColor;
        };
        const contrast = e => {
            const [a, b] = [light(getComputedStyle(e).color), light(ground(e))].sort((x, y) => y - x);
            return (a + 0.05) / (b + 0.05);
        };
        return [...document.querySelectorAll('h1, h2, p, td, th, dt, dd, a, button, label span, summary, bdi, .verdict strong')]
            .filter(e => e.textContent.trim() !== '' && e.offsetWidth > 1)
            .map(e => [contrast(e), e.tagName + '.' + e.className + ': ' + e.textContent.slice(0, 40)])
            .sort((a, b) => a[0] - b[0])[0];
    })()"""

    def test_light_and_dark_are_legible(self):
        grounds = []
        for dark in (False, True):
            page = self.show(dark=dark)
            worst = page.run(self.LUMINANCE)
            self.assertGreater(worst[0], 4.5, worst)    # WCAG 2, AA
            grounds.append(page.run("getComputedStyle(document.body).backgroundColor"))
            self.assertEqual(page.complaints, [])
        light, dark = (sum(map(int, re.findall(r"\d+", g))) for g in grounds)
        self.assertGreater(light, dark + 300)

    def test_no_page_is_wider_than_its_window(self):
        """Below 800 px, as on a tablet held upright, it is the narrow page."""
        for width in (400, 768, 1280):
            page = self.show(width=width)
            self.assertLessEqual(page.run("document.documentElement.scrollWidth"), width)
            self.assertEqual(page.run("getComputedStyle(document.querySelector('h1')).fontSize") == "24px", width < 800)
            self.assertEqual(page.complaints, [])

    def test_rows_are_stacked_where_it_is_narrow(self):
        """On phones long names have the width of the page, and the numbers stand below them, with the titles of their columns."""
        for width in (390, 768):
            page = self.show(os.path.join(SOURCE, "traces", "shop", "evening.nettrace.gz"), width=width)
            page.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
            page.settle()
            rows = page.run("""[...document.querySelectorAll('main tbody tr')].filter(r => r.offsetHeight > 0)
                .map(r => [r.offsetHeight, r.cells[0].offsetWidth, r.cells[1] && getComputedStyle(r.cells[1], '::before').content, r.textContent])""")
            self.assertGreater(len(rows), 60)
            self.assertEqual([r for r in rows if r[0] > 200 or r[1] < 0.4 * width], [])
            self.assertLessEqual({'"Objects\u00a0"', '"Found\u00a0"', '"Roots\u00a0"'}, {r[2] for r in rows})
            self.assertLessEqual(page.run("document.documentElement.scrollWidth"), width)

    def test_keys_reach_everything_and_show_where_they_are(self):
        page = self.show()
        page.run("document.querySelectorAll('details').forEach(d => d.open = false)")
        seen, hidden = set(), []
        for _ in range(400):
            page.key("Tab")
            where, visible = page.run("""(() => {
                const e = document.activeElement, s = getComputedStyle(e.matches('.choice input') ? e.nextElementSibling : e);
                return [e === document.body ? 'end' : (e.closest('section, nav, body').id || e.closest('nav')?.ariaLabel || 'page') + ' ' + e.tagName,
                        s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) > 0 || s.boxShadow !== 'none']; })()""")
            if where == "end":
                break
            seen.add(where)
            if not visible:
                hidden.append(where)
        self.assertEqual(hidden, [])
        self.assertLessEqual({"Sections A", "map INPUT", "map DIV", "map SUMMARY", "types INPUT", "types BUTTON", "tree TR", "largest BUTTON",
                              "largest A", "types A", "summary A", "paths SELECT", "paths TR", "roots A"}, seen)

    def test_names_for_screen_readers(self):
        page = self.show()
        nodes = [n for n in page.call("Accessibility.getFullAXTree")["nodes"] if not n["ignored"]]
        of = lambda role: [n["name"]["value"] for n in nodes if n["role"]["value"] == role]
        for role in ("button", "link", "radio", "combobox", "searchbox", "treegrid", "table", "heading", "columnheader", "option"):
            self.assertTrue(of(role), role)
            self.assertNotIn("", of(role), role)
        self.assertEqual(sum("All objects" in n for n in of("button")), 0)
        self.assertIn("Search types", of("searchbox"))
        self.assertEqual([n for n in of("heading") if n == "Map"], ["Map"])


class Suspects(PageTest):
    def test_a_large_object_is_one(self):
        lines = ["a 2 shop 0", "t 1 Shop.Cache", "t 2 Shop.Entry[]", "t 3 Shop.<Entry>", "r 1000 4 0 1",
                 "o 1000 1 18 2000", "o 2000 2 2000 " + " ".join(f"{0x10000 + 0x4000 * i:x}" for i in range(2000)),
                 *(f"o {0x10000 + 0x4000 * i:x} 3 2800" for i in range(2000)), "c shop 0"]
        self.put("leak.gclog", "\n".join(lines).encode() + b"\n")
        page = self.show("leak.gclog")
        self.assertEqual(page.count("#suspects article"), 1)
        self.assertIn("19.5 MiB, 100.0 %", page.text("#suspects h3"))
        self.assertEqual([t.split(" keeps")[0] for t in page.texts("#suspects .path li")], ["Static variables", "Cache", "Entry[]"])
        self.assertEqual(page.run("document.querySelector('#suspects .path bdi').title"), "Shop.Cache")
        self.assertIn("<Entry>", page.text("#suspects .parts"))
        page.click("#suspects article summary")         # the first is open
        self.assertFalse(page.run("document.querySelector('#suspects article details').open"))

    def test_steps_that_are_not_the_programs_are_folded(self):
        lines = ["a 2 shop 0", "t 1 System.Host", "t 2 System.Engine", "t 3 Shop.Cache", "t 4 System.Collections.Generic.List`1[Shop.Order]",
                 "t 5 Shop.Order[]", "t 6 Shop.Order", "r 1000 4 0 1", "o 1000 1 24 1100", "o 1100 2 24 1200", "o 1200 3 24 1300", "o 1300 4 32 1400",
                 "o 1400 5 16024 " + " ".join(f"{0x10000 + 0x4000 * i:x}" for i in range(2000)),
                 *(f"o {0x10000 + 0x4000 * i:x} 6 2800" for i in range(2000)), "c shop 0"]
        self.put("leak.gclog", "\n".join(lines).encode() + b"\n")
        page = self.show("leak.gclog")
        shown = "Array.from(document.querySelectorAll('#suspects .path li')).filter(e => e.offsetParent).map(e => e.textContent.split(' keeps')[0])"
        collection = "List<Order>"
        self.assertEqual(page.run(shown), ["Static variables", "\u2026 2 steps of the framework and libraries", "Cache", collection])
        page.click("#suspects .chip")
        self.assertEqual(page.run(shown), ["Static variables", "Host", "Engine", "Cache", collection])
        self.assertEqual(page.text("#suspects .chip"), "fewer steps")
        page.click("#suspects .chip")
        self.assertEqual(len(page.run(shown)), 4)

    def test_a_small_heap_has_none(self):
        page = self.show()
        self.assertEqual(page.count("#suspects article"), 1)
        self.assertIn("Nothing looks like a leak. Largest: Lab 1.2 MiB (at least 107 elements).", page.text("#suspects"))
        self.assertIn("The largest consumer is:", page.text("#suspects"))

    def test_what_was_looked_for(self):
        page = self.show()
        self.assertEqual(page.count("#suspects > details tr"), 0)        # made when it is asked for
        page.click("#suspects > details:not(.about) > summary")
        page.run("new Promise(done => { const look = () => document.querySelector('#suspects > details tr') ? done() : setTimeout(look, 10); look(); })")
        rows = page.texts("#suspects > details tbody tr")
        self.assertEqual(len(rows), len(set(rows)))
        self.assertIn("Timers", " ".join(rows))
        self.assertIn("1,000", next(row for row in rows if row.startswith("Timers")))


class Hostile(PageTest):
    def setUp(self):
        super().setUp()
        rows = [(name, 1, 1000 + 8 * i) for i, name in enumerate(HOSTILE)] + [("Shop.Order", 3, 100)]
        with open(self.path("bad.nettrace"), "wb") as f:
            f.write(types_trace(*rows, command_line="</title><script>window.pwned=1</script>"))
        for style in ("raw", "csharp"):
            self.done("convert", "bad.nettrace", "-o", f"{style}.html", "--names", style)

    def test_names_are_text(self):
        for style in ("raw", "csharp"):
            self.page = page = self.browser.open(self.path(f"{style}.html"))
            self.assertEqual(page.run("typeof window.pwned"), "undefined")
            self.assertEqual(page.count("img, svg, script:not([id]):not(:last-of-type), iframe, b"), 0)
            names = page.texts("#types tbody th .name")
            shown = names if style == "raw" else [n.split(" [")[0] for n in names]
            if style == "raw":
                for name in HOSTILE[:5] + HOSTILE[6:9]:
                    self.assertIn(name, shown)
            self.assertTrue(any("onerror" in n for n in shown))
            self.assertNotIn("\u202e", "".join(names))
            self.assertLess(max(map(len, names)), 5000)
            self.assertIn("pwned", page.text("h1") + page.text("#summary"))
            page.click("#type-search")
            page.type("onerror")
            self.assertEqual(page.count("#types tbody tr"), 1)
            page.click("#map .choice label", 2)
            page.click("#map .choice label", 1)
            self.assertEqual(page.run("typeof window.pwned"), "undefined")
            self.assertEqual(page.complaints, [])

    def test_the_policy_blocks_injected_scripts(self):
        page = self.browser.open(self.path("raw.html"))
        page.run("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.pwned=1\">')")
        page.run("(() => { const s = document.createElement('script'); s.textContent = 'window.pwned=2'; document.body.append(s); })()")
        refused = page.run("fetch('http://127.0.0.1:9/').then(() => false, () => true)")
        page.settle()
        self.assertEqual((page.run("typeof window.pwned"), refused), ("undefined", True))
        self.assertGreaterEqual(sum("Content Security Policy" in c for c in page.complaints), 3, page.complaints)

    def test_no_roots(self):
        self.page = self.browser.open(self.path("raw.html"))
        self.assertIn("No roots.", self.page.text("#summary"))


if __name__ == "__main__":
    page_test.main()
