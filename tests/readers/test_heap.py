#!/usr/bin/env python3
"""Self tests of the reference decoder: the heap dump in a trace."""

import os
import struct
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from gc_heap import assemble
from nettrace_ref import decode, report
from sample_heaps import WRITERS, define_all, rich_events, shop_events, write
from trace_bytes import CLR, Ev, Payloads, V4File, V6File, numbered


class HeapDump(unittest.TestCase):
    def heap(self, events, **more):
        trace = decode(write(V4File(**more), events))
        self.assertEqual(trace.state, "closed")
        return assemble(trace)

    def objects(self, events):
        return [(address, list(references)) for address, _, _, references in self.heap(events).objects()]

    def test_worked_example_in_every_version(self):
        for name, writer in WRITERS.items():
            for pointer_size, base in ((8, 0x7F0000001000), (4, 0x70001000)):
                with self.subTest(name, pointer_size=pointer_size):
                    file = writer(pointer_size=pointer_size, pid=77)
                    facts = report(decode(write(file, shop_events(base, pointer_size))))
                    self.assertEqual({key: facts[key] for key in ("objects", "bytes", "edges", "statics", "weak_roots",
                                                                  "dependent_handles", "pid")},
                                     {"objects": 3, "bytes": 96, "edges": 2, "statics": 1, "weak_roots": 1,
                                      "dependent_handles": 0, "pid": 77})
                    self.assertEqual(facts["roots"], {"stack": 0, "finalizer": 0, "handle": 1, "other": 0})
                    self.assertEqual(facts["types"][0], {"name": "Shop.Order[]", "id": "0x72", "count": 1, "bytes": 40})
                    self.assertEqual(facts["complete"], name != "V3", facts["reasons"])

    def test_rich_heap(self):
        facts = report(decode(write(V4File(), rich_events())))
        self.assertEqual(facts["roots"], {"stack": 1, "finalizer": 1, "handle": 2, "other": 3})
        self.assertEqual([facts[key] for key in ("objects", "edges", "dangling_edges", "statics", "ccws", "rcws",
                                                 "weak_roots", "null_roots", "dependent_handles",
                                                 "types_without_description")],
                         [6, 7, 1, 3, 1, 1, 1, 1, 5, 1])
        self.assertEqual((facts["gc_number"], facts["complete"], facts["reasons"]), (2, False, ["1 types without description"]))

    def test_server_gc_file_order(self):
        """GCEnd, then GCStart of another thread, blocks after the nodes: only the time shows the order."""
        events = shop_events()
        file = V4File()
        define_all(file)
        events[0].thread = 44
        for event in numbered(events)[1:]:
            file.events(event)
        file.events(events[0])
        file.sequence_point(10**9)
        self.assertEqual(len(assemble(decode(file.end())).addresses), 3)

    def test_which_gc(self):
        p = Payloads()
        node = lambda time, address: Ev(18, time, p.nodes(0, (address, 24, 1, 0)))

        def gc(time, address=None, number=1, **start):
            yield Ev(1, time, p.gc_start(number, **start))
            if address:
                yield node(time + 1, address)
            yield Ev(2, time + 2, p.gc_end(number))

        wanted = [*gc(100, 0xA, number=9)]
        for before in ([*gc(10, 0xB, reason=0)], [*gc(10, 0xB, depth=1)], [*gc(10, 0xB, kind=1)], [*gc(10)],
                       [node(10, 0xB)], []):
            self.assertEqual(self.objects([*before, *wanted]), [(0xA, [])])
        self.assertEqual(self.heap([*wanted, *gc(200, 0xB, number=10)]).other_dumps, 1)
        self.assertIsNone(self.heap([node(10, 0xB)]))
        self.assertIsNone(self.heap([*gc(10)]))

    def test_first_by_time_not_by_place(self):
        p = Payloads()
        dump = lambda time, address, number: [Ev(1, time, p.gc_start(number)),
                                              Ev(18, time + 1, p.nodes(0, (address, 8, 1, 0))),
                                              Ev(2, time + 2, p.gc_end(number))]
        self.assertEqual(self.objects(dump(500, 0xB, 2) + dump(100, 0xA, 1)), [(0xA, [])])

    def test_missing_gc_end(self):
        p = Payloads()
        events = [Ev(1, 100, p.gc_start(1)), Ev(18, 101, p.nodes(0, (0xA, 8, 1, 0))),
                  Ev(1, 200, p.gc_start(2, reason=0)), Ev(18, 201, p.nodes(0, (0xB, 8, 1, 0))), Ev(2, 202, p.gc_end(2))]
        self.assertEqual(self.objects(events), [(0xA, [])])
        self.assertIn("GCEnd missing", self.heap(events).reasons())

    def test_bulk_events_of_other_threads_are_not_ours(self):
        events = shop_events()
        events.append(Ev(16, events[2].time, Payloads().roots(0, (0x900, 2, 0, 0)), thread=50))
        self.assertEqual(len(self.heap(events).roots), 1)

    def test_other_processes_are_not_ours(self):
        p = Payloads()
        first, second = shop_events(), shop_events(base=0x1000)
        for event in first:
            event.thread, event.time = 8, event.time - 1
        second.insert(0, Ev(15, 1, p.types((0x71, "Stranger"))))
        second.insert(4, Ev(23, second[4].time, p.generation_range(2, 0, 1 << 40)))
        file = V6File(pid=0)
        file.threads((7, 100, 1), (8, 200, 2))
        define_all(file)
        file.events(*numbered(second + first))
        heap = assemble(decode(file.end()))
        self.assertEqual((heap.process, list(heap.addresses)[0], heap.type_name(0x71), heap.ranges),
                         (200, 0x7F0000001000, "Shop.Store", []))

    def test_oldest_gc_start(self):
        p = Payloads()
        for reason, found in ((1, True), (0, False)):
            file = V4File()
            file.define((101, CLR, 1, 0))
            trace = decode(write(file, [Ev(101, 1, struct.pack("<II", 4, reason)),
                                        Ev(18, 2, p.nodes(0, (0xA, 8, 1, 0))), Ev(2, 3, p.gc_end(4)[:6])]))
            self.assertEqual(assemble(trace) is not None, found)

    def test_gen_aware_dump(self):
        p = Payloads()
        file = V4File()
        file.define((206, CLR, 206), (207, CLR, 207))
        trace = decode(write(file, [Ev(206, 1, struct.pack("<IH", 4, 0)), Ev(18, 2, p.nodes(0, (0xA, 8, 1, 0))),
                                    Ev(207, 3, struct.pack("<IH", 4, 0))]))
        self.assertEqual(list(assemble(trace).addresses), [0xA])

    def test_described_twice(self):
        p = Payloads()
        for first, second, name in (("One", "Two", "One"), ("", "Two", "Two"), ("One", "", "One")):
            heap = self.heap(shop_events() + [Ev(15, 10**8, p.types((9, first))), Ev(15, 10**8, p.types((9, second)))])
            self.assertEqual(heap.type_name(9), name)

    def dump(self, *bulk):
        p = Payloads()
        return [Ev(1, 100, p.gc_start(1)), *(Ev(kind, 101 + at, payload) for at, (kind, payload) in enumerate(bulk)),
                Ev(2, 200, p.gc_end(1))]

    def test_pairing_is_by_order_not_by_place(self):
        p = Payloads()
        a, b = (0xA, 8, 1, 3), (0xB, 8, 1, 2)
        wanted = [(0xA, [1, 2, 3]), (0xB, [4, 5])]
        for bulk in ([(18, p.nodes(0, a, b)), (19, p.edges(0, 1, 2, 3, 4, 5))],
                     [(19, p.edges(0, 1, 2)), (18, p.nodes(0, a)), (19, p.edges(1, 3, 4)), (18, p.nodes(1, b)),
                      (19, p.edges(2, 5))],
                     [(19, p.edges(0, 1, 2, 3, 4, 5)), (18, p.nodes(0, a)), (18, p.nodes(1, b))]):
            self.assertEqual(self.objects(self.dump(*bulk)), wanted)

    def test_gap_in_the_edges(self):
        """The object at the gap keeps what arrived before the gap; no object after it gets any."""
        p = Payloads()
        bulk = [(18, p.nodes(0, (0xA, 8, 1, 2), (0xB, 8, 1, 3), (0xC, 8, 1, 1))), (19, p.edges(0, 1, 2, 3)),
                (19, p.edges(2, 9, 9))]
        self.assertEqual(self.objects(self.dump(*bulk)), [(0xA, [1, 2]), (0xB, [3]), (0xC, [])])
        self.assertIn("1 events of id 19 missing", self.heap(self.dump(*bulk)).reasons())

    def test_gap_in_the_nodes(self):
        p = Payloads()
        bulk = [(18, p.nodes(0, (0xA, 8, 1, 2))), (18, p.nodes(3, (0xC, 8, 1, 1))), (19, p.edges(0, 1, 2, 3))]
        self.assertEqual(self.objects(self.dump(*bulk)), [(0xA, [1, 2]), (0xC, [])])
        self.assertEqual(self.heap(self.dump(*bulk)).index[18].missing, 2)

    def test_gap_before_the_first(self):
        p = Payloads()
        nodes, edges = (18, p.nodes(0, (0xA, 8, 1, 1))), (19, p.edges(0, 1))
        self.assertEqual(self.objects(self.dump((18, p.nodes(1, (0xA, 8, 1, 1))), edges)), [(0xA, [])])
        self.assertEqual(self.objects(self.dump(nodes, (19, p.edges(1, 1)))), [(0xA, [])])

    def test_cut_tails(self):
        p = Payloads()
        nodes = (18, p.nodes(0, (0xA, 8, 1, 2), (0xB, 8, 1, 3)))
        self.assertEqual(self.objects(self.dump(nodes, (19, p.edges(0, 1, 2, 3)))), [(0xA, [1, 2]), (0xB, [3])])
        too_many = self.dump(nodes, (19, p.edges(0, 1, 2, 3, 4, 5, 6)))
        self.assertEqual(self.objects(too_many), [(0xA, [1, 2]), (0xB, [3, 4, 5])])
        self.assertIn("5 edges declared, 6 received", self.heap(too_many).reasons())

    def test_malformed_bulk_event_counts_as_a_gap(self):
        p = Payloads()
        bulk = [(18, p.nodes(0, (0xA, 8, 1, 1), (0xB, 8, 1, 1))), (19, p.edges(0, 1)), (19, p.edges(1, 7)[:-1]),
                (19, p.edges(2, 9))]
        heap = self.heap(self.dump(*bulk))
        self.assertEqual([list(r) for *_, r in heap.objects()], [[1], []])
        self.assertEqual(heap.malformed, {19: 1})

    def test_longer_payloads_of_newer_versions(self):
        p = Payloads()
        bulk = [(18, p.nodes(0, (0xA, 8, 1, 1)) + b"newer"), (19, p.edges(0, 1) + b"newer"),
                (38, p.statics((0xA, 1, "f")) + b"n"), (15, p.types((1, "One")) + b"newer")]
        heap = self.heap(self.dump(*bulk))
        self.assertEqual((heap.reasons(), heap.type_name(1), len(heap.statics)), ([], "One", 1))

    def test_names_that_lack(self):
        p = Payloads()
        nodes = (18, p.nodes(0, (0xA, 8, 1, 0), (0xB, 8, 2, 0)))
        for types, reasons in (((), ["2 types without description"]), (((1, "One"),), ["1 types without description"]),
                               (((1, ""), (2, "")), ["no type has a name"]), (((1, ""), (2, "Two")), [])):
            with self.subTest(types=types):
                self.assertEqual(self.heap(self.dump(nodes, (15, p.types(*types)))).reasons(), reasons)

    def test_generations(self):
        p = Payloads()
        bulk = [(23, p.generation_range(0, 0, 0x10000)),
                (18, p.nodes(0, (0x100, 8, 1, 0), (0x110, 9, 1, 0), (0x800, 10, 1, 0))),
                (23, p.generation_range(3, 0x800, 8)), (23, p.generation_range(2, 0x100, 0x10))]
        facts = self.heap(self.dump(*bulk)).report()
        self.assertEqual(facts["generations"], {"2": {"objects": 1, "bytes": 8}, "3": {"objects": 1, "bytes": 10},
                                                "none": {"objects": 1, "bytes": 9}})

    def test_verdict(self):
        def reasons(events=slice(None), last=8, point=True, end=True):
            file = V4File()
            define_all(file)
            file.events(*numbered(shop_events())[events])
            if point:
                file.sequence_point(10**9, ((7, last),))
            return report(decode(file.end() if end else bytes(file.data)))["reasons"]

        self.assertEqual(reasons(), [])
        self.assertEqual(reasons(last=10), ["2 events lost"])
        self.assertEqual(reasons(point=False), ["loss not verified: no sequence point at the end"])
        self.assertIn("trace truncated", reasons(end=False)[0])
        self.assertEqual(reasons(events=slice(0, 6)), ["2 events lost", "GCEnd missing"])


if __name__ == "__main__":
    unittest.main()
