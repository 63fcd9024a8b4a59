#!/usr/bin/env python3
"""A second dump in a page: the page of another dump is dropped or chosen, and the page shows what has grown."""
import json
import os
import re

import page_test
from page_test import PageTest
from test_diff_page import store
import cli_support
from test_leaks import accounts
from test_retained_paths import heap


class Drop(PageTest):
    def pages(self, old, new):
        """Pages of two recordings; the newer one is open."""
        for name, source in (("old", old), ("new", new)):
            self.done("convert", source, "-o", f"{name}.html", code=0)
        self.page = self.browser.open(self.path("new.html"))
        return self.page

    def shop(self):
        return self.pages(*(os.path.join(cli_support.SOURCE, "traces", "shop", f"{time}.nettrace.gz") for time in ("morning", "evening")))

    def stores(self, *sizes, **options):
        for name, n in zip(("a", "b"), sizes):
            self.put(f"{name}.gclog", store(n, **options).encode())
        return self.pages("a.gclog", "b.gclog")

    def drop(self, name="old.html", text=None):
        text = self.get(name).decode() if text is None else text
        self.page.run(f"""(() => {{ const files = new DataTransfer(); files.items.add(new File([{json.dumps(text)}], {json.dumps(name)}));
            const over = new DragEvent("dragover", {{dataTransfer: files, bubbles: true, cancelable: true}});
            document.body.dispatchEvent(over);
            if (!over.defaultPrevented) throw new Error("nothing may be dropped");
            document.body.dispatchEvent(new DragEvent("drop", {{dataTransfer: files, bubbles: true, cancelable: true}})); }})()""")

    def compared(self):
        self.page.run("new Promise(done => { const look = () => document.querySelector('#summary .answer') && document.documentElement.dataset.ready "
                      "? done() : setTimeout(look, 10); look(); })")
        self.page.settle()
        return self.page

    def choose(self, name):
        page = self.page
        found = page.call("Runtime.evaluate", expression="document.getElementById('second-dump')")["result"]["objectId"]
        page.call("DOM.setFileInputFiles", files=[self.path(name)], objectId=found)

    def test_it_shows_what_the_page_of_diff_shows(self):
        page = self.shop()
        self.drop()
        self.compared()
        told = page.text("#summary .answer"), page.texts("#sections a"), page.texts("#suspects > article h3"), self.rows("types")
        top = page.texts("#summary .answers li > p:first-of-type")
        self.done("diff", *(os.path.join(cli_support.SOURCE, "traces", "shop", f"{time}.nettrace.gz") for time in ("morning", "evening")), "-o", "d.html")
        self.page = other = self.browser.open(self.path("d.html"))
        self.assertEqual(told[:3], (other.text("#summary .answer"), other.texts("#sections a"), other.texts("#suspects > article h3")))
        self.assertEqual(sorted(told[3]), sorted(self.rows("types")))
        # The page of the older dump has no such small suspects: what they had is not known there.
        self.assertEqual(top, ["SessionStore: 3,000 UserSession (in the heap 1,000 \u2192 3,000), +4.1 MiB, 53 % of the growth.",
                               "PriceFeed: 1,500 PriceWatch (in the heap 500 \u2192 1,500), +3.2 MiB, 41 % of the growth."])
        self.assertEqual(other.texts("#summary .answers li > p:first-of-type"),
                         ["SessionStore: 1,000 \u2192 3,000 UserSession, +4.1 MiB, 53 % of the growth.",
                          "PriceFeed: 500 \u2192 1,500 PriceWatch, +3.2 MiB, 41 % of the growth."])

    def test_a_limit_in_each_owner(self):
        """A field of each owner that the page of the newer dump has: nobody is accused."""
        for name, n in (("old", [4] * 990), ("new", [8] * 990)):
            self.put(f"{name}.nettrace", accounts(n))
        self.pages("old.nettrace", "new.nettrace")
        text = self.get("new.html").decode()
        limited = re.sub(r'("fills":\[\[\d+,\d+,990,7920,8,990,990)\]', r'\1,"_latest",8]', text)
        self.assertNotEqual(text, limited)
        self.put("new.html", limited.encode())
        self.page = self.browser.open(self.path("new.html"))
        self.drop()
        said = self.compared().text("#suspects > p")
        self.assertTrue(said.startswith("No suspect has grown much between the two dumps. Account: "), said)
        self.assertTrue(said.endswith("has more than 8 Entry, and the limit of each is 8 (_latest): they fill up to it."), said)

    def test_what_has_come_is_said_as_by_diff(self):
        """Many owners that grow are accused; those that fill up to a limit are not: the same on both pages, and by leaks."""
        for before, now, said in (([4] * 970 + [8] * 30, [8] * 800 + [4] * 200, "fill up to a limit."), ([4] * 990, [8] * 990, "100 % of the growth."),
                                  (([4] * 990, 3000), ([8] * 990, 3000), "100 % of the growth."),
                                  ([9] * 300 + [2] * 700, [8] * 500 + [10] * 400 + [5] * 100, "whether any gets more.")):
            for name, n in (("old", before), ("new", now)):
                self.put(f"{name}.nettrace", accounts(*n) if isinstance(n, tuple) else accounts(n))
            page = self.pages("old.nettrace", "new.nettrace")
            self.drop()
            self.compared()
            told = page.text("#suspects > p"), page.texts("#suspects > p.advice")
            leaks = json.loads(self.done("leaks", "old.nettrace", "new.nettrace", "--json").out)["headline"].replace(" -> ", " \u2192 ")
            self.assertEqual(told[0], leaks)
            self.assertTrue(told[0].endswith(said), told)
            self.assertIn(told[0], page.text("#summary"))
            self.done("diff", "old.nettrace", "new.nettrace", "-o", "d.html")
            self.page = other = self.browser.open(self.path("d.html"))
            self.assertEqual(told, (other.text("#suspects > p"), other.texts("#suspects > p.advice")))
            self.assertIn(told[0], other.text("#summary"))

    def test_what_has_come_within_collections(self):
        """40 dictionaries in a dictionary, before and now: told by what is in them, as by leaks.  Some came from a box."""
        inner, days = "System.Collections.Generic.Dictionary`2[System.Int32,Shop.Order]", range(40)
        outer = f"System.Collections.Generic.Dictionary`2[System.Int32,{inner}]"
        table = "System.Collections.Generic.Dictionary`2+Entry[System.Int32,"
        for name, n, in_box in (("old", 100, 3500), ("new", 250, 0)):
            objects = {"box": ("Shop.Box", 24 + 8 * in_box, [f"box{k}" for k in range(in_box)]), "book": ("Shop.Book", 24, ["all"]), "all": (outer, 80, ["days"]),
                       "days": (f"{table}{inner}][]", 24 + 24 * 40, [f"day{i}" for i in days])}
            objects |= {f"day{i}": (inner, 80, [f"table{i}"]) for i in days}
            objects |= {f"table{i}": (f"{table}Shop.Order][]", 24 + 24 * n, [f"order{i}.{k}" for k in range(n)]) for i in days}
            objects |= {f"order{i}.{k}": ("Shop.Order", 1100, []) for i in days for k in range(n)}
            objects |= {f"box{k}": ("Shop.Order", 1100, []) for k in range(in_box)}
            self.put(f"{name}.nettrace", heap(objects, [("book", "s_book"), ("box", "s_box")])[0])
        self.pages("old.nettrace", "new.nettrace")
        self.drop()
        told = self.compared().texts("#summary .answers li > p:first-of-type")
        leaks = json.loads(self.done("leaks", "old.nettrace", "new.nettrace", "--json").out)["suspects"][0]["grown"].replace(" -> ", " \u2192 ")
        self.assertEqual(told, [f"{leaks}."])
        self.assertIn("4,000 \u2192 10,000 Order", leaks)

    def test_what_holds_it(self):
        self.stores(1000, 4000, blob=4000)
        self.drop()
        page = self.compared()
        self.assertRegex(page.text("#summary .answer"), r"^\+11\.6 MiB \(\+117\.6 %\): SessionStore \+3,000 UserSession$")
        rows = {row[0]: row[1:] for row in self.rows("paths")}
        self.assertEqual(rows["SessionStore"][:2], ["+11.6 MiB", "+6,000"])
        tree = {row[0]: row[1:4] for row in self.rows("tree")}
        self.assertEqual(tree["SessionStore"], ["15.5 MiB", "+11.6 MiB", "+6,000"])
        self.assertEqual([tree["Still"][1], tree["Fresh"][1]], ["", ""])         # as before
        page.click("#tree-search")
        page.type("usersession")
        self.assertEqual({row[0]: row[2] for row in self.rows("tree")}["UserSession[]"], "+11.6 MiB")
        page.click("#summary .answer a", 1)
        self.assertEqual(page.text("#panel h2"), "UserSession")
        self.assertIn("Since then+3,000 objects", page.text("#panel"))
        page.key("Escape")
        self.assertTrue(page.run("document.querySelector('#panel').hidden"))
        self.assertGreater(page.count("#map .growth1"), 0)

    def test_the_newer_one_is_the_later_one(self):
        """Whichever is dropped on the other."""
        self.shop()
        self.drop()
        answer = self.compared().text("#summary .answer")
        self.page = self.browser.open(self.path("old.html"))
        self.drop("new.html")
        self.assertEqual(self.compared().text("#summary .answer"), answer)
        self.assertIn("new.html", self.page.texts("#summary .side")[1])

    def test_chosen_as_a_file(self):
        self.stores(1000, 2000)
        self.page.click("#summary .second summary")
        self.choose("old.html")
        page = self.compared()
        self.assertIn("old.html", page.texts("#summary .side")[0])
        self.assertEqual(page.text("#kicker"), "Two heap dumps")
        page.call("Page.reload")
        page.run("new Promise(done => setTimeout(done, 300))")
        page.run("new Promise(done => { const look = () => document.documentElement.dataset.ready ? done() : setTimeout(look, 10); look(); })")
        self.assertEqual(page.text("#kicker"), ".NET heap dump")

    def test_other_files(self):
        page = self.stores(1000, 2000)
        self.done("diff", "a.gclog", "b.gclog", "-o", "d.html")
        for name, text in (("notes.txt", "text"), ("d.html", None), ("empty.html", ""), ("bad.html", '<script type="application/json" id="data">{</script>'),
                           ("odd.html", '<script type="application/json" id="data">{"kind":"heap"}</script>'),
                           ("odder.html", '<script type="application/json" id="data">{"kind":"heap","names":7,"types":[[1]],"tree":{}}</script>')):
            self.drop(name, text)
            page.run(f"new Promise(done => {{ const look = () => document.querySelector('.second [role=status]').textContent === "
                     f"{name + ' is not a page of one dump written by gcdumpc.'!r} ? done() : setTimeout(look, 10); look(); }})")
            self.assertEqual(page.text("#kicker"), ".NET heap dump")

    def test_names_are_text(self):
        page = self.stores(10, 20)
        text = self.get("old.html").decode().replace("Shop.Still", "<img src=x onerror=window.pwned=1>").replace("Shop.Fresh", "\\u003c/script>\\u003cimg>")
        self.drop("<img src=x>.html", text)
        self.compared()
        self.assertEqual(page.run("window.pwned"), None)
        self.assertEqual(page.count("main img, #panel img"), 0)
        self.assertIn("<img src=x onerror=window.pwned=1>", [row[0] for row in self.rows("types")])

    def test_types_that_a_page_only_counts_are_not_new(self):
        page = self.stores(1000, 2000)
        data = json.loads(page.text("#data"))
        shown = [data["names"][t[0]] for t in data["types"]]
        text = self.get("old.html").decode()
        self.assertIn('"other_types":[0,0,0]', text)
        self.drop("old.html", text.replace("Shop.Still", "Shop.Other").replace('"other_types":[0,0,0]', '"other_types":[3,30,3000]'))
        self.compared()
        rows = {row[0]: row for row in self.rows("types")}
        self.assertIn("Shop.Still", shown)
        self.assertNotIn("Shop.Still", rows)             # may be among the three
        self.assertEqual(rows["Shop.Other"][-1], "gone")


if __name__ == "__main__":
    page_test.main()
