"""Leaks of real programs (HeapLab --leak) are found, for the right reason, in a dump of the living process."""
import json

from live_support import RUNTIMES, LiveTest, Missing, Process, heaplab, main

ORDERS = 100_000
SMALL = 20_000

# For each leak: its expected suspects, the first one also first in the output.  (kind, type, objects, root, words of the sentence)
EXPECTED = {
    "list": [("object", "System.Collections.Generic.List<HeapLab.LeakedOrder>", 1, "s_orders",
              " is held by the static variable HeapLab.Leaks.s_orders: 100,000 LeakedOrder in a List<LeakedOrder>.")],
    "chain": [("object", "HeapLab.LeakedOrder", ORDERS, "s_first", ": a list or tree of 100,000 LeakedOrder objects.")],
    "cache": [("object", None, 1, "s_cache",
               ": 20,000 Byte[] in a ConcurrentDictionary<Int32, Byte[]>.")],
    "events": [("handlers", "System.Action", SMALL, "s_ticker",
                "has 20,000 handlers, all methods of Subscriber objects.")],
    "finalizers": [("finalizers", "HeapLab.Unfinished", None, "finalizer queue", "wait for their finalizers, all Unfinished")],
    "timers": [("object", "System.Collections.Generic.List<HeapLab.Session>", 1, "s_store", "one SessionStore (HeapLab.dll): 5,000 Session in a List")],
    "handles": [("type", "HeapLab.LeakedOrder", ORDERS, "strong handle", "All of them are held directly by strong handles.")],
    "pinned": [("type", "System.Byte[]", 10_000, "pinned handle", "All of them are held directly by pinned handles."),
               ("pinned", "System.Byte[]", None, "pinned handle", "the collector cannot move them to close the gaps."),
               ("pins", "System.Byte[]", None, None, "10,0")],
    "collections": [("object", "System.Collections.Generic.List<HeapLab.Customer>", 1, "s_customers",
                     ": 100,000 Customer in a List<Customer>."),
                    ("collections", "System.Collections.Generic.List<HeapLab.Customer>", None, "s_customers",
                     "of the same size, 88 bytes each with their arrays")],
    "dependent": [("object", "System.Byte[]", 1, "s_key", "HeapLab.Leaks.s_key and a dependent handle: ")],
}


class Leaks(LiveTest):
    def suspects(self, kind, program=None):
        with Process("--leak", kind, program=program) as target:
            self.assertEqual(target.line, kind + "\n")
            got = json.loads(self.gcdumpc("leaks", "--pid", target.pid, "--json").stdout)
        self.assertTrue(got["verdict"]["complete"])
        return got

    def check(self, kind, program=None):
        got = self.suspects(kind, program)
        found, wanted = got["suspects"], EXPECTED[kind]
        told = [also for s in found for also in s["also"]]
        self.assertEqual(sorted(s["kind"] for s in found), sorted(w[0] for w in wanted if w[3] is not None), kind)
        self.assertEqual(sorted(s["kind"] for s in told), sorted(w[0] for w in wanted if w[3] is None), kind)
        self.assertEqual(found[0]["kind"], wanted[0][0])
        for want_kind, name, objects, root, words in wanted:
            s = next(s for s in found + told if s["kind"] == want_kind)
            self.assertIn(name, (None, s["type"]))
            self.assertIn(objects, (None, s["objects"]))
            self.assertIn(words, s["sentence"])
            if root is None:
                self.assertIn(words, found[0]["sentence"])
                continue
            self.assertIn(root, s["root"])
            self.assertEqual(s["path"][-1]["node"], s["node"])
        apart = [s for s in found if not s["overlaps"]]
        self.assertLessEqual(sum(s["bytes"] for s in apart), got["heap_bytes"])
        self.assertGreater(apart[0]["share"], 0.9)

    def test_each_kind(self):
        for kind in EXPECTED:
            with self.subTest(kind):
                self.check(kind)

    def test_other_runtimes(self):
        for runtime in RUNTIMES:
            try:
                program = heaplab(runtime)
            except Missing as missing:
                self.skipTest(str(missing))
            for kind in ("list", "events", "finalizers", "timers", "handles"):
                with self.subTest(kind, runtime=runtime):
                    self.check(kind, program)

    def test_a_healthy_program(self):
        with Process() as target:
            got = json.loads(self.gcdumpc("leaks", "--pid", target.pid, "--json").stdout)
            self.assertEqual(got["suspects"], [])
            self.assertEqual(got["consumers"][0]["type"], "HeapLab.Lab")


if __name__ == "__main__":
    main()
