"""Bundled recordings of each kind, in a long run all of them, in every format, read by the readers that users have: the same counts, bytes, types, roots, retained sizes."""
import collections
import csv
import functools
import gzip
import json
import os
import random
import re
import shutil
import sqlite3
import sys
import tempfile
import unittest

from golden_support import NAMED, READERS, ROOT, bundled, gcdumpc, gcdumpc_json

sys.path.insert(0, READERS)
import real_readers                                                  # noqa: E402
import sample_heaps                                                  # noqa: E402
from trace_bytes import Ev, Payloads, V4File                         # noqa: E402

HAVE_SQLITE = os.environ.get("GCDUMPC_SQLITE", "ON") not in ("OFF", "0", "FALSE", "NO")
SUFFIXES = ("gclog", "gcdump", "heapsnapshot", "dartheap", "pb.gz", "folded", "csv") + (("sqlite",) if HAVE_SQLITE else ())
LONG = os.environ.get("GCDUMPC_LONG") == "1"
# The other recordings are of the same kinds by other runtimes: decoded by test_bundled, and written in a long run only.
KINDS = {"net10-svr", "net10-wks-lossy", "net10-wks-names", "net10-wks-nonames", "net8-wks-two-dumps"}
INCOMPLETE = {n for n in ("net10-wks-lossy", "net10-wks-killed", "net10-wks-nonames") if LONG or n in KINDS}
CHOSEN = 150                     # objects whose retained sizes are compared, besides the largest
GROUPS = {                       # in the tables: in a .heapsnapshot, a Dart snapshot, a .gcdump
    "statics": ("[static variables]", "[static variables]", "[static vars]"),
    "locals": ("[local variables]", "[local variables]", "[local vars]"),
    "finalizer": ("[finalizer queue]", "[finalizer queue]", "[other roots]/[finalizer Handles]"),
    "strong_handles": ("[strong handles]", "[handles]", "[other roots]/[strong Handles]"),
    "pinned_handles": ("[pinned handles]", "[pinned handles]", "[other roots]/[pinning Handles]"),
    "refcounted": ("[ref-counted handles]", "[ref-counted handles]", "[other roots]/[ref counted Handles]"),
    "other": ("[other roots]", "[other roots]", "[other roots]/[other Handles]"),
    "weak": ("[weak handles]", None, None),
}


def rows_of(types, name="type"):
    """name: [objects, bytes] of a report."""
    rows = collections.defaultdict(lambda: [0, 0])
    for t in types:
        rows[t[name]][0] += t["count"]
        rows[t[name]][1] += t["bytes"]
    return dict(rows)


def without_made_up(types):
    """Nodes that a format adds have size 0 and names in brackets, or are called Root."""
    return {n: r for n, r in types.items() if not (r[1] == 0 and (n == "Root" or re.fullmatch(r"\[.*\]", n)))}


def plain_name(name):
    """NAME without parts that a format adds to tell types apart or removes because readers cannot take them.  For arrays of arrays
    the order of brackets is unified: a gclog does not tell whether its names are the runtime's or C#."""
    name = re.sub(r" ?\[[^\[\],]+\]$", "", name)
    name = name.replace(" ", "") if name.startswith("<") else name
    return re.sub(r"(\[,*\])+$", lambda m: "".join(sorted(re.findall(r"\[,*\]", m[0]))), name)


def plain(types):
    rows = collections.defaultdict(lambda: [0, 0])
    for name, (count, size) in types.items():
        key = plain_name(name)
        rows[key][0] += count
        rows[key][1] += size
    return dict(rows)


def each_heap(needed=None):
    """Runs the test with each recording and reports every failure.  NEEDED: skips it if a reader is missing."""
    def decorate(test):
        @functools.wraps(test)
        def tested(self):
            if needed is not None:
                needed()
            for heap in self.heaps:
                with self.subTest(heap.name):
                    test(self, heap)
        return tested
    return decorate


class Tables:
    """The rows of a folder of CSV files."""

    def __init__(self, folder):
        self.folder, self.read = folder, {}

    def of(self, table):
        if table not in self.read:
            with open(os.path.join(self.folder, table + ".csv"), newline="", encoding="utf-8") as f:
                self.read[table] = list(csv.DictReader(f))
        return self.read[table]

    def graph(self):
        """Type and size of each object, the numbers of its targets (values of dependent handles last), and the roots that are not null."""
        names = [plain_name(t["name"]) for t in self.of("types")]
        edges = collections.defaultdict(list)
        for e in self.of("edges"):
            edges[e["from_id"]].append(e["to_id"])
        for e in self.of("dependent_handles"):
            edges[e["key_id"]].append(e["value_id"])
        objects = [(names[int(o["type_id"])], o["size_bytes"], tuple(edges[o["id"]])) for o in self.of("objects")]
        roots = collections.Counter((r["root_group"], r["object_id"]) for r in self.of("roots") if r["root_group"] != "weak")
        return objects, roots


class Heap:
    """gcdumpc's own output for a recording, and the recording in all formats."""

    def __init__(self, name, path, folder):
        self.name, self.path, self.folder = name, path, os.path.join(folder, name)
        os.mkdir(self.folder)
        self.info, self.status = gcdumpc_json("info", path)
        self.report, _ = gcdumpc_json("report", path)
        self.dump, self.types = self.info["dump"], rows_of(self.report["types"])
        self.said = {}
        for suffix in SUFFIXES:
            r = gcdumpc("convert", path, "-o", self.file(suffix))
            self.said[suffix] = r.stderr.decode()
            if r.returncode != self.status:
                raise AssertionError(f"{name} to {suffix}: exit {r.returncode}\n{self.said[suffix]}")
        self.tables = Tables(self.file("csv"))
        self.objects, self.roots = self.tables.of("objects"), self.tables.of("roots")
        self.edges, self.dependents = len(self.tables.of("edges")), len(self.tables.of("dependent_handles"))
        self.groups = collections.Counter(r["root_group"] for r in self.roots)

    def file(self, suffix):
        return os.path.join(self.folder, "x." + suffix)

    def weak(self):
        return self.groups["weak"]

    def dominators(self):
        """object: retained bytes"""
        db = sqlite3.connect(self.file("sqlite"))
        try:
            return dict(db.execute("SELECT object_id, retained_bytes FROM dominators"))
        finally:
            db.close()

    def expected_groups(self, column):
        return {GROUPS[g][column]: n for g, n in self.groups.items() if GROUPS[g][column]}


@functools.cache
def all_heaps():
    """Made once for all classes: they only add files of other names."""
    temporary = tempfile.mkdtemp()
    unittest.addModuleCleanup(shutil.rmtree, temporary)
    return [Heap(name, path, temporary) for name, path in bundled() if LONG or name in KINDS]


class Case(unittest.TestCase):
    maxDiff = 3000

    @classmethod
    def setUpClass(cls):
        cls.heaps = all_heaps()


class Converted(Case):
    @each_heap()
    def test_incomplete_dumps_keep_their_status(self, heap):
        self.assertEqual({h.name for h in self.heaps if h.status == 3}, INCOMPLETE)     # each conversion had the same, see Heap
        for suffix, said in heap.said.items():
            word = "INCOMPLETE" if heap.name in INCOMPLETE else "complete"
            self.assertRegex(said, rf"written.*, {word}\n\Z", suffix)

    @each_heap(real_readers.need_node)
    def test_heapsnapshot(self, heap):
        retained = heap.dominators() if HAVE_SQLITE else {}
        chosen = random.Random(heap.name).sample(sorted(retained), CHOSEN) if retained else [0]
        with open(heap.file("heapsnapshot"), encoding="utf-8") as f:
            file = json.load(f)
        # a node for what only code holds; test_every_field knows which objects that are
        frozen = file["nodes"][7 * (2 + len(heap.groups)) + 4] if "[frozen]" in file["strings"] else 0
        first = 2 + len(heap.groups) + (frozen > 0)  # nodes of the file before the first object
        seen = real_readers.read_heapsnapshot(heap.file("heapsnapshot"), largest=30, ids=[2 * (first + i) + 1 for i in chosen])
        self.assertEqual(seen["nodes"], first + heap.dump["objects"])
        self.assertEqual(seen["edges"], first - 1 + len(heap.roots) + heap.edges + heap.dependents + frozen)
        self.assertEqual(seen["bytes"], heap.dump["bytes"])
        self.assertEqual(plain(seen["types"]), plain(heap.types))
        groups = heap.expected_groups(0)
        if frozen > 0:
            groups["[frozen]"] = frozen
        self.assertEqual({r["name"]: r["edges"] for r in seen["roots"]}, groups)
        self.assertEqual(seen["edge_types"].get("weak", 0), heap.weak())
        self.assertEqual(seen["facts"]["dominator_sums_wrong"], 0)
        unreachable = [w for w in seen["facts"]["warnings"] if "unreachable" not in w and "weak retainers" not in w]
        self.assertEqual(unreachable, [])
        self.assertEqual(seen["strict"]["facts"].get("warnings", []), [])
        if not HAVE_SQLITE:
            return
        for reader in (seen, seen["memlab"]):
            theirs = {(r["id"] - 1) // 2 - first: r["retained"] for r in reader["retained"] if r["type"] == "object"}
            reached = {i: size for i, size in theirs.items() if i in retained}       # for other objects the readers differ
            self.assertLessEqual(set(chosen), set(reached))
            # they do not know that local variables and the finalizer queue hold only what nothing else does
            self.assertEqual([i for i, size in reached.items() if size > retained[i]], [])
            self.assertGreaterEqual(sum(size == retained[i] for i, size in reached.items()), 0.9 * len(reached))
            most = 30 - (len(theirs) - len(reached))
            largest = zip(sorted(reached.values(), reverse=True)[:most], sorted(retained.values(), reverse=True)[:most], strict=True)
            self.assertEqual([pair for pair in largest if pair[0] > pair[1]], [])
            if heap.name not in INCOMPLETE:          # in those most objects were reachable through lost references
                self.assertGreater(most, 20)

    @each_heap()
    def test_gcdump(self, heap):
        seen = real_readers.read_gcdump(heap.file("gcdump"))
        self.assertEqual(seen["bytes"], heap.dump["bytes"])
        types = without_made_up(seen["types"])
        self.assertEqual(sum(count for count, _ in types.values()), heap.dump["objects"])
        self.assertEqual(plain(types), plain(heap.types))
        roots = {r["name"]: r["edges"] for r in seen["roots"]}
        statics = {n: e for n, e in roots.items() if n.startswith("[static vars]/")}
        self.assertEqual((len(statics), set(statics.values())), (heap.groups["statics"], {1}))
        self.assertEqual({n: e for n, e in roots.items() if n not in statics and n != "[other roots]"}, heap.expected_groups(2))
        made_up = 1 + len(roots)
        self.assertEqual(seen["nodes"], made_up + heap.dump["objects"])
        root_edges = len(heap.roots) - heap.weak()
        self.assertEqual(seen["edges"], len(roots) + root_edges + heap.edges + heap.dependents)
        self.assertTrue(seen["container"]["trailer_ok"])
        first = "gcdumpc: incomplete: " if heap.name in INCOMPLETE else "gcdumpc: complete\n"
        self.assertTrue(seen["facts"]["log"].startswith(first), seen["facts"]["log"][:100])

    @each_heap(real_readers.need_dotnet_gcdump)
    def test_gcdump_report(self, heap):
        seen = real_readers.gcdump_report(heap.file("gcdump"))
        self.assertEqual((seen["bytes"], seen["objects"]), (heap.dump["bytes"], heap.dump["objects"]))

    @each_heap()
    def test_dart(self, heap):
        seen = real_readers.read_dart(heap.file("dartheap"), graph=True)
        self.assertEqual(seen["rules_broken"], [])
        self.assertEqual(seen["bytes"], heap.dump["bytes"])
        self.assertEqual(seen["nodes"], 1 + len(heap.expected_groups(1)) + heap.dump["objects"])
        self.assertEqual(plain(without_made_up(seen["types"])), plain(heap.types))
        self.assertEqual({r["name"]: r["edges"] for r in seen["roots"]}, heap.expected_groups(1))
        first = 2 + len(seen["roots"])               # number of the first object; the tables are checked here, too
        seen = [(str(size), tuple(str(to - first) for to in targets)) for _, size, _, targets in seen["graph"][first - 1:]]
        expected = [(size, targets) for _, size, targets in heap.tables.graph()[0]]
        self.assertTrue(seen == expected, first_difference(seen, expected))

    @each_heap(real_readers.need_node)
    def test_pprof(self, heap):
        for fold in ("dominators", "paths"):
            r = gcdumpc("convert", heap.path, "--stack-by", fold, "-o", heap.file("fold.pb.gz"))
            self.assertEqual(r.returncode, heap.status, r.stderr)
            seen = real_readers.read_pprof(heap.file("fold.pb.gz"))
            self.assertTrue(seen["facts"]["gzip"])
            self.assertEqual(seen["facts"]["totals"], [heap.dump["objects"], heap.dump["bytes"]])
            self.assertEqual(seen["types"], heap.types)
            self.assertIn({"dominators": "stacks: dominators", "paths": "stacks: shortest path from a root"}[fold], seen["facts"]["comments"])
            self.assertEqual("complete" in seen["facts"]["comments"], heap.status == 0)
            self.assertEqual([sum(r["count"] for r in seen["roots"]), sum(r["bytes"] for r in seen["roots"])],
                             [heap.dump["objects"], heap.dump["bytes"]])

    @each_heap()
    def test_collapsed(self, heap):
        with open(heap.file("folded"), encoding="utf-8") as f:
            lines = f.read().splitlines()
        self.assertEqual(sum(int(line.rpartition(" ")[2]) for line in lines), heap.dump["bytes"])
        self.assertEqual(len({line.rpartition(" ")[0] for line in lines}), len(lines))

    @each_heap()
    def test_csv(self, heap):
        self.assertEqual(len(heap.objects), heap.dump["objects"])
        self.assertEqual(sum(int(o["size_bytes"]) for o in heap.objects), heap.dump["bytes"])
        with open(heap.file("csv/types.csv"), newline="", encoding="utf-8") as f:
            rows = [{"type": t["name"], "count": int(t["objects"]), "bytes": int(t["bytes"])} for t in csv.DictReader(f)]
        self.assertEqual({n: r for n, r in rows_of(rows).items() if r[0]}, heap.types)

    @unittest.skipUnless(HAVE_SQLITE, "built without SQLite")
    @each_heap()
    def test_sqlite(self, heap):
        """The documented questions have answers, the same as in the report where it has them."""
        with open(os.path.join(ROOT, "src", "write", "README.md"), encoding="utf-8") as f:
            questions = [q for block in re.findall(r"```sql\n(.*?)```", f.read(), re.S) for q in block.strip().split("\n")]
        self.assertGreater(len(questions), 12)
        db = sqlite3.connect(heap.file("sqlite"))
        self.addCleanup(db.close)
        for question in questions:
            db.execute(question).fetchall()
        rows = db.execute("SELECT name, objects, bytes FROM v_types_by_bytes").fetchall()
        self.assertEqual({n: r for n, r in rows_of({"type": t, "count": n, "bytes": b} for t, n, b in rows).items() if r[0]}, heap.types)
        self.assertEqual(db.execute("SELECT value FROM facts WHERE key = 'complete'").fetchone()[0], int(heap.status == 0))
        sums = dict(db.execute("SELECT root_group, sum(roots) FROM v_roots_summary GROUP BY 1"))
        self.assertEqual(sums, dict(heap.groups))


class ReadBack(Case):
    """By the program itself."""

    def same(self, heap, suffix):
        info, status = gcdumpc_json("info", heap.file(suffix))
        report, _ = gcdumpc_json("report", heap.file(suffix))
        dump = info["dump"]
        self.assertEqual(info["trace"]["container"], {"dartheap": "dart"}.get(suffix, suffix))
        self.assertEqual((dump["objects"], dump["bytes"]), (heap.dump["objects"], heap.dump["bytes"]))
        self.assertEqual(dump["edges"], heap.edges + heap.dependents)
        self.assertEqual(dump["statics"], heap.groups["statics"])
        kinds = collections.Counter(r["kind"] for r in heap.roots if suffix == "gclog" or r["root_group"] != "weak")
        self.assertEqual({k: dump["roots"][k] for k in ("stack", "finalizer", "handle", "other")},
                         {k: kinds[k] for k in ("stack", "finalizer", "handle", "other")})
        if (heap.name, suffix) != ("net10-wks-nonames", "gclog"):        # which has names of its own for those without
            self.assertEqual(plain(rows_of(report["types"])), plain(heap.types))
            self.same_graph(heap, suffix)
        return info, status

    def same_graph(self, heap, suffix):
        """Object by object, reference by reference."""
        r = gcdumpc("convert", heap.file(suffix), "-o", heap.file(f"{suffix}.csv"))
        self.assertIn(r.returncode, (0, 3), r.stderr)
        seen, expected = Tables(heap.file(f"{suffix}.csv")).graph(), heap.tables.graph()
        for what, one, other in zip(("objects", "roots"), seen, expected):
            self.assertTrue(one == other, f"{what}: {first_difference(one, other)}")

    @each_heap()
    def test_gcdump(self, heap):
        info, status = self.same(heap, "gcdump")
        self.assertEqual(status, heap.status)
        self.assertEqual(info["verdict"]["reasons"], heap.info["verdict"]["reasons"])
        self.assertEqual(info["process"], {**heap.info["process"], "name": heap.info["process"]["name"] or "heap"})      # of the file
        self.assertEqual(info["trace"]["start_unix_ms"], heap.info["trace"]["start_unix_ms"])

    @each_heap()
    def test_dart(self, heap):
        info, status = self.same(heap, "dartheap")
        self.assertEqual((status, info["verdict"]["unverified"]), (heap.status, heap.info["verdict"]["unverified"]))

    @each_heap()
    def test_gclog(self, heap):
        info, status = self.same(heap, "gclog")
        self.assertEqual((status, info["verdict"]["unverified"]), (heap.status, heap.info["verdict"]["unverified"]))
        self.assertEqual(info["dump"]["roots"]["weak"], heap.weak())

    @each_heap()
    def test_gclog_of_a_graph_has_the_same_bytes(self, heap):
        r = gcdumpc("convert", heap.file("gclog"), "-o", heap.file("again.gclog"))
        self.assertEqual(r.returncode, heap.status, r.stderr)
        with open(heap.file("gclog"), "rb") as one, open(heap.file("again.gclog"), "rb") as two:
            self.assertEqual(one.read() == two.read(), heap.name != "net10-wks-lossy", "the streamed one and that of a graph")

    @each_heap()
    def test_gclog_by_way_of_a_gcdump(self, heap):
        """The same except for weak roots, flags of roots and type names of static variables."""
        if heap.name in NAMED:               # --names raw leaves the names out that the gclog has
            return
        for suffix, names in (("raw.gcdump", "raw"), ("way.gclog", "raw")):
            source = heap.path if suffix == "raw.gcdump" else heap.file("raw.gcdump")
            r = gcdumpc("convert", source, "--names", names, "-o", heap.file(suffix))
            self.assertEqual(r.returncode, heap.status, r.stderr)
        self.assertEqual(self.records(heap.file("way.gclog")), self.records(heap.file("gclog")))

    @staticmethod
    def records(path):
        """Objects with the names of their types, roots without flags."""
        names, objects, roots = {}, [], collections.Counter()
        with open(path, encoding="utf-8") as f:
            for line in f:
                words = line.rstrip("\n").split(" ")
                if words[0] == "t":
                    names[words[1]] = " ".join(words[2:])
                elif words[0] == "o":
                    objects.append((words[1], names[words[2]], *words[3:]))
                elif words[0] == "r" and not int(words[3], 16) & 2:
                    roots[words[1], words[2]] += 1
        known = {o[0] for o in objects}              # a graph has no dangling references
        objects = [(*o[:3], *(to for to in o[3:] if to in known)) for o in objects]
        return objects, {r: n for r, n in roots.items() if r[0] in known}

    def test_gzip_and_pipes(self):
        heap = self.heaps[0]
        for suffix in ("gclog", "gcdump", "dartheap"):
            with open(heap.file(suffix), "rb") as f:
                data = f.read()
            packed = heap.file("packed.bin")
            with open(packed, "wb") as f:
                f.write(gzip.compress(data))
            want = gcdumpc("report", heap.file(suffix)).stdout
            self.assertGreater(want.count(b"\n"), 100)
            self.assertEqual(gcdumpc("report", packed).stdout, want)
            self.assertEqual(gcdumpc("report", "-", input=data).stdout, want)
            self.assertEqual(gcdumpc("report", "-", input=gzip.compress(data)).stdout, want)
            straight = gcdumpc("convert", heap.path, "-f", gcdumpc_format(suffix), "-o", "-")
            self.assertEqual((straight.returncode, straight.stdout == data), (0, True), straight.stderr)
            again = gcdumpc("convert", "-", "-o", heap.file("piped." + suffix + ".gz"), input=data)
            self.assertEqual(again.returncode, 0, again.stderr)
            self.assertEqual(gcdumpc("report", heap.file("piped." + suffix + ".gz")).stdout, want)


class Odd(unittest.TestCase):
    """Extreme heaps for other programs' readers."""
    NAMES = ['say "hi"\\ there', "two\nlines", "lone\ud800 surrogate", "N" * 65000, "=cmd", "'quote", "a;b,c", "\x01\x1b[31m", "\U0001d4b3.Big",
             "<script>", "x [y]", "\u2028</script>", "Dictionary`2[[System.String, mscorlib],[A`1[B]]]"]

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def seen(self, data):
        """DATA through each format, and its report."""
        source = os.path.join(self.folder, "source")
        with open(source, "wb") as f:
            f.write(data)
        readers = {"heapsnapshot": real_readers.read_heapsnapshot, "gcdump": real_readers.read_gcdump, "dartheap": real_readers.read_dart,
                   "pb": real_readers.read_pprof}
        for suffix, read in readers.items():
            path = os.path.join(self.folder, "x." + suffix)
            r = gcdumpc("convert", source, "-q", "-o", path)
            self.assertEqual(r.returncode, 0, r.stderr)
            yield suffix, read(path)

    def test_names(self):
        p = Payloads()
        nodes = p.nodes(0, *((0x1000 + 0x100 * i, 24 + 8 * i, 0x70 + i, 0) for i in range(len(self.NAMES))))
        types = p.types(*((0x70 + i, name) for i, name in enumerate(self.NAMES)))
        data = sample_heaps.write(V4File(), [Ev(1, 2000, p.gc_start()), Ev(18, 2001, nodes), Ev(15, 2002, types), Ev(2, 2003, p.gc_end())])
        expected = {name.replace("\ud800", "\ufffd"): [1, 24 + 8 * i] for i, name in enumerate(self.NAMES)}
        for suffix, seen in self.seen(data):
            different = {n[:50]: r for n, r in without_made_up(seen["types"]).items() if expected.get(n) != r}
            self.assertEqual((len(without_made_up(seen["types"])), different), (len(expected), {}), suffix)

    def test_no_root_and_no_object(self):
        for data, objects, size in ((b"a 2 x 0\nt 1 Ring\no 10 1 20 20\no 20 1 18 10\nc x 0\n", 2, 56), (b"a 2 x 0\nc x 0\n", 0, 0)):
            for suffix, seen in self.seen(data):
                self.assertEqual((without_made_up(seen["types"]), seen["bytes"]), ({"Ring": [2, size]} if objects else {}, size), suffix)


def first_difference(one, other):
    """For sequences and counters that are too long to print."""
    pairs = enumerate(zip(one, other)) if isinstance(one, list) else ((k, (one[k], other[k])) for k in {**one, **other})
    return len(one), len(other), next(((k, a, b) for k, (a, b) in pairs if a != b), None)


def gcdumpc_format(suffix):
    return {"dartheap": "dart", "heapsnapshot": "v8"}.get(suffix, suffix)


if __name__ == "__main__":
    real_readers.main()
