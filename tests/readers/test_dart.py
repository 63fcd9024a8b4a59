#!/usr/bin/env python3
"""The reader of Dart heap snapshots, on the example of dart-heap-snapshot.md and on files of an encoder of its own.

The snapshot of a real Dart VM, where there is one: test_dart_vm.py.
"""

import os
import random
import struct
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from byte_cursor import BadInput, Corrupt
from dart_read import URI, Snapshot, report
from real_readers import Refused, read_dart
from trace_bytes import varuint

# section 7, line by line
EXAMPLE = bytes.fromhex("""
    6461727468656170 00 0473686f70 ec02 8020 00 05
    0004526f6f7400000000
    00125b737461746963207661726961626c65735d00000000
    000a53686f702e53746f726500157061636b6167653a53686f702f53686f702e646c6c0000
    000c53686f702e4f726465725b5d00157061636b6167653a53686f702f53686f702e646c6c0000
    000a53686f702e4f7264657200157061636b6167653a53686f702f53686f702e646c6c0000
    04 05
    0100000102
    0200080673746174696301 03
    0318000104
    042807020105
    05ac020000
    00""") + bytes(20)


def text(value):
    raw = value.encode("utf-8")
    return varuint(len(raw)) + raw


def class_of(name, uri="", library="", fields=()):
    return (varuint(0) + text(name) + text(library) + text(uri) + text("") + varuint(len(fields))
            + b"".join(varuint(1) + varuint(index) + text(field) + text("") for index, field in fields))


def thing(of, size, data=b"\0", references=()):
    return varuint(of) + varuint(size) + data + varuint(len(references)) + b"".join(map(varuint, references))


def snapshot(classes, objects, references, shallow=0, capacity=None, properties=(), hashes=None, magic=b"dartheap"):
    return (magic + varuint(0) + text("app") + varuint(shallow) + varuint(shallow if capacity is None else capacity) + varuint(0)
            + varuint(len(classes)) + b"".join(classes) + varuint(references) + varuint(len(objects)) + b"".join(objects)
            + varuint(len(properties)) + b"".join(properties) + (bytes(4 * len(objects)) if hashes is None else hashes))


ROOT, ITEM = class_of("Root"), class_of("Item", "package:A/A.dll")


def read(data, graph=False):
    return report(Snapshot(data), graph)


class WorkedExample(unittest.TestCase):
    def test_what_it_says(self):
        self.assertEqual(len(EXAMPLE), 223)
        seen = read(EXAMPLE, True)
        self.assertEqual((seen["nodes"], seen["edges"], seen["bytes"]), (5, 4, 364))
        self.assertEqual(seen["types"], {"Root": [1, 0], "[static variables]": [1, 0], "Shop.Store": [1, 24], "Shop.Order[]": [1, 40],
                                         "Shop.Order": [1, 300]})
        self.assertEqual(seen["roots"], [{"name": "[static variables]", "edges": 1}])
        self.assertEqual(seen["rules_broken"], [])
        self.assertEqual(seen["graph"], [["Root", 0, None, [2]], ["[static variables]", 0, "static", [3]], ["Shop.Store", 24, None, [4]],
                                         ["Shop.Order[]", 40, 2, [5]], ["Shop.Order", 300, None, []]])
        facts = seen["facts"]
        self.assertEqual((facts["name"], facts["capacity"], facts["hashes"], facts["unreachable"]), ("shop", 4096, "zero", 0))
        self.assertEqual(facts["libraries"], {"": [2, 0], "package:Shop/Shop.dll": [3, 364]})

    def test_from_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.dartheap")
            for data in (EXAMPLE, EXAMPLE[:-1]):
                with open(path, "wb") as file:
                    file.write(data)
                if data == EXAMPLE:
                    self.assertEqual(read_dart(path)["nodes"], 5)
                else:
                    self.assertRaisesRegex(Refused, "dart_read.py", read_dart, path)


class Everything(unittest.TestCase):
    def test_all_kinds_of_data(self):
        kinds = [b"\0", b"\1", b"\2\1", b"\3" + varuint(2**64 - 1), b"\3\x40", b"\3\xc0\0", b"\4" + struct.pack("<d", 1.5), b"\5\x05\x02h\xe9", b"\6\x09\x02h\0\x2d\x4e",
                 b"\7" + varuint(300), b"\x08" + text("nämé")]
        items = [thing(2, 10, data, (0, 2)) for data in kinds]
        seen = read(snapshot([ROOT, ITEM], [thing(1, 0, references=range(2, 13)), *items], 33, 110), True)
        self.assertEqual([row[2] for row in seen["graph"][1:]], [None, None, 1, -1, None, 64, 1.5, "hé", "h中", 300, "nämé"])
        self.assertEqual((seen["bytes"], seen["facts"]["null_references"]), (110, 11))
        self.assertEqual(seen["rules_broken"], ["integer data: readers disagree"])

    def test_big_numbers(self):
        seen = read(snapshot([ROOT, ITEM], [thing(1, 0, references=(2,)), thing(2, 2**40, b"\7" + varuint(2**35))], 1, 2**40))
        self.assertEqual((seen["bytes"], seen["rules_broken"]), (2**40, []))

    def test_hash_codes(self):
        objects = [thing(1, 0, references=(2,)), thing(2, 8)]
        whole = lambda hashes: read(snapshot([ROOT, ITEM], objects, 1, 8, hashes=hashes))["facts"]["hashes"]
        self.assertEqual([whole(hashes) for hashes in (bytes(8), b"\1" + bytes(7), b"\0\x85\x01", b"\x80\x80\x80\0\x81\x80\x80\1", b"")],
                         ["zero", "uint32", "uleb", "uleb of four bytes", "missing"])
        for hashes in (b"\0", b"\0\0\0", bytes(9)):
            self.assertRaises(BadInput, whole, hashes)

    def test_external_properties(self):
        seen = read(snapshot([ROOT], [thing(1, 0)], 0, properties=[varuint(1) + varuint(4096) + text("buffer")]))
        self.assertEqual(seen["facts"]["external_properties"], 1)
        self.assertRaises(Corrupt, read, snapshot([ROOT], [thing(1, 0)], 0, properties=[varuint(2) + varuint(4096) + text("buffer")]))

    def test_unreachable_objects_and_unused_classes(self):
        seen = read(snapshot([ROOT, ITEM, class_of("_List", "dart:core", fields=((0, "x"),))],
                             [thing(1, 0, references=(2,)), thing(2, 8), thing(2, 8, references=(2,))], 2, 16))
        self.assertEqual((seen["facts"]["unreachable"], seen["facts"]["unused_classes"], seen["rules_broken"]), (1, ["_List"], []))


class Rules(unittest.TestCase):
    """Section 4: taken by readers, shown wrongly."""

    def broken(self, *arguments, **more):
        rules = read(snapshot(*arguments, **more))["rules_broken"]
        self.assertEqual(len(rules), 1, rules)
        return rules[0]

    def test_each(self):
        top, item = thing(1, 0, references=(2,)), thing(2, 8)
        self.assertEqual(read(snapshot([ROOT, ITEM], [top, item], 1, 8))["rules_broken"], [])
        self.assertIn("DevTools hangs", self.broken([ROOT, ITEM], [top, thing(2, 8, references=(1,))], 2, 8))
        self.assertIn("no Root", self.broken([ITEM, ITEM], [top, item], 1, 8))
        self.assertIn("no Root", self.broken([ROOT, ITEM], [thing(1, 1, references=(2,)), item], 1, 9))
        self.assertIn("fewer references than fields", self.broken([ROOT, class_of("Item", fields=((0, "f"),))], [top, item], 1, 8))
        whole = thing(2, 8, references=(0, 2))
        self.assertEqual(read(snapshot([ROOT, class_of("Item", fields=((0, "f"), (1, "g")))], [top, whole], 3, 8))["rules_broken"], [])
        self.assertIn("in order", self.broken([ROOT, class_of("Item", fields=((1, "f"), (0, "g")))], [top, whole], 3, 8))
        self.assertIn("no URI: a b", self.broken([ROOT, class_of("Item", "a b")], [top, item], 1, 8))
        self.assertIn("sizes", self.broken([ROOT, ITEM], [top, item], 1, 9))
        self.assertIn("sizes", self.broken([ROOT, ITEM], [top, item], 1, 8, capacity=7))
        self.assertIn("hash codes", self.broken([ROOT, ITEM], [top, item], 1, 8, hashes=b""))

    def test_uris(self):
        for good in ("", "package:Shop/Shop.dll", "dart:core", "package:a%20b/%5Cc", "unknown/unknown"):
            self.assertTrue(URI.fullmatch(good), good)
        for bad in ("1:b", ":b", "a b", "package:50%", "package:a%2", "package:a\\b", "é"):
            self.assertFalse(URI.fullmatch(bad), bad)


class Damage(unittest.TestCase):
    def test_lies(self):
        top = thing(1, 0, references=(2,))
        for data in (snapshot([ROOT], [thing(1, 0)], 0, magic=b"dartheat"), snapshot([ROOT], [], 0), snapshot([ROOT], [thing(0, 0)], 0),
                     snapshot([ROOT], [thing(2, 0)], 0), snapshot([ROOT], [top], 1), snapshot([ROOT, ITEM], [top, thing(2, 8)], 2),
                     snapshot([ROOT, ITEM], [top, thing(2, 8)], 0), snapshot([ROOT], [thing(1, 0, b"\x09")], 0),
                     snapshot([ROOT], [thing(1, 0, b"\x08\x02\xff\xff")], 0), EXAMPLE + b"\0"):
            self.assertRaises(Corrupt, read, data)

    def test_counts_that_ask_for_much(self):
        start = b"dartheap" + bytes(5)
        for data in (start + varuint(2**60), start + b"\0\0" + varuint(2**60), start + b"\1\0" + varuint(2**63),
                     start + b"\0" * 3 + varuint(2**50), snapshot([ROOT], [thing(1, 0, b"\6" + varuint(2**62) * 2)], 0)):
            self.assertRaises(Corrupt, read, data)

    def test_every_prefix(self):
        for size in range(len(EXAMPLE)):
            if size in (len(EXAMPLE) - 20, len(EXAMPLE) - 15):      # without hash codes, and with one byte for each: other writers' files
                continue
            with self.assertRaises(BadInput, msg=str(size)):
                read(EXAMPLE[:size])

    def test_changed_bytes(self):
        """Whatever the bytes say: an answer or BadInput."""
        chance, answers = random.Random(7), 0
        for _ in range(20000):
            changed = bytearray(EXAMPLE)
            for _ in range(chance.randint(1, 3)):
                changed[chance.randrange(8, len(changed))] = chance.choice((0, 1, 2, 5, 0x7F, 0x80, 0xFF, chance.randrange(256)))
            try:
                read(bytes(changed), True)
                answers += 1
            except BadInput:
                pass
        self.assertGreater(answers, 1000)


if __name__ == "__main__":
    unittest.main()
