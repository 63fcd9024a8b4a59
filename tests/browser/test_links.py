#!/usr/bin/env python3
"""Every name on the page links to its details; chips, searches in trees, the stacks of asynchronous methods."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import cli_support                                      # noqa: E402
from cli_support import SOURCE                          # noqa: E402
from test_async import shop                             # noqa: E402

import page_test                                        # noqa: E402
from page_test import PageTest                          # noqa: E402

EVENING = os.path.join(SOURCE, "traces", "shop", "evening.nettrace.gz")

# Names in a view without a link, that are names of something that has a panel.
UNLINKED = """(() => {
    const known = new Set([...document.querySelectorAll('#types tbody th, #tree td.node a')].map(e => e.textContent));
    return [...document.querySelectorAll('main .name, #panel .name')]
        .filter(e => (known.has(e.textContent) || known.has(e.title)) && !e.closest('a, button, option')).map(e => e.closest('section, aside').id + ': ' + e.textContent);
})()"""


class Names(PageTest):
    def opened(self, key):
        self.page.run(f"location.hash = new URLSearchParams({{open: {json.dumps(key)}}})")
        self.page.settle()
        return self.page.text("#panel")

    def test_every_known_name_is_a_link(self):
        page = self.show()
        page.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        page.settle()
        self.assertEqual(page.run(UNLINKED), [])
        self.assertEqual((page.count("main .kind-s:not(a *)"), page.count("#tree a .kind-s") > 0), (0, True))
        for key in ("type:HeapLab.Leaf", "root:Static variables", "variable:s_lab", "module:HeapLab.dll", "suspect:0", "object:0"):
            self.opened(key)
            self.assertFalse(page.run("document.querySelector('#panel').hidden"), key)
            self.assertEqual(page.run(UNLINKED), [], key)

    def test_every_link_leads_somewhere(self):
        page = self.show()
        page.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        keys = page.run("[...new Set([...document.querySelectorAll('main a.open')].map(a => new URLSearchParams(a.href.split('#')[1]).get('open')))]")
        self.assertGreater(len({key.split(":")[0] for key in keys}), 4, keys)
        for key in keys:
            self.opened(key)
            self.assertFalse(page.run("document.querySelector('#panel').hidden"), key)

    def test_generations(self):
        self.show()
        self.assertRegex(self.opened("type:HeapLab.Leaf"), r"Generation 2: [\d.]+ KiB in 6,000 objects")
        self.assertIn("Pinned objects: ", self.opened("type:System.Byte[]"))
        self.show("net10-wks")
        self.assertNotIn("Generation", self.opened("type:HeapLab.Leaf"))

    def test_a_static_variable(self):
        page = self.show()
        text = self.opened("variable:s_lab")
        for said in ("Static variable", "Keeps alive", "One of", "Static variables", "Lab1.2 MiB"):
            self.assertIn(said, text)
        page.click("#panel .actions .chip", 1)
        self.assertEqual(page.run("document.activeElement.cells[0].textContent"), "s_lab")
        page.click("#panel .actions .chip", 0)
        self.assertIn("s_lab", page.run("document.activeElement.ariaLabel"))

    def test_what_two_hold_together(self):
        """300 sessions are also variables of calls that wait: a link leads from the suspect to both paths, and a section has all such objects."""
        page = self.show(EVENING)
        self.assertEqual(self.rows("shared")[0], ["300 UserSession", "SessionStoreasync Checkout.PlaceOrder", "672.4 KiB", "5.5 %", "300"])
        links = page.texts("#summary .answers li:nth-child(1) .actions a")
        self.assertEqual(links, ["path", "content", "also held by async Checkout.PlaceOrder"])
        self.assertEqual(page.texts("#summary .answers li:nth-child(2) .actions a"), ["path", "content"])
        page.click("#summary .answers li:nth-child(1) .actions a", 2)
        self.assertEqual(page.text("#panel h2"), "Held by SessionStore and async Checkout.PlaceOrder")
        self.assertEqual(page.texts("#panel h3"), ["The path to SessionStore", "The path to async Checkout.PlaceOrderall steps"])
        self.assertEqual(page.texts("#panel .path li:not(.folded) a"), ["Static variables", "CoffeeShop.Services.Storefront", "Storefront", "SessionStore",
                         "Static variables", "CoffeeShop.Services.Storefront", "Storefront", "List<Task>", "async Checkout.PlaceOrder"])
        self.assertEqual(page.texts("#panel .parts li"), ["UserSession 672.4 KiB in 300 objects, 2.2 KiB each"])
        for key in ("type:CoffeeShop.UserSession", "type:CoffeeShop.SessionStore", "suspect:0"):
            self.assertIn("Held together300 UserSession 672.4 KiB, in SessionStore and async Checkout.PlaceOrder", self.opened(key), key)
        for width in (390, 768, 1280, 1920):
            page = self.show(EVENING, width=width)
            self.assertEqual(page.run("[...document.querySelectorAll('#summary .actions *, #shared table *')].filter(e => e.getClientRects().length && "
                                      "e.getBoundingClientRect().right > e.closest('section').getBoundingClientRect().right).length"), 0, width)

    def test_nothing_is_held_together(self):
        self.put("x.gclog", b"a 2 shop 0\nt 1 Shop.A\nt 2 Shop.B\nr 1000 4 0 1\no 1000 1 18 2000\no 2000 2 18\nc shop 0\n")
        page = self.show("x.gclog")
        self.assertEqual((page.count("#shared"), page.count("#sections a[href='#shared']")), (0, 0))

    def test_names_in_sentences(self):
        lines = ["a 2 shop 0", "t 1 Shop.SessionStore", "t 2 Shop.Session[]", "t 3 Shop.Session", "o 9000 3 20", "r 1000 4 0 1",
                 "o 1000 1 18 2000", "o 2000 2 2000 " + " ".join(f"{0x10000 + 0x4000 * i:x}" for i in range(2000)),
                 *(f"o {0x10000 + 0x4000 * i:x} 3 2800" for i in range(2000)), "c shop 0"]
        self.put("leak.gclog", "\n".join(lines).encode() + b"\n")
        page = self.show("leak.gclog")
        sentence = page.text("#summary .answers li bdi")
        links = page.texts("#summary .answers li bdi a")
        self.assertTrue(links, sentence)
        for name in ("Shop.SessionStore", "Shop.Session", "Shop.Session[]"):
            self.assertEqual(name in links, any(word.rstrip(".,:") == name for word in sentence.split()), (name, sentence))
        page = self.show()
        self.assertIn("s_lab", page.texts("#summary .answers li bdi a"))
        page = self.show("leak.gclog")
        page.click("#suspects h3 a")
        self.assertIn("SessionStore", page.text("#panel .path"))

    def test_own_types_in_sentences(self):
        """Also types that are neither on its path nor among its largest content."""
        page = self.show(os.path.join(cli_support.SOURCE, "traces", "shop", "morning.nettrace.gz"))
        self.assertLessEqual({"UserSession", "PriceWatch", "SessionStore"}, set(page.texts("#summary .answers li bdi a")))

    def test_to_the_types_of_a_module(self):
        page = self.show()
        self.opened("module:HeapLab.dll")
        page.click("#panel .actions .chip")
        self.assertTrue(page.run("document.querySelector('#panel').hidden"))
        modules = {row[5] for row in self.rows("types")}
        self.assertEqual(modules, {"HeapLab.dll"})


class Chips(PageTest):
    def test_one_of_each_kind(self):
        page = self.show()
        chips = page.texts("#types .chips .chip")
        self.assertEqual(chips[:4], ["My code", "Libraries", "Framework", "Strings and arrays of values"])
        self.assertIn("HeapLab.dll", chips)
        pressed = lambda: page.texts("#types .chips [aria-pressed='true']")
        page.click("#types .chips .chip", 0)
        self.assertEqual(pressed(), ["My code"])
        mine = [row[0] for row in self.rows("types")]
        self.assertTrue(all("HeapLab." in name for name in mine), mine)
        page.click("#types .chips .chip", chips.index("HeapLab.dll"))
        self.assertEqual(pressed(), ["My code", "HeapLab.dll"])
        page.click("#types .chips .chip", 2)
        self.assertEqual((pressed(), self.rows("types")), (["Framework", "HeapLab.dll"], []))
        page.click("#types .chips .chip", chips.index("HeapLab.dll"))
        page.click("#types .chips .chip", 2)
        self.assertEqual(pressed(), [])
        self.assertEqual(page.text("#types [role=status]"), "201 rows")

    def test_the_sum_of_what_is_found(self):
        page = self.show()
        page.click("#types .chips .chip", 0)
        self.scroll_to_the_end("#types .scroll")
        rows = page.run("[...document.querySelectorAll('#types tbody tr')].map(r => [1, 2].map(i => Number((r.cells[i].title || r.cells[i].textContent)"
                        ".replace(/\\D/g, ''))))")
        foot = page.run("[...document.querySelectorAll('#types tfoot tr')].map(r => [1, 2].map(i => Number((r.cells[i].title || r.cells[i].textContent)"
                        ".replace(/\\D/g, ''))))")
        self.assertEqual(foot, [[sum(n for n, _ in rows), sum(size for _, size in rows)]])


class Trees(PageTest):
    def fan(self):
        """A store that holds 3 large and 60 small things, and a chain of six that branches at its end."""
        lines = ["a 2 shop 0", "t 1 Shop.Store", *(f"t {i + 2:x} Shop.Thing{i}" for i in range(70)), "r 1000 4 0 1",
                 "o 1000 1 18 " + " ".join(f"{0x2000 + 0x1000 * i:x}" for i in range(64)),
                 *(f"o {0x2000 + 0x1000 * i:x} {i + 2:x} {100_000 if i < 3 else 16:x}" for i in range(63)),
                 *(f"o {0x2000 + 0x1000 * (63 + i):x} {63 + 2 + i:x} 9000 {0x2000 + 0x1000 * (64 + i):x}" for i in range(5)),
                 f"o {0x2000 + 0x1000 * 68:x} {63 + 2 + 5:x} 9000 200000 300000", "o 200000 2 9000", "o 300000 3 9000", "c shop 0"]
        self.put("fan.gclog", "\n".join(lines).encode() + b"\n")
        return self.show("fan.gclog")

    def names(self):
        return [name.removeprefix("Shop.") for name in self.page.texts("#tree tbody td.node")]

    def test_small_ones_share_a_row(self):
        self.fan()
        names = self.names()
        self.assertIn("Store", names)
        more = [name for name in names if "more …" in name]
        self.assertEqual(len(more), 1, names)
        self.assertLess(len([name for name in names if name.startswith("Thing")]), 16)     # not 20
        self.page.click("#tree tr.further td")
        self.assertGreater(len(self.names()), len(names) + 15)

    def test_a_chain_opens_to_where_it_branches(self):
        page = self.fan()
        at = self.names().index("Thing63")
        if page.run(f"document.querySelectorAll('#tree tbody tr')[{at}].ariaExpanded") == "false":
            page.click("#tree tbody tr .twisty", at)
        names = self.names()
        at = names.index("Thing63")
        self.assertEqual(names[at:at + 6], [f"Thing{i}" for i in range(63, 69)])
        self.assertEqual(set(names[at + 6:at + 8]), {"Thing0", "Thing1"})

    def test_all_below(self):
        page = self.fan()
        page.run("document.querySelector('#tree tbody tr').focus()")
        page.key("ArrowLeft", 3)
        closed = len(self.names())
        page.click("#tree .search button")
        self.assertGreater(len(self.names()), closed + 10)
        self.assertEqual(page.count("#tree tbody tr[aria-expanded='false']"), 0)

    def test_a_search_shows_the_way(self):
        page = self.fan()
        page.click("#tree-search")
        page.type("thing68")
        self.assertEqual(self.names()[-3:-2] if self.names()[-1] in ("Thing0", "Thing1") else self.names()[-1:], ["Thing68"])
        self.assertEqual(self.names()[1], "Store")
        self.assertNotIn("Thing5", self.names())
        page.type("x")
        self.assertEqual(self.names(), [])
        page.run("(() => { const e = document.querySelector('#tree-search'); e.value = ''; e.dispatchEvent(new Event('input')); })()")
        self.assertIn("Static variables", self.names())

    def test_paths_fold(self):
        self.done("convert", os.path.join(cli_support.SOURCE, "traces", "shop", "evening.nettrace.gz"), "-o", "x.html")
        page = self.page = self.browser.open(self.path("x.html"))
        page.run("(() => { const s = document.querySelector('#path-type'); s.selectedIndex = [...s.options].findIndex(o => o.text.endsWith('.CartItem'));"
                 "s.dispatchEvent(new Event('change')); })()")
        names = [row[0].split(".")[-1].split(", ")[-1] for row in self.rows("paths")]
        at = names.index("SessionStore")
        self.assertEqual(names[at:at + 3], ["SessionStore", "UserSession>", "UserSession"])
        page.click("#paths .search button")
        names = [row[0].split(".")[-1] for row in self.rows("paths")]
        at = names.index("SessionStore")
        self.assertEqual(names[at + 2:at + 5], ["Tables", "VolatileNode[]", "Node"])
        self.assertEqual(page.texts("#paths .search button")[0], "fewer steps")

    def test_paths_are_searched_too(self):
        page = self.show()
        page.run("(() => { const s = document.querySelector('#path-type'); s.selectedIndex = [...s.options].findIndex(o => o.text === 'HeapLab.Leaf');"
                 "s.dispatchEvent(new Event('change')); })()")
        rows = page.count("#paths tbody tr")
        page.click("#path-search")
        page.type("leaf[]")
        found = page.texts("#paths tbody td.node")
        self.assertIn("HeapLab.Leaf[]", found)
        page.type("nothing like it")
        self.assertEqual(page.count("#paths tbody tr"), 0)
        self.assertGreater(rows, 0)


class Allocated(PageTest):
    RECORDING = os.path.join(SOURCE, "traces", "sites", "leaks.nettrace.gz")

    def test_flame_graph_tree_and_types(self):
        page = self.show(self.RECORDING)
        labels = page.texts("#allocated .tile .label")
        self.assertEqual(labels[0], "Program.Main (SiteLab.cs:144)")
        self.assertIn("Journal.Append (SiteLab.cs:70)", labels)
        page.click("#allocated .choice label", 1)
        tops = page.run("[...document.querySelectorAll('#allocated .tile')].filter(t => t.offsetTop === 0).map(t => [t.ariaLabel, Number(t.dataset.bytes)])")
        totals = {}
        for site in json.loads(self.done("sites", self.RECORDING, "--json").text)["sites"]:
            totals[site["type"]] = totals.get(site["type"], 0) + site["bytes"]
        for (text, size), (name, want) in zip(tops, sorted(totals.items(), key=lambda t: -t[1])):
            self.assertIn(name.split(".")[-1], text)
            self.assertAlmostEqual(size, want, delta=10)
        page.click("#allocated .tile", 0)
        self.assertEqual(page.texts("#allocated .crumbs li"), ["All sampled allocations", "Byte[]"])
        page.key("Escape")
        self.assertEqual(page.texts("#allocated .crumbs li"), ["All sampled allocations"])
        page.run("location.hash = 'open=' + encodeURIComponent('type:System.Int32[]')")
        page.settle()
        self.assertIn("Journal.Append (SiteLab.cs:70)", page.text("#panel"))
        self.assertRegex(page.text("#panel"), r"about 4\.6 MiB ± \d+\.\d KiB in 1,194 objects")

    def test_suspects_say_where_they_were_allocated(self):
        page = self.show(self.RECORDING, address="#open=suspect:1")
        want = [s["allocated"] for s in json.loads(self.done("leaks", self.RECORDING, "--json").text)["suspects"]]
        for text in want:
            self.assertIn(text, page.text("#suspects"))
        self.assertIn(want[1], page.text("#panel"))

    def test_a_dump_without_samples_has_no_section(self):
        self.assertEqual(self.show().count("#allocated"), 0)


class Waits(PageTest):
    def waits(self, **options):
        self.put("in.gclog", shop())
        return self.show("in.gclog", **options)

    def test_flame(self):
        page = self.waits()
        tiles = page.run("[...document.querySelectorAll('#waiting .tile')].map(t => [t.ariaLabel, Number(t.dataset.bytes), t.offsetTop])")
        top = [t for t in tiles if t[2] == 0]
        self.assertEqual([(t[0].split(":")[0].split(" ")[0], t[1]) for t in top],
                         [("Rpc.Call", 5), ("Batch.RunAsync", 4), ("Door.RingAsync", 1)])
        self.assertIn("5 stacks, 50.0 %", top[0][0])
        page.click("#waiting .tile", 0)                 # into it
        self.assertEqual(page.texts("#waiting .crumbs li"), ["All stacks", "Rpc.Call"])
        page.key("Escape")
        self.assertEqual(page.texts("#waiting .crumbs li"), ["All stacks"])
        self.assertEqual(page.texts("#map .crumbs li"), ["All objects"])

    def test_by_memory_and_awaited_first(self):
        page = self.waits()
        page.click("#waiting .choice label", 1)
        sizes = page.run("[...document.querySelectorAll('#waiting .tile')].filter(t => t.offsetTop === 0).map(t => Number(t.dataset.bytes))")
        self.assertEqual(sizes, [6260, 352, 112])
        page.click("#waiting .choice label", 2)
        names = page.texts("#waiting .tree tbody tr[aria-level='1'] td.node .name")
        self.assertEqual(names, ["TaskCompletionSource<Shop.Reply>", "Task.Delay", "Shop.Bell"])
        self.assertEqual(page.texts("#waiting .tree tbody td.node .name")[:3], ["TaskCompletionSource<Shop.Reply>", "Shop.Rpc.Send", "Shop.Rpc.Call"])
        self.assertEqual(page.run("new URLSearchParams(location.hash.slice(1)).get('waits-by')"), "2")

    def test_tree(self):
        page = self.waits()
        text = " ".join(page.texts("#waiting .tree tbody td.node"))
        self.assertIn("Shop.Rpc.Send", text)
        page.click("#waits-search")
        page.type("bell")
        self.assertEqual(page.texts("#waiting .tree tbody td.node"), ["Shop.Door.RingAsync (probably)", "Shop.Bell"])

    def test_nothing_waits(self):
        self.put("none.gclog", b"a 2 shop 0\nt 1 Shop.Only\nr 1000 4 0 1\no 1000 1 18\nc shop 0\n")
        self.assertEqual(self.show("none.gclog").count("#waiting"), 0)


class Calls(PageTest):
    """Paths and trees call an object of an asynchronous method by the method, as the text commands do."""
    def names(self, section):
        return self.page.texts(f"#{section} td.node .name")

    def strings(self):
        self.put("in.gclog", shop())
        page = self.show("in.gclog")
        page.run("(() => { const s = document.querySelector('#path-type'); s.selectedIndex = [...s.options].findIndex(o => o.text === 'System.String');"
                 "s.dispatchEvent(new Event('change')); })()")
        return page

    def test_in_paths(self):
        page = self.strings()
        self.assertIn("async Shop.Rpc.Call", self.names("paths"))
        box = page.run("[...document.querySelectorAll('#paths td.node .name')].find(e => e.textContent === 'async Shop.Rpc.Call').title")
        self.assertIn("AsyncStateMachineBox<", box)
        self.assertIn("Shop.Rpc.<Call>", box)
        page.run("[...document.querySelectorAll('#paths td.node .name')].find(e => e.textContent === 'async Shop.Rpc.Call').click()")
        self.assertIn(box, page.text("#panel"))          # the type has the panel
        self.assertIn("async Rpc.Call", page.texts("#panel .tree td.node .name"))        # short there

    def test_everywhere_else(self):
        """In the dominator tree, the list of types, which both names find, the largest objects, the map and its list."""
        page = self.strings()
        page.click("#tree .search button")               # all below
        self.assertIn("async Rpc.Call", self.names("tree"))
        self.assertIn("async Shop.Rpc.Call", page.texts("#types tbody th"))
        self.assertIn("async Shop.Rpc.Call", page.texts("#path-type option"))
        for text in ("rpc.call", "StateMachineBox"):
            page.run("document.querySelector('#type-search').value = ''")
            page.click("#type-search")
            page.type(text)
            self.assertIn("async Shop.Rpc.Call", page.texts("#types tbody th"), text)
        page.run("[...document.querySelectorAll('#types tbody .name')].find(e => e.textContent === 'async Shop.Rpc.Call').click()")
        self.assertEqual(page.text("#panel h2"), "async Rpc.Call")
        page.run("[...document.querySelectorAll('#map label')].find(b => b.textContent === 'Namespaces, own size').click()")
        page.run("document.querySelector('#map .as-table').open = true")
        into = "[...document.querySelectorAll('#map .as-table button')].find(b => b.ariaLabel === 'Into System.Runtime.CompilerServices')"
        page.run(f"new Promise(done => {{ const look = () => {into} ? done() : setTimeout(look, 10); look(); }})")
        page.run(f"{into}.click()")
        self.assertIn("async Shop.Rpc.Call", page.texts("#map .as-table tbody .name"))
        for section in ("suspects", "types", "largest", "map", "tree"):
            self.assertNotIn("StateMachineBox", page.run(f"document.querySelector('#{section}').innerText"), section)

    def test_searched_by_both_names(self):
        page = self.strings()
        page.click("#path-search")
        page.type("rpc.call")
        self.assertIn("async Shop.Rpc.Call", self.names("paths"))
        page.run("document.querySelector('#path-search').value = ''")
        page.type("StateMachineBox")
        self.assertIn("async Shop.Rpc.Call", self.names("paths"))


class Keyboard(PageTest):
    """Everything that a mouse can do, keys can do, too."""
    def test_panel_by_keys(self):
        page = self.show()
        page.run("document.querySelector('#types tbody a').focus()")
        name = page.run("document.activeElement.textContent")
        page.key("ArrowDown")
        self.assertNotEqual(page.run("document.activeElement.textContent"), name)
        page.key("Enter")
        self.assertFalse(page.run("document.querySelector('#panel').hidden"))
        seen = set()
        for _ in range(60):
            page.key("Tab")
            where = page.run("(() => { const e = document.activeElement; return e.closest('#panel') ? e.tagName + ' ' + (e.ariaLabel ?? e.textContent).slice(0, 12) : ''; })()")
            if where == "":
                break
            seen.add(where)
        for part in ("BUTTON Close", "BUTTON Show in the", "BUTTON Copy the com", "TR", "A "):
            self.assertTrue(any(part[:15] in where for where in seen), (part, seen))
        page.run("document.querySelector('#panel h2').focus()")
        page.key("Escape")
        self.assertTrue(page.run("document.querySelector('#panel').hidden"))
        self.assertTrue(page.run("document.activeElement.closest('#types') !== null"))
        self.escape(page)

    def escape(self, page):
        """Closes the panel wherever the focus is, which stays where it is outside of the panel."""
        page.click("#types tbody a")
        page.run("document.querySelector('#tree tbody tr').focus()")
        page.key("Escape")
        self.assertEqual(page.run("[document.querySelector('#panel').hidden, document.activeElement.closest('section').id]"), [True, "tree"])
        page.click("#types tbody a")
        page.click("#types thead button", 0)                # the row that opened it goes
        page.run("document.querySelector('#panel h2').focus()")
        page.key("Escape")
        self.assertEqual(page.run("[document.querySelector('#panel').hidden, document.activeElement.id]"), [True, "content"])
        page.click("#types .about summary")
        page.key("Escape")
        self.assertEqual(page.run("[document.querySelector('#types .about').open, document.activeElement.ariaLabel]"), [False, "About: Types"])

    def test_every_control_has_a_tab_stop(self):
        """Or is one of a group in which arrows move."""
        page = self.show()
        page.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        page.settle()
        lost = page.run("[...document.querySelectorAll('button, a, input, select, summary')].filter(e => e.tabIndex < 0 && e.offsetWidth > 0)"
                        ".filter(e => !e.closest('.map, .tree, .sortable tbody')).map(e => e.outerHTML.slice(0, 120))")
        self.assertEqual(lost, [])
        groups = page.run("[...document.querySelectorAll('.map, .tree tbody, .sortable tbody')].filter(g => g.querySelector('.tile, tr, a, button') && g.offsetWidth > 0)"
                          ".filter(g => g.querySelectorAll('[tabindex=\"0\"]').length !== 1)"
                          ".map(g => g.className + ' ' + g.querySelectorAll('[tabindex=\"0\"]').length + ' ' + g.textContent.slice(0, 60))")
        self.assertEqual([g for g in groups if not g.endswith(" ")], [])


if __name__ == "__main__":
    page_test.main()
