#!/usr/bin/env python3
"""A reader of Dart VM heap snapshots ("dartheap"), written from dart-heap-snapshot.md alone.

    dart_read.py FILE [--graph]

Prints one JSON object (README.md), or exits with status 1 and a message if some real reader would fail on the file.  Defects that readers
accept but show wrongly, or hang on, are listed in "rules_broken" (section 4 of the document).
"""

import argparse
import json
import re
import struct
import sys
import zlib

from byte_cursor import BadInput, Corrupt, Cursor

NONE, NULL, BOOL, INTEGER, DOUBLE, LATIN1, UTF16, LENGTH, NAME = range(9)
DATA_NAMES = ("none", "null", "bool", "integer", "double", "latin1", "utf16", "length", "name")

# What Uri.parse requires, and a little more: no colon in the first segment except that of a scheme, no bare %, no odd characters.
URI = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:|(?![^/]*:))(?:[A-Za-z0-9._~/!$&'()*+,;=:@?#-]|%[0-9A-Fa-f]{2})*")


class Class:
    def __init__(self, cursor):
        self.flags = cursor.varuint(64)
        self.name, self.library, self.uri = text(cursor), text(cursor), text(cursor)
        text(cursor)
        self.fields = []
        for _ in range(cursor.varuint(64)):
            cursor.varuint(64)
            index = cursor.varuint(64)
            self.fields.append((index, text(cursor)))
            text(cursor)


class Object:
    __slots__ = ("of", "size", "kind", "data", "length", "references")

    def __init__(self, cursor, classes):
        start = cursor.pos
        self.of = cursor.varuint(64)
        if not 1 <= self.of <= classes:
            raise Corrupt(start, f"class {self.of} of {classes}")
        self.size = cursor.varuint(64)
        self.kind, self.data, self.length = data(cursor)
        self.references = [cursor.varuint(64) for _ in range(cursor.varuint(64))]


def text(cursor):
    size = cursor.varuint(64)
    raw = bytes(cursor.take(size, "string"))
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Corrupt(cursor.pos - size, "string that is no UTF-8") from error


def signed(raw):
    """Signed LEB128, in 64 bits."""
    value = sum((byte & 0x7f) << 7 * i for i, byte in enumerate(raw))
    value |= -1 << 7 * len(raw) if raw[-1] & 0x40 else 0
    return (value + 2 ** 63) % 2 ** 64 - 2 ** 63


def integer(cursor):
    """The number, None if a reader of signed and one of unsigned LEB128 see different ones."""
    start = cursor.pos
    value = cursor.varuint(70)
    value = (value + 2 ** 63) % 2 ** 64 - 2 ** 63
    return value if signed(bytes(cursor.data[start:cursor.pos])) == value else None


def data(cursor):
    """Kind, value, full length of a string."""
    start = cursor.pos
    kind = cursor.varuint(64)
    if kind in (NONE, NULL):
        return kind, None, None
    if kind == INTEGER:
        return kind, integer(cursor), None
    if kind in (BOOL, LENGTH):
        return kind, cursor.varuint(64), None
    if kind == DOUBLE:
        return kind, struct.unpack("<d", cursor.take(8))[0], None
    if kind in (LATIN1, UTF16):
        length = cursor.varuint(64)
        stored = cursor.varuint(64)
        if kind == LATIN1:
            return kind, bytes(cursor.take(stored)).decode("latin-1"), length
        return kind, bytes(cursor.take(2 * stored)).decode("utf-16-le", "replace"), length
    if kind == NAME:
        return kind, text(cursor), None
    raise Corrupt(start, f"data of unknown kind {kind}")


class Snapshot:
    """Section 2.  Class i is classes[i - 1], object i is objects[i - 1].

    Counts need no check: each item takes bytes, so reading with a wrong count stops at the end of the file.
    """

    def __init__(self, raw):
        cursor = Cursor(raw, 0, len(raw))
        if bytes(cursor.take(8, "magic")) != b"dartheap":
            raise Corrupt(0, "not a Dart heap snapshot")
        self.flags, self.name = cursor.varuint(64), text(cursor)
        self.shallow, self.capacity, self.external = (cursor.varuint(64) for _ in range(3))
        self.classes = [Class(cursor) for _ in range(cursor.varuint(64))]
        self.reference_count = cursor.varuint(64)
        self.objects = [Object(cursor, len(self.classes)) for _ in range(cursor.varuint(64))]
        found = sum(len(each.references) for each in self.objects)
        if found != self.reference_count:
            raise Corrupt(cursor.pos, f"referenceCount is {self.reference_count}, the objects have {found}")
        if not self.objects:
            raise Corrupt(cursor.pos, "no root object")
        for number, each in enumerate(self.objects, 1):
            if each.references and max(each.references) > len(self.objects):
                raise Corrupt(cursor.pos, f"object {number} refers to {max(each.references)} of {len(self.objects)}")
        self.external_properties = [self._property(cursor) for _ in range(cursor.varuint(64))]
        self.hashes = self._hashes(cursor, raw)

    def _property(self, cursor):
        owner, size = cursor.varuint(64), cursor.varuint(64)
        if not 1 <= owner <= len(self.objects):
            raise Corrupt(cursor.pos, f"external property of object {owner} of {len(self.objects)}")
        return owner, size, text(cursor)

    def _hashes(self, cursor, raw):
        """Which of the two readings of the identity hash codes fits the bytes that are left (section 3)."""
        left, objects = cursor.left(), len(self.objects)
        if raw[-12:-5] == b"gcdumpc":           # our checksum, of everything before its last four bytes
            if zlib.crc32(raw[:-4]) != int.from_bytes(raw[-4:], "little"):
                raise Corrupt(cursor.pos, "the checksum is wrong")
            left -= 12
        if left == 0:
            return "missing"
        if left == 4 * objects:
            raw = bytes(cursor.take(left))
            if not any(raw):
                return "zero"
            codes = [raw[i:i + 4] for i in range(0, left, 4)]
            if not all(a >= 0x80 and b >= 0x80 and c >= 0x80 > d for a, b, c, d in codes):
                return "uint32"
            self.hash_codes = [a & 0x7f | (b & 0x7f) << 7 | (c & 0x7f) << 14 | d << 21 for a, b, c, d in codes]
            return "uleb of four bytes"
        for _ in range(objects):
            cursor.varuint(64)
        if cursor.left() != 0:
            raise Corrupt(cursor.pos, f"{cursor.left()} bytes behind the hash codes")
        return "uleb"


def rules_broken(snapshot):
    """Section 4: the rules that make every reader show the file correctly."""
    broken = []
    root = snapshot.objects[0]
    total = sum(each.size for each in snapshot.objects)
    if any(1 in each.references for each in snapshot.objects):
        broken.append("an object refers to object 1: DevTools hangs")
    if snapshot.classes[root.of - 1].name != "Root" or root.size != 0:
        broken.append("object 1 is no Root of size 0")
    if any(each.kind == INTEGER and each.data is None for each in snapshot.objects):
        broken.append("integer data: readers disagree")
    used = {each.of for each in snapshot.objects}
    for number, of in enumerate(snapshot.classes, 1):
        if number in used and [index for index, _ in of.fields] != list(range(len(of.fields))):
            broken.append("the fields of a class are not the first references in order")
    if any(len(each.references) < len(snapshot.classes[each.of - 1].fields) for each in snapshot.objects):
        broken.append("an object has fewer references than fields: the tool of the Dart SDK fails")
    for of in snapshot.classes:
        if not URI.fullmatch(of.uri):
            broken.append(f"no URI: {of.uri}")
            break
    if not snapshot.capacity >= snapshot.shallow == total:
        broken.append(f"sizes: capacity {snapshot.capacity}, shallow {snapshot.shallow}, objects {total}")
    if snapshot.hashes not in ("zero", "uleb of four bytes"):
        broken.append(f"identity hash codes: {snapshot.hashes}")
    return broken


def reachable(snapshot):
    seen, left = {1}, [1]
    while left:
        for target in snapshot.objects[left.pop() - 1].references:
            if target and target not in seen:
                seen.add(target)
                left.append(target)
    return len(seen)


def add(table, name, size):
    row = table.setdefault(name, [0, 0])
    row[0] += 1
    row[1] += size


def report(snapshot, with_graph=False):
    types, libraries, kinds, zero = {}, {}, {}, 0
    for each in snapshot.objects:
        of = snapshot.classes[each.of - 1]
        add(types, of.name, each.size)
        add(libraries, of.library or of.uri, each.size)
        kinds[DATA_NAMES[each.kind]] = kinds.get(DATA_NAMES[each.kind], 0) + 1
        zero += each.references.count(0)
    roots = []
    for target in snapshot.objects[0].references:
        if target:
            each = snapshot.objects[target - 1]
            roots.append({"name": snapshot.classes[each.of - 1].name, "edges": len(each.references)})
    used = {each.of for each in snapshot.objects}
    result = {
        "format": "dart", "nodes": len(snapshot.objects), "edges": snapshot.reference_count,
        "bytes": sum(each.size for each in snapshot.objects), "types": types, "roots": roots,
        "rules_broken": rules_broken(snapshot),
        "facts": {
            "name": snapshot.name, "flags": snapshot.flags, "shallow_size": snapshot.shallow, "capacity": snapshot.capacity,
            "external_size": snapshot.external, "classes": len(snapshot.classes),
            "unused_classes": [of.name for number, of in enumerate(snapshot.classes, 1) if number not in used],
            "libraries": libraries, "data": kinds, "null_references": zero, "hashes": snapshot.hashes,
            "external_properties": len(snapshot.external_properties), "unreachable": len(snapshot.objects) - reachable(snapshot),
        },
    }
    if with_graph:
        result["graph"] = [[snapshot.classes[each.of - 1].name, each.size, each.data, each.references] for each in snapshot.objects]
    return result


def read(path, with_graph=False):
    with open(path, "rb") as file:
        return report(Snapshot(file.read()), with_graph)


def main(arguments=None):
    parser = argparse.ArgumentParser(description="read a Dart heap snapshot")
    parser.add_argument("file")
    parser.add_argument("--graph", action="store_true", help="all objects: class, size, data, references")
    options = parser.parse_args(arguments)
    try:
        result = read(options.file, options.graph)
    except (BadInput, OSError) as error:
        where = f" (at {error.offset:#x})" if isinstance(error, BadInput) else ""
        print(f"dart_read.py: {options.file}: {error}{where}", file=sys.stderr)
        return 1
    json.dump(result, sys.stdout)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
