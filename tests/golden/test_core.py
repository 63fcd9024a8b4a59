"""A core file of HeapLab, cut to the pages that matter: its heap, names and roots; and what damage of it leads to."""
import gzip
import json
import os
import random
import re
import struct
import sys
import tempfile
import unittest

from golden_support import PROGRAM, READERS, TRACES, gcdumpc, gcdumpc_json, run

sys.path.insert(0, READERS)
import dart_read                                                     # noqa: E402
import real_readers                                                  # noqa: E402

# name and label; the first thread and the finalizer's have no name.  The file lacks the unwind data of the framework: a call of it may hide another.
THREADS = [',"27426"', ',"27426 in HeapLab.Frames.WaitHoldingObjects"', ',"27426 in HeapLab.Program.Main"', ',"27426 in HeapLab.Program.WaitForEnd"',
           ',"27426, thread-static variables"', ',"27431 (.NET Finalizer)"', ',"27431 (.NET Finalizer), thread-static variables"',
           '"heaplab-worker","27438 ""heaplab-worker"""', '"heaplab-worker","27438 ""heaplab-worker"", thread-static variables"']
CORE = os.path.join(TRACES, "net10-core", "heap.core.gz")


def counts():
    """What the process printed about itself."""
    with open(os.path.join(TRACES, "net10-core", "counts.json"), encoding="utf-8") as f:
        return json.load(f)


def without_counts(text):
    """Only the core has the fields that count elements, and what each has on average."""
    text = re.sub(rb"\(([\d,]+ elements), [\d.]+ \w+ each\)", rb"(\1)", text)
    return b" ".join(re.sub(rb"\b(?:at least|about)\s+([\d,]+ elements)", rb"\1", text).split())


class Core(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        with gzip.open(CORE) as f:
            cls.data = f.read()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def put(self, data, name="x.core"):
        with open(self.path(name), "wb") as f:
            f.write(data)
        return self.path(name)

    def segments(self):
        """(offset of the header, type, offset, address, bytes) of each program header."""
        off, n = struct.unpack_from("<Q", self.data, 32)[0], struct.unpack_from("<H", self.data, 56)[0]
        for i in range(n):
            kind, _, at, address, _, size, _, _ = struct.unpack_from("<IIQQQQQQ", self.data, off + 56 * i)
            yield off + 56 * i, kind, at, address, size

    def test_lambdas_have_the_method_of_the_source(self):
        """By the metadata in the image, as recordings have it from files."""
        run(PROGRAM, "convert", CORE, "-o", self.path("x.html"), "--no-modules")
        with open(self.path("x.html"), encoding="utf-8") as f:
            self.assertIn('"variables of HeapLab.Delegates.Build"', f.read())

    def test_variables_of_generic_classes(self):
        r = run(PROGRAM, "sql", CORE, "SELECT class, label, t.name FROM roots r JOIN types t ON t.id = r.type_id"
                                      " WHERE kind = 'static' AND class LIKE '%<HeapLab.Book>'", "--csv")
        self.assertEqual(r.stdout.decode().splitlines()[1:],
                         ['"System.Collections.Generic.EqualityComparer<HeapLab.Book>","System.Collections.Generic.EqualityComparer<HeapLab.Book>.Default",'
                          '"System.Collections.Generic.ObjectEqualityComparer<HeapLab.Book>"'])

    def test_stacks_are_those_of_threads_with_names(self):
        r = run(PROGRAM, "sql", CORE, "SELECT DISTINCT name, label FROM roots WHERE label IS NOT NULL AND kind = 'stack' ORDER BY label", "--csv")
        self.assertEqual(r.stdout.decode().splitlines()[1:], THREADS)
        paths, _ = gcdumpc_json("paths", CORE, "--type", "HeapLab.StackOnly")
        found = [(p["step"], p["label"]) for p in paths["paths"] if p["kind"] == "root" and p["root"] == "locals"]
        self.assertIn(('thread stack "heaplab-worker"', "heaplab-worker"), found)

    def test_stacks_say_the_method(self):
        """Also in a recording made of the core file."""
        copy = self.path("methods.nettrace")
        self.assertEqual(run(PROGRAM, "convert", CORE, "-o", copy).returncode, 0)
        for name in CORE, copy:
            rows, _ = gcdumpc_json("sql", name, """SELECT t.name, r.label FROM roots r JOIN objects o ON o.id = r.object_id JOIN types t ON t.id = o.type_id
                                                   WHERE r.kind = 'stack' AND t.name IN ('HeapLab.StackOnly', 'HeapLab.Pixel[]', 'HeapLab.Voxel[]') ORDER BY 1, 2""")
            self.assertEqual([tuple(r) for r in rows["rows"]],
                             [("HeapLab.Pixel[]", "27426"),             # in a register that a call saves, of which nothing is known
                              ("HeapLab.StackOnly", "27426 in HeapLab.Frames.WaitHoldingObjects"),
                              ("HeapLab.StackOnly", '27438 "heaplab-worker"'),
                              ("HeapLab.Voxel[]", "27426 in HeapLab.Frames.WaitHoldingObjects")])

    def test_objects_are_those_of_the_process(self):
        report, status = gcdumpc_json("report", CORE, "--top", "100000")
        self.assertEqual(status, 0)
        types = {}
        for row in report["types"]:
            old = types.get(row["raw_name"], (0, 0, 0))
            types[row["raw_name"]] = tuple(a + row[k] for a, k in zip(old, ("count", "bytes", "edges")))
        checked = 0
        for t in counts()["types"]:
            # types of a dynamic assembly, whose metadata createdump leaves out
            if t["name"] in ("HeapLab.<b>\"&'</b>", "HeapLab.\U0001f600"):
                continue
            seen = types.get(t["name"], (0, 0, 0))
            for key, value in zip(("count", "bytes", "edges"), seen):
                if key in t:
                    self.assertEqual(value, t[key], (t["name"], key))
                    checked += 1
            self.assertGreaterEqual(seen[0], t.get("min_count", 0), t["name"])
        self.assertGreater(checked, 150)

    def test_static_variables_have_class_and_field(self):
        paths = gcdumpc("paths", CORE, "--type", "HeapLab.Lab").stdout.decode()
        self.assertIn("static variable HeapLab.Lab.s_lab", paths)
        info, _ = gcdumpc_json("info", CORE)
        self.assertTrue(info["verdict"]["complete"])
        self.assertEqual(info["trace"]["container"], "core")

    def word(self, address):
        at, start = next((at, start) for _, kind, at, start, size in self.segments() if kind == 1 and start <= address < start + size)
        return struct.unpack_from("<Q", self.data, at + address - start)[0]

    def test_each_element_of_an_array_is_at_its_index(self):
        """Also behind nulls, and in a recording made of the core file."""
        copy = self.path("copy.nettrace.gz")
        self.assertEqual(run(PROGRAM, "convert", CORE, "-o", copy).returncode, 0)
        query = """SELECT a.address, e.element, b.address, e.slot < e.element FROM edges e JOIN objects a ON a.id = e.from_id
                   JOIN objects b ON b.id = e.to_id WHERE e.element IS NOT NULL AND e.field IS NULL"""
        found = []
        for name in (CORE, copy):
            rows, _ = gcdumpc_json("sql", name, query)
            for array, element, target, _ in rows["rows"]:
                self.assertEqual(self.word(array + 16 + 8 * element), target, (name, hex(array), element))
            found.append(rows["rows"])
        self.assertEqual(found[0], found[1])
        self.assertGreater(sum(behind for *_, behind in found[0]), 100)

    def test_fields_are_taken_out_of_a_recording_of_it(self):
        copy, bare = self.path("copy.nettrace"), self.path("bare.nettrace")
        self.assertEqual(run(PROGRAM, "convert", CORE, "-o", copy).returncode, 0)
        self.assertEqual(run(PROGRAM, "convert", copy, "--no-fields", "-o", bare).returncode, 0)
        with open(copy, "rb") as a, open(bare, "rb") as b:
            before, after = a.read(), b.read()
        self.assertIn("_entries".encode("utf-16-le"), before)
        self.assertNotIn("_entries".encode("utf-16-le"), after)
        for words in (["report"], ["leaks"], ["sql", "SELECT from_id, slot, to_id FROM edges"]):
            got = [run(PROGRAM, words[0], name, *words[1:], "--json", "--no-fields", "--no-modules", "-q") for name in (copy, bare)]
            self.assertEqual([r.returncode for r in got], [got[0].returncode] * 2)
            self.assertEqual(got[0].stdout.replace(b"copy.nettrace", b"bare.nettrace"), got[1].stdout)

    def test_a_dart_snapshot_of_it_has_fields(self):
        """Also those that are null: a reader takes the references of an object for its fields in order."""
        out = self.path("x.dartheap")
        r = run(PROGRAM, "convert", CORE, "-o", out)
        self.assertEqual(r.returncode, 0, r.stderr)
        with open(out, "rb") as f:
            got = dart_read.Snapshot(f.read())
        self.assertEqual(dart_read.rules_broken(got), [])
        lists = [number for number, of in enumerate(got.classes, 1) if of.name.startswith("System.Collections.Generic.List<")]
        self.assertGreater(len(lists), 1)
        self.assertEqual({tuple(got.classes[number - 1].fields) for number in lists}, {((0, "_items"),)})
        maps = [number for number, of in enumerate(got.classes, 1) if re.fullmatch(r"System\.Collections\.Generic\.Dictionary<[^>]*>", of.name)]
        fields = {tuple(name for _, name in got.classes[number - 1].fields) for number in maps}
        self.assertEqual(fields, {("_buckets", "_entries", "_comparer", "_keys", "_values")})
        self.assertEqual({tuple(to > 0 for to in each.references[3:]) for each in got.objects if each.of in maps}, {(False, False)})
        self.assertEqual({len(each.references) for each in got.objects if each.of in maps}, {5})
        before, after = (gcdump_info["dump"]["edges"] for gcdump_info in (gcdumpc_json("info", CORE)[0], gcdumpc_json("info", out)[0]))
        self.assertEqual(after, before + 7)                          # dependent handles become references

    def test_chrome_shows_the_names_of_fields(self):
        """Read by the code of its Memory panel."""
        out = self.path("x.heapsnapshot")
        r = run(PROGRAM, "convert", CORE, "-o", out)
        self.assertEqual(r.returncode, 0, r.stderr)
        seen = {}
        for _, name, _, _, edges in real_readers.devtools(out, graph=True)["graph"]:
            of = re.fullmatch(r"System\.Collections\.Generic\.(List|Dictionary)<[^<>]*>", name)
            if of:
                seen.setdefault(of[1], set()).update((kind, label) for kind, label, _ in edges)
        self.assertEqual(seen["List"], {("property", "_items")})
        self.assertEqual(seen["Dictionary"] - {("property", "_comparer")}, {("property", "_buckets"), ("property", "_entries")})

    def test_a_gcdump_of_it_has_the_same_objects(self):
        ours, _ = gcdumpc_json("report", CORE, "--top", "100000")
        out = self.path("x.gcdump")
        r = gcdumpc("convert", CORE, "-o", out)
        self.assertEqual(r.returncode, 0, r.stderr)
        theirs, _ = gcdumpc_json("report", out, "--top", "100000")
        self.assertEqual((theirs["objects"], theirs["bytes"]), (ours["objects"], ours["bytes"]))

    def test_a_recording_of_it_says_the_same(self):
        for words in ((), ("--with-dead",)):
            out = self.path("x.nettrace.gz")
            r = gcdumpc("convert", CORE, "-o", out, *words)
            self.assertEqual(r.returncode, 0, r.stderr)
            for command in ("report", "--by", "generation"), ("report", "--edges"), ("leaks",), ("paths", "--type", "HeapLab.Lab"):
                self.assertEqual(without_counts(gcdumpc(*command, out).stdout),
                                 without_counts(gcdumpc(*command, CORE, *words).stdout), (command, words))
            info, _ = gcdumpc_json("info", out)
            self.assertEqual((info["trace"]["container"], info["trace"]["start_unix_ms"]), ("nettrace", None))
            self.assertEqual((info["image"]["made_from"], info["image"]["ended_by"], info["image"]["with_dead"]), ("core", None, bool(words)))
            self.assertRegex(gcdumpc("info", out).stdout.decode(), rf"\nmade from +a core file, {'with' if words else 'without'} dead objects; workstation GC\n")

    def test_other_readers_read_that_recording(self):
        out = self.path("others.nettrace")
        self.assertEqual(gcdumpc("convert", CORE, "-o", out).returncode, 0)
        try:
            theirs = real_readers.read_nettrace(out)
        except real_readers.Missing as missing:
            self.skipTest(str(missing))
        ours, _ = gcdumpc_json("report", CORE)
        info, _ = gcdumpc_json("info", CORE)
        self.assertEqual((theirs["whole"], theirs["lost"], theirs["objects"], theirs["references"]), (True, 0, ours["objects"], info["dump"]["edges"]))
        self.assertEqual({n["EventName"] for n in theirs["names"]}, {"Names", "Module", "NestedType", "StaticVariable", "Thread", "MemoryImage"})

    def test_a_recording_of_a_damaged_one_is_incomplete(self):
        data = bytearray(self.data)
        table = self.node_table()
        header, size = max(((self.data[a:a + s].count(table), h, s) for h, k, a, _, s in self.segments() if k == 1))[1:]
        struct.pack_into("<Q", data, header + 32, size // 2)
        out = self.path("damaged.nettrace")
        self.assertEqual(gcdumpc("convert", self.put(data), "-o", out).returncode, 3)
        r = gcdumpc("report", out)
        self.assertEqual(r.returncode, 3, r.stderr)
        self.assertIn(b"incomplete", r.stderr)

    def test_dead_objects_are_those_that_no_root_reaches(self):
        def types(*words):
            return {t["id"]: t["count"] for t in gcdumpc_json("report", CORE, "--top", "100000", *words)[0]["types"]}
        live, all_of_them = types(), types("--with-dead")
        self.assertEqual([t for t in live if live[t] > all_of_them.get(t, 0)], [])
        dead = sum(all_of_them.values()) - sum(live.values())
        self.assertGreater(dead, 500)
        if os.environ.get("GCDUMPC_SQLITE") != "OFF":
            def unreachable(*words):        # also without dead objects: nothing refers to some in the frozen segments
                return int(gcdumpc("sql", CORE, *words, "SELECT count(*) FROM v_unreachable", "--csv").stdout.split()[1])
            self.assertEqual(unreachable("--with-dead") - unreachable(), dead)
        r = gcdumpc("report", os.path.join(TRACES, "net10-wks", "heap.nettrace.gz"), "--with-dead")
        self.assertEqual((r.returncode, r.stdout), (2, b""))
        self.assertIn(b"is no core file", r.stderr)

    def test_a_dump_without_heap_is_refused(self):
        """As createdump writes types 1 and 3: stacks and globals, but no region of the heap, which all begin with an object."""
        data = bytearray(self.data)
        tables = {struct.pack("<Q", int(t["id"], 16)) for t in gcdumpc_json("report", CORE, "--top", "100000")[0]["types"]}
        for header, kind, at, _, _ in self.segments():
            if kind == 1 and any(self.data[at + skip:at + skip + 8] in tables for skip in range(0, 128, 8)):
                struct.pack_into("<Q", data, header + 32, 0)
        r = gcdumpc("report", self.put(data))
        self.assertEqual(r.returncode, 1, r.stderr)
        self.assertIn(b"this dump has no heap", r.stderr)

    def place(self, address, n):
        """Where N bytes of memory are in the file."""
        for _, kind, at, start, size in self.segments():
            if kind == 1 and start <= address and address + n <= start + size:
                return at + address - start
        raise AssertionError(hex(address))

    def memory(self, address, n):
        at = self.place(address, n)
        return self.data[at:at + n]

    def objects(self, *names):
        """(address, name of the type, bytes) of objects, by SQL."""
        answer, status = gcdumpc_json("sql", CORE, "select o.address, t.raw_name, o.size_bytes from objects o join types t on o.type_id = t.id "
                                      f"where t.raw_name in ({', '.join(map(repr, names))})")
        self.assertEqual(status, 0)
        return answer["rows"]

    def test_strings_are_those_of_the_memory(self):
        """Each text read here, by its address, and counted."""
        copies, sizes = {}, {}
        for address, _, size in self.objects("System.String"):
            length, = struct.unpack("<I", self.memory(address + 8, 4))
            self.assertEqual(size, 22 + 2 * length)
            whole = self.memory(address + 12, 2 * length)
            text = (length, whole)
            copies[text] = copies.get(text, 0) + 1
            sizes[text] = size
        answer, status = gcdumpc_json("strings", CORE, "--show-values=raw", "--max-string", "8192")
        self.assertEqual(status, 0)
        self.assertGreater(len(copies), 300)
        self.assertGreater(max(length for length, _ in copies), 8192)
        told = set()
        for row in answer["strings"]:
            self.assertEqual(row["wasted_bytes"], row["bytes"] - row["bytes"] // row["count"])
            self.assertIsNone(row["masked"])
            self.assertEqual(row["cut"], row["length"] > 8192)
            told.add((row["length"], row["text"], row["count"]))
        # a zero, and half of a pair, is U+FFFD
        read = {(length, whole[:2 * 8192].decode("utf-16-le", "replace").replace("\0", "\ufffd"), n) for (length, whole), n in copies.items()}
        self.assertEqual(len(told ^ read), 0, sorted(told ^ read)[:3])
        self.assertEqual(len(answer["strings"]), len(copies))
        totals = answer["string_totals"]
        self.assertEqual(totals, {"count": sum(copies.values()), "bytes": sum(n * sizes[t] for t, n in copies.items()), "different": len(copies),
                                  "wasted_bytes": sum((n - 1) * sizes[t] for t, n in copies.items()), "unknown": 0})

    def texts(self, most=256):
        """Address of a string -> its length, and its first characters, as they are kept."""
        found = {}
        for address, _, _ in self.objects("System.String"):
            length, = struct.unpack("<I", self.memory(address + 8, 4))
            text = self.memory(address + 12, 2 * min(length, most)).decode("utf-16-le", "replace").replace("\0", "\ufffd")
            found[address] = (length, text)
        return found

    def same(self, got, want):
        """assertEqual takes minutes to say how long lists differ."""
        self.assertTrue(got == want, "they differ")

    def with_secret(self):
        """The core file with what looks like a connection string, once."""
        old, new = ("a literal of HeapLab", "Pwd=hunter2-4711    ")
        return self.put(self.data.replace(old.encode("utf-16-le"), new.encode("utf-16-le")), "secret.core")

    def test_chrome_shows_the_texts_of_strings(self):
        """Read by the code of its Memory panel and by memlab; nothing without --show-values; of a recording the same."""
        core, out, kept = self.with_secret(), self.path("x.heapsnapshot"), self.path("kept.nettrace")
        hidden = "(connection string)"
        want = sorted(text + "…" * (length > 256) if text != "a literal of HeapLab" else hidden for length, text in self.texts().values())
        self.assertIn(hidden, want)
        raw = sorted(t if t != hidden else "Pwd=hunter2-4711    " for t in want)

        def written(file, *options):
            """Name -> how many nodes have it, of strings and of objects."""
            r = run(PROGRAM, "convert", file, "-o", out, *options)
            self.assertEqual(r.returncode, 0, r.stderr)
            with open(out, encoding="utf-8") as f:
                parts = json.load(f)
            names = {"string": [], "object": []}
            for i in range(0, len(parts["nodes"]), 7):
                names.get(parts["snapshot"]["meta"]["node_types"][0][parts["nodes"][i]], []).append(parts["strings"][parts["nodes"][i + 1]])
            return sorted(names["string"]), names["object"].count("System.String")
        self.assertEqual(written(core), ([], len(want)))
        self.same(written(core, "--show-values=raw"), (raw, 0))
        self.same(written(core, "--show-values"), (want, 0))
        for reader in (real_readers.devtools, real_readers.memlab):
            self.same(sorted(name for kind, name, _, _, _ in reader(out, graph=True)["graph"] if kind == "string"), want)
        self.assertEqual(run(PROGRAM, "convert", core, "--values", "strings", "-o", kept).returncode, 0)
        self.same(written(kept, "--show-values=raw"), (raw, 0))

    FIELDS = "SELECT object_id, field, kind, integer, real, text, masked, target_id FROM fields"

    def said(self, file, *words):
        r = gcdumpc(words[0], file, *words[1:])
        return r.returncode, *(text.replace(file.encode(), b"FILE") for text in (r.stdout, r.stderr))

    def test_a_recording_of_all_values_says_what_the_core_file_says(self):
        """Every field of every object, alone, in groups, and as the answers have them; nothing where values are not to be seen."""
        kept, again = self.path("kept.nettrace.gz"), self.path("again.nettrace")
        for source, to in ((CORE, kept), (kept, again)):
            r = gcdumpc("convert", source, "-o", to, *(("--values", "all") if source == CORE else ()))
            self.assertEqual(r.returncode, 0, r.stderr)
        values = gcdumpc_json("info", kept)[0]["values"]
        self.assertEqual((values["kind"], values["numbers"] > 10000, values["unread"]), ("all", True, 0))
        self.assertRegex(gcdumpc("info", again).stdout.decode(), rf"\nvalues +texts of \d+ strings and arrays of numbers; fields of {values['numbers']:,} objects\n")
        asked = [("retained", "--type", "*EventSource", "--by", "m_config", "--show-values", "--json"),
                 ("retained", "--type", "*EventSource", "--by", "m_config"),
                 ("retained", "--type", "System.Diagnostics.Tracing.EventSource.OverrideEventProvider", "--by", "_providerId", "--show-values"),
                 ("paths", "--object", "128"), ("paths", "--object", "128", "--json"), ("paths", "--object", "128", "--show-values=none")]
        if os.environ.get("GCDUMPC_SQLITE") != "OFF":
            asked += [("sql", self.FIELDS, "--show-values", "--csv"), ("sql", "SELECT count(*) FROM fields", "--csv")]
        for words in asked:
            want = self.said(CORE, *words)
            for file in (kept, again):
                self.assertEqual(self.said(file, *words), want, words)

    def test_all_values_go_from_a_recording(self):
        """Those of fields, too; and a damaged part drops all."""
        kept, bare, out, want = (self.path(name) for name in ("kept.nettrace", "bare.nettrace", "out.nettrace", "want.nettrace"))
        for source, to, *words in ((CORE, kept, "--values", "all"), (CORE, out, "--values", "strings"), (out, want, "--redact=hash"), (CORE, bare)):
            self.assertEqual(gcdumpc("convert", source, "-o", to, *words).returncode, 0)
        self.assertEqual(gcdumpc("convert", kept, "-o", out, "--redact").returncode, 0)
        with open(out, "rb") as a, open(bare, "rb") as b:
            self.assertEqual(a.read(), b.read())
        self.assertEqual(gcdumpc("convert", kept, "-o", out, "--redact=hash").returncode, 0)
        self.assertEqual(gcdumpc_json("info", out)[0]["values"], gcdumpc_json("info", want)[0]["values"])
        self.assertLess(abs(os.path.getsize(out) - os.path.getsize(want)), 500)             # random hashes pack differently
        if os.environ.get("GCDUMPC_SQLITE") != "OFF":
            self.assertEqual(gcdumpc("sql", out, "SELECT count(*) FROM fields", "--show-values", "--csv").stdout.split(), [b'"count(*)"', b"0"])
        with open(kept, "rb") as f:
            data = bytearray(f.read())
        data[-3000] ^= 0x40
        with open(out, "wb") as f:
            f.write(data)
        info, status = gcdumpc_json("info", out)
        self.assertEqual((status, info["values"], [r["code"] for r in info["verdict"]["reasons"]]), (3, None, ["events_damaged"]))

    def test_a_dart_snapshot_has_texts_numbers_and_hash_codes(self):
        """All of them as they are in the memory of the objects; what looks like a secret has only its length."""
        core, out = self.with_secret(), self.path("x.dartheap")
        boxed = [address for address, _, _ in self.objects("System.Int32")]
        numbers = [64, -1, -2 ** 31, 8191, 8192] + list(range(len(boxed) - 5))
        with open(core, "r+b") as f:
            for address, n in zip(boxed, numbers):
                f.seek(self.place(address + 8, 4))
                f.write(struct.pack("<i", n))
        r = run(PROGRAM, "convert", core, "-o", out, "--show-values")
        self.assertEqual(r.returncode, 0, r.stderr)
        with open(out, "rb") as f:
            got = dart_read.Snapshot(f.read())
        self.assertEqual(dart_read.rules_broken(got), [])
        names = [each.name for each in got.classes]
        seen = lambda *names_of: sorted((each.length, each.data) for each in got.objects if names[each.of - 1] in names_of)
        want = sorted((length, text) for length, text in self.texts().values())
        want.remove((20, "a literal of HeapLab"))
        kinds = {each.kind for each in got.objects if names[each.of - 1] == "System.String"}
        self.assertEqual(kinds, {dart_read.LATIN1, dart_read.UTF16, dart_read.LENGTH})
        self.same(sorted((each.length, each.data) for each in got.objects if each.kind in (dart_read.LATIN1, dart_read.UTF16)), want)
        self.assertEqual([(each.kind, each.data) for each in got.objects if names[each.of - 1] == "System.String" and each.length is None], [(dart_read.LENGTH, 20)])
        self.assertEqual(seen("System.Int32"), [(None, n) for n in sorted(numbers)])
        self.assertEqual({(each.kind, each.data) for each in got.objects if names[each.of - 1] == "HeapLab.Colour"}, {(dart_read.NAME, "Red"), (dart_read.NAME, "Green")})
        addresses, _ = gcdumpc_json("sql", CORE, "SELECT address FROM objects ORDER BY id")
        codes = []
        for address, in addresses["rows"]:
            header, = struct.unpack("<I", self.memory(address - 4, 4))
            codes.append(header & 0x3ffffff if header & 0x0c000000 == 0x0c000000 else 0)
        self.same(got.hash_codes[-len(codes):], codes)
        self.assertGreater(sum(code > 0 for code in codes), 3)

    def test_arrays_of_numbers_with_equal_contents_are_counted(self):
        copies = {}
        for address, name, size in self.objects("System.Byte[]", "System.Int32[]", "System.Char[]", "System.IntPtr[]"):
            content = self.memory(address + 16, size - 24)
            copies[name, content] = copies.get((name, content), 0) + 1
        answer, _ = gcdumpc_json("strings", CORE, "--names", "raw")
        told = {}
        for row in answer["arrays"]:
            told.setdefault(row["type"], []).append((row["count"], row["content_bytes"]))
        for name in {name for name, _ in copies}:
            counted = sorted((n, len(content)) for (t, content), n in copies.items() if t == name)
            self.assertEqual(sorted(told[name]), counted)
        self.assertGreater(max(copies.values()), 1)

    def test_fields_that_hold_a_text_are_named(self):
        answer, _ = gcdumpc_json("strings", CORE, "--filter", "true")
        row, = answer["strings"]
        self.assertEqual(row["text"], "true")
        holder = "static variable System.AppContext.s_dataStore"           # whose dictionary has it twice
        self.assertEqual(row["holders"], [{"count": 2, "label": holder, "type": None, "field": None, "root": "statics"}])
        self.assertEqual(row["held_by"], f"{holder} ×2")

    def node_table(self):
        report, _ = gcdumpc_json("report", CORE, "--top", "100000")
        return struct.pack("<Q", int(next(t["id"] for t in report["types"] if t["raw_name"] == "HeapLab.Node"), 16))

    def test_missing_memory_is_said(self):
        data = bytearray(self.data)
        table = self.node_table()
        header, size = max(((self.data[a:a + s].count(table), h, s) for h, k, a, _, s in self.segments() if k == 1))[1:]
        struct.pack_into("<Q", data, header + 32, size // 2)
        r = gcdumpc("report", self.put(data))
        self.assertEqual(r.returncode, 3, r.stderr)
        self.assertRegex(r.stderr.decode(), r"incomplete: [\d,]+ bytes of the heap are missing in the core file")

    def test_a_cut_file_fails_or_is_incomplete(self):
        for part in range(0, 40):
            n = len(self.data) * part // 40
            r = gcdumpc("report", self.put(self.data[:n]))
            self.assertIn(r.returncode, (1, 3), (n, r.stderr))
            self.assertNotEqual(r.stderr, b"")

    def test_a_damaged_gzip_file_gives_what_was_unpacked(self):
        packed = gzip.compress(self.data, 1)
        whole = gcdumpc("report", self.put(packed))
        self.assertEqual(whole.returncode, 0, whole.stderr)
        other_sum = bytearray(packed)
        other_sum[-6] ^= 1
        for data, why in ((packed[:-8], b"the gzip data end early"), (bytes(other_sum), b"the gzip data are damaged")):
            for run in gcdumpc("report", self.put(data)), gcdumpc("report", "-", input=data):
                self.assertEqual(run.returncode, 3, run.stderr)
                self.assertTrue(run.stdout.startswith(b"(INCOMPLETE dump: "), run.stdout[:100])
                self.assertTrue(run.stdout.endswith(whole.stdout), run.stdout[:200])
                self.assertIn(why, run.stderr)
        nothing = bytearray(gzip.compress(self.data.replace(b"g_dacTable", b"g_dbcTable"), 1))
        nothing[-6] ^= 1
        r = gcdumpc("report", self.put(bytes(nothing)))              # the runtime may be what is damaged
        self.assertEqual(r.returncode, 1, r.stderr)
        self.assertIn(b"the gzip data are damaged", r.stderr)
        for part in range(1, 10):
            r = gcdumpc("report", self.put(packed[:len(packed) * part // 10]))
            self.assertIn(r.returncode, (1, 3), (part, r.stderr))

    def test_damage_never_crashes(self):
        rng = random.Random(1)
        for case in range(60):
            data = bytearray(self.data)
            for _ in range(rng.choice((1, 8, 200))):
                data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            r = gcdumpc("report", self.put(data), timeout=60)
            self.assertIn(r.returncode, (0, 1, 3), (case, r.stderr))

    def test_a_damaged_reference_is_said(self):
        """Node.Next of all nodes leads to the same place without an object.  A background collection, which sweeps beside the program, does that."""
        data = bytearray(self.data)
        at = [m.start() for m in re.finditer(re.escape(self.node_table()), self.data)]
        for off in at[-200:]:
            struct.pack_into("<Q", data, off + 8, 0x1000)
        r = gcdumpc("report", self.put(data))
        self.assertEqual(r.returncode, 3, r.stderr)
        self.assertIn(b" to nothing: a part of the heap is damaged", r.stderr)
        state = self.file_offset(*struct.unpack_from("<Q", data, self.collector() + 8 * 9))
        self.assertEqual(data[state], 2)
        data[state] = 1
        r = gcdumpc("report", self.put(data))
        self.assertEqual(r.returncode, 3, r.stderr)
        self.assertIn(b" to nothing: a garbage collection was under way in the background", r.stderr)
        whole = bytearray(self.data)
        whole[state] = 1
        self.assertEqual(gcdumpc("report", self.put(whole)).returncode, 0)           # nothing is wrong

    def test_another_architecture_is_refused(self):
        data = bytearray(self.data)
        struct.pack_into("<H", data, 18, 183)
        r = gcdumpc("report", self.put(data))
        self.assertEqual(r.returncode, 1)
        self.assertIn(b"another architecture (ELF machine 183, arm64)", r.stderr)
        for byte, value, why in ((4, 1, b"is of a 32-bit process"), (5, 2, b"is of a big-endian process")):
            data = bytearray(self.data)
            data[byte] = value
            if byte == 5:
                data[16:18] = b"\0\4"
            r = gcdumpc("report", self.put(data))
            self.assertEqual(r.returncode, 1)
            self.assertIn(why, r.stderr)

    def collector(self):
        """Where the file has what the collector publishes: its version (2.4), bytes of a generation, number of generations."""
        at, = [m.start() for m in re.finditer(re.escape(struct.pack("<QQ", 0x100, 5)), self.data) if self.data[m.start() - 8:m.start() - 6] == b"\2\4"]
        return at - 8

    def file_offset(self, address):
        return next(at + address - start for _, kind, at, start, size in self.segments() if kind == 1 and start <= address < start + size)

    def test_other_runtimes_are_refused(self):
        unnamed = self.data.replace(b"\0g_dacTable\0", b"\0g_dacTablx\0")
        r = gcdumpc("report", self.put(unnamed.replace(b"/libcoreclr.so\0", b"/libcoreclx.so\0")))
        self.assertEqual((r.returncode, r.stdout), (1, b""), r.stderr)
        self.assertIn(b"no module in it exports g_dacTable (Native AOT and Mono have none)", r.stderr)
        r = gcdumpc("report", self.put(unnamed), "--no-modules")         # the file may have what the core file leaves out
        self.assertEqual((r.returncode, r.stdout), (1, b""), r.stderr)
        self.assertRegex(r.stderr, rb"leaves out memory of the file [^ ]*/libcoreclr\.so \(build id [0-9a-f]{40}\), which is the runtime; ")
        for old, new, why in ((b"/Microsoft.NETCore.App/10.0.", b"/Microsoft.NETCore.App/06.0.", b"is not one of .NET 8 to 11"),
                              (b"/Microsoft.NETCore.App/10.0.", b"/Microsoft.NETCore.App/12.0.", b"is not one of .NET 8 to 11")):
            self.assertIn(old, self.data)
            r = gcdumpc("report", self.put(self.data.replace(old, new)))
            self.assertEqual((r.returncode, r.stdout), (1, b""), r.stderr)
            self.assertIn(why, r.stderr)
        for version in 1, 3:
            data = bytearray(self.data)
            data[self.collector()] = version
            r = gcdumpc("report", self.put(data))
            self.assertEqual(r.returncode, 1)
            self.assertIn(b"is not one of .NET 8 to 11: the interface of its collector has version %d" % version, r.stderr)

    def test_one_from_the_middle_of_a_collection_is_incomplete(self):
        data = bytearray(self.data)
        count, = struct.unpack_from("<Q", data, self.collector() + 8 * 24)
        struct.pack_into("<I", data, self.file_offset(count), 1)
        r = gcdumpc("report", self.put(data))
        self.assertEqual(r.returncode, 3, r.stderr)
        self.assertIn(b"the process was in the middle of a garbage collection", r.stderr)
        self.assertIn(b"HeapLab.Node", r.stdout)                     # what could be read


if __name__ == "__main__":
    unittest.main()
