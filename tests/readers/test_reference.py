#!/usr/bin/env python3
"""Self tests of the reference decoder: the container.

A reference that is itself wrong is worse than none, so the rules of the format are tested with bytes written by hand.
"""

import contextlib
import gzip
import io
import json
import os
import random
import struct
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import nettrace_ref
from byte_cursor import Corrupt, Cursor, Truncated, utf16z
from event_blobs import read_blobs
from nettrace_ref import decode, gunzip, report
from sample_heaps import WRITERS, close, define_all, rich_events, shop_events, write
from trace_bytes import CLR, Ev, V3File, V4File, V6File, utf8, varuint, z16
from trace_model import Unsupported


def seen(trace):
    """What a test wants to know about the events."""
    return [(event.event_id, event.thread, event.timestamp, bytes(event.payload)) for event in trace.events]


class Numbers(unittest.TestCase):
    def test_varuint(self):
        for value in (0, 1, 0x7F, 0x80, 0x3FFF, 0xFFFFFFFF):
            self.assertEqual(Cursor(varuint(value)).varuint(32), value)
        self.assertEqual(Cursor(varuint(2**64 - 1)).varuint(64), 2**64 - 1)
        self.assertEqual(Cursor(b"\x80\x80\x80\x80\x00").varuint(32), 0)

    def test_varuint_too_long(self):
        for data, bits in ((b"\xff\xff\xff\xff\x1f", 32), (b"\x80\x80\x80\x80\x80\x00", 32), (b"\x80" * 10 + b"\0", 64),
                           (b"\xff" * 9 + b"\x02", 64)):
            with self.assertRaises(Corrupt):
                Cursor(data).varuint(bits)

    def test_end_of_data_and_end_of_container_differ(self):
        with self.assertRaises(Truncated):
            Cursor(b"abc", 0, 8).u32()
        with self.assertRaises(Corrupt):
            Cursor(b"abcdefgh", 0, 3).u32()
        with self.assertRaises(Corrupt):        # both: the bytes lie even before they end
            Cursor(b"ab", 0, 3).u32()

    def test_utf16(self):
        self.assertEqual(utf16z(z16("xé\U0001F600") + b"!", 0), ("xé\U0001F600", 10))
        self.assertEqual(utf16z(b"\x00\x01\x00\x00", 0), ("\u0100", 4))         # 00 01 00 00: no end at offset 1
        self.assertEqual(utf16z(z16("a\ud800b\udc00"), 0)[0], "a\ufffdb\ufffd")
        with self.assertRaises(ValueError):
            utf16z(b"a\0b", 0)


class CompressedHeaders(unittest.TestCase):
    """nettrace.md section 5, every byte by hand."""

    def blobs(self, *parts, v6=False):
        return list(read_blobs(block_cursor(b"".join(parts), 1), v6))

    def test_fields_stay_until_they_are_given_again(self):
        first, *rest = self.blobs(
            b"\xcf", b"\x05", b"\x09", b"\x91\x4e", b"\x03", b"\x07", b"\x01", b"\x64", b"\x02", b"AA",
            b"\x81", b"\x06", b"\x05", b"\x01", b"B",       # other type, one byte
            b"\x80", b"\x00", b"\x03", b"CCC",              # same time
            b"\x01", b"\x05", b"\x02", b"DDD",              # size stays 3
            b"\x00", b"\x01", b"EEE")
        self.assertEqual((first.metadata_id, first.sequence, first.capture_thread, first.thread, first.timestamp,
                          first.is_sorted, bytes(first.payload)), (5, 10, 0x2711, 7, 100, True, b"AA"))
        self.assertEqual([(b.metadata_id, b.sequence, b.capture_thread, b.thread, b.timestamp, b.is_sorted,
                           bytes(b.payload)) for b in rest],
                         [(6, 11, 0x2711, 7, 105, False, b"B"), (6, 12, 0x2711, 7, 105, False, b"CCC"),
                          (5, 13, 0x2711, 7, 107, False, b"DDD"), (5, 14, 0x2711, 7, 108, False, b"EEE")])

    def test_sequence_is_a_delta_plus_one(self):
        step = lambda delta: b"\x83\x01" + varuint(delta) + b"\x01\x00" + b"\x00\x00"
        blobs = self.blobs(step(0), step(0), step(4), step(0xFFFFFFFF), step(0xFFFFFFFE))
        self.assertEqual([b.sequence for b in blobs], [1, 2, 7, 7, 6])

    def test_new_metadata_id_comes_before_the_sequence_rule(self):
        blobs = self.blobs(b"\x80\x00\x00", b"\x01\x03\x00", b"\x00\x00")       # id 0, then id 3 twice
        self.assertEqual([(b.metadata_id, b.sequence) for b in blobs], [(0, 0), (3, 1), (3, 2)])

    def test_first_metadata_blob_of_the_runtime(self):
        blobs = self.blobs(b"\xc6", varuint(0xFFFFFFFF), b"\x07\x00", b"\x07", b"\x00", b"\x02", b"MM",
                           b"\x80\x00\x01", b"N")
        self.assertEqual([(b.sequence, b.is_sorted, bytes(b.payload)) for b in blobs],
                         [(0, True, b"MM"), (0, False, b"N")])

    def test_time_can_step_back(self):
        back = b"\x81\x01" + varuint((-30) & (2**64 - 1)) + b"\x00"
        self.assertEqual(len(varuint((-30) & (2**64 - 1))), 10)
        blobs = self.blobs(b"\x81\x01\x64\x00", back, b"\x00\x0a", back, back, back)
        self.assertEqual([b.timestamp for b in blobs], [100, 70, 80, 50, 20, -10])

    def test_activity_ids(self):
        blobs = self.blobs(b"\xb1\x01\x01" + bytes(32) + b"\x01", b"X", b"\x90\x01" + bytes(16) + b"\x01Y",
                           b"\xa0\x01" + bytes(16) + b"\x01Z")
        self.assertEqual([bytes(b.payload) for b in blobs], [b"X", b"Y", b"Z"])

    def test_v6_counts_always_and_has_label_lists(self):
        blobs = self.blobs(b"\xb0\x01\x05\x01X", b"\x00\x01Y", v6=True)
        self.assertEqual([(b.sequence, b.labels, bytes(b.payload)) for b in blobs], [(1, 5, b"X"), (2, 5, b"Y")])

    def test_state_is_reset_in_every_block(self):
        file = V4File()
        file.define((1, CLR, 10))
        file.block("EventBlock", file.header(1) + b"\x8f\x01\x00\x07\x00\x07\x01\x32\x01A")
        file.block("EventBlock", file.header(1) + b"\x83\x01\x01\x07\x00\x05\x01B")
        self.assertEqual(seen(decode(file.end())), [(10, 7, 50, b"A"), (10, 7, 5, b"B")])

    def test_payload_past_the_block(self):
        with self.assertRaises(Corrupt):
            self.blobs(b"\x81\x01\x00\x05", b"four")


def block_cursor(blobs, flags, header_size=20):
    data = struct.pack("<HHqq", header_size, flags, 0, 0) + bytes(header_size - 20) + blobs
    return Cursor(data, 0, len(data))


class PlainHeaders(unittest.TestCase):
    """nettrace.md section 6."""

    def blob(self, word=1, payload=b"pay", size=None, tail=b"\0"):
        body = struct.pack("<IIQQIIq16s16sI", word, 9, 70, 71, 0, 0, -5, b"", b"", len(payload)) + payload + tail
        return struct.pack("<I", len(body) if size is None else size) + body

    def test_fields(self):
        one, two = read_blobs(block_cursor(self.blob() + self.blob(0x80000002), 0, 24))
        self.assertEqual((one.metadata_id, one.sequence, one.thread, one.capture_thread, one.timestamp,
                          bytes(one.payload), one.is_sorted), (1, 9, 70, 71, -5, b"pay", True))
        self.assertEqual((two.metadata_id, two.is_sorted), (2, False))

    def test_the_next_blob_is_found_by_event_size(self):
        blobs = list(read_blobs(block_cursor(self.blob(tail=bytes(9)) + self.blob(2), 0)))
        self.assertEqual([b.metadata_id for b in blobs], [1, 2])

    def test_lying_sizes(self):
        for data in (self.blob(size=60), self.blob(size=78, tail=b""), self.blob(size=90)):
            with self.assertRaises(Corrupt):
                list(read_blobs(block_cursor(data, 0)))


class Containers(unittest.TestCase):
    def test_all_versions_give_the_same_events(self):
        events = lambda: [Ev(1, 50, b"A"), Ev(2, 40, b"BBBBB", thread=9), Ev(1, 60, b"")]
        for name, writer in WRITERS.items():
            for pointer_size in (4, 8):
                with self.subTest(name, pointer_size=pointer_size):
                    file = writer(pointer_size=pointer_size, pid=55)
                    file.define((1, "One", 5, 2), (2, "Two", 6, 3))
                    trace = decode(close(file, events()))
                    self.assertEqual(seen(trace), [(5, 7, 50, b"A"), (6, 9, 40, b"BBBBB"), (5, 7, 60, b"")])
                    self.assertEqual([(e.provider, e.version, e.process) for e in trace.events][:2],
                                     [("One", 2, 55), ("Two", 3, 55)])
                    self.assertEqual((trace.state, trace.version, trace.pointer_size, trace.sync_ticks),
                                     ("closed", int(name[1]), pointer_size, 1000))
                    self.assertEqual(trace.loss.total, 0)
                    self.assertEqual(trace.final_sequence_point, name != "V3")
                    self.assertEqual(trace.counts(), {("One", 5): 2, ("Two", 6): 1})

    def test_start_of_a_v4_file(self):
        """nettrace.md section 2, byte for byte: guards the writer of these tests."""
        start = bytes(V4File().data)
        self.assertEqual(len(start), 102)
        self.assertEqual(start[32:53], b"\x05\x05\x01\x04\0\0\0\x04\0\0\0\x05\0\0\0Trace\x06")

    def test_v4_accepts_both_begin_tags(self):
        for old, new in ((b"\x05\x05\x01", b"\x04\x04\x01"), (b"\x05\x05\x01", b"\x05\x04\x01")):
            data = write(V4File(), shop_events()).replace(old, new)
            self.assertEqual(decode(data).state, "closed")

    def test_event_of_unknown_type_is_counted_and_stepped_over(self):
        for writer in WRITERS.values():
            file = writer()
            file.define((1, "One", 5))
            trace = decode(close(file, [Ev(77, 1, b"?"), Ev(1, 2, b"!")]))
            self.assertEqual((seen(trace), trace.unknown_metadata, trace.loss.total), ([(5, 7, 2, b"!")], 1, 0))

    def test_blob_without_type_in_an_event_block(self):
        file = V4File()
        file.block("EventBlock", file.header(1) + b"\x82\x09\x07\x00\x01\x00")
        trace = decode(file.end())
        self.assertEqual((trace.unknown_metadata, trace.loss.total, trace.state), (1, 0, "closed"))

    def test_metadata_tails(self):
        field = struct.pack("<i", 9) + z16("Count")
        nested = struct.pack("<ii", 1, 1) + field + z16("Outer")
        opcode_tag = struct.pack("<iBB", 1, 1, 24)
        tails = {b"": 0, struct.pack("<i", 0): 0, struct.pack("<i", 1) + field: 0, struct.pack("<i", 1) + nested: 0,
                 struct.pack("<i", 1) + nested + opcode_tag: 1, struct.pack("<i", 0) + opcode_tag: 1,
                 struct.pack("<i", 1000) + field: 0}        # the last one lies: only its field names are lost
        for tail, v5_records in tails.items():
            file = V4File()
            file.define((1, "One", 5), name="Named", tail=tail)
            trace = decode(close(file, [Ev(1, 2, b"!")]))
            self.assertEqual((seen(trace), trace.events[0].name, trace.v5_records),
                             ([(5, 7, 2, b"!")], "Named", v5_records), tail)

    def test_metadata_record_cut_short_inside(self):
        file = V4File()
        file.block("MetadataBlock", file.header(1) + b"\x80\x00\x06" + b"\x01\0\0\0A\0")
        file.define((2, "Two", 6))
        trace = decode(close(file, [Ev(2, 1)]))
        self.assertEqual((trace.state, trace.bad_metadata, len(trace.events)), ("closed", 1, 1))

    def test_redefinition_takes_the_newest(self):
        file = V4File()
        file.define((1, "Old", 5), (1, "New", 6))
        self.assertEqual(decode(close(file, [Ev(1, 2)])).events[0].provider, "New")

    def test_stacks_and_trailing_bytes(self):
        file = V4File()
        file.define((1, "One", 5))
        file.stacks()
        file.events(Ev(1, 2))
        file.stacks()
        trace = decode(file.end() + b"junk")
        self.assertEqual((trace.state, trace.trailing_bytes, len(trace.events)), ("closed", 4, 1))
        self.assertFalse(trace.final_sequence_point)

    def test_refused_versions(self):
        class V2File(V3File):
            version = 2

        for data in (b"PK\x03\x04" + bytes(40), b"Nettrace" + struct.pack("<III", 0, 7, 0), b"Nettrace" + b"\x15" * 40,
                     V2File().end()):
            with self.assertRaises(Unsupported):
                decode(data)
        self.assertEqual(decode(b"Nettrace" + struct.pack("<III", 0, 6, 99)).state, "truncated")

    def test_v6_processes_labels_and_flushes(self):
        file = V6File(pid=1)
        file.block(99, b"unknown kinds are skipped")
        file.threads((7, 100, 7007), (8, 200, 7008))
        file.define((1, "One", 5), fields=struct.pack("<H", 8) + b"\x01F\x18\x06????")
        file.block(5, struct.pack("<III", 1, 1, 0))
        labels = (b"\x01" + bytes(16) + b"\x04" + bytes(8) + b"\x05" + utf8("k") + utf8("v")
                  + b"\x86" + utf8("k") + b"\x03" + b"\x07\x01" + b"\x8a\x09")
        file.block(8, struct.pack("<II", 1, 2) + labels)
        file.compressed = False
        file.events(Ev(1, 10), labels=1)
        file.events(Ev(1, 11, thread=8), labels=2)
        file.sequence_point(12, ((7, 1), (8, 4)), flags=3)
        file.events(Ev(1, 13))
        file.threads((7, 300, 1))
        file.define((1, "Two", 6, 4))
        file.events(Ev(1, 14), labels=2)                    # that label list is forgotten
        file.remove_threads((7, 3))
        file.threads((7, 400, 1))
        file.events(Ev(1, 15))
        trace = decode(file.end())
        self.assertEqual(trace.state, "closed", trace.state_detail)
        self.assertEqual([(e.provider, e.process, e.version) for e in trace.events],
                         [("One", 100, 0), ("One", 200, 9), ("Two", 300, 4), ("Two", 400, 4)])
        self.assertEqual(trace.unknown_metadata, 1)
        # thread 7: number 1 twice after the flush is a step back to 1, then RemoveThread says 3
        self.assertEqual(trace.loss.lost, {8: 3, 7: 2})


    def test_v6_forgotten_threads_are_new_ones(self):
        for forget in (lambda f: f.sequence_point(5, ((7, 1),), flags=1), lambda f: f.remove_threads((7, 1))):
            file = V6File(pid=1)
            file.define((1, "One", 5))
            file.threads((7, 100, 1))
            file.events(Ev(1, 1))
            forget(file)
            file.events(Ev(1, 2, number=3))
            trace = decode(file.end())
            self.assertEqual((trace.loss.total, trace.loss.irregular), (2, 0))
            self.assertEqual([event.process for event in trace.events], [100, 1])

        file = V6File(pid=1)
        file.define((1, "One", 5))
        file.threads((7, 100, 1))
        file.block(6, struct.pack("<H", 1) + b"\x07")       # the index again, without a process
        self.assertEqual(decode(close(file, [Ev(1, 1)])).events[0].process, 1)


class Damage(unittest.TestCase):
    """nettrace.md section 12.  Of positions in a file, a long run tries all."""
    STEP = 1 if os.environ.get("GCDUMPC_LONG") == "1" else 7

    def test_every_prefix_is_truncated_and_gives_a_prefix_of_the_events(self):
        for name, writer in WRITERS.items():
            data = write(writer(), rich_events())
            whole = seen(decode(data))
            longest = 0
            for size in range(0, len(data), self.STEP):
                trace = decode(data[:size])
                events = seen(trace)
                self.assertEqual(trace.state, "truncated", (name, size, trace.state_detail))
                self.assertLessEqual(trace.state_offset, size)
                self.assertEqual(events, whole[:len(events)], (name, size))
                self.assertGreaterEqual(len(events), longest, (name, size))
                longest = len(events)
            self.assertEqual(seen(decode(data[:-1])), whole, name)

    def test_whole_blobs_of_a_cut_block_are_kept(self):
        for name, writer in WRITERS.items():
            file = writer()
            file.define((1, "One", 5))
            file.events(Ev(1, 1, b"first"), Ev(1, 2, b"second", number=2), Ev(1, 3, b"third", number=3))
            data = bytes(file.data)
            cut = data.index(b"third") + 2
            self.assertEqual([e.payload for e in decode(data[:cut]).events], [b"first", b"second"], name)

    def test_a_cut_sequence_point_is_not_used(self):
        file = V4File()
        file.sequence_point(5, ((7, 3), (8, 3)))
        data = bytes(file.data)
        self.assertEqual(decode(data).loss.total, 6)
        self.assertEqual(decode(data[:-2]).loss.total, 0)

    def test_corrupt_with_offset(self):
        file = V4File()
        define_all(file)
        good = len(file.data)
        for damage in (b"\x07", b"\x05\x05\x02", b"\x05\x05\x01" + struct.pack("<iii", 2, 2, 65) + b"x",
                       b"\x05\x05\x01" + struct.pack("<iii", 2, 2, -1) + b"x",
                       b"\x05\x05\x01" + struct.pack("<iii", 2, 2, 7) + b"Unknown\x06" + bytes(8)):
            trace = decode(bytes(file.data) + damage)
            self.assertEqual(trace.state, "corrupt", damage)
            self.assertGreaterEqual(trace.state_offset, good)

    def test_lying_blocks(self):
        def damaged(make):
            file = V4File()
            file.define((1, "One", 5))
            file.events(Ev(1, 1, b"good"))
            make(file)
            return decode(file.end())

        for make in (lambda f: f.block("EventBlock", struct.pack("<HHqq", 19, 1, 0, 0)),
                     lambda f: f.block("EventBlock", struct.pack("<HHqq", 21, 1, 0, 0)),
                     lambda f: f.block("EventBlock", b""),
                     lambda f: f.block("EventBlock", struct.pack("<HHq", 12, 1, 0) + b"\x81\x01\x00\x08payload."),
                     lambda f: f.block("EventBlock", f.header(1) + b"\x81\x01\x00\x09short"),
                     lambda f: f.block("SPBlock", struct.pack("<qIQI", 0, 2, 7, 99)),
                     lambda f: f.object("EventBlock", 2, struct.pack("<i", -8) + bytes(8)),
                     lambda f: f.data.extend(b"\x05\x05\x01" + struct.pack("<iii", 2, 2, 10) + b"StackBlock\x07")):
            trace = damaged(make)
            self.assertEqual(trace.state, "corrupt")
            self.assertEqual(([e.payload for e in trace.events], trace.loss.total), ([b"good"], 0))

    def test_bad_trace_object(self):
        for more in ({"frequency": 0}, {"frequency": -1}, {"pointer_size": 5}, {"pointer_size": 0}):
            for writer in (V3File, V4File, V6File):
                self.assertEqual(decode(writer(**more).end()).state, "corrupt", more)

    def test_no_single_changed_byte_breaks_the_reader(self):
        """The reader meets the same hostile input as the C program; it may call it anything but must not fail."""
        for writer in (V3File, V4File, V6File):
            data = bytearray(write(writer(), rich_events()))
            for place in range(0, len(data), self.STEP):
                for mask in (0x01, 0x80, 0xFF):
                    data[place] ^= mask
                    with contextlib.suppress(Unsupported):
                        report(decode(bytes(data)))
                    data[place] ^= mask

    def test_empty_stream(self):
        self.assertEqual(decode(b"").state, "truncated")
        self.assertIn("empty", decode(b"").state_detail)


class Program(unittest.TestCase):
    def run_main(self, *arguments):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = nettrace_ref.main(list(arguments))
        return code, out.getvalue(), err.getvalue()

    def test_outputs(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "shop.nettrace.gz")
            with open(path, "wb") as file:
                file.write(gzip.compress(write(V4File(), shop_events())))
            code, out, _ = self.run_main(path, "--json")
            self.assertEqual((code, json.loads(out)["objects"]), (0, 3))
            code, out, _ = self.run_main(path, "--events")
            self.assertEqual((code, out.splitlines()[0]), (0, "Microsoft-DotNETCore-EventPipe/1 1"))
            code, out, _ = self.run_main(path)
            self.assertEqual((code, out.splitlines()[-1]), (0, "complete"))
            with open(path, "wb") as file:
                file.write(b"no trace at all")
            code, _, err = self.run_main(path)
            self.assertEqual(code, 1)
            self.assertIn("not a .nettrace file", err)

    def test_gzip(self):
        data = random.Random(1).randbytes(300_000)
        packed = gzip.compress(data)
        self.assertEqual(gunzip(packed), (data, ""))
        self.assertEqual(gunzip(packed + packed), (data + data, ""))
        self.assertEqual(gunzip(packed + b"\0\0\0"), (data, ""))
        part, damage = gunzip(packed[:200_000])
        self.assertEqual((part, damage), (data[:len(part)], "gzip data ends early"))
        self.assertGreater(len(part), 100_000)
        part, damage = gunzip(packed[:-8] + bytes(8))
        self.assertIn("damaged", damage)
        self.assertEqual(part, data[:len(part)])
        self.assertGreater(len(part), 100_000)


if __name__ == "__main__":
    unittest.main()
