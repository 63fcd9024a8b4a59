#!/usr/bin/env python3
"""The page of two dumps: the answer in one line, paths open to where the growth branches, both programs, the newer dump with growth as colour."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import cli_support                                      # noqa: E402
from test_async import shop                             # noqa: E402
from test_leaks import labels                           # noqa: E402
from test_retained_paths import heap                     # noqa: E402

import page_test                                        # noqa: E402
from page_test import HOSTILE, PageTest                 # noqa: E402

# What takes up 5 MB whatever happens.
LARGE = 0x600000


def store(sessions, *, names=(), gone=0, blob=40):
    """A store with an array of sessions, each with a blob; a rarely used type that stays, NAMES with one object each, GONE objects."""
    types = ["Shop.SessionStore", "Shop.UserSession[]", "Shop.UserSession", "System.Byte[]", "Shop.Still", "Shop.Gone", "Shop.Fresh", *names]
    lines = ["a 2 shop 0", *(f"t {i:x} {name}" for i, name in enumerate(types, 1)), "r 1000 4 0 1", "r 5000 4 0 1", "r 6000 4 0 1",
             "o 1000 1 18 2000", f"o 5000 5 {LARGE:x}", f"o 2000 2 {24 + 8 * sessions:x} " + " ".join(f"{0x1000000 + 0x1000 * i:x}" for i in range(sessions)),
             *(f"o {0x1000000 + 0x1000 * i:x} 3 30 {0x1000800 + 0x1000 * i:x}\no {0x1000800 + 0x1000 * i:x} 4 {blob:x}" for i in range(sessions))]
    if gone > 0:
        lines.append(f"o 6000 6 {gone:x}")
    else:
        lines.append("o 6000 7 40")
    lines += [f"r {0x800000 + 0x1000 * i:x} 4 0 1\no {0x800000 + 0x1000 * i:x} {8 + i:x} {100 + 8 * sessions + i:x}" for i in range(len(names))]
    return "\n".join([*lines, "c shop 0"]) + "\n"


class DiffTest(PageTest):
    def compare(self, old, new, code=0, **options):
        for name, text in (("old.gclog", old), ("new.gclog", new)):
            self.put(name, text.encode())
        self.done("diff", "old.gclog", "new.gclog", "-o", "d.html", code=code)
        self.page = self.browser.open(self.path("d.html"), **options)
        return self.page


class Answer(DiffTest):
    def test_one_line_names_the_holder_of_the_growth(self):
        page = self.compare(store(1000, blob=4000), store(4000, blob=4000))
        self.assertRegex(page.text("#summary .answer"), r"^\+11\.6 MiB \(\+117\.6 %\): SessionStore \+3,000 UserSession$")
        page.click("#summary .answer a", 1)
        self.assertEqual(page.text("#panel h2"), "UserSession")
        self.assertIn("In the older dump46.9 KiB in 1,000 objects", page.text("#panel"))
        self.assertIn("Since then+3,000 objects", page.text("#panel"))

    def test_growth_that_branches_early_shows_the_larger_branch(self):
        def shop(sessions, orders):
            lines = ["a 2 shop 0", *(f"t {i:x} Shop.{name}" for i, name in enumerate(("App", "SessionStore", "Session", "OrderBook", "Order"), 1)),
                     "r 1000 4 0 1", "o 1000 1 20 2000 3000",
                     f"o 2000 2 {24 + 8 * sessions:x} " + " ".join(f"{0x1000000 + 0x1000 * i:x}" for i in range(sessions)),
                     f"o 3000 4 {24 + 8 * orders:x} " + " ".join(f"{0x9000000 + 0x1000 * i:x}" for i in range(orders)),
                     *(f"o {0x1000000 + 0x1000 * i:x} 3 400" for i in range(sessions)), *(f"o {0x9000000 + 0x1000 * i:x} 5 400" for i in range(orders))]
            return "\n".join([*lines, "c shop 0"]) + "\n"
        page = self.compare(shop(100, 100), shop(1100, 800))
        self.assertRegex(page.text("#summary .answer"), r": SessionStore \+1,000 Session$")

    def test_shrinking_types_have_no_holder(self):
        page = self.compare(store(4000), store(1000))
        self.assertRegex(page.text("#summary .answer"), r"^−[\d.]+ KiB \(−[\d.]+ %\)\.$")
        self.assertEqual(page.count("#summary .answer a"), 0)

    def test_the_same_dump_twice(self):
        page = self.compare(store(100), store(100))
        self.assertIn("0 (0.0 %)", page.text("#summary .answer"))
        self.assertEqual(self.rows("types"), [])
        self.assertIn("Nothing has changed.", page.text("#paths"))
        self.assertGreater(page.count("#map .growth3"), 0)
        self.assertEqual(page.count("#map .tile:is(.growth0, .growth1, .growth2, .growth4)"), 0)

    def test_from_and_to_nothing(self):
        empty = "a 2 shop 0\nc shop 0\n"
        page = self.compare(empty, store(1000))
        self.assertIn("SessionStore", page.text("#summary .answer") + page.text("#types"))
        page = self.compare(store(1000), empty)
        self.assertEqual((page.count("#map .tile"), page.count("#tree tbody tr")), (0, 0))
        self.assertEqual({row[-1] for row in self.rows("types")}, {"gone"})


class Sections(DiffTest):
    def test_paths_are_open_to_where_the_growth_branches(self):
        page = self.compare(store(1000, blob=40), store(4000, blob=40))
        names = [row[0] for row in self.rows("paths")]
        at = names.index("SessionStore")
        self.assertEqual(names[at:at + 4], ["SessionStore", "UserSession[]", "UserSession", "Byte[]"])

    def test_steps_fold(self):
        self.done("diff", *(os.path.join(cli_support.SOURCE, "traces", "shop", f"{time}.nettrace.gz") for time in ("morning", "evening")), "-o", "d.html")
        self.page = page = self.browser.open(self.path("d.html"))

        def below_store():
            names = [row[0] for row in self.rows("paths")]
            at = names.index("SessionStore")
            page.click(f"#paths tbody tr:nth-child({at + 1}) td:nth-child(2)")
            return [row[0] for row in self.rows("paths")][at + 1:at + 4]
        few = ["ConcurrentDictionary<Guid, UserSession>", "UserSession", "Object"]
        self.assertEqual(below_store(), few)
        page.click("#paths .actions button")
        self.assertEqual(page.text("#paths .actions button"), "fewer steps")
        self.assertEqual([name.split(".")[-1] for name in below_store()], [few[0], "Tables", "VolatileNode[]"])
        page.click("#paths .actions button")
        self.assertEqual(below_store(), few)

    def test_calls_of_asynchronous_methods(self):
        for name, calls in (("old.gclog", 5), ("new.gclog", 500)):
            self.put(name, shop(calls))
        self.done("diff", "old.gclog", "new.gclog", "-o", "d.html")
        self.page = self.browser.open(self.path("d.html"))
        names = [row[0] for row in self.rows("paths")]
        self.assertIn("async Rpc.Call", names)
        self.assertFalse([name for name in names if "AsyncStateMachineBox" in name])

    def test_what_has_not_changed_is_a_button_away(self):
        page = self.compare(store(1000), store(4000))
        names = lambda: sorted(row[0] for row in self.rows("types"))
        self.assertNotIn("Shop.Still", names())
        changed = names()
        page.click("#types .search .chip")
        self.assertEqual(names(), sorted([*changed, "Shop.Fresh", "Shop.Still"]))
        self.assertEqual(page.run("document.querySelector('#types .search .chip').ariaPressed"), "true")
        self.assertIn("all=1", page.run("location.hash"))
        self.page = other = self.browser.open(self.path("d.html"), address="#all=1")
        self.assertEqual(names(), sorted([*changed, "Shop.Fresh", "Shop.Still"]))
        other.click("#types .search .chip")
        self.assertEqual(names(), changed)

    def test_bars_go_both_ways(self):
        page = self.compare(store(1000, gone=50000), store(4000))
        ways = page.run("Object.fromEntries([...document.querySelectorAll('#types tbody tr')].map(r => [r.cells[0].textContent, r.cells[1].className]))")
        self.assertIn("back", ways["Shop.Gone"])
        self.assertIn("forth", ways["Shop.UserSession"])
        page.click("#types tbody a", [row[0] for row in self.rows("types")].index("Shop.Gone"))
        self.assertEqual(page.text("#panel h2"), "Gone")                 # also what the newer dump has not
        self.assertIn("−1 objects", page.text("#panel"))

    def test_growth_is_a_colour(self):
        page = self.compare(store(1000, gone=50000), store(4000))
        page.click("#map .choice:first-child label", 2)                  # namespaces, own size
        page.click("#map .tile .label", page.texts("#map .tile .label").index("Shop"))
        colours = dict(page.run("[...document.querySelectorAll('#map .tile.leaf')].map(t => [t.textContent, t.className.match(/growth\\d/)?.[0]])"))
        colour = lambda name: next(value for key, value in colours.items() if key.startswith(name))
        self.assertEqual((colour("Still"), colour("UserSession")), ("growth3", "growth1"))
        legend = page.text("#map .legend")
        for said in ("new type", "twice as much or more", "about the same", "less than before"):
            self.assertIn(said, legend)
        page.click("#map .tools label", page.texts("#map .tools label").index("Colour: whose code"))
        self.assertEqual(page.count("#map .growth1"), 0)
        new = json.loads(page.text("#data"))
        self.assertIn("Shop.Fresh", [row[0] for row in new["rows"] if row[1] == 0])

    def test_suspects_of_the_newer_dump_with_the_same_words(self):
        page = self.compare(store(1000, blob=4000), store(4000, blob=4000))
        said = json.loads(self.done("leaks", "old.gclog", "new.gclog", "--json").out)["suspects"]
        self.assertGreater(len(said), 0)
        text = page.text("#suspects")
        for suspect in said:
            for part in ("grown", "sentence", "advice", "evidence"):
                self.assertIn(suspect[part].replace(" -> ", " → "), text)

    def test_suspects_by_growth(self):
        """One that is large and stays comes behind one that is small and grows."""
        page = self.compare(store(1000), store(2000))
        self.assertEqual(page.texts("#suspects > article h3 .open"), ["SessionStore"])
        self.assertRegex(page.text("#suspects article h3"), r"^1\. SessionStore \+[\d.]+ KiB [\d.]+ KiB, ")
        self.assertIn("SessionStore: 1,000 → 2,000 UserSession, +", page.text("#summary .answers"))
        self.assertNotIn("Still", page.text("#summary .answers"))
        page.click("#suspects > details:not(.about) summary")
        self.assertEqual(page.text("#suspects > details:not(.about) summary"), "1 more place, which grew less or not")
        self.assertRegex(page.text("#suspects > details:not(.about) h3"), "^2. static variable 0 6.0 MiB, .*1 Still object$")
        self.assertIn("static variable has not grown.", page.text("#suspects > details:not(.about) article"))
        page.click("#suspects > details:not(.about) h3 a")
        self.assertEqual(page.text("#panel h2"), "Suspect 2: one object")

    def test_nothing_has_grown(self):
        page = self.compare(store(2000), store(2000))
        self.assertIn("No suspect has grown much between the two dumps.", page.text("#suspects"))
        self.assertEqual(page.count("#suspects > article"), 0)
        self.assertEqual(page.count("#summary .advice"), 0)

    def test_nothing_has_grown_in_what_has_arrived(self):
        killed = os.path.join(cli_support.SOURCE, "traces", "net10-wks-killed", "heap.nettrace.gz")
        self.done("diff", killed, killed, "-o", "d.html", code=3)
        page = self.page = self.browser.open(self.path("d.html"))
        self.assertIn("No suspect has grown much in what has arrived of the two dumps; not all has.", page.text("#suspects"))

    def test_the_newer_dump_has_all_sections(self):
        self.done("diff", *(os.path.join(cli_support.SOURCE, "traces", "shop", f"{time}.nettrace.gz") for time in ("morning", "evening")), "-o", "d.html")
        self.page = page = self.browser.open(self.path("d.html"))
        self.assertEqual(page.texts("#sections a"), ["Summary", "What holds it", "Types", "Map", "Suspects of the newer dump", "Dominator tree",
                                                     "Largest objects", "Held together", "Waiting", "Roots", "Generations"])
        self.assertIn("Waiting: 296 calls wait", page.text("#summary"))

    def test_each_program_has_its_own_column(self):
        self.done("diff", self.link("net8-wks"), self.link("net10-wks-lossy"), "-o", "d.html", code=3)
        self.page = page = self.browser.open(self.path("d.html"))
        sides = page.texts("#summary .side")
        self.assertIn("net8-wks.nettrace.gz", sides[0])
        self.assertIn("net10-wks-lossy.nettrace.gz", sides[1])
        self.assertIn("Complete.", sides[0])
        self.assertIn("Incomplete.", sides[1])
        self.assertRegex(page.text("#summary .verdict.unsure"), "different (programs|processes).*Only one of the dumps is complete")

    def test_files_of_one_name(self):
        for folder, n in (("a", 100), ("b", 900)):
            os.mkdir(self.path(folder))
            self.put(f"{folder}/x.gclog", store(n).encode())
        self.done("diff", "a/x.gclog", "b/x.gclog", "-o", "d.html")
        self.page = page = self.browser.open(self.path("d.html"))
        self.assertIn("a/x.gclog", page.texts("#summary .side")[0])
        self.assertIn("b/x.gclog", page.texts("#summary .side")[1])

    def test_print(self):
        page = self.compare(store(1000, gone=50000), store(4000))
        page.call("Emulation.setEmulatedMedia", media="print")
        page.settle()
        self.assertEqual(page.run("[...document.querySelectorAll('nav, .search, .tools, .chip')].filter(e => e.offsetParent !== null).length"), 0)
        boxes = page.run("[...document.querySelectorAll('#types .scroll, #paths .scroll, #map .map')].map(e => [e.scrollWidth - e.clientWidth, "
                         "e.scrollHeight - e.clientHeight, e.getBoundingClientRect().right])")
        self.assertEqual(len(boxes), 3)
        width = page.run("document.documentElement.clientWidth")
        self.assertTrue(all(right <= width for _, _, right in boxes), boxes)
        self.assertTrue(all(wide <= 1 and high <= 1 for wide, high, _ in boxes[:2]), boxes)         # nothing is cut
        self.assertEqual(page.run("getComputedStyle(document.body).printColorAdjust"), "exact")     # bars and colours of growth are printed
        pdf = page.call("Page.printToPDF", printBackground=False)["data"]
        self.assertGreater(len(pdf), 10_000)

    def test_static_variables_are_links(self):
        self.done("diff", self.link("net8-wks"), self.link("net8-wks-two-dumps"), "-o", "d.html")
        self.page = page = self.browser.open(self.path("d.html"))
        page.click("#paths .kind-s")
        self.assertEqual(page.text("#panel h2"), "Log")
        self.assertIn("Keeps alive", page.text("#panel"))
        self.assertGreater(page.count("#panel [role=treegrid] tbody tr"), 0)


class Everywhere(DiffTest):
    def test_names_are_text(self):
        names = [name for name in HOSTILE if "\n" not in name]
        page = self.compare(store(10, names=names), store(20, names=names))
        self.assertEqual(page.run("window.pwned"), None)
        self.assertEqual(page.count("main img, main svg[onload], #panel img"), 0)
        page.click("#types tbody a", next(i for i, row in enumerate(self.rows("types")) if row[0].startswith("<img")))
        self.assertIn("<img", page.text("#panel"))
        self.assertEqual(page.count("#panel img"), 0)

    def test_phone(self):
        page = self.compare(store(1000, gone=50000), store(4000), width=390, height=844)
        self.assertLessEqual(page.run("document.documentElement.scrollWidth"), 390)
        right = page.run("Math.max(...[...document.querySelectorAll('#types tbody tr:first-child td, #paths tbody tr:first-child td')]"
                         ".filter(e => e.offsetWidth > 0).map(e => e.getBoundingClientRect().right))")
        self.assertLessEqual(right, 390)

    def test_a_note_is_said_once(self):
        self.put("labels.nettrace", labels())
        self.done("convert", "labels.nettrace", "-o", "labels.html")
        self.page = page = self.browser.open(self.path("labels.html"))
        self.assertEqual(page.text("#summary").count("50 Label in a dictionary and a linked list"), 1)
        self.assertTrue(page.text("#summary p.note").startswith("Note: A dictionary and a linked list of the same nodes are "))

    def test_a_hang_is_said_first(self):
        self.put("rpc.nettrace", shop(20))
        self.done("convert", "rpc.nettrace", "-o", "rpc.html")
        self.page = page = self.browser.open(self.path("rpc.html"))
        told = page.texts("#summary > .note, #summary > .headline")
        self.assertTrue(told[0].startswith("Waiting: 20 calls wait in Shop.Rpc.Send "), told)
        self.assertTrue(told[1].startswith("Nothing looks like a leak."), told)

    def test_what_comes_from_being_observed(self):
        """Nobody is told to have grown by what the runtime says of its own events."""
        source = "System.Diagnostics.Tracing.NativeRuntimeEventSource"
        for name, n in (("old", 0), ("new", 900)):
            self.put(f"{name}.nettrace", heap({"source": (source, 200, [f"t{i}" for i in range(n)]), "order": ("Shop.Order", 2000, [])}
                                              | {f"t{i}": ("System.String", 200, []) for i in range(n)}, [("source", "s_log"), ("order", "s_order")])[0])
        self.done("diff", "old.nettrace", "new.nettrace", "-o", "d.html")
        self.page = page = self.browser.open(self.path("d.html"))
        self.assertIn("175.8 KiB come from being observed: ", page.text("#summary"))
        self.assertEqual(page.count("#summary .answers"), 0)

    def test_without_scripts(self):
        page = self.compare(store(1000, blob=4000), store(4000, blob=4000), scripts=False)
        text = page.text("noscript")
        for said in ("old.gclog", "new.gclog", "Older dump: Not verified.", "Shop.SessionStore", "Shop.UserSession[]"):
            self.assertIn(said, text)
        self.assertGreater(page.count("noscript tbody tr"), 3)


if __name__ == "__main__":
    page_test.main()
