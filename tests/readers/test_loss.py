#!/usr/bin/env python3
"""Self tests of the reference decoder: lost events."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from event_loss import LossCounter
from nettrace_ref import decode
from sample_heaps import WRITERS, close
from trace_bytes import Ev, V4File


class Loss(unittest.TestCase):
    """nettrace.md section 10.3: rows are (what, thread, number)."""

    def total(self, *rows, irregular=0):
        counter = LossCounter()
        for what, thread, number in rows:
            (counter.event if what == "e" else counter.sequence_point)(thread, number)
        self.assertEqual(counter.irregular, irregular)
        return counter.total

    def run_of(self, thread, first, last):
        return [("e", thread, number) for number in range(first, last + 1)]

    def test_no_loss(self):
        self.assertEqual(self.total(*self.run_of(1, 1, 5), *self.run_of(2, 1, 3), ("s", 1, 5), ("s", 2, 3)), 0)

    def test_gap_between_events(self):
        self.assertEqual(self.total(*self.run_of(1, 1, 269), ("e", 1, 853)), 583)       # as measured, trap 1

    def test_first_event_is_not_the_first(self):
        self.assertEqual(self.total(("e", 1, 4)), 3)

    def test_only_the_sequence_point_tells(self):
        self.assertEqual(self.total(*self.run_of(1, 1, 5), ("s", 1, 588)), 583)         # trap 2
        self.assertEqual(self.total(("s", 1, 9)), 9)                                    # not one event arrived
        self.assertEqual(self.total(("s", 1, 9), ("e", 1, 10), ("s", 1, 10)), 9)

    def test_sequence_point_is_only_a_lower_bound(self):
        self.assertEqual(self.total(*self.run_of(1, 1, 5), ("s", 1, 3), ("s", 1, 5), ("s", 1, 0)), 0)

    def test_counted_once(self):
        self.assertEqual(self.total(("e", 1, 1), ("s", 1, 4), ("e", 1, 5), ("e", 1, 8), ("s", 1, 8)), 5)

    def test_reuse_of_a_thread_id(self):
        reused = (*self.run_of(1, 1, 7), *self.run_of(1, 1, 3))
        self.assertEqual(self.total(*reused), 0)
        self.assertEqual(self.total(*reused, ("s", 1, 7), ("s", 1, 3)), 0)      # the old owner is still listed
        self.assertEqual(self.total(*reused, ("s", 1, 7), ("s", 1, 5)), 2)
        self.assertEqual(self.total(*reused, ("e", 1, 6)), 2)

    def test_below_a_sequence_point(self):
        self.assertEqual(self.total(("e", 1, 1), ("s", 1, 10), ("e", 1, 2), ("e", 1, 11), irregular=1), 9)

    def test_wrap(self):
        high = ("e", 1, 0xFFFFFFFE)
        before = 0xFFFFFFFD
        self.assertEqual(self.total(high, ("e", 1, 0xFFFFFFFF), ("e", 1, 0), ("e", 1, 1), ("s", 1, 1)), before)
        self.assertEqual(self.total(high, ("e", 1, 2)), before + 3)
        self.assertEqual(self.total(high, ("s", 1, 1)), before + 3)

    def test_first_number_zero(self):
        self.assertEqual(self.total(("e", 1, 0)), 0xFFFFFFFF)

    def test_half_way_is_a_step_back(self):
        self.assertEqual(self.total(("e", 1, 1), ("e", 1, 0x80000001)), 0x7FFFFFFF)
        self.assertEqual(self.total(("e", 1, 1), ("e", 1, 0x80000002), irregular=1), 0)

    def test_in_a_file(self):
        for name, writer in WRITERS.items():
            file = writer()
            file.define((1, "One", 5))
            file.events(Ev(1, 1, number=2), Ev(1, 2, number=5), Ev(1, 3, thread=8, number=1))
            file.sequence_point(9, ((7, 6), (8, 1), (9, 2)))
            trace = decode(file.end())
            self.assertEqual(trace.loss.lost, {} if name == "V3" else {7: 4, 9: 2}, name)

    def test_metadata_blobs_have_no_numbers(self):
        file = V4File()
        file.define((1, "One", 5))
        file.define((2, "Two", 6))
        self.assertEqual(decode(close(file, [Ev(1, 1), Ev(2, 2)])).loss.total, 0)


if __name__ == "__main__":
    unittest.main()
