#!/usr/bin/env python3
"""A reader of .gcdump files, written from gcdump.md alone.

    gcdump_read.py FILE [--graph]

Prints one JSON object, the same as gcdump_cs (README.md), with "container" added, or exits with status 1 and a message if the file is
damaged.  Stricter than the C# readers: it checks every count, offset, index and the trailer (section 11).
"""

import argparse
import json
import math
import struct
import sys
from collections import deque

from byte_cursor import BadInput, Corrupt, Cursor

SIGNATURE = struct.pack("<i", 20) + b"!FastSerialization.1"
NULL, REFERENCE, BEGIN, END, FORWARD = 1, 2, 4, 6, 7
BYTE, INT16, INT32, INT64, SKIP, STRING, BLOB = 8, 9, 10, 11, 12, 13, 14
PLAIN_SIZES = {BYTE: 1, INT16: 2, INT32: 4, INT64: 8}
LAST_TICK = 3155378975999999999
DEEPEST = 20                    # objects inside objects; a real file has 5

# name: (version of this reader, oldest version it reads)
CLASSES = {
    "GCHeapDump": (10, 9), "Graphs.MemoryGraph": (1, 0), "Graphs.Module": (0, 0), "DotNetHeapInfo": (0, 0),
    "GCHeapDumpSegment": (1, 0), "JSHeapInfo": (0, 0), "InteropInfo": (0, 0),
}


class Type:
    """A class of the container, as in the definition of an object."""

    def __init__(self, name, version, minimum_reader):
        self.name, self.version, self.minimum_reader = name, version, minimum_reader


class Container:
    """Section 2: strings, tags, objects, labels, forward references.  `read` maps a class name to a method of the reader."""

    def __init__(self, data, read):
        if data[:24] != SIGNATURE:
            raise Corrupt(0, "not a FastSerialization file")
        self.data = data
        self.cursor = Cursor(data, 24, len(data))
        self.read = read
        self.types, self.objects, self.depth = {}, {}, 0
        self.label_bytes, self.forward_table, self.forwards = 4, None, []
        for width in (4, 8):
            if self._trailer(width):
                self.label_bytes = width

    def _label_at(self, pos, width):
        return int.from_bytes(self.data[pos:pos + width], "little")

    def _trailer(self, width):
        """Section 2.6: the width is right if all labels of the trailer fit together."""
        end = len(self.data) - 2 * width
        if end < 24 or self._label_at(end + width, width) != end:
            return False
        table = self._label_at(end, width)
        if not 25 <= table <= end - 4 or self.data[table - 1] != END:
            return False
        count = self._label_at(table, 4)
        if table + 4 + count * width != end:
            return False
        self.forward_table = table
        self.forwards = [self._label_at(table + 4 + i * width, width) for i in range(count)]
        return True

    def label(self):
        return int.from_bytes(self.cursor.take(self.label_bytes, "label"), "little")

    def forward(self):
        index = self.cursor.i32()
        if not 0 <= index < len(self.forwards):
            raise Corrupt(self.cursor.pos, f"forward reference {index} of {len(self.forwards)}")
        return self.forwards[index]

    def count(self, size, what):
        """A count whose items, `size` bytes each or more, must still fit."""
        value = self.cursor.i32()
        if not 0 <= value <= self.cursor.left() // size:
            raise Corrupt(self.cursor.pos - 4, f"{value} {what} do not fit")
        return value

    def string(self):
        """A number of UTF-16 code units, then CESU-8; None if the number is negative."""
        units = self.cursor.i32()
        if units < 0:
            return None
        self.cursor.need(units, "string")
        out = bytearray()
        for _ in range(units):
            first = self.cursor.u8()
            if first >= 0xE0:
                unit = (first & 0x0F) << 12 | (self.cursor.u8() & 0x3F) << 6 | self.cursor.u8() & 0x3F
            elif first >= 0x80:
                unit = (first & 0x1F) << 6 | self.cursor.u8() & 0x3F
            else:
                unit = first
            out += struct.pack("<H", unit)
        return out.decode("utf-16-le", "replace")

    def flag(self):
        return self.cursor.u8() != 0

    def f32(self):
        return struct.unpack("<f", self.cursor.take(4, "number"))[0]

    def time(self):
        ticks = self.cursor.i64()
        if not 0 <= ticks <= LAST_TICK:
            raise Corrupt(self.cursor.pos - 8, f"{ticks} is no time")
        return ticks

    def expect(self, tag, what):
        found = self.cursor.u8()
        if found != tag:
            raise Corrupt(self.cursor.pos - 1, f"tag {found} instead of {tag} ({what})")

    def object(self, *allowed):
        """An object field: None, or what the method of its class returned."""
        start = self.cursor.pos
        tag = self.cursor.u8()
        if tag == NULL:
            return None
        if tag == REFERENCE:
            target = self.label()
            if target not in self.objects:
                raise Corrupt(start, f"reference to {target:#x}, where no object of this file was")
            name, value = self.objects[target]
        else:
            if tag == FORWARD:
                self.forward()
                tag = self.cursor.u8()
            if tag != BEGIN:
                raise Corrupt(start, f"tag {tag} where an object must be")
            name, value = self._definition(start)
        if allowed and name not in allowed:
            raise Corrupt(start, f"{name} where {' or '.join(allowed)} must be")
        return value

    def _definition(self, start):
        self.depth += 1
        if self.depth > DEEPEST:
            raise Corrupt(start, "objects nested too deep")
        of = self._type()
        if of.name not in CLASSES:
            raise Corrupt(start, f"unknown class {of.name!r}")
        ours, oldest = CLASSES[of.name]
        if of.minimum_reader > 0 and (of.version < oldest or of.minimum_reader > ours):
            raise Corrupt(start, f"{of.name} of version {of.version}, which asks for a reader of version {of.minimum_reader}")
        value = self.read[of.name](of)
        self._to_end()
        self.objects[start] = (of.name, value)
        self.depth -= 1
        return of.name, value

    def _type(self):
        start = self.cursor.pos
        tag = self.cursor.u8()
        if tag == REFERENCE:
            target = self.label()
            if target not in self.types:
                raise Corrupt(start, f"type at {target:#x}, where none was")
            return self.types[target]
        if tag != BEGIN:
            raise Corrupt(start, f"tag {tag} where a type must be")
        self.expect(NULL, "type of a type")
        version, minimum = self.cursor.i32(), self.cursor.i32()
        self.types[start] = Type(self.string(), version, minimum)
        self.expect(END, "end of a type")
        return self.types[start]

    def tagged(self, tag):
        """Is a field of that tag next?  The tag is taken only then."""
        self.cursor.need(1, "tag")
        if self.data[self.cursor.pos] != tag:
            return False
        self.cursor.skip(1)
        return True

    def goto(self, pos, lowest):
        if not lowest <= pos <= len(self.data):
            raise Corrupt(self.cursor.pos, f"region that ends at {pos:#x}")
        self.cursor.pos = pos

    def _to_end(self):
        """Skip what a newer writer may have added before the end of the object."""
        while True:
            tag = self.cursor.u8()
            if tag == END:
                return
            if tag in PLAIN_SIZES:
                self.cursor.skip(PLAIN_SIZES[tag])
            elif tag == STRING:
                self.string()
            elif tag == BLOB:
                self.cursor.skip(self.cursor.i32())
            elif tag == REFERENCE:
                self.label()
            elif tag == SKIP:
                end = self.forward()
                self.goto(end, self.cursor.pos)
            elif tag != NULL:
                raise Corrupt(self.cursor.pos - 1, f"tag {tag} where an object should end")


class Graph:
    def __init__(self):
        self.types = []             # [name, size, module]
        self.offsets, self.addresses, self.blob = (), (), b""
        self.total_size, self.root, self.is_64bit, self.deferred = 0, 0, False, False

    def _number(self, at, index):
        """Section 1: big-endian groups of 7 bits, the first one signed."""
        value, start = 0, at
        while True:
            if at >= len(self.blob) or at - start == 5:
                raise Corrupt(start, f"node {index}: number leaves the blob")
            byte = self.blob[at]
            if at == start:
                value = (byte & 0x7F) - (0x80 if byte & 0x40 else 0)
            else:
                value = value << 7 | byte & 0x7F
            at += 1
            if byte < 0x80:
                break
        return (value + 2**31) % 2**32 - 2**31, at

    def node(self, index):
        """(type index, size, child indexes)."""
        at = self.offsets[index]
        word, at = self._number(at, index)
        kind = word >> 1
        if not 0 <= kind < len(self.types):
            raise Corrupt(at, f"node {index}: type {kind} of {len(self.types)}")
        size = self.types[kind][1]
        if word & 1:
            size, at = self._number(at, index)
        count, at = self._number(at, index)
        if size < 0 or not 0 <= count <= len(self.blob) - at:
            raise Corrupt(at, f"node {index}: size {size}, {count} children")
        children = []
        for _ in range(count):
            delta, at = self._number(at, index)
            if not 0 <= index + delta < len(self.offsets):
                raise Corrupt(at, f"node {index}: child {index + delta} of {len(self.offsets)}")
            children.append(index + delta)
        return kind, size, children


class GcDump:
    """Section 3.  Fields as in the file; raises BadInput."""

    def __init__(self, data):
        readers = {"GCHeapDump": self._heap_dump, "Graphs.MemoryGraph": self._graph, "Graphs.Module": self._module,
                   "DotNetHeapInfo": self._heap_info, "GCHeapDumpSegment": self._segment, "JSHeapInfo": lambda of: True,
                   "InteropInfo": self._interop}
        self.container = Container(data, readers)
        self.segments = self.segment_sum = self.interop = self.creation_tool = None
        self.container.object("GCHeapDump")
        self.container.expect(END, "end of all objects")
        self.trailer_ok = self.container.forward_table == self.container.cursor.pos

    def _heap_dump(self, of):
        box = self.container
        self.version, self.minimum_reader = of.version, of.minimum_reader
        self.graph = box.object("Graphs.MemoryGraph")
        if self.graph is None:
            raise Corrupt(box.cursor.pos, "no graph")
        box.flag()
        self.count_multiplier, self.size_multiplier = box.f32(), box.f32()
        self.javascript = box.object("JSHeapInfo") is not None
        box.object("DotNetHeapInfo")
        self.log, self.time, self.machine, self.process = box.string(), box.time(), box.string(), box.string()
        self.pid, self.commit, self.working_set = box.cursor.i32(), box.cursor.i64(), box.cursor.i64()
        count = box.count(4, "multipliers")
        if count not in (0, len(self.graph.types)):
            raise Corrupt(box.cursor.pos - 4, f"{count} multipliers for {len(self.graph.types)} types")
        self.multipliers = struct.unpack(f"<{count}f", box.cursor.take(4 * count))
        if box.tagged(SKIP):
            end = box.forward()
            self.interop = box.object("InteropInfo")
            if box.cursor.pos != end:
                raise Corrupt(box.cursor.pos, f"region of InteropInfo that should end at {end:#x}")
        if box.tagged(STRING):
            self.creation_tool = box.string()

    def _graph(self, of):
        box, graph = self.container, Graph()
        graph.total_size, graph.root = box.cursor.i64(), box.cursor.i32()
        for _ in range(box.count(12, "types")):
            graph.types.append([box.string(), box.cursor.i32(), box.string()])
        nodes = box.count(4, "nodes")
        graph.offsets = struct.unpack(f"<{nodes}I", box.cursor.take(4 * nodes))
        graph.blob = bytes(box.cursor.take(box.count(1, "bytes of nodes")))
        if of.minimum_reader >= 1:
            self._deferred_types(graph)
        addresses = box.count(8, "addresses")
        if addresses != nodes:
            raise Corrupt(box.cursor.pos - 4, f"{addresses} addresses for {nodes} nodes")
        if not 0 <= graph.root < nodes:
            raise Corrupt(box.cursor.pos, f"root {graph.root} of {nodes} nodes")
        graph.addresses = struct.unpack(f"<{addresses}Q", box.cursor.take(8 * addresses))
        if box.tagged(BYTE):
            graph.is_64bit = box.flag()
        for kind in graph.types:
            if kind[0] is None:
                raise Corrupt(box.cursor.pos, "type without a name")
        return graph

    def _deferred_types(self, graph):
        box = self.container
        end = box.forward()
        graph.deferred = True
        count = box.count(9, "deferred types")
        if count > len(graph.types):
            raise Corrupt(box.cursor.pos - 4, f"{count} deferred types of {len(graph.types)}")
        for kind in graph.types[:count]:
            type_id, module = box.cursor.i32() & 0xFFFFFFFF, box.object("Graphs.Module")
            box.string()
            if kind[0] is None:
                kind[0] = f"TypeID(0x{type_id:x})"
            if kind[2] is None and module:
                kind[2] = module
        box.goto(end, box.cursor.pos)

    def _module(self, _):
        box = self.container
        path = box.string()
        box.cursor.skip(12)
        box.time()
        box.string()
        box.cursor.skip(20)
        return path

    def _heap_info(self, _):
        box = self.container
        self.segment_sum, self.segments = box.cursor.i64(), []
        for _ in range(box.count(55, "segments")):
            segment = box.object("GCHeapDumpSegment")
            if segment is None:
                raise Corrupt(box.cursor.pos, "segment missing")
            self.segments.append(segment)
        return self.segments

    def _segment(self, of):
        ends = [self.container.cursor.u64() for _ in range(7 if of.version >= 1 else 6)]
        return ends if of.version >= 1 else ends + [0]

    def _interop(self, _):
        box = self.container
        if box.cursor.i32() == 0:
            return [0, 0, 0, 0]
        counts = [box.count(size, "interop records") for size in (40, 32, 33, 20)]
        for count, size in zip(counts, (40, 32, 33)):
            box.cursor.skip(count * size)
        for _ in range(counts[3]):
            box.cursor.skip(16)
            box.string()
        return counts


def add(table, name, size):
    row = table.setdefault(name, [0, 0])
    row[0] += 1
    row[1] += size


def decode(graph):
    """All nodes: (type index, size, child indexes)."""
    nodes, edges = [], 0
    for index in range(len(graph.offsets)):
        nodes.append(graph.node(index))
        edges += len(nodes[-1][2])
        # each child has a byte of its own; a few bytes shared by all nodes could otherwise represent any number of edges
        if edges > len(graph.blob):
            raise Corrupt(0, f"node {index}: more edges than bytes of nodes")
    return nodes, edges


def roots(graph, nodes):
    """The made-up nodes below the root, by path, with the number of their children."""
    found, seen, left = [], {graph.root}, deque([(graph.root, "")])
    while left:
        index, path = left.popleft()
        for child in nodes[index][2]:
            kind, size, children = nodes[child]
            name = graph.types[kind][0]
            if graph.addresses[child] == 0 and size == 0 and name.startswith("[") and child not in seen:
                seen.add(child)
                found.append({"name": path + name, "edges": len(children)})
                left.append((child, path + name + "/"))
    return found


def report(dump, with_graph=False):
    graph = dump.graph
    types, modules = {}, {}
    nodes, edges = decode(graph)
    for kind, size, _ in nodes:
        name, _, module = graph.types[kind]
        add(types, name, size)
        add(modules, module or "", size)
    plain = lambda value: value if math.isfinite(value) else repr(value)
    result = {
        "format": "gcdump", "nodes": len(nodes), "edges": edges, "bytes": sum(node[1] for node in nodes), "types": types,
        "roots": roots(graph, nodes),
        "facts": {
            "version": dump.version, "minimum_reader": dump.minimum_reader, "total_size": graph.total_size, "root_index": graph.root,
            "root_name": graph.types[nodes[graph.root][0]][0], "is_64bit": graph.is_64bit, "undefined_nodes": graph.offsets.count(0),
            "type_table": len(graph.types), "unused_types": sum(kind[1] == -1 for kind in graph.types),
            "deferred_types": graph.deferred, "count_multiplier": plain(dump.count_multiplier),
            "size_multiplier": plain(dump.size_multiplier), "multipliers_by_type": [plain(m) for m in dump.multipliers],
            "javascript": dump.javascript, "segments": dump.segments, "size_of_segments": dump.segment_sum, "log": dump.log,
            "time_ticks": dump.time, "machine": dump.machine, "process": dump.process, "pid": dump.pid, "commit": dump.commit,
            "working_set": dump.working_set, "interop": dump.interop, "creation_tool": dump.creation_tool, "modules": modules,
        },
        "container": {"label_bytes": dump.container.label_bytes, "trailer_ok": dump.trailer_ok},
    }
    if with_graph:
        result["graph"] = [[graph.types[kind][0], size, address, children]
                           for (kind, size, children), address in zip(nodes, graph.addresses)]
    return result


def read(path, with_graph=False):
    with open(path, "rb") as file:
        return report(GcDump(file.read()), with_graph)


def main(arguments=None):
    parser = argparse.ArgumentParser(description="read a .gcdump file")
    parser.add_argument("file")
    parser.add_argument("--graph", action="store_true", help="all nodes: type, size, address, children")
    options = parser.parse_args(arguments)
    try:
        result = read(options.file, options.graph)
    except (BadInput, OSError) as error:
        where = f" (at {error.offset:#x})" if isinstance(error, BadInput) else ""
        print(f"gcdump_read.py: {options.file}: {error}{where}", file=sys.stderr)
        return 1
    json.dump(result, sys.stdout, ensure_ascii=True)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
