"""Each field of each format, with a heap in which all values differ (readers/field_heap.py).  The readers are our own, so nothing has to
be installed.  They compare everything in a file, not only its sums."""
import csv
import datetime
import gzip
import itertools
import json
import os
import re
import sqlite3
import struct
import sys
import zlib
import tempfile
import unittest

from golden_support import READERS, gcdumpc

sys.path.insert(0, READERS)
import dart_read                                                     # noqa: E402
import gcdump_read                                                   # noqa: E402
from field_heap import (GC_END_US, GC_START_US, GROUPS, HUGE, KINDS, NOWHERE, NULL, PID, RANGES, REFERENCES, RESTARTED_US,  # noqa: E402
                        ROOTS, SMALL, STATICS, SUSPENDED_US, Heap, group)
from trace_bytes import V3File, V4File, V6File                       # noqa: E402

HAVE_SQLITE = os.environ.get("GCDUMPC_SQLITE", "ON") not in ("OFF", "0", "FALSE", "NO")
MAX63, MAX64 = 2 ** 63 - 1, 2 ** 64 - 1
CONTAINERS = {"3": V3File, "4": V4File, "4 plain": lambda **more: V4File(compressed=False, **more), "6": V6File,
              "6 plain": lambda **more: V6File(compressed=False, **more)}
LABELS = ("[static variables]", "[strong handles]", "[pinned handles]", "[other roots]", "[local variables]", "[ref-counted handles]",
          "[finalizer queue]", "[weak handles]")


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def record(self, heap, writer=V4File, **more):
        path = self.path("input.nettrace")
        with open(path, "wb") as file:
            file.write(heap.recording(writer, **more))
        return path

    def convert(self, heap, name, *options):
        """The path of the file and the messages about it."""
        done = gcdumpc("convert", self.record(heap), "-o", self.path(name), *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.path(name), done.stderr.decode()

    def read(self, heap, name, *options):
        path, _ = self.convert(heap, name, *options)
        with open(path, "rb") as file:
            return file.read()

    def json(self, *args):
        done = gcdumpc(*args, "--json", "-q")
        self.assertIn(done.returncode, (0, 3), done.stderr)
        return json.loads(done.stdout)


LOST_FLAGS = ["2 roots lose their flags (pinned, interior)"]
LOST_RANGES = ["5 memory ranges of generations are not stored"]
LOST_HANDLES = ["4 dependent handles become references of their keys"]


def losses(said):
    """The program's notes about what the format cannot store."""
    match = re.search(r"in the \w+ format, (.*)", said)
    return match[1].split("; ") if match else []


def module_file(path):
    """Name of the file, and the same without its suffix."""
    name = re.split(r"[/\\]", path)[-1]
    return name, re.sub(r"(?<=.)\.(dll|exe)\Z", "", name)


def pauses():
    return 40_000, (RESTARTED_US - SUSPENDED_US) * 1000


class Decoded(Case):
    """The program's output for the recording, in every container and for both pointer sizes."""

    def expected(self, heap, version):
        first, walk = pauses()
        gc = {"start_seen": True, "end_seen": True, "number": 6, "generation": 2, "reason": 1, "type": 0, "heaps": 4,
              "start_ns": GC_START_US * 1000, "end_ns": GC_END_US * 1000, "pause_ns": walk, "pauses": 2, "pauses_ns": first + walk}
        there = [r for r in ROOTS if r[0] is not NULL]
        kinds = [KINDS[k] if k < 4 else "other" for _, k, _, _ in there]
        roots = {k: kinds.count(k) for k in KINDS}
        roots.update(weak=sum(f >> 1 & 1 for *_, f, _ in there), pinned=sum(f & 1 for *_, f, _ in there), null=1)
        references = sum(map(len, REFERENCES))
        dump = {"objects": len(heap.sizes), "bytes": heap.bytes(), "edges": references, "edges_declared": references, "objects_lost": 0,
                "objects_lost_exact": version != 3, "edges_lost": 0, "edges_lost_exact": version != 3, "edges_dropped": 0, "types": 7,
                "types_undescribed": 0, "roots": roots, "statics": sum(s[0] is not NULL for s in STATICS), "dependent_handles": 6,
                "ccws": 2, "rcws": 2, "ranges": len(RANGES), "complete": version != 3}
        process = {"pid": PID, "name": "field", "command_line": "/opt/field heap --x", "os": "Linux-é", "architecture": "arm64",
                   "runtime_version": "10.11.12"}
        return {"gc": gc, "dump": dump, "process": process, "dumps": 1}

    def test_info(self):
        for (name, writer), pointer_size in itertools.product(CONTAINERS.items(), (8, 4)):
            with self.subTest(name, pointer_size=pointer_size):
                heap = Heap(pointer_size=pointer_size)
                path = self.record(heap, writer)
                seen = self.json("info", path)
                expected = self.expected(heap, int(name[0]))
                self.assertEqual({k: seen[k] for k in expected}, expected)
                trace = seen["trace"]
                self.assertEqual((trace["container"], trace["version"], trace["pointer_bytes"], trace["start_unix_ms"], trace["end"]),
                                 ("nettrace", int(name[0]), pointer_size, heap.started_unix_ms(), "closed"))
                self.assertEqual((trace["bytes"], trace["events"], trace["lost_events"], trace["loss_verified"]),
                                 (os.path.getsize(path), len(heap.events()), 0, name != "3"))

    def test_tables_of_every_container(self):
        for (name, writer), pointer_size in itertools.product(CONTAINERS.items(), (8, 4)):
            with self.subTest(name, pointer_size=pointer_size):
                heap = Heap(pointer_size=pointer_size)
                path = self.path(f"{name[0]}{len(name)}{pointer_size}.csv")
                done = gcdumpc("convert", self.record(heap, writer), "-o", path, "-q")
                self.assertEqual(done.returncode, 3 if name == "3" else 0, done.stderr)
                for table, rows in expected_tables(heap).items():
                    self.assertEqual(read_csv(path, table), shown(rows), table)

    def test_report(self):
        heap = Heap()
        seen = self.json("report", self.record(heap))
        rows = {int(t["id"], 16): t for t in seen["types"]}
        for t in heap.types_rows():
            if t["objects"] == 0:
                continue
            row = rows.pop(t["id"])
            self.assertEqual((row["count"], row["bytes"], row["type"], row["raw_name"], row["module"] or "", row["edges"]),
                             (t["objects"], t["bytes"], t["name"], t["raw"], t["module"], t["edges"]))
        self.assertEqual(rows, {})


def expected_tables(heap):
    """table -> rows, None for unknown values; addresses and texts as in Python."""
    kinds = heap.type_ids.index
    types = [[i, t["name"], t["raw"] if t["named"] else None, t["module"] or None, t["module_id"], t["id"], t["token"], t["flags"], t["element"],
              1, t["objects"], t["bytes"]] for i, t in enumerate(heap.types_rows())]
    objects = [[n, heap.type_of(n), size, heap.addresses[n], heap.generation(n)] for n, size in enumerate(heap.sizes)]
    edges = [[n, slot, to, None, None] for n, targets in enumerate(heap.graph_edges()) for slot, to in enumerate(targets)]
    # a static variable whose type is not that of its object: the class, as Mono has it
    classes = [types[kinds(t)][1] if kind == "static" and kinds(t) != heap.type_of(n) else None for kind, _, _, _, n, t in heap.roots()]
    roots = [[i, kind, group(kind, flags), flags, name or None, slot or None, n, kinds(t), of,
              ".".join(filter(None, (of, name))) if kind == "static" and name else None]
             for i, ((kind, flags, name, slot, n, t), of) in enumerate(zip(heap.roots(), classes))]
    dependents = [[i, key, value] for i, (key, value) in enumerate(heap.dependents())]
    ranges = [[i, generation, heap.base + start, used, reserved] for i, (generation, start, used, reserved) in enumerate(RANGES)]
    return {"types": types, "objects": objects, "edges": edges, "roots": roots, "dependent_handles": dependents, "ranges": ranges}


def expected_facts(heap):
    first, walk = pauses()
    facts = {"schema": 1, "complete": 1, "unverified": 0, "pid": PID, "process_name": "field", "command_line": "/opt/field heap --x",
             "os": "Linux-é", "architecture": "arm64", "runtime_version": "10.11.12", "pointer_bytes": heap.pointer_size,
             "container": "nettrace", "start_unix_ms": heap.started_unix_ms(), "lost_events": 0, "dumps": 1, "dump_number": 1,
             "gc_start_seen": 1, "gc_end_seen": 1, "gc_number": 6, "gc_generation": 2, "gc_reason": 1, "gc_type": 0, "gc_heaps": 4,
             "gc_start_ns": GC_START_US * 1000, "gc_end_ns": GC_END_US * 1000, "objects": len(heap.sizes), "bytes": heap.bytes(),
             "edges": sum(map(len, heap.graph_edges())), "edges_declared": sum(map(len, REFERENCES)), "types": 7, "types_undescribed": 0}
    roots = heap.roots()
    facts.update({f"roots_{k}": sum(r[0] == k for r in roots) for k in KINDS})
    events = [r for r in roots if r[0] in KINDS]
    facts.update(roots_weak=sum(r[1] >> 1 & 1 for r in events), roots_pinned=sum(r[1] & 1 for r in events), roots_null=1,
                 statics=sum(r[0] == "static" for r in roots), dependent_handles=len(heap.dependents()), ccws=2, rcws=2, ranges=len(RANGES),
                 edges_missing=1, edges_dangling=1, roots_dangling=2, dependents_dropped=2, objects_dropped=0, objects_doubled=0,
                 addresses_made_up=0)
    return facts


def shown(rows):
    """As in CSV, which people read."""
    return [[one_line(cell) if isinstance(cell, str) else cell for cell in row] for row in rows]


def read_csv(folder, table):
    """Rows with their kinds: a quoted cell is text, 0x and digits an address, nothing is None.  Parsed here, not by the csv module, which
    does not report quotes."""
    with open(os.path.join(folder, table + ".csv"), encoding="utf-8", newline="") as file:
        text = file.read()
    head, _, body = text.partition("\n")
    rows, row = [], []
    for m in re.finditer(r'("(?:[^"]|"")*"|[^",\n]*)([,\n])', body):
        cell = m[1]
        if cell.startswith('"'):
            value = cell[1:-1].replace('""', '"')
            value = value[1:] if value.startswith("'") else value
        else:
            value = None if cell == "" else int(cell, 16) if cell.startswith("0x") else int(cell)
        row.append(value)
        if m[2] == "\n":
            rows.append(row)
            row = []
    if any(len(r) != len(head.split(",")) for r in rows):
        raise AssertionError(f"{table}: rows of another length than {head}")
    return rows


class Tables(Case):
    def test_csv(self):
        for sizes in (SMALL, HUGE):
            heap = Heap(sizes)
            path, said = self.convert(heap, f"{sizes[-4]}.csv")
            for table, rows in expected_tables(heap).items():
                self.assertEqual(read_csv(path, table), shown(rows), table)
            facts = dict(read_csv(path, "facts"))
            self.assertRegex(facts.pop("gcdumpc_version"), r"\A\d+\.\d+")
            self.assertEqual(facts, expected_facts(heap))
            self.assertIn(f"{len(heap.sizes)} objects, {sum(map(len, heap.graph_edges())) + 4} references", said)

    def test_csv_guards(self):
        """A text that a spreadsheet would take for a formula, as stored in the file."""
        with open(os.path.join(self.convert(Heap(), "g.csv")[0], "types.csv"), "rb") as file:
            text = file.read()
        self.assertIn(b'\n7,"\'=Only.Static","\'=Only.Static",,0x5400,0xa80,33554456,128,24,1,0,0\n', text)
        self.assertIn(b'"Two??Lines;x?""q"""', text)

    @unittest.skipUnless(HAVE_SQLITE, "built without SQLite")
    def test_sqlite(self):
        for sizes in (SMALL, HUGE):
            heap = Heap(sizes)
            path, said = self.convert(heap, f"{sizes[-4]}.sqlite")
            db = sqlite3.connect(path)
            self.addCleanup(db.close)
            settings = ("user_version", "page_size", "encoding", "auto_vacuum", "integrity_check")
            self.assertEqual([db.execute(f"PRAGMA {what}").fetchone()[0] for what in settings], [1, 4096, "UTF-8", 0, "ok"])
            for table, rows in expected_tables(heap).items():
                self.assertEqual(db.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall(),
                                 [tuple(min(v, MAX63) if isinstance(v, int) else v for v in row) for row in rows], table)
            self.assertEqual(db.execute("SELECT * FROM dominators ORDER BY 1").fetchall(),
                             [(n, parent, min(size, MAX63)) for n, (parent, size) in heap.dominators().items()])
            facts = dict(db.execute("SELECT * FROM facts"))
            del facts["gcdumpc_version"]
            self.assertEqual(facts, {k: min(v, MAX63) if isinstance(v, int) else v for k, v in expected_facts(heap).items()})
            written = [heap.bytes(), *heap.sizes, *(t["bytes"] for t in heap.types_rows()), *(s for _, s in heap.dominators().values())]
            large = sum(v > MAX63 for v in written)
            self.assertEqual(losses(said), [f"{large} numbers are larger than 2^63-1 and are written as 2^63-1"] if large else [])

    @unittest.skipUnless(HAVE_SQLITE, "built without SQLite")
    def test_indexes_and_views(self):
        db = sqlite3.connect(self.convert(Heap(), "i.sqlite")[0])
        self.addCleanup(db.close)
        indexes = {name: sql for name, sql in db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL")}
        expected = {"edges_to": "edges(to_id)", "objects_type": "objects(type_id)", "objects_address": "objects(address)",
                    "roots_object": "roots(object_id)", "dependent_handles_key": "dependent_handles(key_id)",
                    "dependent_handles_value": "dependent_handles(value_id)", "dominators_parent": "dominators(parent_id)",
                    "dominators_retained": "dominators(retained_bytes)"}
        self.assertEqual(indexes, {name: f"CREATE INDEX {name} ON {on}" for name, on in expected.items()})
        heap, one = Heap(), lambda sql: db.execute(sql).fetchall()
        names = [t["name"] for t in heap.types_rows()]
        dominators = heap.dominators()
        self.assertEqual(one("SELECT * FROM v_types_by_bytes"), [
            (i, t["name"], t["module"] or None, t["objects"], t["bytes"])
            for i, t in sorted(enumerate(heap.types_rows()), key=lambda e: (-e[1]["bytes"], -e[1]["objects"], e[0])) if t["objects"]])
        self.assertEqual(one("SELECT * FROM v_objects ORDER BY id"), [
            (n, hex(heap.addresses[n]), names[heap.type_of(n)], size, heap.generation(n), dominators.get(n, (None, None))[1],
             dominators.get(n, (None, None))[0]) for n, size in enumerate(heap.sizes)])
        self.assertEqual(sorted(one("SELECT * FROM v_largest_retained"), key=lambda r: (-r[3], r[0])), sorted(
            ((n, names[heap.type_of(n)], heap.sizes[n], size, parent) for n, (parent, size) in dominators.items()), key=lambda r: (-r[3], r[0])))
        self.assertEqual([r[3] for r in one("SELECT * FROM v_largest_retained")], sorted((s for _, s in dominators.values()), reverse=True))
        roots = [(group(r[0], r[1]), r[0], r[4]) for r in heap.roots()]
        summary = {key: [r[2] for r in roots if r[:2] == key] for key in {r[:2] for r in roots}}
        self.assertEqual(one("SELECT * FROM v_roots_summary"), sorted(((g, k, len(ns), len(set(ns))) for (g, k), ns in summary.items()),
                                                                      key=lambda r: (-r[2], r[0], r[1])))
        self.assertEqual(one("SELECT * FROM v_roots ORDER BY id"), [
            (i, group(kind, flags), kind, name or None, n, names[heap.type_of(n)], heap.sizes[n], dominators.get(n, (None, None))[1], *row[8:])
            for (i, (kind, flags, name, _, n, _)), row in zip(enumerate(heap.roots()), expected_tables(heap)["roots"])])
        who = [(to, "edge", n, slot, names[heap.type_of(n)], heap.sizes[n])
               for n, targets in enumerate(heap.graph_edges()) for slot, to in enumerate(targets)]
        who += [(value, "dependent_handle", key, None, names[heap.type_of(key)], heap.sizes[key]) for key, value in heap.dependents()]
        who += [(n, "root", None, None, group(kind, flags) + (f" {name}" if name else ""), None) for kind, flags, name, _, n, _ in heap.roots()]
        self.assertEqual(sorted(map(repr, one("SELECT * FROM v_who_references"))), sorted(map(repr, who)))
        self.assertEqual(sorted(one("SELECT * FROM v_dominated WHERE object_id IS NOT NULL")), sorted(
            (parent, n, names[heap.type_of(n)], heap.sizes[n], size) for n, (parent, size) in dominators.items() if parent is not None))
        label = {None: "nongc", 0: "gen0", 1: "gen1", 2: "gen2", 3: "loh", 4: "poh"}
        where = [heap.generation(n) for n in range(len(heap.sizes))]
        self.assertEqual(one("SELECT * FROM v_generations"), [
            (label[g], where.count(g), sum(s for s, w in zip(heap.sizes, where) if w == g)) for g in (None, 0, 1, 2, 3, 4) if g in where])
        self.assertEqual(sorted(one("SELECT * FROM v_unreachable")), sorted(
            (n, names[heap.type_of(n)], size) for n, size in enumerate(heap.sizes) if n not in dominators and where[n] is not None))


def one_line(name):
    return re.sub("[\0-\x1f\x7f]", "?", name)


class GcLog(Case):
    def expected(self, heap, streamed):
        """STREAMED: from the recording, with dangling references; from a graph, without them."""
        ids = list(dict.fromkeys([t for n, _, t, _ in STATICS if n is not NULL and (streamed or n != NOWHERE)] + heap.type_ids))
        names = {t["id"]: one_line(t["raw"]) for t in heap.types_rows()}
        kinds = {"stack": 1, "finalizer": 2, "handle": 3, "static": 4, "other": 5, "com": 3}
        lines = ["a 2 field 4d2"] + [f"t {i:x} {names[t]}" for i, t in enumerate(ids, 1)]
        if streamed:
            lines += [f"r {heap.address(n):x} 4 0 {ids.index(t) + 1:x}" for n, _, t, _ in STATICS if n is not NULL]
            lines += [f"r {heap.address(n):x} {min(k, 3) + 1 if k < 3 else 5} {flags:x}" for n, k, flags, _ in ROOTS if n is not NULL]
            lines += [f"r {heap.address(n):x} 3 8" for n in (7, 11)]
        else:
            lines += [f"r {heap.address(n):x} {kinds[kind]} {flags:x}" + (f" {ids.index(t) + 1:x}" if kind == "static" else "")
                      for kind, flags, _, _, n, t in heap.roots()]
        for n, size in enumerate(heap.sizes):
            targets = [t for t in REFERENCES[n] if t is not NULL] if streamed else list(heap.graph_edges()[n])
            targets += [v for k, v in DEPENDENTS_OF_GCLOG if k == n and (streamed or v != NOWHERE)]
            lines.append(" ".join([f"o {heap.addresses[n]:x} {ids.index(heap.type_ids[heap.type_of(n)]) + 1:x} {size:x}",
                                   *(f"{heap.address(t):x}" for t in targets)]))
        return "\n".join(lines + ["c field 4d2"]) + "\n"

    def test_streamed(self):
        for sizes in (SMALL, HUGE):
            heap = Heap(sizes)
            path, said = self.convert(heap, "x.gclog")
            with open(path, encoding="utf-8", newline="") as file:
                text = file.read()
            end = re.search(r"t 9 \[gcdumpc complete crc32=([0-9a-f]+) objects=f references=15\]\n", text)
            self.assertEqual(int(end[1], 16), zlib.crc32(text[:end.start()].encode()))
            self.assertEqual(text[:end.start()] + text[end.end():], self.expected(heap, True))
            self.assertEqual(losses(said), ["4 static variables lose their names", "5 dependent handles become references of their keys",
                                            *LOST_RANGES])
            self.assertIn("2 references lead to addresses without an object", said)
            self.assertIn("2 roots hold addresses without an object", said)
            self.assertIn("1 dependent handle was dropped: its key is not an object", said)
            references = sum(t is not NULL for targets in REFERENCES for t in targets) + 5
            self.assertIn(f"{len(sizes)} objects, {references} references, ", said)

    def test_of_a_graph(self):
        """Through a file that keeps names, sizes below 2^31 and kinds of roots, but not flags and weak roots."""
        heap = Heap()
        self.convert(heap, "x.gcdump", "--names", "raw")
        done = gcdumpc("convert", self.path("x.gcdump"), "-o", self.path("y.gclog"), "--names", "raw")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("y.gclog"), encoding="utf-8") as file:
            seen = [line for line in file.read().split("\n") if not line.startswith(("r ", "t "))]
        expected = [line for line in self.expected(heap, False).split("\n") if not line.startswith(("r ", "t "))]
        numbers = lambda lines: [[w for i, w in enumerate(line.split(" ")) if i != 2] for line in lines]   # types get new numbers
        for line in range(len(expected)):
            if expected[line].startswith("o "):
                words = expected[line].split(" ")
                words[3] = f"{min(int(words[3], 16), 2 ** 31 - 1):x}"
                expected[line] = " ".join(words)
        self.assertEqual(numbers(seen), numbers(expected))


DEPENDENTS_OF_GCLOG = ((0, 7), (0, 10), (5, NOWHERE), (6, 10), (6, 0))


class GcDumpFormat(Case):
    def test_fields(self):
        for sizes, pointer_size in ((SMALL, 8), (HUGE, 8), (SMALL, 4)):
            heap = Heap(sizes, pointer_size)
            path, said = self.convert(heap, "x.gcdump")
            with open(path, "rb") as file:
                dump = gcdump_read.GcDump(file.read())
            seen, graph = gcdump_read.report(dump, True), dump.graph
            stored = [min(size, 2 ** 31 - 1) for size in sizes]
            alive = [r for r in heap.roots() if group(r[0], r[1]) != "weak"]
            first = {heap.type_of(n): stored[n] for n in reversed(range(len(sizes)))}
            statics = [f"[static var {heap.types_rows()[heap.type_ids.index(t)]['name']}.{name}]"
                       for kind, _, name, _, _, t in alive if kind == "static"]
            places = ["[static vars]", "[local vars]", "[other roots]", "[COM/WinRT Objects]", "[strong Handles]", "[pinning Handles]",
                      "[finalizer Handles]", "[COM/WinRT Objects]", "[other Handles]"]
            self.assertEqual([[name, size, module or ""] for name, size, module in graph.types],
                             [["UNDEFINED", 0, ""]] + [[t["name"], first.get(i, -1), t["module"]] for i, t in enumerate(heap.types_rows())]
                             + [[name, 0, ""] for name in ["[.NET Roots]", *places, *statics]])
            n = len(sizes)
            place = {name: n + 1 + i for i, name in enumerate(("statics", "locals", "rest", "com", "strong_handles", "pinned_handles", "finalizer",
                                                               "refcounted", "other"))}
            of = lambda which: [1 + r[4] for r in alive if (r[0] == "com") == (which == "com") and (which == "com" or group(r[0], r[1]) == which)]
            follow = [list(targets) for targets in heap.graph_edges()]
            for key, value in heap.dependents():
                follow[key].append(value)
            expected = [["[.NET Roots]", 0, 0, [place[p] for p in ("statics", "locals", "rest", "com")]]]
            expected += [[heap.types_rows()[heap.type_of(i)]["name"], stored[i], heap.addresses[i], [1 + t for t in follow[i]]] for i in range(n)]
            first_static = n + 1 + len(places)
            expected.append(["[static vars]", 0, 0, [first_static + i for i in range(len(statics))]])
            expected.append(["[local vars]", 0, 0, of("locals")])
            expected.append(["[other roots]", 0, 0, [place[p] for p in ("strong_handles", "pinned_handles", "finalizer", "refcounted", "other")]])
            expected.append(["[COM/WinRT Objects]", 0, 0, of("com")])
            for name, which in (("[strong Handles]", "strong_handles"), ("[pinning Handles]", "pinned_handles"), ("[finalizer Handles]", "finalizer"),
                                ("[COM/WinRT Objects]", "refcounted"), ("[other Handles]", "other")):
                expected.append([name, 0, 0, of(which)])
            expected += [[name, 0, 0, [node]] for name, node in zip(statics, of("statics"))]
            self.assertEqual(seen["graph"], expected)
            facts = seen["facts"]
            ticks = (heap.started_unix_ms() * 10000 + (datetime.datetime(1970, 1, 1) - datetime.datetime(1, 1, 1)).days * 864 * 10 ** 9
                     + GC_START_US * 10)
            self.assertEqual({k: facts[k] for k in ("version", "minimum_reader", "total_size", "root_index", "is_64bit", "undefined_nodes",
                                                    "count_multiplier", "size_multiplier", "multipliers_by_type", "segments", "time_ticks",
                                                    "machine", "process", "pid",
                                                    "commit", "working_set", "interop", "creation_tool", "javascript", "deferred_types")},
                             {"version": 10, "minimum_reader": 8, "total_size": sum(stored), "root_index": 0, "is_64bit": pointer_size == 8,
                              "undefined_nodes": 0, "count_multiplier": 1, "size_multiplier": 1, "multipliers_by_type": [], "segments": None,
                              "time_ticks": ticks, "machine": None, "process": "field", "pid": PID, "commit": 0, "working_set": 0, "interop": None,
                              "creation_tool": "gcdumpc", "javascript": False, "deferred_types": False})
            self.assertEqual(facts["log"].split("\n"), [
                "gcdumpc: complete", "command line: /opt/field heap --x", "os: Linux-é", "arch: arm64", "runtime: 10.11.12", "gc number: 6",
                "gc depth: 2", "gc reason: 1", "gc type: 0", "gc heaps: 4", f"gc start ns: {GC_START_US * 1000}", f"gc end ns: {GC_END_US * 1000}",
                "references missing: 1", "references dangling: 1", "roots dangling: 2", "dependent handles dropped: 2", "objects dropped: 0",
                f"objects: {len(heap.sizes)}", f"references: {sum(map(len, heap.graph_edges())) + len(heap.dependents())}", ""])
            clamped = sum(size > 2 ** 31 - 1 for size in sizes)
            self.assertEqual(losses(said), ["2 weak roots are not stored", *LOST_FLAGS, *LOST_RANGES, *LOST_HANDLES,
                                            f"{clamped} objects are larger than the 2 GiB that a gcdump can store: "
                                            "they count as 2147483647 bytes"])

    def test_read_back(self):
        """The program's own reader returns everything that a .gcdump stores."""
        heap = Heap()
        path, _ = self.convert(heap, "x.gcdump")
        seen, live = self.json("info", path), self.json("info", self.record(heap))
        self.assertEqual(seen["process"], live["process"])
        start = heap.started_unix_ms()
        self.assertEqual((seen["trace"]["container"], seen["trace"]["version"], seen["trace"]["pointer_bytes"], seen["trace"]["start_unix_ms"]),
                         ("gcdump", 10, 8, start))
        self.assertEqual({k: seen["gc"][k] for k in ("number", "generation", "reason", "type", "heaps", "start_ns", "end_ns")},
                         {k: live["gc"][k] for k in ("number", "generation", "reason", "type", "heaps", "start_ns", "end_ns")})
        done = gcdumpc("convert", path, "-o", self.path("back.csv"), "-q")
        self.assertEqual(done.returncode, 0, done.stderr)
        expected = expected_tables(heap)
        for row in expected["objects"]:
            row[2], row[4] = min(row[2], 2 ** 31 - 1), None
        self.assertEqual([row[2:] for row in read_csv(self.path("back.csv"), "objects")], [row[2:] for row in expected["objects"]])
        follow = [[n, to] for n, _, to, *_ in expected["edges"]] + [[key, value] for _, key, value in expected["dependent_handles"]]
        self.assertEqual(sorted([n, to] for n, _, to, *_ in read_csv(self.path("back.csv"), "edges")), sorted(follow))
        strong = [(r[2], r[4], r[6]) for r in expected["roots"] if r[2] != "weak"]
        self.assertEqual(sorted((r[2], r[4] or "", r[6]) for r in read_csv(self.path("back.csv"), "roots")),
                         sorted((g, one_line(name or ""), n) for g, name, n in strong))
        facts = dict(read_csv(self.path("back.csv"), "facts"))
        self.assertEqual([facts[k] for k in ("edges_missing", "edges_dangling", "roots_dangling", "dependents_dropped", "objects_dropped", "complete",
                                             "unverified", "dumps", "dump_number", "container")], [1, 1, 2, 2, 0, 1, 0, 1, 1, "gcdump"])


class Dart(Case):
    def test_fields(self):
        for sizes in (SMALL, HUGE):
            heap = Heap(sizes)
            path, said = self.convert(heap, "x.dartheap")
            large = sum(t["bytes"] > 2 ** 31 - 1 for t in heap.types_rows())
            self.assertEqual(losses(said), ["2 weak roots are not stored", *LOST_FLAGS, *LOST_RANGES, "3 static variables lose their names",
                                            *LOST_HANDLES, f"{large} types have more than 2 GiB of objects, which some readers miscount",
                                            f"{heap.bytes():,} bytes of objects are more than DevTools can sum up"])
            with open(path, "rb") as file:
                data = file.read()
            seen = dart_read.report(dart_read.Snapshot(data), True)
            alive = [(group(r[0], r[1]), r[4]) for r in heap.roots() if group(r[0], r[1]) != "weak"]
            groups = [g for g in GROUPS if any(g == of for of, _ in alive)]
            first = 2 + len(groups)
            names = {"statics": "static", "locals": "local", "finalizer": "finalizer", "strong_handles": "handle", "pinned_handles": "pinned",
                     "refcounted": "ref-counted", "other": "other"}
            label = dict(zip(GROUPS, LABELS), strong_handles="[handles]")
            follow = [list(targets) for targets in heap.graph_edges()]
            for key, value in heap.dependents():
                follow[key].append(value)
            rows = heap.types_rows()
            expected = [["Root", 0, None, list(range(2, first))]]
            expected += [[label[g], 0, names[g], [first + n for of, n in alive if of == g]] for g in groups]
            expected += [[rows[heap.type_of(n)]["name"], size, None, [first + t for t in follow[n]]] for n, size in enumerate(sizes)]
            self.assertEqual([row[:2] + [row[2] if i < first - 1 else None] + row[3:] for i, row in enumerate(seen["graph"])], expected)
            facts = seen["facts"]
            used = sum(r[2] for r in RANGES)
            self.assertEqual({k: facts[k] for k in ("name", "flags", "shallow_size", "capacity", "external_size", "null_references", "hashes",
                                                    "external_properties")},
                             {"name": "field", "flags": 0, "shallow_size": heap.bytes(), "capacity": max(heap.bytes(), used), "external_size": 0,
                              "null_references": 0, "hashes": "zero", "external_properties": 0})
            snapshot = dart_read.Snapshot(data)
            uris = ["package:" + "/".join(quoted(part) for part in reversed(module_file(t["module"] or "unknown"))) for t in rows if t["objects"]]
            classes = [("Root", "")] + [(label[g], "") for g in groups] + list(zip([t["name"] for t in rows if t["objects"]], uris))
            self.assertEqual([(c.name, c.uri) for c in snapshot.classes[:len(classes)]], classes)
            decoys = [("_OneByteString", []), ("_TwoByteString", []), ("_List", []), ("_ImmutableList", []),
                      ("_WeakProperty", [(0, "key_"), (1, "value_")]), ("_WeakReference", []), ("PatchClass", []),
                      ("FinalizerEntry", [(0, "detach_"), (1, "value_")])]
            self.assertEqual([(c.name, c.fields) for c in snapshot.classes[len(classes):]], decoys)
            self.assertEqual({c.uri for c in snapshot.classes[len(classes):]}, {"dart:core", "dart:_internal"})
            self.assertTrue(all(c.library == "" and c.flags == 0 for c in snapshot.classes))


class ReadBack(Case):
    """A gclog and a Dart snapshot by the program's own readers: everything they store, in the order of the file."""

    @staticmethod
    def renamed(name):
        """As in a gclog, which has no modules and uses the runtime's names."""
        name = one_line(name).replace("UNKNOWN 0xa70", "Type(0x2000017)")
        return name.replace("Store [Shop]", "Store [#1]").replace("Store [AZaz09._~-@[`{:,é]", "Store [#2]")

    def tables(self, heap, name):
        self.convert(heap, name)
        folder = self.path(f"back{heap.bytes()}.csv")
        done = gcdumpc("convert", self.path(name), "-o", folder, "-q")
        self.assertEqual(done.returncode, 0, done.stderr)
        return {t: read_csv(folder, t) for t in ("types", "objects", "edges", "roots", "dependent_handles", "ranges", "facts")}

    @staticmethod
    def edges(heap):
        """Followed by those of dependent handles."""
        follow = [list(targets) for targets in heap.graph_edges()]
        for key, value in heap.dependents():
            follow[key].append(value)
        return [[n, slot, to, None, None] for n, targets in enumerate(follow) for slot, to in enumerate(targets)]

    def test_gclog(self):
        for sizes in (SMALL, HUGE):
            heap = Heap(sizes)
            seen = self.tables(heap, "x.gclog")
            names = [row[1] for row in seen["types"]]
            self.assertEqual([[names[row[1]], *row[2:4]] for row in seen["objects"]],
                             [[self.renamed(heap.types_rows()[heap.type_of(n)]["name"]), size, heap.addresses[n]] for n, size in enumerate(sizes)])
            self.assertEqual(seen["edges"], self.edges(heap))
            self.assertEqual([row[1:4] + row[6:7] for row in seen["roots"]],
                             [[kind, group(kind, flags), flags, n]
                              for kind, flags, n in (("handle" if r[0] == "com" else r[0], r[1], r[4]) for r in heap.roots())])
            facts = dict(seen["facts"])
            self.assertEqual({k: facts.get(k) for k in ("process_name", "gc_start_ns", "gc_end_ns", "complete", "unverified", "container",
                                                        "roots_weak", "roots_pinned", "edges_dangling", "roots_dangling", "bytes",
                                                        "addresses_made_up")},
                             {"process_name": "field", "gc_start_ns": GC_START_US // 1000 * 10 ** 6,
                              "gc_end_ns": GC_START_US // 1000 * 10 ** 6, "complete": 1, "unverified": 0, "container": "gclog",
                              "roots_weak": 2, "roots_pinned": 2, "edges_dangling": 2, "roots_dangling": 2,
                              "bytes": heap.bytes(), "addresses_made_up": 0})

    def test_dart(self):
        for sizes in (SMALL, HUGE):
            heap = Heap(sizes)
            seen = self.tables(heap, "x.dartheap")
            rows = heap.types_rows()
            types = [(row[1], row[3] or "") for row in seen["types"]]
            self.assertEqual([[*types[row[1]], row[2]] for row in seen["objects"]],
                             [[one_line(rows[heap.type_of(n)]["name"]), module_file(rows[heap.type_of(n)]["module"])[0], size] for n, size in enumerate(sizes)])
            self.assertEqual(seen["edges"], self.edges(heap))
            kinds = {"statics": "static", "locals": "stack", "finalizer": "finalizer", "other": "other"}
            expected = [[kinds.get(g, "handle"), g, {"pinned_handles": 1, "refcounted": 8}.get(g, 0), r[4]]
                        for g in GROUPS for r in heap.roots() if group(r[0], r[1]) == g != "weak"]
            self.assertEqual([row[1:4] + row[6:7] for row in seen["roots"]], expected)
            facts = dict(seen["facts"])
            self.assertEqual({k: facts.get(k) for k in ("process_name", "complete", "unverified", "container", "bytes", "addresses_made_up")},
                             {"process_name": "field", "complete": 1, "unverified": 0, "container": "dart", "bytes": heap.bytes(),
                              "addresses_made_up": 1})


def quoted(text):
    return "".join(c if re.fullmatch(r"[A-Za-z0-9._~-]", c) else "".join(f"%{b:02X}" for b in c.encode()) for c in text)


class HeapSnapshot(Case):
    def test_fields(self):
        for sizes in (SMALL, HUGE):
            heap = Heap(sizes)
            path, said = self.convert(heap, "x.heapsnapshot")
            with open(path, encoding="utf-8") as file:
                seen = json.load(file)
            rows = heap.types_rows()
            roots = [(group(r[0], r[1]), r) for r in heap.roots()]
            groups = [g for g in GROUPS if any(g == of for of, _ in roots)]
            label = dict(zip(GROUPS, LABELS))
            statics = [f"{rows[heap.type_ids.index(r[5])]['name']}" + (f".{r[2]}" if r[2] else "") for g, r in roots if g == "statics"]
            weak = [str(i) for i in range(sum(g == "weak" for g, _ in roots))]
            shown = [t["name"].replace(" ", "") if t["name"].startswith("<") else t["name"] for t in rows]
            dependents = heap.dependents()
            held = {t for n in range(len(sizes)) for t in heap.graph_edges()[n] if t != n} | {v for _, v in dependents} | {r[4] for g, r in roots if g != "weak"}
            frozen = [n for n in range(len(sizes)) if n not in held and heap.generation(n) is None]
            strings = ["", "(GC roots)", *(label[g] for g in groups), *["[frozen]"] * bool(frozen), *statics, *weak, "dependent handle", *shown]
            name = {i: len(strings) - len(shown) + i for i in range(len(shown))}
            first = 2 + len(groups)
            if frozen:
                first += 1
            nodes, edges = [[9, 0, 1, 0, 1, 0, 0], [9, 1, 3, 0, len(groups), 0, 0]], [[3, 1, 7]]
            for i, g in enumerate(groups):
                edges.append([3, 2 + i, 7 * (2 + i)])
                nodes.append([9, 2 + i, 2 * (2 + i) + 1, 0, sum(g == of for of, _ in roots), 0, 0])
            if frozen:
                edges.append([3, 2 + len(groups), 7 * (2 + len(groups))])
                nodes.append([9, 2 + len(groups), 2 * (2 + len(groups)) + 1, 0, len(frozen), 0, 0])
                nodes[1][4] += 1
            for g in groups:
                for i, r in enumerate(r for of, r in roots if of == g):
                    to = 7 * (first + r[4])
                    at = first
                    edges.append([2, at + i, to] if g == "statics" else [6, at + len(statics) + i, to] if g == "weak" else [1, i, to])
            edges += [[1, i, 7 * (first + n)] for i, n in enumerate(frozen)]
            for n, size in enumerate(sizes):
                targets = heap.graph_edges()[n]
                values = [v for k, v in dependents if k == n]
                nodes.append([3, name[heap.type_of(n)], 2 * (first + n) + 1, min(size, 2 ** 32 - 1), len(targets) + len(values), 0, 0])
                edges += [[2, name[heap.type_of(t)], 7 * (first + t)] for t in targets]
                edges += [[3, strings.index("dependent handle"), 7 * (first + v)] for v in values]
            self.assertEqual(seen["strings"], strings)
            self.assertEqual([seen["nodes"][i:i + 7] for i in range(0, len(seen["nodes"]), 7)], nodes)
            self.assertEqual([seen["edges"][i:i + 3] for i in range(0, len(seen["edges"]), 3)], edges)
            head = seen["snapshot"]
            self.assertEqual((head["node_count"], head["edge_count"], head["trace_function_count"]), (len(nodes), len(edges), 0))
            self.assertEqual([seen[k] for k in ("trace_function_infos", "trace_tree", "samples", "locations")], [[]] * 4)
            large = sum(size > 2 ** 32 - 1 for size in sizes)
            self.assertEqual(losses(said), ["3 roots lose their flags (pinned, interior)", *LOST_RANGES, f"{len(sizes)} objects lose their addresses",
                                            f"{large} objects are larger than 4 GiB and have that size in the file"])


# -- pprof: protocol buffers, read here ---------------------------------------------------------------------------------

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data):
    """(number, value): an integer, or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            if len(value) != size:
                raise AssertionError("a field beyond the end")
        else:
            raise AssertionError(f"wire type {key & 7}")
        yield key >> 3, value


def numbers(data):
    found, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        found.append(value)
    return found


class Profiles(Case):
    def stacks(self, heap, by):
        """Frames from the root on -> [objects, bytes]."""
        rows, roots = heap.types_rows(), heap.roots()
        parents = {n: p for n, (p, _) in heap.dominators().items()}
        if by == "paths":
            parents = self.shortest(heap)
        stacks = {}
        for n, size in enumerate(heap.sizes):
            chain, at = [], n
            while at is not None and n in parents:
                chain.append(at)
                at = parents[at]
            names = []
            for m in reversed(chain):
                name = rows[heap.type_of(m)]["name"], rows[heap.type_of(m)]["module"], heap.type_of(m)
                if not names or names[-1] != name:
                    names.append(name)
            if not chain:
                top = [("[frozen]" if heap.generation(n) is None else "[not reachable from roots]", "", None)]
                names = [(rows[heap.type_of(n)]["name"], rows[heap.type_of(n)]["module"], heap.type_of(n))]
            else:
                root = next((r for r in roots if r[4] == chain[-1] and group(r[0], r[1]) != "weak"), None)
                label = dict(zip(GROUPS, LABELS), locals="[thread stacks]")
                top = [("[several roots]" if root is None else label[group(root[0], root[1])], "", None)]
                if root is not None and root[0] == "static" and root[2]:
                    top.append((root[2], "", None))
            row = stacks.setdefault(tuple((t, m) for t, m, _ in top + names), [0, 0])
            row[0] += 1
            row[1] = min(row[1] + size, MAX64)
        return stacks

    @staticmethod
    def shortest(heap):
        follow = [list(targets) for targets in heap.graph_edges()]
        for key, value in heap.dependents():
            follow[key].append(value)
        parents, late = {}, GROUPS.index("locals")
        for turn in range(late, len(GROUPS)):             # first all early groups, then each late one
            level = []
            for r in heap.roots():
                at = GROUPS.index(group(r[0], r[1]))
                if GROUPS[at] != "weak" and (at < late if turn == late else at == turn - 1) and r[4] not in parents:
                    parents[r[4]] = None
                    level.append(r[4])
            while level:
                after = []
                for n in level:
                    for t in follow[n]:
                        if t not in parents:
                            parents[t] = n
                            after.append(t)
                level = after
        return parents

    def test_pprof(self):
        for sizes, by in itertools.product((SMALL, HUGE), ("dominators", "paths")):
            heap = Heap(sizes)
            path, said = self.convert(heap, "x.pb.gz", "--stack-by", by)
            with gzip.open(path) as file:
                profile = {}
                for number, value in fields(file.read()):
                    profile.setdefault(number, []).append(value)
            strings = [s.decode() for s in profile.pop(6)]
            self.assertEqual(len(set(strings)), len(strings))
            self.assertEqual(strings[0], "")
            unit = lambda data: (strings[dict(fields(data))[1]], strings[dict(fields(data))[2]])
            self.assertEqual([unit(v) for v in profile.pop(1)], [("inuse_objects", "count"), ("inuse_space", "bytes")])
            functions = {}
            for body in profile.pop(5):
                f = dict(fields(body))
                self.assertLessEqual(set(f), {1, 2, 4})
                functions[f[1]] = (strings[f[2]], strings[f.get(4, 0)])
            locations = {}
            for body in profile.pop(4):
                f = dict(fields(body))
                self.assertEqual(set(f), {1, 4})
                line = dict(fields(f[4]))
                self.assertEqual(set(line), {1})
                locations[f[1]] = functions[line[1]]
            self.assertEqual(sorted(locations), list(range(1, len(locations) + 1)))
            samples, used = {}, set()
            for body in profile.pop(2):
                f = dict(fields(body))
                stack = tuple(locations[i] for i in reversed(numbers(f[1])))
                self.assertNotIn(stack, samples)
                used |= set(numbers(f[1]))
                samples[stack] = numbers(f[2])
            self.assertEqual((used, sorted(functions)), (set(locations), sorted(locations)))
            expected = {k: [n, min(size, MAX63)] for k, (n, size) in self.stacks(heap, by).items()}
            self.assertEqual(samples, expected)
            clamped = sum(size > MAX63 for _, size in self.stacks(heap, by).values())
            self.assertRegex(said, rf": {len(sizes)} objects, .* of pprof written, complete\n\Z")
            subject = "1 stack has more than 2^63 - 1 bytes and is" if clamped == 1 else f"{clamped} stacks have more than 2^63 - 1 bytes and are"
            self.assertEqual(losses(said), [f"{subject} written as 2^63 - 1"] if clamped else [])
            self.assertEqual(profile.pop(9), [heap.started_unix_ms() * 10 ** 6 + GC_START_US * 1000])
            self.assertEqual([unit(v) for v in profile.pop(11)], [("inuse_space", "bytes")])
            self.assertEqual((profile.pop(12), [strings[i] for i in profile.pop(14)]), ([1], ["inuse_space"]))
            comments = [strings[i] for i in profile.pop(13)]
            self.assertRegex(comments[0], r"\Agcdumpc \d")
            self.assertEqual(comments[1:], ["stacks: dominators" if by == "dominators" else "stacks: shortest path from a root", "complete"])
            self.assertEqual(profile, {})

    def test_collapsed(self):
        for sizes, by in itertools.product((SMALL, HUGE), ("dominators", "paths")):
            heap = Heap(sizes)
            path, said = self.convert(heap, "x.folded", "--stack-by", by)
            with open(path, encoding="utf-8", newline="") as file:
                lines = file.read().split("\n")
            self.assertRegex(said, rf": {len(sizes)} objects, .* of collapsed written, complete\n\Z")
            frame = lambda text: one_line(text.replace(";", ":"))
            expected = sorted((tuple(t for t, _ in stack), size) for stack, (_, size) in self.stacks(heap, by).items())
            self.assertEqual(lines, [";".join(map(frame, stack)) + f" {size}" for stack, size in expected] + [""])


class Html(Case):
    def data(self, heap):
        text = self.read(heap, "x.html").decode()
        return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])

    def test_fields(self):
        for sizes in (SMALL, HUGE):
            heap = Heap(sizes)
            seen = self.data(heap)
            rows, dominators = heap.types_rows(), heap.dominators()
            self.assertEqual(seen["kind"], "heap")
            self.assertEqual(seen["process"], {"name": "field", "pid": PID, "command_line": "/opt/field heap --x", "os": "Linux-é",
                                               "architecture": "arm64", "runtime_version": "10.11.12", "format": "nettrace"})
            self.assertEqual(seen["gc"], {"start_unix_ms": heap.started_unix_ms(), "start_ns": GC_START_US * 1000, "pause_ns": pauses()[1],
                                          "number": 6, "heaps": 4})
            # objects outside the memory of the collector live without a root
            alive = [n for n in range(len(sizes)) if n in dominators or heap.generation(n) is None]
            reach = min(sum(sizes[n] for n in alive), MAX64)
            self.assertLessEqual(seen["totals"].pop("own_bytes"), reach)     # its value: cli/test_html
            self.assertEqual(seen["totals"], {"objects": len(sizes), "bytes": heap.bytes(), "references": sum(map(len, heap.graph_edges())),
                                              "types": 7, "roots": len(heap.roots()), "dependent_handles": len(heap.dependents()),
                                              "reachable_objects": len(alive), "reachable_bytes": reach, "observed": 0, "stand_ins": 0})
            groups = [group(r[0], r[1]) for r in heap.roots()]
            self.assertEqual(seen["roots"], [groups.count(g) for g in GROUPS])
            names, kinds = seen["names"], seen["kinds"]
            self.assertEqual(len(names), len(kinds))
            types = [[names[n], module, count, size, kept] for n, module, count, size, kept, _ in seen["types"]]
            self.assertLessEqual({row[-1] for row in seen["types"]}, {0, 1, 2})
            expected = [[t["name"], module_file(t["module"])[0], t["objects"], t["bytes"], self.retained(heap, i)]
                        for i, t in enumerate(rows) if t["objects"]]
            expected.sort(key=lambda r: (-r[3], -r[2]))
            self.assertEqual(types, expected)
            self.assertEqual(seen["other_types"], [0, 0, 0])
            self.check_tree(heap, seen)
            large = [[names[n], size, kept, int(address, 16), [names[h] for h in holders]] for n, size, kept, address, holders, _ in seen["largest"]]
            self.assertEqual([fields for *_, fields in seen["largest"]], [[0] * len(row[4]) for row in large])         # no layouts
            self.assertEqual(sorted(row[:4] for row in large), sorted(
                [rows[heap.type_of(n)]["name"], sizes[n], kept, heap.addresses[n]] for n, (parent, kept) in dominators.items()
                if parent is None or heap.type_of(parent) != heap.type_of(n)))
            self.assertEqual([row[2] for row in large], sorted((row[2] for row in large), reverse=True))
            self.check_generations(heap, seen)
            self.assertTrue(seen["verdict"]["complete"])

    @staticmethod
    def retained(heap, type_index):
        """The retained size of the type: the sum over its objects that no other object of the type dominates."""
        dominators, total = heap.dominators(), 0
        for n, (parent, size) in dominators.items():
            above = parent
            while above is not None and heap.type_of(above) != type_index:
                above = dominators[above][0]
            if heap.type_of(n) == type_index and above is None:
                total += size
        return min(total, MAX64)

    def check_tree(self, heap, seen):
        names, tree = seen["names"], seen["tree"]
        paths = []
        for parent, frame, *_ in tree:
            paths.append((paths[parent] if parent >= 0 else ()) + ((names[frame], seen["kinds"][frame]),))
        stacks = Profiles.stacks(self, heap, "dominators")
        static = {r[2] for r in heap.roots() if r[0] == "static"}
        own = {tuple(t for t, _ in path): [objects, size] for path, (_, _, objects, size, _, _) in zip(paths, tree)}
        self.assertEqual({k: v for k, v in own.items() if v[0]}, {tuple(t for t, _ in stack): row for stack, row in stacks.items()})
        for path, (_, _, objects, size, all_objects, all_size) in zip(paths, tree):
            below = [row for other, row in zip(paths, tree) if other[:len(path)] == path]
            self.assertEqual((all_objects, all_size), (sum(r[2] for r in below), min(sum(r[3] for r in below), MAX64)))
            self.assertEqual(path[-1][1], "r" if len(path) == 1 else "s" if path[-1][0] in static and len(path) == 2 else "t")

    def check_generations(self, heap, seen):
        where = [heap.generation(n) for n in range(len(heap.sizes))]
        ranges = {g: (used, reserved) for g, _, used, reserved in RANGES}
        for g, row in zip((0, 1, 2, 3, 4, None), seen["generations"]):
            sizes = [s for s, w in zip(heap.sizes, where) if w == g]
            aligned = min(sum((s + 7) // 8 * 8 for s in sizes), MAX64)
            used, reserved = ranges.get(g, (0, 0))
            self.assertEqual(row, [len(sizes), min(sum(sizes), MAX64), int(g is not None), max(used - aligned, 0), reserved], g)


class Nameless(Case):
    """A process without a name is named after the recording."""

    def test_all_formats(self):
        heap = Heap(nameless=True)
        self.assertEqual(self.json("info", self.record(heap))["process"]["name"] or "", "")
        text = self.read(heap, "x.gclog").decode()
        self.assertTrue(text.startswith("a 2 input 4d2\n") and text.endswith("\nc input 4d2\n"))
        self.assertEqual(dart_read.Snapshot(self.read(heap, "x.dartheap")).name, "input")
        self.assertEqual(gcdump_read.GcDump(self.read(heap, "x.gcdump")).process, "input")
        self.assertEqual(Html.data(self, heap)["process"]["name"], "input")
        facts = dict(read_csv(self.convert(heap, "x.csv")[0], "facts"))
        self.assertEqual([facts[k] for k in ("process_name", "command_line", "os", "architecture", "runtime_version")],
                         ["input", None, None, None, None])


if __name__ == "__main__":
    unittest.main()
