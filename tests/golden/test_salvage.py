"""What is recovered from a dump that lost events, compared with the same recording without losses.

A reference is certain if the data determines its owner (src/heap/README.md).  Here that is computed from the dropped events and
not from those that arrived: objects before the first and after the last lost event of objects, references in events that arrived.
"""
import csv
import json
import os
import random
import sys
import tempfile
import unittest
from collections import Counter

from golden_support import BUILD, READERS, gcdumpc, gcdumpc_json, run

sys.path.insert(0, READERS)
from gc_heap import EDGE, NODE, assemble        # noqa: E402
from nettrace_ref import load                   # noqa: E402

GENHEAP = os.path.join(BUILD, "genheap")
SEED = int(os.environ.get("GCDUMPC_TEST_SEED") or random.randrange(1 << 32))

FORMS = [
    ("v4", []), ("v6", ["--format", "v6"]), ("v4-server", ["--server", "--heaps", "4"]),
    ("v6-server-noise", ["--format", "v6", "--server", "--heaps", "3", "--noise"]), ("32bit", ["--pointer", "4"]),
    ("blocks", ["--sp-bytes", "100000"]), ("hidden", ["--hide-gaps", "--sp-bytes", "300000"]),
    ("v6-blocks", ["--format", "v6", "--sp-bytes", "60000", "--forget-threads"]), ("v3", ["--format", "v3"]),
]
# in a long run, each form loses events of all kinds; else of one, the next form of the next
LONG = os.environ.get("GCDUMPC_LONG") == "1"
SHAPES = ("mix", "tree", "fan", "random")


class Truth:
    """A complete recording: its events of objects and references, and what each object refers to."""

    def __init__(self, path):
        heap = assemble(load(path))
        self.counts = {kind: [count for _, count in heap.events[kind]] for kind in (NODE, EDGE)}
        self.objects = [(address, list(edges)) for address, _, _, edges in heap.objects()]

    def certain(self, lost, tail_seen):
        """address -> the references that are certain if LOST (kind -> numbers of events) is missing."""
        node_of, edge_lost = [], []
        for number, count in enumerate(self.counts[NODE]):
            node_of += [number] * count
        for number, count in enumerate(self.counts[EDGE]):
            edge_lost += [number in lost[EDGE]] * count
        first, last = min(lost[NODE], default=1 << 60), max(lost[NODE], default=-1)
        result, at = {}, 0
        for (address, edges), event in zip(self.objects, node_of):
            sure = event < first or (event > last and tail_seen)
            if event not in lost[NODE]:
                result[address] = [e for i, e in enumerate(edges) if sure and not edge_lost[at + i]]
            at += len(edges)
        return result


def gclog_objects(path):
    """address -> references, in order.  The generator makes no dependent handles here."""
    result = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("o "):
                words = line.split()
                result[int(words[1], 16)] = [int(w, 16) for w in words[4:]]
    return result


def csv_objects(folder):
    """The same for a graph, which has no references to lost objects."""
    def rows(name):
        with open(os.path.join(folder, name), encoding="utf-8", newline="") as file:
            yield from csv.reader(file)

    objects, edges = rows("objects.csv"), rows("edges.csv")
    at = {name: i for i, name in enumerate(next(objects))}
    addresses = [int(r[at["address"]], 16) for r in objects]
    result = {a: [] for a in addresses}
    next(edges)
    for from_id, _, to_id, *_ in edges:
        result[addresses[int(from_id)]].append(addresses[int(to_id)])
    return result


@unittest.skipUnless(os.path.exists(GENHEAP), "genheap is not built")
class Salvage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        print("seed", SEED, file=sys.stderr)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.kept = self.sure = 0

    def path(self, name):
        return os.path.join(self.folder, name)

    def generate(self, name, options):
        r = run(GENHEAP, *options, "--dependent", 0, "--truth", self.path(name + ".json"), "-o", self.path(name))
        self.assertEqual(r.returncode, 0, r.stderr.decode())
        with open(self.path(name + ".json"), encoding="utf-8") as f:
            return json.load(f)

    def check(self, truth, options, drops, lost):
        """One lossy recording: objects and references of the stream and of the graph, and the numbers of the verdict."""
        facts = self.generate("lossy", options + [w for d in drops for w in ("--drop", d)])
        tail_seen = all(len(truth.counts[k]) - 1 not in lost[k] for k in (NODE, EDGE))
        # without its GCEnd the end of the walk is unknown, and events after the first loss may belong to another walk
        ended = tail_seen and "gcend:0" not in drops
        certain = truth.certain(lost, ended)
        info, _ = gcdumpc_json("info", self.path("lossy"))
        dump = info["dump"]
        r = gcdumpc("convert", self.path("lossy"), "-q", "-o", self.path("x.gclog"))
        self.assertIn(r.returncode, (0, 3), r.stderr.decode())
        streamed = gclog_objects(self.path("x.gclog"))
        self.compare(streamed, certain, truth)
        with tempfile.TemporaryDirectory(dir=self.folder) as tables:
            r = gcdumpc("convert", self.path("lossy"), "-q", "-o", tables, "--format", "csv")
            self.assertIn(r.returncode, (0, 3), r.stderr.decode())
            graph = csv_objects(tables)
        self.assertEqual(graph, {a: [e for e in edges if e in streamed] for a, edges in streamed.items()})
        self.check_numbers(dump, facts, streamed, ended and drops)
        return info

    def compare(self, got, certain, truth):
        self.assertEqual(got.keys(), certain.keys(), "objects")
        true = {a: Counter(e) for a, e in truth.objects}
        for address, edges in got.items():
            self.assertFalse(Counter(edges) - true[address], "a wrong reference")
            self.assertFalse(Counter(edges) - Counter(certain[address]), "one that cannot be certain")
        self.kept += sum(map(len, got.values()))
        self.sure += sum(map(len, certain.values()))

    def check_numbers(self, dump, facts, got, exact):
        lost, kept = facts["lost"], sum(map(len, got.values()))
        for ours, true in (("objects_lost", lost["objects"]), ("edges_lost", lost["edges"])):
            if dump[ours + "_exact"]:
                self.assertEqual(dump[ours], true, ours)
            else:
                self.assertLessEqual(dump[ours], true, ours)
                self.assertFalse(exact, ours)
        self.assertEqual(dump["edges_dropped"], facts["written"]["edges"] - kept)
        self.assertEqual(dump["objects"], facts["written"]["objects"])
        self.assertEqual(dump["types_undescribed"], sum(not t["described"] and t["count"] > 0 for t in facts["types"])
                         if lost["objects"] == 0 else dump["types_undescribed"])

    def drop(self, rng, truth, kinds):
        """Random events, as an option of the generator and by kind."""
        drops, lost = [], {NODE: set(), EDGE: set()}
        for word, kind in (("node", NODE), ("edge", EDGE)):
            n = len(truth.counts[kind])
            for _ in range(rng.randint(1, 3) if word in kinds and n > 0 else 0):
                first = rng.randrange(n)
                last = min(n - 1, first + rng.choice((0, 0, 0, 1, 3)))
                drops.append(f"{word}:{first}-{last}")
                lost[kind].update(range(first, last + 1))
        drops += [f"{k}:0" for k in ("type", "root", "static", "gcend") if k in kinds]
        return drops, lost

    def test_random_losses(self):
        rng = random.Random(SEED)
        for i, (name, form) in enumerate(FORMS):
            shape = rng.choice(SHAPES)
            options = ["-n", rng.randrange(20000, 40000), "--shape", shape, "--seed", rng.randrange(1 << 30), *form]
            self.generate("whole", options)
            truth = Truth(self.path("whole"))
            losses = (["node"], ["edge"], ["node", "edge"], ["node", "edge", rng.choice(("type", "root", "static", "gcend"))])
            for kinds in losses if LONG else (losses[i % len(losses)],):
                drops, lost = self.drop(rng, truth, kinds)
                if len(lost[NODE]) == len(truth.counts[NODE]):
                    continue                 # no object at all is no dump
                with self.subTest(name, options=options, drops=drops):
                    self.check(truth, options, drops, lost)
        self.assertGreater(self.sure, 100000)
        self.assertGreaterEqual(self.kept, 0.9 * self.sure)
        print(f"kept {self.kept} of {self.sure} certain references", file=sys.stderr)

    def test_one_gap_of_each_kind_costs_nothing_else(self):
        """Objects between the gaps and the ends keep all their references, although both sequences have gaps."""
        options = ["-n", 40000, "--shape", "mix", "--seed", 7]
        self.generate("whole", options)
        truth = Truth(self.path("whole"))
        lost = {NODE: {3, 4}, EDGE: {1, 6, 7}}
        info = self.check(truth, options, ["node:3-4", "edge:1", "edge:6-7"], lost)
        self.assertEqual(self.kept, self.sure)
        self.assertEqual((info["dump"]["objects_lost"], info["dump"]["objects_lost_exact"]), (2 * 2008, True))
        self.assertEqual((info["dump"]["edges_lost"], info["dump"]["edges_lost_exact"]), (3 * 5354, True))
        amounts = {r["code"]: r["amount"] for r in info["verdict"]["reasons"]}
        self.assertEqual((amounts["objects_lost"], amounts["edges_lost"], amounts["edges_dropped"]),
                         (2 * 2008, 3 * 5354, info["dump"]["edges_dropped"]))

    def test_between_two_gaps_nothing_is_guessed(self):
        options = ["-n", 40000, "--shape", "tree", "--seed", 3]
        self.generate("whole", options)
        truth = Truth(self.path("whole"))
        self.check(truth, options, ["node:3", "node:9"], {NODE: {3, 9}, EDGE: set()})
        self.assertEqual(self.kept, self.sure)
        between = gclog_objects(self.path("x.gclog"))
        addresses = [a for a, _ in truth.objects]
        self.assertEqual([between[a] for a in addresses[4 * 2008:9 * 2008]], [[]] * (5 * 2008))

    def test_cut_anywhere(self):
        """The start of a recording is as certain as the whole."""
        options = ["-n", 30000, "--shape", "mix", "--seed", 11]
        facts = self.generate("whole", options)
        truth = Truth(self.path("whole"))
        true = dict(truth.objects)
        for part in (3, 5, 8):
            with self.subTest(part):
                self.generate("cut", options + ["--truncate", facts["file_bytes"] * part // 10])
                r = gcdumpc("convert", self.path("cut"), "-q", "-o", self.path("y.gclog"))
                self.assertEqual(r.returncode, 3, r.stderr.decode())
                got = gclog_objects(self.path("y.gclog"))
                self.assertGreater(sum(map(len, got.values())), 1000)
                self.assertEqual([a for a in got], [a for a, _ in truth.objects][:len(got)])
                for address, edges in got.items():
                    self.assertEqual(edges, true[address][:len(edges)])


if __name__ == "__main__":
    unittest.main()
