"""leaks: planted leaks are found with known numbers, healthy programs are left alone; text, JSON and CSV say the same."""
import csv
import io
import json
import os
import re

from cli_support import INCOMPLETE, SOURCE, CliTest, main, small_trace, trace
from test_retained_paths import FINALIZER, HANDLE, PINNED, heap

RECORDINGS = ("net8-wks", "net8-svr", "net9-wks", "net9-svr", "net10-wks", "net10-svr", "net10-wks-ranges", "net10-wks-nonames",
              "net8-wks-two-dumps", "net10-wks-lossy", "net10-wks-killed")
MIB = 1 << 20


def cache(orders=100, each=100_000):
    """A static list of large orders, and other objects."""
    objects = {"app": ("Shop.App", 40, ["cache", "note"]), "cache": ("Shop.Cache", 24, ["array"]), "note": ("System.String", 600, []),
               "array": ("Shop.Order[]", 824, [f"order{i}" for i in range(orders)])}
    for i in range(orders):
        objects[f"order{i}"] = ("Shop.Order", 32, [f"text{i}"])
        objects[f"text{i}"] = ("System.Char[]", each, [])
    return heap(objects, [("app", "s_app")])


def two_caches(pages, carts):
    """A large cache of pages, and another one of carts."""
    objects = {"pages": ("Shop.Page[]", 24 + 8 * pages, [f"page{i}" for i in range(pages)]),
               "carts": ("Shop.Cart[]", 24 + 8 * carts, [f"cart{i}" for i in range(carts)])}
    objects |= {f"page{i}": ("Shop.Page", 20_000, []) for i in range(pages)} | {f"cart{i}": ("Shop.Cart", 2000, []) for i in range(carts)}
    return heap(objects, [("pages", "s_pages"), ("carts", "s_carts")])[0]


def rooms(messages, of="Chat.Message", rooms=40, each=40, archived=0):
    """Rooms of one registry, each with its own messages; and others in an archive."""
    objects = {"registry": ("Chat.Registry", 24, ["all"]), "all": ("Chat.Room[]", 24 + 8 * rooms, [f"room{r}" for r in range(rooms)])}
    for r in range(rooms):
        objects[f"room{r}"] = ("Chat.Room", 24, [f"list{r}"])
        objects[f"list{r}"] = (f"{of}[]", 24 + 8 * messages, [f"m{r}.{i}" for i in range(messages)])
        objects |= {f"m{r}.{i}": (of, each, []) for i in range(messages)}
    objects["archive"] = ("Chat.Archive", 24 + 8 * archived, [f"old{i}" for i in range(archived)])
    objects |= {f"old{i}": (of, each, []) for i in range(archived)}
    return heap(objects, [("registry", "s_registry"), *([("archive", "s_archive")] if archived else [])])[0]


def accounts(entries, archived=0):
    """Accounts of one bank, with so many entries each; and others in an archive."""
    objects = {"bank": ("Bank.Branch", 24, ["all"]), "all": ("Bank.Account[]", 24 + 8 * len(entries), [f"a{i}" for i in range(len(entries))])}
    for i, n in enumerate(entries):
        objects[f"a{i}"] = ("Bank.Account", 24, [f"list{i}"])
        objects[f"list{i}"] = ("Bank.Entry[]", 24 + 8 * n, [f"e{i}.{k}" for k in range(n)])
        objects |= {f"e{i}.{k}": ("Bank.Entry", 40, []) for k in range(n)}
    objects["archive"] = ("Bank.Archive", 24 + 8 * archived, [f"x{i}" for i in range(archived)])
    objects |= {f"x{i}": ("Bank.Entry", 40, []) for i in range(archived)}
    return heap(objects, [("bank", "s_bank"), *([("archive", "s_archive")] if archived else [])])[0]


def labels(n=50, each=100_000):
    """A cache of what was used last: a dictionary and a linked list of the same nodes."""
    node = "System.Collections.Generic.LinkedListNode`1[Shop.Label]"
    objects = {"cache": ("Shop.Labels", 32, ["map", "list"]), "map": (f"System.Collections.Generic.Dictionary`2[System.Int32,{node}]", 80, ["entries"]),
               "entries": (f"System.Collections.Generic.Dictionary`2+Entry[System.Int32,{node}][]", 24 + 24 * n, [f"n{i}" for i in range(n)]),
               "list": ("System.Collections.Generic.LinkedList`1[Shop.Label]", 40, ["n0"])}
    objects |= {f"n{i}": (node, 48, [f"l{i}", "list", *([f"n{i + 1}"] if i + 1 < n else [])]) for i in range(n)}
    objects |= {f"l{i}": ("Shop.Label", each, []) for i in range(n)}
    return heap(objects, [("cache", "s_labels")])[0]


def catalogue(articles, found, each=500, texts=0):
    """Articles in a store, some of which a search result holds, too; and other texts."""
    objects = {"store": ("Shop.Store", 24, ["list"]), "list": ("System.Collections.Generic.List`1[Shop.Article]", 32, ["all"]),
               "all": ("Shop.Article[]", 24 + 8 * articles, [f"a{i}" for i in range(articles)]),
               "session": ("Shop.Session", 24, ["result"]), "result": ("Shop.Found", 24 + 8 * found, [f"a{i}" for i in range(found)]),
               "texts": ("System.Object[]", 24 + 8 * texts, [f"t{i}" for i in range(texts)])}
    objects |= {f"a{i}": ("Shop.Article", 24, [f"text{i}"]) for i in range(articles)} | {f"text{i}": ("System.String", each, []) for i in range(articles)}
    objects |= {f"t{i}": ("System.String", 1000, []) for i in range(texts)}
    return heap(objects, [("store", "s_store"), ("session", "s_session"), ("texts", "s_texts")])[0]


def versions(collection, part, shared, now=1000, n=1000, together=False):
    """An immutable collection of N documents, and the one that replaced it, of NOW; they share the parts of so many."""
    objects = {"was": ("Lsp.Solution", 24, ["from"]), "is": ("Lsp.Solution", 24, ["to"])}
    for name, count in (("from", n), ("to", now)):
        ids = [f"{name}{i}" if name == "from" or i < now - shared else f"from{i - now + n}" for i in range(count)]
        if collection == part:
            objects["was" if name == "from" else "is"][2][0] = ids[0]
        else:
            objects[name] = (collection, 40, ids[:1])
        for i, at in enumerate(ids):
            objects.setdefault(at, (part, 56, [f"doc.{at}", *ids[i + 1:i + 2]]))
            objects.setdefault(f"doc.{at}", ("Lsp.Document", 500, []))
    if together:
        return heap(objects | {"all": ("Lsp.Solution[]", 40, ["was", "is"])}, [("all", "s_all")])[0]
    return heap(objects, [("was", "s_was"), ("is", "s_is")])[0]


# what a sentence says of a lifetime -> what a shown line of the path has
TOLD = ((r"held by (?:the )?(static (?:variable|property) \S+?)[.,]?(?: by way of| through|\.|$)", None),
        (r"registered in the service provider", "DependencyInjection."), (r"scope of the service provider", "DependencyInjection."),
        (r"is held by a call of ([\w.]+),", None), (r"is held by a timer", "TimerQueueTimer"), (r"with a CancellationToken", "CancellationTokenSource"),
        (r"value of an AsyncLocal", "AsyncLocalValueMap"), (r"value of a ThreadLocal", "ThreadLocal"), (r"is a hosted service", "Hosting."),
        (r"by a ConditionalWeakTable", "ConditionalWeakTable"), (r"part of the request pipeline", "RequestDelegate"),
        (r"(?:held by|reached through) the field (\w+) of one ", None), (r"(?:held by|reached through) one ([\w.]+)", None))


def untold(suspect):
    """What the sentence of SUSPECT names and its path does not show."""
    lines = "\n".join(suspect["lines"])
    for pattern, wanted in TOLD:
        found = re.search(pattern, suspect["sentence"])
        if found and suspect["lines"] and (wanted or found[1]) not in lines:
            yield f"{found[0]}: {lines}"


class Leaks(CliTest):
    def test_paths_lead_through_what_sentences_name(self):
        files = [*map(trace, RECORDINGS), *(os.path.join(SOURCE, "traces", "shop", f"{name}.nettrace.gz") for name in ("morning", "evening"))]
        suspects = [s for file in files
                    for s in json.loads(self.gcdumpc("leaks", file, "--share", "0.1", "--min-bytes", "2000", "--json").text)["suspects"]]
        self.assertGreater(len(suspects), 50)
        self.assertEqual([u for s in suspects for u in untold(s)], [])

    def json(self, *words, code=0):
        got = json.loads(self.done("leaks", *words, "--json", "-q", code=code).text)
        self.assertEqual(got["schema"], 2)
        self.assertEqual(got["verdict"]["complete"], code == 0)
        return got

    def csv(self, *words):
        return list(csv.DictReader(io.StringIO(self.done("leaks", *words, "--csv", "-q").text, newline="")))

    def test_healthy_programs(self):
        for name in RECORDINGS:
            code = 3 if name in INCOMPLETE else 0
            run = self.done("leaks", trace(name), code=code)
            where = "" if name not in INCOMPLETE or name == "net10-wks-nonames" else " in what has arrived"
            begin = f"Nothing{where} looks like a leak. Largest: "
            if name == "net10-wks-nonames":
                begin = "No single object or type looks like a leak. Timers, "
            if name == "net10-wks-lossy":
                begin = "No statement is possible: of 95.0 % of the heap (638.8 KiB) what holds it is missing, because the dump is incomplete.\n"
            text = re.sub(r"\A\(INCOMPLETE dump: .*\)\n", "" if code == 3 else "unexpected", run.text)
            text = re.sub(r"\A\([\d,]+ objects \(.*\) are not reachable .*\)\n\n", "", text)
            self.assertTrue(text.startswith(begin), run.text[:100])
            self.assertIn("\nSuspects retain 4194304 bytes or more (--share, --min-bytes).\n", text)
            got = self.json(trace(name), "--top", "1000000", code=code)
            self.assertEqual((got["suspect_count"], got["suspects"], got["threshold_bytes"]), (0, [], 4 * MIB))
            self.assertLessEqual(sum(c["bytes"] for c in got["consumers"]), got["heap_bytes"])
            known = sum(c["bytes"] for c in got["consumers"]) + got["observed_bytes"]
            self.assertGreater(known, 0.9 * got["heap_bytes"] if code == 0 else 0)
            sizes = [c["bytes"] for c in got["consumers"]]
            self.assertEqual(sizes, sorted(sizes, reverse=True))
            largest = got["largest"]
            self.assertGreaterEqual(largest["bytes"], 0.64 * sizes[0])
            self.assertEqual(largest["path"][-1]["type"], largest["type"])
            self.assertIn(f" 1. {largest['sentence']} ", " ".join(run.text.split()))
            self.assertIn("\nThe largest consumers by type:\n", run.text)

    def test_largest_of_the_program(self):
        """The verdict names a holder of the program's own, if it is worth it, although one of the framework is larger."""
        for size, said in (3000, "Catalogue 2.9 KiB (1 object)"), (30, "s_large 97.7 KiB (1 Byte[] object)"):
            objects = {"own": ("Shop.Catalogue", size, []), "large": ("System.Byte[]", 100000, [])}
            self.put("in", heap(objects, [("own", "s_own"), ("large", "s_large")])[0])
            verdict = self.done("leaks", "in").text.split("\n")[0]
            self.assertEqual(verdict, f"Nothing looks like a leak. Largest: {said}.")
            self.assertEqual(self.json("in")["none"], verdict)

    def test_names_of_the_compiler_are_for_programs(self):
        objects = {"store": ("Shop.Store", 24, ["items"]), "items": ("System.Object[]", 80, ["it", "box"]),
                   "it": ("Shop.Cart+<Items>d__6", 5000, []), "box": ("Shop.Cart+<>c__DisplayClass5_0", 3000, [])}
        self.put("in", heap(objects, [("store", "s_store")])[0])
        text = self.done("leaks", "in", "--min-bytes", "6K").text.split("In it, by type:")[1]
        self.assertRegex(text, r" iterator Shop\.Cart\.Items\n.* variables of a lambda in Shop\.Cart\n")
        self.assertEqual([c["type"].split(".")[-1] for c in self.json("in", "--min-bytes", "6K")["suspects"][0]["content"]][:2],
                         ["<Items>d__6", "<>c__DisplayClass5_0"])

    def test_containers_and_what_observes_are_no_consumers(self):
        """Each singleton counts for itself, and the runtime's own event source for nobody."""
        objects = {"provider": ("Microsoft.Extensions.DependencyInjection.ServiceProvider", 100, ["services"]),
                   "services": ("System.Collections.Generic.Dictionary`2[System.Type,System.Object]", 80, ["a", "b"]),
                   "a": ("Shop.Catalogue", 3000, ["text"]), "text": ("System.String", 500, []), "b": ("Shop.Prices", 2000, []),
                   "source": ("System.Diagnostics.Tracing.NativeRuntimeEventSource", 24, ["events"]), "events": ("System.Byte[]", 9000, [])}
        self.put("in", heap(objects, [("provider", "s_provider"), ("source", "s_source")])[0])
        got = self.json("in")
        self.assertEqual([(c["type"].split("<")[0].split(".")[-1], c["bytes"]) for c in got["consumers"]],
                         [("Catalogue", 3500), ("Prices", 2000), ("ServiceProvider", 100), ("Dictionary", 80)])
        self.assertTrue(got["none"].startswith("Nothing looks like a leak. Largest: Catalogue 3.4 KiB ("), got["none"])

    def test_a_computation_of_fsharp_that_went_on(self):
        """It waits at another line, where it is another class, and has what it had."""
        def at(line, orders):
            f = f"Lsp.Program+tick@{line}"
            objects = {"f": (f, 32, ["all"]), "all": ("Lsp.Order[]", 24 + 8 * orders, [f"o{i}" for i in range(orders)])}
            return heap(objects | {f"o{i}": ("Lsp.Order", 1000, []) for i in range(orders)}, [("f", "s_f")])[0]
        self.assertEqual(self.grown(at(68, 1000), at(70, 1000))[1]["suspects"], [])
        got = self.grown(at(68, 1000), at(70, 3000))[1]["suspects"]
        self.assertEqual([(s["bytes_before"] > 10**6, s["grown"].partition(": ")[2]) for s in got], [(True, "1,000 -> 3,000 Order, +1.9 MiB, 100 % of the growth")])

    def test_a_function_of_fsharp_holds(self):
        objects = {"f": ("Lsp.Program+tick@68", 32, ["all"]), "all": ("Lsp.Order[]", 824, [f"o{i}" for i in range(100)])}
        objects |= {f"o{i}": ("Lsp.Order", 100_000, []) for i in range(100)}
        self.put("in", heap(objects, [("f", "s_f")])[0])
        text = " ".join(self.done("leaks", "in").text.split())
        self.assertIn(" a function in ", text)
        self.assertNotIn("one a ", text)

    def test_types_without_names(self):
        text = self.done("leaks", trace("net10-wks-nonames"), "--min-bytes=1K", "--share=1", code=3).text
        self.assertRegex(text, r"\ban UNKNOWN 0x")
        self.assertRegex(text, r"\bAn UNKNOWN 0x")
        self.assertNotRegex(text, r"\b[Aa] UNKNOWN")

    def test_text(self):
        self.expected("leaks-net10-wks.txt", self.done("leaks", self.link("net10-wks")).text)
        self.expected("leaks-net10-wks-100K.txt", self.done("leaks", self.link("net10-wks"), "--min-bytes=100K", "--top=3").text)
        run = self.done("leaks", self.link("net10-wks-lossy"), code=3)
        self.expected("leaks-net10-wks-lossy.txt", run.text)
        self.assertIn("the dump is incomplete", run.lines[-1])

    def test_where_the_memory_is(self):
        """Without the memory of the process, its parts are unknown, in JSON, too."""
        self.put("in", heap({"big": ("Shop.Big", 5 * MIB, []), "dead": ("Shop.Dead", 1000, [])}, [("big", "s_big")])[0])
        parts = self.json("in")["memory_parts"]
        self.assertEqual(parts, {"alive": 5 * MIB, "not_reachable": 1000, "free": None, "unused": None, "native_or_unknown": None,
                                 "files": None, "shared": None})
        self.assertIn(" Memory: 5.0 MiB live objects, 1000 B not reachable. What the process had besides is not known. "
                      "Objects that died before the dump are not in it.", " ".join(self.done("leaks", "in").text.split()))

    def test_growth(self):
        """What grew between two dumps comes first, although it is too small for a suspect of one; what did not grow is not shown."""
        self.put("old", two_caches(2000, 200))
        self.put("new", two_caches(2001, 1200))
        self.assertEqual([s["place"] for s in self.json("new")["suspects"]], ["s_pages"])
        got = self.json("old", "new")
        self.assertEqual([(s["place"], s["bytes_before"], s["bytes_delta"]) for s in got["suspects"]], [("s_carts", 401_624, 2_008_000)])
        self.assertEqual(got["suspects"][0]["grown"], "s_carts: 200 -> 1,200 Cart, +1.9 MiB, 99 % of the growth")
        self.assertEqual((got["older_recording"], got["older_heap_bytes"]), ("old", 40_417_648))
        text = " ".join(self.done("leaks", "old", "new").text.split())
        self.assertIn(" 1. s_carts: 200 -> 1,200 Cart, +1.9 MiB, 99 % of the growth. 5.7 % of the heap ", text)
        self.assertIn("(1 more place, which grew less or not: --share 0.1 --min-bytes 64K shows all)", text)
        self.assertIn(" It grew between two dumps: a third one shows whether that goes on or ends at a limit (gcdumpc diff new LATER). ", text)
        self.assertNotIn("Its size, not its growth", text)
        shop = [os.path.join(SOURCE, "traces", "shop", f"{name}.nettrace.gz") for name in ("morning", "evening")]
        got = self.json(*shop)["suspects"]
        self.assertEqual([(s["place"], s["grown"].split(": ")[1]) for s in got],
                         [("SessionStore", "1,000 -> 3,000 UserSession, +4.1 MiB, 53 % of the growth"),
                          ("PriceFeed", "500 -> 1,500 PriceWatch, +3.2 MiB, 41 % of the growth")])
        self.assertEqual(got[0]["advice"], "If it has no limit, look in SessionStore for what "
                                           "adds to it and never removes.")
        words = re.search(r"\(1 more place, which grew less or not: (.*) shows all\)", text)[1].split()
        self.assertEqual([s["place"] for s in self.json("old", "new", *words)["suspects"]], ["s_carts", "s_pages"])
        both = self.json("old", "new", "--min-bytes", "1M", "--share", "1")["suspects"]
        self.assertEqual([(s["place"], s["bytes_before"]) for s in both], [("s_carts", None), ("s_pages", 40_016_024)])
        self.assertEqual(both[0]["bytes_delta"], 2_008_000)        # as the text says, estimated
        self.assertEqual(both[0]["grown"], "s_carts: 1,200 Cart (in the heap 200 -> 1,200), about +1.9 MiB, 99 % of the growth")
        self.assertIn("No suspect has grown much between the two dumps.\n", self.done("leaks", "new", "old").text)
        self.assertIsNone(self.json("new")["suspects"][0].get("grown"))
        self.assertNotIn("bytes_before", self.csv("new")[0])
        self.refused(2, "leaks -o shows one dump; gcdumpc diff -o shows what grew between two", "leaks", "old", "new", "-o", "x.html")

    def grown(self, old, new):
        """What leaks says of two dumps: the text after the sizes, and the same in JSON.  What diff begins with is never anything else."""
        self.put("old", old)
        self.put("new", new)
        text = " ".join(self.done("leaks", "old", "new").text.split())
        got = self.json("old", "new")
        said = got["headline"] if got["headline"] != "No suspect has grown much between the two dumps." else None
        for words in ((), ("--paths",)):
            line = self.done("diff", "old", "new", *words).text.split("\n")[0]
            self.assertEqual(None if line.startswith("Dump ") else line, said and said.removesuffix(".") if got["growth"] else said, words)
        return re.sub(r"^The heap had [^,]*, and has [\d.]+ [KM]iB\. ", "", text), got

    def test_a_note_is_said_once(self):
        """The largest consumer, which is large by design, and its advice."""
        self.put("labels", labels())
        text = " ".join(self.done("leaks", "labels").text.split())
        self.assertEqual(text.count("is held by one Labels: 50 Label in a dictionary and a linked list."), 1, text)
        self.assertEqual(text.count(" are a cache of what was used last. "), 1, text)
        self.assertNotIn("Note:", text)

    def test_growth_up_to_a_limit(self):
        """Owners none of which has more than the fullest had, and many of which have as much, are told and not accused; others are."""
        none = ("No suspect has grown much between the two dumps. Account: 4,000 -> 7,200 Entry, +150.0 KiB, 100 % of the growth. "
                "None of the 1,000 Account has more than 8 Entry, as before, and 800 have so many: they fill up to a limit.")
        text, got = self.grown(accounts([4] * 980 + [8] * 10 + [0] * 10), accounts([8] * 800 + [4] * 200))
        self.assertEqual((got["headline"], got["suspects"], got["growth"]), (none, [], None))
        # owners that had none are not new
        text, got = self.grown(accounts([8] * 600 + [0] * 300), accounts([8] * 900))
        self.assertEqual((got["suspects"], got["growth"]), ([], None))
        self.assertIn("None of the 900 Account has more than 8 Entry, as before, and 900 have so many: ", text)
        for before, now, same in (([4] * 1000, [8] * 1000, True), ([8] * 10 + [2] * 990, [8] * 10 + [6] * 990, False), ([8] * 500, [8] * 1000, False)):
            text, got = self.grown(accounts(before), accounts(now))
            self.assertRegex(got["headline"], r"[\d,]+ -> [\d,]+ (Entry|Account), \+")
            self.assertNotIn("fill up to", text)
            self.assertEqual("1,000 of 1,000 Account have 8 each: if that is their limit, nothing is wrong." in text, same, text)
            self.assertTrue(got["growth"] or got["suspects"], text)

    def test_versions_of_a_collection(self):
        """An element that two versions share is on one path; a collection that has as many as before has not grown."""
        tree = "System.Collections.Immutable.ImmutableSortedDictionary`2"
        for collection, part in ((f"{tree}[System.String,Lsp.Document]", f"{tree}+Node[System.String,Lsp.Document]"),
                                 ("Microsoft.FSharp.Collections.FSharpMap`2[System.String,Lsp.Document]",
                                  "Microsoft.FSharp.Collections.MapTreeNode`2[System.String,Lsp.Document]"),
                                 ("Microsoft.FSharp.Collections.FSharpList`1[Lsp.Document]", "Microsoft.FSharp.Collections.FSharpList`1[Lsp.Document]")):
            text, got = self.grown(versions(collection, part, 900), versions(collection, part, 0))
            self.assertEqual((got["suspects"], got["growth"]), ([], None), text)
            self.assertTrue(text.startswith("No suspect has grown much between the two dumps. Solution has 1,000 Document, as before. In the heap are "
                                            "1,100 -> 2,000 of them, +488.7 KiB, in other versions of that immutable collection, too, which share "
                                            "with it what has not changed. "), text)
            # one that has grown has as many as it holds
            text, got = self.grown(versions(collection, part, 900), versions(collection, part, 0, 3000))
            self.assertEqual(len(got["suspects"]), 1, text)
            self.assertRegex(got["suspects"][0]["grown"], r"^Solution: 1,000 -> 3,000 (Document|\S+<.*>), \+1\.1 MiB, 69 % of the growth$")
        # one path leads to both
        text, got = self.grown(versions(collection, part, 900, together=True), versions(collection, part, 0, together=True))
        self.assertEqual(got["growth"], None, text)
        self.assertIn(" Solution has 1,000 Document, as before. In the heap are 1,100 -> 2,000 of them, ", text)
        # what is a list of the program's own tells by its paths
        text, got = self.grown(versions("Lsp.Docs", "Lsp.Docs", 900), versions("Lsp.Docs", "Lsp.Docs", 0))
        self.assertNotIn("versions", text)

    def test_growth_in_an_array_of_one_length(self):
        """A ring that has become full gets no more; one with room left, or a longer array, may."""
        def ring(places, n):
            objects = {"ring": ("Shop.Ring", 24, ["slots"]), "slots": ("Shop.Order[]", 24 + 8 * places, [f"o{i}" for i in range(n)])}
            return heap(objects | {f"o{i}": ("Shop.Order", 200, []) for i in range(n)}, [("ring", "s_ring")])[0]
        text, got = self.grown(ring(5000, 2000), ring(5000, 5000))
        self.assertEqual((got["suspects"], got["growth"]), ([], None))
        self.assertTrue(text.startswith("No suspect has grown much between the two dumps. Ring: 2,000 -> 5,000 Order, +585.9 KiB, 100 % of the growth. "
                                        "It fills an array that is as long as before, and has no room for more. "), text)
        for before, now in (((5000, 2000), (5000, 4000)), ((2500, 2000), (5000, 5000))):
            text, got = self.grown(ring(*before), ring(*now))
            self.assertTrue(got["growth"] or got["suspects"], text)
            self.assertNotIn("as long as before", text)

    def test_growth_outside_the_heap(self):
        """It comes first if it is more than what the heap has got, with the objects that can own it."""
        def frames(n, found, observed=0):
            objects = {"camera": ("Vision.Camera", 24, [f"f{i}" for i in range(n)]), "out": ("Vision.Found[]", 24 + 8 * found, [f"d{i}" for i in range(found)])}
            objects |= {f"f{i}": ("Vision.FrameHandle", 40, []) for i in range(n)} | {f"d{i}": ("Vision.Found", 1000, []) for i in range(found)}
            roots = [("camera", "s_camera"), ("out", "s_out")]
            if observed > 0:
                objects["log"] = ("System.Diagnostics.Tracing.NativeRuntimeEventSource", observed, [])
                roots.append(("log", "s_log"))
            return heap(objects, roots, flags={"Vision.FrameHandle": 2})[0]
        def said(more, new, old=frames(150, 9000), native=680):
            self.put_with_memory("old", old, native - 680)
            self.put_with_memory("new", new, native - 680 + more)
            text = " ".join(self.done("leaks", "old", "new").text.split())
            line = self.done("diff", "old", "new").text.split("\n")[0]
            self.done("diff", "old", "new", "-o", "x.html")
            with open(self.path("x.html"), encoding="utf-8") as page:
                return text, self.json("old", "new"), line, page.read()
        outside = ("Most has come outside the managed heap: +35.0 MiB native or unknown, 680.0 MiB -> 715.0 MiB; FrameHandle objects, which have a "
                   "finalizer, went from 150 to 187.")
        grown = "s_out: 9,000 -> 11,000 Found, +1.9 MiB, 100 % of the growth of the heap"
        text, got, line, page = said(35, frames(187, 11_000))
        self.assertIn(f" MiB. {outside} No. Where ", text)
        self.assertIn(f" 1. {grown}. ", text)
        self.assertEqual((got["headline"], got["native_or_unknown"]), (outside, {"before": 680 * MIB, "after": 715 * MIB}))
        self.assertEqual(line, f"{outside} {grown}")
        self.assertIn(outside, page)
        # no more than the heap, or as much as always varies
        for more in 3, 1:
            text, got, line, page = said(more, frames(187, 11_000))
            self.assertNotIn("come outside the managed heap", text + line + page)
            self.assertTrue(got["headline"].endswith(", 100 % of the growth"), got["headline"])
        self.assertNotIn("come outside the managed heap", said(35, frames(187, 60_000))[0])
        # where no object can own more of it, a thirty-second part of all memory, of which 460 MiB and MORE are resident here
        for more, frames_after, come in ((14, 150, False), (14, 187, True), (15, 150, True)):
            self.assertEqual("come outside the managed heap" in said(more, frames(frames_after, 9000), native=240)[0], come, (more, frames_after))
        # buffers of the first recording come between it and the second one
        first, later = (frames(150, 9000, observed) for observed in (0, 200_000))
        handles = frames(187, 9000, 200_000)
        self.assertNotIn("come outside the managed heap", said(7, handles, first, 40)[0])
        for more, old in ((9, first), (7, later)):
            self.assertIn("come outside the managed heap", said(more, handles, old, 40)[0])

    def test_two_dumps_in_the_wrong_order(self):
        """The same warnings as those of diff."""
        for old, new in (("evening", "morning"), ("morning", "evening")):
            files = [os.path.join(SOURCE, "traces", "shop", f"{time}.nettrace.gz") for time in (old, new)]
            warnings = self.done("leaks", *files).lines
            self.assertEqual([m for m in warnings if "than" in m], [m for m in self.done("diff", *files).lines if "than" in m])
            self.assertEqual(any("is older than" in m for m in warnings), old == "evening", warnings)

    def test_growth_of_many_owners(self):
        """What has come, and where to look, although each owner alone is a suspect that has grown by little."""
        text, got = self.grown(rooms(2000), rooms(4000))
        said = "Room: 80,000 -> 160,000 Message, +3.7 MiB, 100 % of the growth."
        advice = ("40 of 40 Room have 4,000 each: if that is their limit, nothing is wrong. "
                  "Else look in Room for what adds Message objects and never removes them.")
        self.assertTrue(text.startswith(f"{said} {advice} It grew between two dumps: a third one shows whether that goes on or ends at a limit "
                                        "(gcdumpc diff new LATER). Memory: "), text)
        self.assertEqual((got["headline"], got["suspects"], got["suspect_count"], got["none"]), (said, [], 0, said))
        row = got["growth"]
        self.assertEqual((row["advice"], row["owner"], row["type"], row["count_before"], row["count_after"], row["bytes"]),
                         (advice, "Chat.Room", "Chat.Message", 80_000, 160_000, 3_840_000))
        text, got = self.grown(rooms(2000, "System.String"), rooms(4000, "System.String"))
        self.assertTrue(text.startswith("Room: 80,000 -> 160,000 String, +3.7 MiB, 100 % of the growth. 40 of 40 Room have 4,000 each: "), text)

    def test_growth_in_the_elements(self):
        """A collection with as many elements as before is not told to have grown; what has come in them is."""
        text, got = self.grown(rooms(500, rooms=20), rooms(1500, rooms=20))
        self.assertTrue(text.startswith("Room: 10,000 -> 30,000 Message, +937.5 KiB, 100 % of the growth. 20 of 20 Room have 1,500 each: "), text)
        self.assertEqual(got["suspects"], [])
        text, got = self.grown(catalogue(100, 0, 5_000), catalogue(100, 0, 50_000))
        self.assertEqual([(s["place"], s["advice"]) for s in got["suspects"]],
                         [("Store", "There are no more Article objects than before: look for what makes them larger.")])

    def test_growth_in_collections_of_a_collection(self):
        """Each group is heavy, and another path leads to them than before: the hub has grown, by what is in its groups."""
        def hub(guests, above):
            inner = "System.Collections.Generic.List`1[Chat.Guest]"
            objects = {"hub": ("Chat.Hub", 24, ["groups"]), "groups": (f"System.Collections.Generic.List`1[{inner}]", 32, ["all"]),
                       "all": (f"{inner}[]", 24 + 8 * 20, [f"group{g}" for g in range(20)]), "host": ("System.Host", 24, ["hub"])}
            for g in range(20):
                objects[f"group{g}"] = (inner, 32, [f"items{g}"])
                objects[f"items{g}"] = ("Chat.Guest[]", 24 + 8 * guests, [f"g{g}.{i}" for i in range(guests)])
                objects |= {f"g{g}.{i}": ("Chat.Guest", 300, []) for i in range(guests)}
            return heap(objects, [(above, f"s_{above}")])[0]
        text, got = self.grown(hub(1000, "hub"), hub(1500, "host"))
        self.assertEqual([(s["place"], s["grown"]) for s in got["suspects"]], [("Hub", "Hub: 20,000 -> 30,000 Guest, +2.9 MiB, 100 % of the growth")], text)
        self.assertTrue(got["suspects"][0]["advice"].startswith("Look in Hub for what adds Guest objects to these collections"), text)

    def test_growth_beside_others_of_its_type(self):
        """What an owner had and has, not what the heap had and has: others hold objects of the same types."""
        def carts(n, saved):
            objects = {"carts": ("Shop.Cart[]", 24 + 8 * n, [f"c{i}" for i in range(n)]), "saved": ("Shop.Cart[]", 24 + 8 * saved, [f"s{i}" for i in range(saved)])}
            objects |= {f"c{i}": ("Shop.Cart", 2000, []) for i in range(n)} | {f"s{i}": ("Shop.Cart", 2000, []) for i in range(saved)}
            return heap(objects, [("carts", "s_carts"), ("saved", "s_saved")])[0]
        got = self.grown(carts(200, 300), carts(1200, 300))[1]
        self.assertEqual([s["grown"] for s in got["suspects"]], ["s_carts: 200 -> 1,200 Cart, +1.9 MiB, 100 % of the growth"])
        # new in its place: what it had is not known, unless there was nothing
        got = self.grown(carts(0, 300), carts(1200, 300))[1]
        self.assertEqual([s["grown"] for s in got["suspects"]], ["s_carts: 1,200 Cart (in the heap 300 -> 1,500), about +1.8 MiB, 80 % of the growth"])
        got = self.grown(carts(0, 0), carts(1200, 0))[1]
        self.assertEqual([s["grown"] for s in got["suspects"]], ["s_carts: 0 -> 1,200 Cart, about +2.3 MiB, 100 % of the growth"])
        text, got = self.grown(rooms(2000, archived=5000), rooms(4000, archived=5000))
        self.assertEqual((got["growth"]["owner"], got["growth"]["count_before"], got["growth"]["count_after"]), ("Chat.Room", 80_000, 160_000))
        self.assertTrue(text.startswith("Room: 80,000 -> 160,000 Message, +3.7 MiB, "), text)

    def test_growth_without_an_owner(self):
        """A heap that has grown is never said to have no suspect that has grown."""
        old, new = (heap({f"x{i}": (f"System.T{i % 40:02}", 100, []) for i in range(n)}, [(f"x{i}", f"s_{i}") for i in range(n)])[0] for n in (2000, 4000))
        said = ("The heap has grown by 195.3 KiB, of which no suspect explains much. Most are System.T00: 50 -> 100, +4.9 KiB. "
                "gcdumpc diff --paths shows what holds what has come.")
        text, got = self.grown(old, new)
        self.assertEqual((text[:len(said)], got["headline"], got["none"], got["growth"]), (said, said, said, None))

    def test_bytes_that_moved(self):
        """What something else held, too, has not come when that lets go of it."""
        none = "No suspect has grown much between the two dumps."
        self.assertEqual(self.grown(catalogue(5000, 4500), catalogue(5000, 500))[1]["headline"], none)
        # nor when as many bytes of the same types have come elsewhere
        got = self.grown(catalogue(5000, 4500), catalogue(5000, 500, texts=2500))[1]
        self.assertEqual(([s["place"] for s in got["suspects"]], got["growth"]), (["s_texts"], None))
        # what has come beside it is told
        got = self.grown(catalogue(5000, 4500), catalogue(9000, 500))[1]
        self.assertEqual([(s["place"], s["bytes_delta"] > 2 * MIB) for s in got["suspects"]], [("Store", True)])

    def test_growth_by_little(self):
        """A part of a percent of the heap is no growth, unless there are more of the program's own objects."""
        def at(orders, text, sessions):
            objects = {"app": ("Shop.App", 24, ["orders", "text", "sessions"]), "orders": ("System.Byte[]", orders, []), "text": ("System.Byte[]", text, []),
                       "sessions": ("Shop.Session[]", 24 + 8 * sessions, [f"s{i}" for i in range(sessions)])}
            objects |= {f"s{i}": ("Shop.Session", 200, []) for i in range(sessions)}
            return heap(objects, [("orders", "s_orders"), ("text", "s_text"), ("sessions", "s_sessions")])[0]
        none = "No suspect has grown much between the two dumps."
        self.assertEqual(self.grown(at(20 * MIB, 900_000, 1000), at(20 * MIB, 1_000_000, 1000))[1]["headline"], none)
        self.assertEqual([s["place"] for s in self.grown(at(20 * MIB, 900_000, 1000), at(20 * MIB, 1_200_000, 1000))[1]["suspects"]], ["s_text"])
        self.assertEqual([s["place"] for s in self.grown(at(20 * MIB, 900_000, 1000), at(20 * MIB, 900_000, 1500))[1]["suspects"]], ["s_sessions"])

    def test_absence_in_an_incomplete_dump(self):
        """What has not arrived proves nothing: neither that it is not there, nor that it was not."""
        old, new = two_caches(2001, 200), two_caches(2001, 1200)
        self.put("old", old)
        self.put("cut", old[:-60])
        self.put("new", new)
        self.put("newcut", new[:-60])
        text = self.done("leaks", "cut", "new", code=3).text
        self.assertTrue(text.startswith("(INCOMPLETE dump: cut)\nThe heap had "), text[:80])
        self.assertIn(" The older dump is incomplete: what seems to have grown may be missing in it. ", " ".join(text.split()))
        text = self.done("leaks", "old", "newcut", "--min-bytes", "1M", "--share", "1", code=3).text
        self.assertIn(" It grew between two dumps: ", " ".join(text.split()))
        self.assertIn(" The newer dump is incomplete: it may have grown all the same. ", " ".join(text.split()))
        for one, other in (("new", "cut"), ("newcut", "old")):
            self.assertIn("No suspect has grown much in what has arrived of the two dumps; not all has.\n", self.done("leaks", one, other, code=3).text)
        self.assertIn("Exceptions: 0. The dump is incomplete, so some may be missing.\n", self.done("exceptions", "cut", code=3).text)
        self.assertIn("Exceptions: 0.\n", self.done("exceptions", "old").text)
        lossy = trace("net10-wks-lossy")
        self.assertRegex(self.done("paths", lossy, "--object", "5", code=3).err.decode(), "no root leads to the object .*; what is missing in the dump may\n")
        self.refused(1, r'.*no type matches "Foo\*"; gcdumpc report lists all types; the dump is incomplete', "report", lossy, "--filter", "Foo*")

    def test_the_largest_element(self):
        for largest, after in ((100_000, ""), (2_000_000, ", largest 1.9 MiB")):
            objects = {"array": ("Shop.Order[]", 824, [f"order{i}" for i in range(100)])}
            objects |= {f"order{i}": ("Shop.Order", largest if i == 7 else 60_000, []) for i in range(100)}
            self.put("in", heap(objects, [("array", "s_orders")])[0])
            self.assertRegex(self.json("in")["suspects"][0]["what"], rf"\A100 Order, [0-9.]+ KiB each{after}\Z")

    def test_a_cache(self):
        data, at = cache()
        self.put("in", data)
        got = self.json("in")
        total = 40 + 24 + 600 + 824 + 100 * 100_032
        self.assertEqual((got["heap_bytes"], got["threshold_bytes"], got["suspect_count"]), (total, 4 * MIB, 1))
        s = got["suspects"][0]
        path, held, content, own = s.pop("path"), s.pop("holds"), s.pop("content"), s.pop("own_types")
        lines = [f"{step['address']} {step['type']}" for step in path]
        self.assertEqual(s.pop("lines"), [s["root"], *lines[:-1], lines[-1] + " (about 100 elements)"])
        self.assertEqual(s.pop("object"), s["address"])
        self.assertAlmostEqual(s.pop("share"), (824 + 10_003_200) / total)
        self.assertEqual(s, {
            "number": 1, "level": "holder", "kind": "object", "title": "One object", "objects": 1, "shallow_bytes": 824, "bytes": 824 + 10_003_200,
            "retained_bytes": 824 + 10_003_200, "size_only": True, "overlaps": False, "owner_field": None, "type": "Shop.Order[]",
            "node": 3, "address": f"{at['array']:#x}",
            "root_kind": "statics", "root": "static variable s_app", "field": "s_app", "class": None, "label": "s_app",
            "collection": "array", "elements": 100, "elements_at_least": 1, "elements_at_most": None, "element": "Shop.Order",
            "owner": "Shop.Cache", "owner_module": None, "owner_node": 1,
            "advice": "If all of it is needed, nothing is wrong; else look in Cache for what fills it.", "allocated": None, "also": [], "ways": [], "sites": [], "keys": None, "key_beginnings": [],
            "place": "Cache", "what": "100 Order, 97.7 KiB each",
            "evidence": "Its size, not its growth: a second dump shows that (gcdumpc diff).",
            "sentence": "100.0 % of the heap (9.5 MiB) is held by one Cache: 100 Order in an Order[]. "
                        "It is held by the static variable s_app."})
        self.assertEqual([(p["depth"], p["type"], p["address"], p["repeats"], p["dependent"]) for p in path],
                         [(i + 1, t, f"{at[o]:#x}", 1, False) for i, (o, t) in enumerate((("app", "Shop.App"), ("cache", "Shop.Cache"),
                                                                                     ("array", "Shop.Order[]")))])
        self.assertEqual([p["retained_bytes"] for p in path], [total, total - 640, total - 664])
        self.assertEqual([(h["objects"], h["bytes"], h["type"]) for h in held], [(100, 10_003_200, "Shop.Order")])
        self.assertEqual([(c["objects"], c["bytes"], c["type"]) for c in content],
                         [(100, 10_000_000, "System.Char[]"), (100, 3200, "Shop.Order"), (1, 824, "Shop.Order[]")])
        self.assertEqual(sum(c["bytes"] for c in content), s["bytes"])
        self.assertEqual([(o["objects"], o["bytes"], o["type"]) for o in own], [(100, 10_003_200, "Shop.Order")])

    def test_another_way(self):
        """Orders in two static variables, and some of them in a report: clearing one variable frees nothing."""
        objects = {"index": ("Shop.Index", 24, ["array"]), "array": ("Shop.Order[]", 824, [f"order{i}" for i in range(100)]),
                   "book": ("Shop.Book", 24, ["pages"]), "pages": ("System.Object[]", 824, ["list"]),
                   "list": ("System.Collections.Generic.List`1[Shop.Order]", 32, ["all"]),
                   "all": ("Shop.Order[]", 824, [f"order{i}" for i in range(100)]),
                   "far": ("System.Object[]", 24, ["near"]), "near": ("System.Object[]", 24, ["report"]),
                   "report": ("Shop.Report", 48, [f"order{i}" for i in range(40)])}
        objects |= {f"order{i}": ("Shop.Order", 100_000, []) for i in range(100)}
        self.put("in", heap(objects, [("index", "s_index"), ("book", "s_book"), ("far", "s_far")])[0])
        got = self.json("in")["suspects"][0]
        hint = re.search(r"\n\ngcdumpc (paths FILE --object 0x[0-9a-f]+) shows all that holds this one\.\n", self.done("leaks", "in").text)
        paths = self.done(*hint[1].replace("FILE", "in").split()).text
        self.assertEqual(sorted(set(re.findall(r"s_\w+", paths))), ["s_book", "s_far", "s_index"])
        self.assertIn(": they are in both Index and Book. Some of them are also reached through one Report.", got["sentence"])
        self.assertEqual([(w["owner"], w["owner_node"], w["root_kind"], w["root"], w["share"]) for w in got["ways"]],
                         [("Shop.Book", 2, "statics", "static variable s_book", 1), ("Shop.Report", 8, "statics", "static variable s_far", 0.4)])

    def test_where_many_calls_wait(self):
        """A heap that hangs has no suspect: ten calls that wait for tasks nobody completes are told first, nine are not."""
        box = "System.Runtime.CompilerServices.AsyncTaskMethodBuilder`1+AsyncStateMachineBox`1[System.Int32,Shop.Rpc+<Call>d__2]"
        for n in (9, 10):
            objects = {"all": ("Shop.Calls", 824, [f"call{i}" for i in range(n)])}
            for i in range(n):
                objects |= {f"call{i}": (box, 96, [f"call{i}", f"task{i}"]), f"task{i}": ("System.Threading.Tasks.Task", 64, [])}
            self.put("in", heap(objects, [("all", "s_calls")])[0])
            got = self.json("in")["waiting"]
            self.assertEqual([(w["count"], w["method"], w["waits_for"]) for w in got],
                             [(10, "Shop.Rpc.Call", "TaskCompletionSource")] if n == 10 else [])
            paragraphs = self.done("leaks", "in").text.split("\n\n")
            self.assertEqual(paragraphs[0].startswith("Waiting: 10 calls wait in Shop.Rpc.Call for TaskCompletionSource.\n"), n == 10, paragraphs)
            self.assertTrue(paragraphs[n == 10].startswith("Nothing looks like a leak. Largest: "), paragraphs)

    def test_text_and_csv_say_the_same(self):
        self.put("in", cache()[0])
        got, rows, text = self.json("in")["suspects"], self.csv("in"), self.done("leaks", "in").text
        self.assertEqual([(r["kind"], int(r["bytes"]), r["type"], r["sentence"], r["address"]) for r in rows],
                         [(s["kind"], s["bytes"], s["type"], s["sentence"], s["address"]) for s in got])
        self.assertIn(f" 1. {got[0]['sentence']} ", " ".join(text.split()))
        for line in text.splitlines():
            self.assertLessEqual(len(line), 120)
        for step in got[0]["path"]:
            self.assertRegex(text, rf"\n *{step['retained_bytes']} +{step['address']} +{step['type']}".replace("[", r"\[").replace("]", r"\]"))

    def test_thresholds(self):
        self.put("in", cache()[0])
        for words, count in (((), 1), (("--min-bytes", "10M"), 0), (("--min-bytes", "9M"), 1), (("--share", "100"), 1), (("--share", "99"), 1),
                             (("--share", "1", "--min-bytes", "100K"), 1), (("--top", "1"), 1)):
            self.assertEqual(len(self.json("in", *words)["suspects"]), count, words)
        for words, what in ((("--share", "0"), "--share takes a number from 0.1 to 100, not \"0\""), (("--share", "101"), "--share takes .*"),
                            (("--share", "x"), "--share takes .*"), (("--min-bytes", "x"), "--min-bytes takes .*"),
                            (("--json", "--csv"), "give one of --json and --csv; .*")):
            self.refused(2, what + ".*", "leaks", "in", *words)

    def test_findings(self):
        """All kinds that were searched for, found or not; a small leak of callbacks is only counted, and a lower limit finds it."""
        source = "System.Threading.CancellationTokenSource"
        objects = {"app": ("Shop.App", 40, ["source"]), "source": (source, 48, ["list"]),
                   "list": (source + "+Registrations", 64, ["source", "node0"])}
        for i in range(1000):
            near = [f"node{k}" for k in (i - 1, i + 1) if 0 <= k < 1000]
            objects[f"node{i}"] = (source + "+CallbackNode", 80, ["list", *near, f"job{i}"])
            objects[f"job{i}"] = ("Shop.Job", 24, [])
        self.put("in", heap(objects, [("app", "s_app")])[0])
        low = self.json("in", "--min-bytes", "1K")
        self.assertEqual([(s["kind"], s["objects"], s["overlaps"], [h["type"] for h in s["holds"]]) for s in low["suspects"]],
                         [("cancellation", 1000, False, ["Shop.Job"])])
        self.assertIn("The source is held by the static variable s_app through App.", low["suspects"][0]["sentence"])
        got = self.json("in", "--findings")
        self.assertEqual(got["suspects"], [])
        rows = {f["kind"]: f for f in got["findings"]}
        self.assertEqual(len(rows), len(got["findings"]))
        self.assertEqual({type(f["known"]) for f in got["findings"]}, {bool})
        self.assertEqual((rows["cancellation"]["found"], rows["cancellation"]["objects"], rows["cancellation"]["least_objects"]), (0, 1000, 1000))
        self.assertEqual((rows["timers"]["found"], rows["timers"]["objects"], rows["timers"]["least_objects"], rows["timers"]["least_bytes"]),
                         (0, 0, 1000, 4 * MIB))
        self.assertEqual((rows["assemblies"]["least_objects"], rows["assemblies"]["least_bytes"]), (10, None))
        self.assertEqual((rows["object"]["bytes"], rows["object"]["least_objects"], rows["object"]["least_bytes"]), (104152, None, 4 * MIB))
        self.assertEqual([f["kind"] for f in got["findings"] if not f["known"]], ["pinned", "fragmentation", "duplicates"])
        self.assertEqual([f["objects"] for f in got["findings"] if not f["known"]], [None] * 3)
        self.assertNotIn("findings", self.json("in"))
        text = self.done("leaks", "in", "--findings").text
        table = text[text.index("\nWhat was looked for, "):]
        self.assertEqual([line.split("  ")[0] for line in table.splitlines()[3:]], [f["title"] for f in got["findings"]])
        self.assertRegex(table, r"\nTimers +0 +0 +1000 +0 +4194304 +timers\n")
        self.assertEqual([(r["kind"], r["found"], r["objects"]) for r in self.csv("in", "--findings")],
                         [(f["kind"], str(f["found"]), "" if f["objects"] is None else str(f["objects"])) for f in got["findings"]])

    def test_a_limit_that_is_given_holds_for_all(self):
        """The limits hold for a thousand handlers, too."""
        objects = {"event": ("System.Action", 64, ["event", "list"]), "big": ("Shop.Big", 5_000_000, []),
                   "list": ("System.Object[]", 8024, [f"handler{i}" for i in range(1000)])}
        objects.update({f"handler{i}": ("System.Action", 64, [f"to{i}"]) for i in range(1000)})
        objects.update({f"to{i}": ("Shop.Listener", 24, []) for i in range(1000)})
        self.put("in", heap(objects, [("event", "s_event"), ("big", "s_big")])[0])
        for words, kinds in (((), ["object"]), (("--share", "10"), ["object"]), (("--min-bytes", "1M"), ["object"]),
                             (("--share", "1", "--min-bytes", "50K"), ["object", "handlers"]), (("--share", "99"), [])):
            got = self.json("in", *words)
            self.assertEqual([s["kind"] for s in got["suspects"]], kinds, words)
            self.assertEqual((got["largest"] or {}).get("type"), None if kinds else "Shop.Big")
            for s in got["suspects"] if words else ():
                self.assertGreaterEqual(s["bytes"], got["threshold_bytes"])

    def test_top(self):
        objects = {f"big{i}": ("System.Byte[]", 3_000_000 - i, []) for i in range(4)}
        self.put("in", heap(objects, [(o, f"s_{o}") for o in objects])[0])
        got = self.json("in", "--min-bytes", "1M", "--top", "2")
        self.assertEqual((got["suspect_count"], [s["root"] for s in got["suspects"]]), (4, ["static variable s_big0", "static variable s_big1"]))
        text = self.done("leaks", "in", "--min-bytes", "1M", "--top", "2").text
        self.assertIn("\n(2 more suspects)\n", text)
        self.assertIn("\n(1 more suspect)\n", self.done("leaks", "in", "--min-bytes", "1M", "--top", "3").text)
        self.assertNotIn("3. ", text)

    def test_all_held_by_roots(self):
        """A finalizer queue and leaked handles: numbers that do not overlap."""
        objects = {f"wait{i}": ("Shop.Socket", 100_000, []) for i in range(100)}
        objects.update({f"held{i}": ("Shop.Session", 60_000, []) for i in range(100)})
        roots = [(o, FINALIZER, 0) if o.startswith("wait") else (o, HANDLE, PINNED) for o in objects]
        self.put("in", heap(objects, (), roots)[0])
        got = self.json("in")
        self.assertEqual([(s["kind"], s["objects"], s["bytes"], s["root"]) for s in got["suspects"]],
                         [("finalizers", 100, 10_000_000, "finalizer queue"), ("type", 100, 6_000_000, "pinned handle")])
        self.assertEqual(sum(s["bytes"] for s in got["suspects"]), got["heap_bytes"])
        self.assertIn("All of them are held directly by pinned handles.", got["suspects"][1]["sentence"])

    def deep(self):
        """A list of the program's below some objects of the framework and of a library, in a file without modules."""
        way = ["Microsoft.Host", "System.Func", "Parts.Engine", "System.Object", "Shop.Store"]
        objects = {f"way{i}": (name, 24, [f"way{i + 1}"]) for i, name in enumerate(way)}
        objects[f"way{len(way)}"] = ("System.Collections.Generic.List`1[Shop.Order]", 32, ["array"])
        objects["array"] = ("Shop.Order[]", 24 + 800, [f"order{i}" for i in range(100)])
        objects.update({f"order{i}": ("Shop.Order", 100_000, []) for i in range(100)})
        self.put("recording", heap(objects, [("way0", "s_host")])[0])
        self.done("convert", "recording", "-o", "in.gclog", "-q")
        os.rename(self.path("in.gclog"), self.path("in"))
        return way

    def steps(self, *words):
        text = self.done("leaks", "in", *words).text
        lines = text[text.index("Retained  Object"):].split("\n\n")[0].splitlines()[1:]
        return [line[26:].strip() for line in lines]

    def test_paths_are_folded(self):
        way = self.deep()
        collection = "System.Collections.Generic.List<Shop.Order> (at least 100 elements)"
        self.assertEqual(self.steps(), ["static variable", "... 2 framework steps", "Parts.Engine", "System.Object", "Shop.Store", collection])
        self.assertEqual(self.steps("--mine", "Shop.*"), ["static variable", "... 4 framework and library steps", "Shop.Store", collection])
        self.assertEqual(self.steps("--mine", "Shop.Order", "--mine", "System.Func"),
                         ["static variable", "Microsoft.Host", "System.Func", "... 3 framework and library steps", collection])
        self.assertEqual(self.steps("--full"), ["static variable", *way, collection])
        (s,) = self.json("in", "--mine", "Shop.*")["suspects"]
        self.assertEqual([(p["origin"], p["fold"]) for p in s["path"]],
                         [("framework", "hidden"), ("framework", "hidden"), ("library", "hidden"), ("framework", "hidden"), ("own", "shown"),
                          ("framework", "shown")])
        self.assertEqual((s["owner"], [o["type"] for o in s["own_types"]]), ("Shop.Store", ["Shop.Order"]))
        (s,) = self.json("in", "--mine", "Parts.*")["suspects"]
        self.assertEqual((s["owner"], s["own_types"]), ("Parts.Engine", []))

    def test_what_is_mine_is_a_pattern(self):
        self.deep()
        run = self.gcdumpc("leaks", "in", "--mine", "Nothing.*")
        self.assertEqual(run.code, 0)
        self.assertIn('in: no type matches --mine "Nothing.*"', run.err.decode())
        self.refused(2, '"/[(]/" is not a regular expression: .*', "leaks", "in", "--mine", "/(/")

    def test_a_full_standard_output(self):
        self.put("in", cache()[0])
        with open("/dev/full", "wb") as full:
            for words in ((), ("--json",), ("--csv",)):
                self.refused(1, "standard output: cannot write: No space left on device; .*", "leaks", "in", *words, stdout=full)

    def test_hostile_names(self):
        evil = "<img src=x onerror=alert(1)>\n\x1b[31m\"',=cmd()"
        long = "N" * 20_000
        for name in (evil, long, "=cmd()", "%n%s"):
            self.put("in", heap({"big": (name, 5_000_000, [])}, [("big", "=s_evil\x1b[0m")])[0])
            text = self.done("leaks", "in", "--names", "raw").text
            self.assertNotIn("\x1b", text)
            self.assertEqual(len(self.csv("in", "--names", "raw")), 1)
            got = self.json("in", "--names", "raw")["suspects"][0]
            self.assertEqual(got["type"], name)
            self.assertLess(len(got["sentence"]), 1000)

    def test_without_roots(self):
        self.put("in", heap({"big": ("Shop.Big", 5_000_000, []), "holder": ("Shop.Holder", 24, ["big"])})[0])
        run = self.done("leaks", "in")
        self.assertIn("What holds it is not known: the dump has no roots.", " ".join(run.text.split()))
        self.assertRegex(run.err.decode(), "no roots")
        self.assertEqual(self.json("in")["suspects"][0]["root_kind"], "stand_in")

    def test_other_inputs(self):
        """The same suspects from every format that stores the needed data."""
        self.put("in.nettrace", cache()[0])
        want = self.json("in.nettrace")["suspects"]
        for suffix in ("gclog", "gcdump", "dartheap"):
            self.done("convert", "in.nettrace", "-o", f"in.{suffix}")
            got = self.json(f"in.{suffix}")["suspects"]
            self.assertEqual([(s["kind"], s["bytes"], s["type"]) for s in got], [(s["kind"], s["bytes"], s["type"]) for s in want], suffix)
        with open(self.path("in.nettrace"), "rb") as f:
            self.assertEqual(json.loads(self.done("leaks", "-", "--json", data=f.read()).text)["suspects"], want)
        self.put("small", small_trace())
        self.assertEqual(self.json("small")["suspects"], [])
        os.remove(self.path("in.gclog"))
        self.refused(1, "in.gclog: .*", "leaks", "in.gclog")


class Sites(CliTest):
    RECORDING = os.path.join(SOURCE, "traces", "sites", "leaks.nettrace.gz")

    def test_a_suspect_says_where_its_objects_were_allocated(self):
        suspects = json.loads(self.done("leaks", self.RECORDING, "--json").text)["suspects"]
        self.assertEqual(len(suspects), 4)
        text = " ".join(self.done("leaks", self.RECORDING).text.split())
        rows = list(csv.DictReader(io.StringIO(self.done("leaks", self.RECORDING, "--csv").text, newline="")))
        for s, row, (method, line, share) in zip(suspects, rows, (("SessionStore.Open", 26, 1), ("Journal.Append", 70, 1), ("Listener..ctor", 41, .92), ("Archive.Keep", 83, 1))):
            first = s["sites"][0]
            self.assertEqual((first["method"], first["file"], first["line"]), (f"SiteLab.{method}", "/src/SiteLab/SiteLab.cs", line))
            self.assertAlmostEqual(first["share"], share, 2)
            self.assertAlmostEqual(sum(part["share"] for part in s["sites"]), 1)
            samples = sum(part["alive_samples"] for part in s["sites"])
            self.assertEqual(s["allocated"], f"Allocated in SiteLab.{method} (SiteLab.cs:{line}): {share:.0%} of what was sampled of it ({samples} objects)."
                             .replace("%", " %"))
            self.assertEqual(row["allocated"], s["allocated"])
            self.assertIn(s["allocated"], text)
        # the same numbers as of all lines
        sites = json.loads(self.done("sites", self.RECORDING, "--json").text)["sites"]
        journal, = [site for site in sites if site["line"] == 70]
        self.assertEqual([suspects[1]["sites"][0][k] for k in ("bytes", "alive_samples", "module")],
                         [journal["bytes"], journal["alive_samples"], journal["frames"][0]["module"]])


if __name__ == "__main__":
    main()
