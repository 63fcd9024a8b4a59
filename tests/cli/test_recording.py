"""Recordings as outputs, and the names in them: without names to add, convert copies byte for byte."""
import gzip
import json
import os
import struct

from cli_support import CliTest, main, small_trace, trace
from sample_heaps import DEFINED, shop_events
from trace_bytes import Ev, Payloads, V4File, numbered, z16

RUNDOWN = "Microsoft-Windows-DotNETRuntimeRundown"
HERE = os.path.dirname(os.path.abspath(__file__))
CORPUS = os.path.join(HERE, "..", "fuzz", "corpus")
ETL = os.path.join(CORPUS, "fuzz_etl", "v4-plain.etl")
ASSEMBLY = os.path.join(CORPUS, "fuzz_metadata", "compiled.dll")     # its CodeView record:
PDB, AGE = bytes.fromhex("f37bd787c03f0e479053d4f2754f6bb1"), 1
NAMES = "gcdumpc"
START, MODULE, TYPE, STATIC, LAYOUT, IMAGE = range(201, 207)       # metadata ids
NUMBERS = {START: 1, MODULE: 2, TYPE: 3, STATIC: 4, LAYOUT: 7, IMAGE: 6}


def layout(type_id, text):
    """A (LAYOUT, ...) for named_trace: with FNV-1a of the id and the text."""
    check = 0xcbf29ce484222325
    for byte in struct.pack("<Q", type_id) + z16(text)[:-2]:
        check = (check ^ byte) * 0x100000001b3 % 2 ** 64
    return LAYOUT, type_id, text, struct.pack("<Q", check)


def image(blocked):
    """An (IMAGE, ...) for named_trace: of a core, with what threads wait for."""
    return IMAGE, 1 + (1 << 32), bytes(4), "core", "", "", blocked


def named_trace(*names, gc=1, counts=None, later=b"", heap=None):
    """The heap of the shop, or HEAP; then as gcdumpc writes them, NAMES: (MODULE, id, MVID, assembly, token, path), (TYPE, id, outer),
    (STATIC, address, field, class, label), layout(), image()."""
    file = V4File()
    file.define(*((kind, *row) for kind, row in DEFINED.items()))
    events = numbered(heap or shop_events())
    file.events(*events)
    file.sequence_point(events[-1].time + 1, tuple({event.thread: event.number for event in events}.items()))
    kinds = (MODULE, TYPE, STATIC) + (LAYOUT,) * any(name[0] == LAYOUT for name in names)
    file.define(*((kind, NAMES, NUMBERS[kind], 1) for kind in (START, *kinds, IMAGE)))
    counts = counts or [sum(name[0] == kind for name in names) for kind in kinds]
    number = struct.pack(f"<{2 + len(counts)}I", gc, 1, *counts)
    payloads = [(START, number)] + [(kind, struct.pack("<Q", key) + b"".join(t if isinstance(t, bytes) else z16(t) for t in texts)) for kind, key, *texts in names]
    last = events[-1].time + 1
    file.events(*numbered([Ev(kind, last, payload, thread=0x7fffffff) for kind, payload in payloads]))
    file.sequence_point(last, ((0x7fffffff, len(payloads)),))
    return file.end() + later


CORE = os.path.join(os.path.dirname(os.path.dirname(trace("net10-core"))), "net10-core", "heap.core.gz")


class OfAnImage(CliTest):
    def test_types_are_counted_alike(self):
        """Those of a core file by sums, those of the recording object by object."""
        for options in (), ("--with-dead",):
            self.done("convert", CORE, *options, "--no-modules", "-o", f"x{len(options)}.nettrace")
            of_core, of_recording = (json.loads(self.done("report", *words, "--no-modules", "--json").text)
                                     for words in ((CORE, *options), (f"x{len(options)}.nettrace",)))
            self.assertGreater(sum(t["edges"] for t in of_core["types"]), 10_000)
            self.assertEqual(*({t["id"]: (t["count"], t["bytes"], t["edges"]) for t in r["types"]} for r in (of_core, of_recording)))
            self.assertTrue(of_recording["verdict"]["complete"])


class ThreadsThatWait(CliTest):
    def test_all_outputs_have_what_they_wait_for(self):
        """In a heap without suspects, it is the answer."""
        said = "40 threads wait for locks in Shop.Till.Pay. 40 wait for object 0xab, which thread 7 in Shop.Till.Print holds."
        self.put("in.nettrace", named_trace(image("lock\t40\tShop.Till.Pay\tab\t7 in Shop.Till.Print\t0\n")))
        rows = [{"kind": "threads", "count": 40, "sentence": said, **{key: None for key in ("old", "method", "waits_for", "place", "others", "others_wait_for",
                                                                                         "others_method")}}]
        for command in "leaks", "async":
            self.assertEqual(json.loads(self.done(command, "in.nettrace", "--json", "-q").text)["waiting"], rows, command)
        for words, first in (("leaks",), "Waiting: "), (("async",), None), (("leaks", "--min-bytes", "1", "--share", "0.1"), None):
            text = " ".join(self.done(words[0], "in.nettrace", *words[1:], "-q").text.split())
            self.assertEqual(text.count(f"Waiting: {said}"), 1, text)
            self.assertTrue(first is None or text.startswith(first), text)
        self.done("convert", "in.nettrace", "-q", "-o", "page.html")
        self.assertIn(f"<p>Waiting: <bdi dir=\"ltr\">{said}</bdi></p>".encode(), self.get("page.html"))
        self.put("in.nettrace", named_trace(image("lock\t9\tShop.Till.Pay\tab\t7 in Shop.Till.Print\t0\n")))
        self.assertEqual(json.loads(self.done("leaks", "in.nettrace", "--json", "-q").text)["waiting"], [])
        self.assertNotIn("Waiting", self.done("leaks", "in.nettrace", "-q").text)


OUTER = (TYPE, 0x71, "Shop.Outer`1"), (TYPE, 0x72, "Shop.Lists")


class Names(CliTest):
    def names(self, data, code=0):
        self.put("in.nettrace", data)
        report = json.loads(self.done("report", "in.nettrace", "--json", code=code).text)
        self.assertEqual(report["verdict"]["complete"], code == 0)
        return {t["id"]: t["type"] for t in report["types"]}

    def test_recorded_names_are_shown(self):
        self.assertEqual(self.names(named_trace(*OUTER)),
                         {"0x71": "Shop.Outer<>.Shop.Store", "0x72": "Shop.Lists.Shop.Order[]", "0x73": "Shop.Order"})

    def test_not_those_of_another_walk_or_half_of_them(self):
        bare = self.names(small_trace())
        for data, code in ((named_trace(*OUTER, gc=2), 0), (named_trace(*OUTER, counts=(0, 3, 0)), 3), (named_trace(OUTER[0], counts=(0, 2, 0)), 3)):
            self.assertEqual(self.names(data, code), bare)

    def test_events_are_listed(self):
        self.put("in.nettrace", named_trace(*OUTER))
        self.assertRegex(self.done("info", "in.nettrace", "--events").text, rf"(?m)^ *2 .*\b{NAMES}\b")


class Copies(CliTest):
    def test_a_recording_stays_as_it_is(self):
        for data in (small_trace(), named_trace(*OUTER), named_trace(*OUTER, later=b"behind the end")):
            self.put("in.nettrace", data)
            for words in (["out.nettrace"], ["out", "-f", "nettrace"]):
                run = self.done("convert", "in.nettrace", "-o", *words)
                self.assertEqual(self.get(words[0]), data)
                self.assertRegex(run.lines[-1], rf"\Agcdumpc: {words[0]}: 3 objects, 2 references, [\d,]+ bytes of nettrace written, complete\Z")
            self.assertEqual(self.done("convert", "in.nettrace", "-o", "-", "-f", "nettrace").out, data)

    def test_gzip_is_undone_and_done(self):
        data = named_trace(*OUTER)
        self.put("in", gzip.compress(data))
        self.done("convert", "in", "-o", "out.nettrace")
        run = self.done("convert", "in", "-o", "out.nettrace.gz")
        on_disk = len(self.get("out.nettrace.gz"))
        self.assertLess(on_disk, len(data))
        self.assertIn(f" {on_disk:,} bytes of nettrace written", run.lines[-1])
        self.assertEqual(self.get("out.nettrace"), data)
        self.assertEqual(gzip.decompress(self.get("out.nettrace.gz")), data)

    def test_pipe(self):
        data = named_trace(*OUTER)
        self.done("convert", "-", "-o", "out.nettrace", data=data)
        self.assertEqual(self.get("out.nettrace"), data)

    def test_a_cut_one(self):
        data = named_trace(*OUTER)[:-1]
        self.put("in.nettrace", data)
        self.done("convert", "in.nettrace", "-o", "out.nettrace", code=3)
        self.assertEqual(self.get("out.nettrace"), data)

    def test_other_files_cannot_become_one(self):
        self.put("in.nettrace", small_trace())
        self.done("convert", "in.nettrace", "-o", "in.gclog")
        for name in ("in.gclog", ETL):
            self.refused(2, r".*: is no .nettrace recording, and cannot become one; choose another name or --format", "convert", name,
                         "-o", "out.nettrace", "-q")


SLOTS = layout(0x71, "o 3\n4 _orders\n5 _last"), layout(0x72, "v 4\n5 "), layout(0x73, "o 5")


SHOP = (MODULE, 0x30, bytes(range(16)), "Shop", "", "/srv/Shop.dll")


class Fields(CliTest):
    """--no-fields takes the names of fields out of a recording, and nothing else."""

    def setUp(self):
        super().setUp()
        self.put("in.nettrace", named_trace(SHOP, *OUTER, *SLOTS))
        self.put("without.nettrace", named_trace(SHOP, *OUTER))

    def fields(self, name, code=0):
        run = self.done("sql", name, "--csv", "-q", "select field from edges", code=code)
        return [field.strip('"') for field in run.text.split()[1:]]

    def test_fields_are_taken_out(self):
        self.assertIn("_orders", self.fields("in.nettrace"))
        self.done("convert", "in.nettrace", "-o", "kept.nettrace")
        self.assertEqual(self.get("kept.nettrace"), self.get("in.nettrace"))
        run = self.done("convert", "in.nettrace", "--no-fields", "-o", "out.nettrace")
        self.assertRegex(run.lines[-1], r": 3 objects, 2 references, [\d,]+ bytes of nettrace written, complete\Z")
        self.assertNotIn(z16("_orders")[:-2], self.get("out.nettrace"))
        self.assertNotIn("_orders", self.fields("out.nettrace"))
        for words in (("report",), ("leaks",), ("paths", "--type", "Shop.Order")):
            same = [self.done(words[0], name, *words[1:], "--json", "-q").text.replace(name, "x") for name in ("out.nettrace", "without.nettrace")]
            self.assertEqual(*same)
        self.done("convert", "out.nettrace", "--no-fields", "-o", "again.nettrace")
        self.assertEqual(self.get("again.nettrace"), self.get("out.nettrace"))

    def test_a_cut_recording_keeps_them(self):
        self.put("cut.nettrace", self.get("in.nettrace")[:-1])
        run = self.done("convert", "cut.nettrace", "--no-fields", "-o", "out.nettrace", "-q", code=1)
        self.assertEqual(run.lines[-1], "gcdumpc: cut.nettrace: the fields of its types cannot be removed: it is cut or damaged")
        self.assertFalse(os.path.exists(self.path("out.nettrace")))


def seed_trace(guid=PDB):
    """A heap of compiled.dll, whose module event has the identity GUID."""
    p, store, leaf = Payloads(), 0x1000, 0x1018
    module = (struct.pack("<QQII", 0x30, 0x40, 0, 0) + z16("/srv/seed/compiled.dll") + z16("") + struct.pack("<H", 9) + guid
              + struct.pack("<I", AGE) + z16("") + bytes(20) + z16(""))
    file = V4File()
    file.define(*((kind, *row) for kind, row in DEFINED.items()), (154, RUNDOWN, 154, 2))
    events = numbered([
        Ev(1, 2000, p.gc_start()),
        Ev(38, 2001, p.statics((leaf, 0x73, "s_leaf"))),
        Ev(18, 2002, p.nodes(0, (store, 24, 0x71, 1), (leaf, 24, 0x73, 0))),
        Ev(19, 2003, p.edges(0, leaf)),
        Ev(15, 2004, p.types((0x71, "<>c__DisplayClass5_0", 0, 0x02000007, ()),
                             (0x73, "Leaf`2[Shop.Entry,Shop.Box`1+Node[Shop.Entry],System.Int32[,,]]", 0, 0x0200000a, ()))),
        Ev(16, 2005, p.roots(0)),
        Ev(2, 2005, p.gc_end()),
        Ev(154, 2006, module)])
    file.events(*events)
    file.sequence_point(2007, ((7, len(events)),))
    return file.end()


class FromFiles(CliTest):
    """Names from an assembly go into the recording, and its report no longer needs any file."""

    def setUp(self):
        super().setUp()
        os.mkdir(self.path("bin"))
        with open(ASSEMBLY, "rb") as f:
            self.put("bin/compiled.dll", f.read())

    def report(self, name, *words):
        report = json.loads(self.done("report", name, "--json", *words).text)
        return {t["type"]: t["raw_name"] for t in report["types"]}

    def test_convert_adds_them(self):
        self.put("in.nettrace", seed_trace())
        run = self.done("convert", "in.nettrace", "-o", "out.nettrace", "--modules", "bin")
        self.assertRegex(run.lines[-1], r": 2 objects, 1 reference, [\d,]+ bytes of nettrace with 3 names written, complete\Z")
        self.assertTrue(self.get("out.nettrace").startswith(seed_trace()[:-1]))
        full = self.report("in.nettrace", "--modules", "bin")
        self.assertIn("Shop.Orders.<>c__DisplayClass5_0", full)
        self.assertEqual(self.report("out.nettrace", "--no-modules"), full)
        self.assertNotEqual(self.report("in.nettrace", "--no-modules"), full)
        self.done("convert", "in.nettrace", "-o", "out.nettrace.gz", "--modules", "bin")
        self.assertEqual(gzip.decompress(self.get("out.nettrace.gz")), self.get("out.nettrace"))
        for words in ([], ["--modules", "bin"], ["--no-modules"]):
            self.done("convert", "out.nettrace", "-o", "again.nettrace", *words)
            self.assertEqual(self.get("again.nettrace"), self.get("out.nettrace"))

    def test_the_class_of_a_static_variable(self):
        self.put("in.nettrace", seed_trace())
        self.done("convert", "in.nettrace", "-o", "out.nettrace", "--modules", "bin")
        run = self.done("paths", "out.nettrace", "--object", "0x1018", "--no-modules")
        self.assertIn("static variable Shop.Orders.s_leaf", run.text)

    def test_without_files_nothing_is_added(self):
        for guid, words in ((PDB, ["--no-modules"]), (PDB, []), (bytes(15) + b"x", ["--modules", "bin"])):
            self.put("in.nettrace", seed_trace(guid))
            self.done("convert", "in.nettrace", "-o", "out.nettrace", *words)
            self.assertEqual(self.get("out.nettrace"), seed_trace(guid))

    def test_a_cut_one_stays_as_it_is(self):
        self.put("in.nettrace", seed_trace()[:-1])
        run = self.done("convert", "in.nettrace", "-o", "out.nettrace", "--modules", "bin", code=3)
        self.assertEqual(self.get("out.nettrace"), seed_trace()[:-1])
        self.assertIn("gcdumpc: out.nettrace: without the names from the files of its modules: the recording is cut or damaged, "
                      "or not in the format of .NET 8 to 11", run.lines)


if __name__ == "__main__":
    main()
