#!/usr/bin/env python3
"""The readers of .gcdump: gcdump_read.py on bytes written by hand, both readers on files of other writers.

Those are: FastSerialization's own writer (gcdump_cs/Sample.cs), and PerfView, whose file lies outside the repository together with
the XML that PerfView made of it (GCDUMPC_SHARED_TRACES, else ../shared/traces beside the repository; never copied here).
"""

import gzip
import os
import random
import struct
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import gcdump_read
import real_readers
from byte_cursor import BadInput, Corrupt
from gcdump_read import GcDump, report
from real_readers import Disagreement, Missing, Refused, gcdump_report, parse_report, read_gcdump

BESIDE_THE_REPOSITORY = os.path.join(HERE, "..", "..", "..", "shared", "traces")
FOLDER = os.path.join(os.environ.get("GCDUMPC_SHARED_TRACES", BESIDE_THE_REPOSITORY), "gcdump")


def string(text):
    return struct.pack("<i", -1) if text is None else struct.pack("<i", len(text)) + text.encode("ascii")


def begin(name, version, minimum):
    return b"\x04\x04\x01" + struct.pack("<ii", version, minimum) + string(name) + b"\x06"


def graph(total=332, root=0, types=(("UNDEFINED", 0, None), ("Demo.Node[]", 32, "/app/Demo.dll"), ("[.NET Roots]", 0, None)),
          offsets=(11, 2, 6), blob="0000 02020100 03822c017f 040101", addresses=(0, 0x7F0000001000, 0x7F0000001020)):
    """gcdump.md section 12: the root, an array that refers to the next node and to itself, one of another size."""
    blob = bytes.fromhex(blob)
    return (begin("Graphs.MemoryGraph", 1, 0) + struct.pack("<qii", total, root, len(types))
            + b"".join(string(name) + struct.pack("<i", size) + string(module) for name, size, module in types)
            + struct.pack(f"<i{len(offsets)}I", len(offsets), *offsets) + struct.pack("<i", len(blob)) + blob
            + struct.pack(f"<i{len(addresses)}Q", len(addresses), *addresses) + b"\x08\x01\x06")


def dump(body=None, ticks=0, multipliers=(), end=b"\x0c\0\0\0\0\x01\x0d" + string("dotnet-gcdump"), width=4, version=(10, 8)):
    data = (string("!FastSerialization.1") + begin("GCHeapDump", *version) + (graph() if body is None else body) + b"\x01"
            + struct.pack("<ff", 1, 1) + b"\x01\x01" + string(None) + struct.pack("<q", ticks) + string(None) * 2
            + struct.pack("<iqq", 0, 0, 0) + struct.pack(f"<i{len(multipliers)}f", len(multipliers), *multipliers))
    region = len(data) + 6      # after tag, reference and the null object
    data += end + b"\x06\x06"
    label = lambda value: value.to_bytes(width, "little")
    table = len(data)
    data += struct.pack("<i", 1) + label(region)
    return data + label(table) + label(len(data))


class WorkedExample(unittest.TestCase):
    def test_it_is_the_documents(self):
        data = dump()
        self.assertEqual((len(data), data[-12:].hex()), (343, "330100004701 00004f010000".replace(" ", "")))

    def test_what_it_says(self):
        seen = report(GcDump(dump()), True)
        self.assertEqual((seen["nodes"], seen["edges"], seen["bytes"], seen["facts"]["total_size"]), (3, 4, 332, 332))
        self.assertEqual(seen["types"], {"[.NET Roots]": [1, 0], "Demo.Node[]": [2, 332]})
        self.assertEqual(seen["graph"], [["[.NET Roots]", 0, 0, [1]], ["Demo.Node[]", 32, 0x7F0000001000, [2, 1]],
                                         ["Demo.Node[]", 300, 0x7F0000001020, [1]]])
        self.assertEqual(seen["container"], {"label_bytes": 4, "trailer_ok": True})
        self.assertEqual((seen["facts"]["creation_tool"], seen["facts"]["is_64bit"]), ("dotnet-gcdump", True))

    def test_optional_ends(self):
        self.assertIsNone(report(GcDump(dump(end=b"")))["facts"]["creation_tool"])
        self.assertIsNone(report(GcDump(dump(end=b"\x0d" + string(None))))["facts"]["creation_tool"])
        self.assertEqual(report(GcDump(dump(end=b"\x0d" + string("me") + b"\x0a\1\0\0\0\x0e\2\0\0\0ab\x01")))["facts"]["creation_tool"], "me")

    def test_made_up_nodes_in_a_circle(self):
        types = (("UNDEFINED", 0, None), ("[.NET Roots]", 0, None), ("[a]", 0, None))
        data = dump(graph(total=0, types=types, offsets=(2, 5, 11), addresses=(0, 0, 0), blob="0000 020101 04 03 ff7f 00 01 04017f"))
        self.assertEqual(report(GcDump(data))["roots"], [{"name": "[a]", "edges": 3}, {"name": "[a]/[a]", "edges": 1}])

    def test_labels_of_8_bytes(self):
        self.assertEqual(report(GcDump(dump(width=8)))["container"], {"label_bytes": 8, "trailer_ok": True})

    def test_a_damaged_trailer_is_reported(self):
        data = dump(end=b"")
        self.assertFalse(report(GcDump(data[:-4] + b"\0\0\0\0"))["container"]["trailer_ok"])

    def test_compressed_numbers(self):
        for text, value in (("00", 0), ("3f", 63), ("8040", 64), ("7f", -1), ("ff3f", -65), ("822c", 300), ("80c000", 8192),
                            ("80c0808000", 2**27), ("87ffffff7f", 2**31 - 1), ("8fffffff7f", -1)):
            holder = gcdump_read.Graph()
            holder.blob = bytes.fromhex(text)
            self.assertEqual(holder._number(0, 0), (value, len(text) // 2), text)


class Damage(unittest.TestCase):
    def corrupt(self, *arguments, **more):
        with self.assertRaises(Corrupt):
            report(GcDump(dump(*arguments, **more)))

    def test_lies(self):
        self.corrupt(graph(offsets=(11, 2, 600)))
        self.corrupt(graph(root=3))
        self.corrupt(graph(root=-1))
        self.corrupt(graph(addresses=(0,)))
        self.corrupt(graph(blob="0000 02020100 03822c017f 0401 83"))             # a number that does not end
        self.corrupt(graph(blob="0000 02020100 03822c017f 040105"))             # child 5 of 3
        self.corrupt(graph(blob="0000 02020100 03822c017f 0e0101"))             # type 7 of 3
        self.corrupt(graph(blob="0000 02020100 037f017f 040101"))               # size -1
        self.corrupt(graph(blob="0000 02020100 03822c017f 0487ffffff7f01"))     # 2^31 - 1 children
        self.corrupt(ticks=-1)
        self.corrupt(ticks=3155378975999999999 + 1)
        self.corrupt(multipliers=(1, 2))
        self.corrupt(version=(11, 11))
        self.corrupt(version=(8, 8))
        self.corrupt(begin("Graphs.Surprise", 0, 0) + b"\x06")
        self.corrupt(b"\x01")
        self.corrupt(end=b"\x04\x06")
        self.corrupt(end=b"\x0c\5\0\0\0\x01")                                   # forward reference 5 of 1

    def test_few_bytes_for_many_edges(self):
        self.corrupt(graph(offsets=(2,) * 40, addresses=(0,) * 40, blob="0000 0420" + "00" * 32))

    def test_every_prefix(self):
        data = dump()
        for size in range(len(data)):
            with self.assertRaises(BadInput, msg=str(size)):
                report(GcDump(data[:size]))

    def test_changed_bytes(self):
        """Whatever the bytes say: an answer or BadInput."""
        data, chance, answers = dump(), random.Random(5), 0
        for _ in range(20000):
            changed = bytearray(data)
            for _ in range(chance.randint(1, 3)):
                changed[chance.randrange(24, len(data))] = chance.choice((0, 1, 4, 6, 0x7F, 0x80, 0xFF, chance.randrange(256)))
            try:
                report(GcDump(bytes(changed)), True)
                answers += 1
            except BadInput:
                pass
        self.assertGreater(answers, 1000)


class Both(unittest.TestCase):
    """The C# reader beside ours.  read_gcdump compares them."""

    @classmethod
    def setUpClass(cls):
        real_readers.need_gcdump_reader()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name

    def write(self, data):
        path = os.path.join(self.folder, "x.gcdump")
        with open(path, "wb") as file:
            file.write(data)
        return path

    def sample(self, kind):
        path = os.path.join(self.folder, kind + ".gcdump")
        real_readers.gcdump_sample(kind, path)
        return read_gcdump(path, graph=True)

    def test_what_the_library_wrote(self):
        plain, full, old = self.sample("plain"), self.sample("full"), self.sample("old")
        self.assertEqual(plain["graph"][4], ["Demo.Node[]", 32, 0x7F0000001000, [5, 4, 7, 8]])
        self.assertEqual(plain["roots"], [{"name": "[local vars]", "edges": 2}, {"name": "[other roots]", "edges": 1},
                                          {"name": "[other roots]/[strong Handles]", "edges": 1}])
        self.assertEqual((plain["bytes"], plain["facts"]["undefined_nodes"]), (32 + 300 + 24 + 2**31 - 1, 1))
        self.assertIn("Demo.\U0001F600\u00e9\u4e2d", plain["types"])
        self.assertEqual(full["facts"]["modules"]["/app/Native.so"], [1, 24])
        self.assertEqual(full["facts"]["segments"][1], [0x7F0000100000 + (i << 8) for i in range(7)])
        self.assertEqual(old["facts"]["segments"][1], [0x7F0000100000 + (i << 8) for i in range(6)] + [0])
        self.assertEqual((full["facts"]["interop"], full["facts"]["multipliers_by_type"]), ([1, 2, 1, 1], [1, 2, 3, 4, 5, 6, 7, 8]))

    def test_the_worked_example(self):
        self.assertEqual(read_gcdump(self.write(dump()), graph=True)["bytes"], 332)
        self.assertEqual(read_gcdump(self.write(dump(end=b"")))["facts"]["creation_tool"], None)

    def test_refusals(self):
        whole = dump()
        for data in (b"", whole[:100], whole[:300], dump(ticks=-1), dump(version=(11, 11)), dump(version=(8, 8)), dump(graph(offsets=(11, 2, 600)))):
            with self.assertRaises(Refused) as caught:
                real_readers.read_gcdump(self.write(data))
            self.assertIn("GcDumpRead", str(caught.exception))

    def test_the_library_alone_proves_little(self):
        whole = dump()
        for data in (whole[:-16], whole + b"more"):             # no trailer; bytes after the end
            self.assertEqual(real_readers.fast_serialization(self.write(data))["bytes"], 332)
            with self.assertRaisesRegex(Refused, "gcdump_read.py"):
                read_gcdump(self.write(data))
        self.assertEqual(read_gcdump(self.write(dump(graph(total=5))))["facts"]["total_size"], 5)
        self.assertEqual(read_gcdump(self.write(dump(width=8)))["container"]["label_bytes"], 8)
        with self.assertRaisesRegex(Refused, "Could not find object end tag"):
            read_gcdump(self.write(dump(end=b"\x0d" + string("me") + begin("JSHeapInfo", 0, 0) + b"\x06")))

    def test_a_difference_is_reported(self):
        read = gcdump_read.read
        self.addCleanup(setattr, gcdump_read, "read", read)
        gcdump_read.read = lambda path, graph: {**read(path, graph), "edges": 5}
        with self.assertRaisesRegex(Disagreement, "edges of the C# reader and gcdump_read.py: 4 and 5"):
            read_gcdump(self.write(dump()))

    def test_perfview(self):
        if not os.path.isdir(FOLDER):
            raise Missing(".gcdump of PerfView: no folder of such files (GCDUMPC_SHARED_TRACES)")
        seen = read_gcdump(os.path.join(FOLDER, "test1.gcdump"), graph=True)
        with gzip.open(os.path.join(FOLDER, "test1_baseline.gcdump.xml.gz")) as file:
            theirs = xml.parse(file).getroot()
        memory = theirs.find("MemoryGraph")
        self.assertEqual((seen["nodes"], seen["bytes"], seen["facts"]["type_table"], seen["facts"]["root_index"]),
                         (int(memory.get("NumNodes")), int(memory.get("TotalSize")), int(memory.get("NumTypes")), int(memory.findtext("RootIndex"))))
        self.assertEqual((seen["facts"]["machine"], seen["facts"]["process"]), (theirs.findtext("MachineName"), theirs.findtext("ProcessName")))
        self.assertEqual(seen["facts"]["log"].strip().splitlines(), theirs.findtext("CollectionLog").strip().splitlines())
        nodes = memory.findall("Nodes/Node")
        self.assertEqual(len(nodes), seen["nodes"])
        for node, (name, size, address, children) in zip(nodes, seen["graph"]):
            self.assertEqual((name, size, address, children), (node.get("Type"), int(node.get("Size")), int(node.get("Address"), 16),
                                                               [int(child) for child in (node.text or "").split()]), node.get("Index"))


class DotnetGcdump(unittest.TestCase):
    """The tool that most users have."""

    def test_report_of_a_sample(self):
        real_readers.need_dotnet_gcdump()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "plain.gcdump")
            real_readers.gcdump_sample("plain", path)
            seen, ours = gcdump_report(path), read_gcdump(path)
        self.assertEqual((seen["bytes"], seen["objects"]), (ours["bytes"], ours["nodes"]))
        self.assertEqual(seen["types"]["Demo.Node[]  [Demo.dll]"][0], 3)

    def test_parsing_its_text(self):
        text = ("      1,009,270  GC Heap bytes\n          6,482  GC Heap objects\n\n   Object Bytes     Count  Type\n"
                "         32,800        12  Demo.Node[] (Bytes > 10K)  [Demo.dll]\n             24     6,000  Demo.Node  [Demo.dll]\n")
        self.assertEqual(parse_report(text), {"bytes": 1009270, "objects": 6482,
                                              "types": {"Demo.Node[] (Bytes > 10K)  [Demo.dll]": [12, 32800], "Demo.Node  [Demo.dll]": [6000, 24]}})
        with self.assertRaises(Refused):
            parse_report("Could not open the file\n")


if __name__ == "__main__":
    real_readers.main()
