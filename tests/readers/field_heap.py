"""A heap in which no two values of a kind are equal, as recordings and as the expected contents.

Every number differs from all others of its record, and sizes are at the limits of the formats: 2^31, 2^32, 2^63.  So a field that is confused
with another one, truncated, or left out is detected.  test_every_field (golden) compares all formats with this model, field by field.
"""

import datetime
import struct

from sample_heaps import close
from trace_bytes import CLR, PIPE, Ev, V4File, V6File, z16

RUNDOWN = "Microsoft-Windows-DotNETRuntimeRundown"
# metadata id -> (provider, event id, version)
DEFINED = {1: (CLR, 1, 2), 2: (CLR, 2, 1), 3: (CLR, 3, 1), 9: (CLR, 9, 1), 15: (CLR, 15, 0), 16: (CLR, 16, 0), 17: (CLR, 17, 0),
           18: (CLR, 18, 0), 19: (CLR, 19, 0), 23: (CLR, 23, 0), 36: (CLR, 36, 0), 37: (CLR, 37, 0), 38: (CLR, 38, 0), 152: (CLR, 152, 2),
           154: (CLR, 154, 1), 187: (CLR, 187, 0), 205: (CLR, 205, 3), 99: (PIPE, 1, 1), 253: (RUNDOWN, 153, 2), 255: (RUNDOWN, 155, 1)}

STARTED = datetime.datetime(2031, 11, 29, 23, 58, 57, 986000)          # a Saturday
SYNC, TICKS_A_SECOND = 1000, 1_000_000
GC_START_US, SUSPENDED_US, RESTARTED_US, GC_END_US = 1_234_567, 1_234_111, 1_239_999, 1_238_765
PID = 74_565
NULL, NOWHERE = None, -1                      # instead of the number of an object

# modules: id -> (assembly, path as in the event)
MODULES = {0x5100: (0x5A10, "/srv/shop/Shop.dll"), 0x5200: (0x5A20, "C:\\Lib\\AZaz09._~-@[`{:,é.exe"), 0x5300: (0x5A30, "")}
ASSEMBLIES = {0x5A30: "In.Memory, Version=1.2.3.4, Culture=neutral, PublicKeyToken=null"}
MODULE_PATHS = {0x5100: "/srv/shop/Shop.dll", 0x5200: "C:\\Lib\\AZaz09._~-@[`{:,é.exe", 0x5300: "In.Memory", 0x5400: ""}

# type id: (module, token, flags, element type, name, parameters, what users see)
TYPES = {
    0xA10: (0x5100, 0x02000011, 0x01, 0x12, "Shop.Store", (), "Shop.Store [Shop]"),
    0xA20: (0x5100, 0x02000012, 0x08, 0x1D, "Shop.Order[]", (0xA10,), "Shop.Order[]"),
    0xA30: (0x5200, 0x02000013, 0x02, 0x13, 'Two\r\nLines;x\x01"q"', (), 'Two\r\nLines;x\x01"q"'),
    0xA40: (0x5200, 0x02000014, 0x04, 0x14, "Shop.Store", (), "Shop.Store [AZaz09._~-@[`{:,é]"),
    0xA50: (0x5300, 0x02000015, 0x10, 0x15, "Box`2[System.Int32,Shop.Order[]]", (0xA20, 0xA10), "Box<System.Int32, Shop.Order[]>"),
    0xA60: (0x5300, 0x02000016, 0x20, 0x16, "<Main>d__0 x", (), "<Main>d__0 x"),
    0xA70: (0x5400, 0x02000017, 0x40, 0x17, "", (), "UNKNOWN 0xa70"),
    0xA80: (0x5400, 0x02000018, 0x80, 0x18, "=Only.Static", (), "=Only.Static"),
    0xA90: (0x5100, 0x02000019, 0x100, 0x19, "Nobody.Uses.It", (), "Nobody.Uses.It"),
}
RAW_NAMES = {0xA70: "Type(0x2000017)"}

SMALL = (24, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**32 + 1, 40, 48, 56, 64, 72, 2**33, 80, 88, 96)
HUGE = (24, 2**63 - 1, 2**63, 2**62, 2**61, 2**40, 40, 48, 56, 64, 72, 2**32, 80, 88, 96)
OBJECT_TYPES = (0xA10, 0xA20, 0xA30, 0xA30, 0xA40, 0xA50, 0xA60, 0xA70, 0xA20, 0xA10, 0xA40, 0xA60, 0xA10, 0xA20, 0xA30)
REFERENCES = ((1, 2, 1), (3,), (4, 3), (), (0,), (NULL,), (NOWHERE, 7), (), (8, 9), (), (3,), (12, 14),
              (13,), (14,), ())                       # numbers of objects from 0 on
DEPENDENTS = ((6, 10), (0, 7), (6, 0), (0, 10), (NOWHERE, 1), (5, NOWHERE), (3, 3))                   # key, value; in no order of keys
STATICS = ((0, 0xF10, 0xA10, "current"), (7, 0xF20, 0xA80, ""), (NULL, 0xF30, 0xA20, "null"), (NOWHERE, 0xF40, 0xA20, "lost"),
           (3, 0xF50, 0xA30, 'a;b"\n=c'))                                     # object, slot, type, field
# object, kind of the event, flags, id
ROOTS = ((2, 0, 4, 0xE10), (5, 1, 0, 0xE20), (6, 2, 0, 0xE30), (1, 2, 1, 0xE40), (9, 2, 2, 0xE50), (11, 2, 8, 0xE60), (4, 3, 0, 0xE70),
         (NULL, 0, 0, 0xE80), (NOWHERE, 0, 1, 0xE90), (0, 77, 0x10, 0xEA0), (1, 0, 3, 0xEB0))
CCWS = ((7, 0xC10, 0xA70), (NULL, 0xC20, 0xA10), (11, 0xC30, 0xA60))          # object, id, type
RCWS = (3, 5)
# generation, start, used, reserved; offsets from the first object
EARLY_RANGES = ((2, 0, 0x100000, 0x200000),)
RANGES = ((2, 0, 0x30, 0x41), (0, 0x40, 0x50, 0x62), (1, 0xA0, 0x20, 0x83), (3, 0x100, 0x60, 0xA4), (4, 0x180, 0x18, 0xC5))
OFFSETS = (0x00, 0x18, 0x40, 0x60, 0x88, 0xA0, 0x100, 0x140, 0x160, 0x180, 0x198, 0x200, 0x240, 0x260, 0x280)
NOWHERE_OFFSET = 0xDEAD0

KINDS = ("stack", "finalizer", "handle", "other")
GROUPS = ("statics", "strong_handles", "pinned_handles", "other", "locals", "refcounted", "finalizer", "weak")


def group(kind, flags):
    if flags & 2:
        return "weak"
    if kind in ("static", "stack"):
        return "statics" if kind == "static" else "locals"
    if kind == "com" or flags & 8:
        return "refcounted"
    if kind == "handle":
        return "pinned_handles" if flags & 1 else "strong_handles"
    return kind


class Heap:
    """The model.  NAMELESS: no event has the name of the process."""

    def __init__(self, sizes=SMALL, pointer_size=8, nameless=False):
        self.nameless = nameless
        self.pointer_size = pointer_size
        self.base = 0x7F0000001000 if pointer_size == 8 else 0x7F001000
        self.sizes = sizes
        self.p = "Q" if pointer_size == 8 else "I"
        self.addresses = [self.base + off for off in OFFSETS]
        self.type_ids = list(dict.fromkeys(OBJECT_TYPES + tuple(t for n, _, t, _ in STATICS if n is not NULL)))

    # -- the recording ------------------------------------------------------------------------------------------------

    def address(self, number):
        return {NULL: 0, NOWHERE: self.base + NOWHERE_OFFSET}.get(number) if number in (NULL, NOWHERE) else self.addresses[number]

    def bulk(self, index, layout, records):
        return (struct.pack("<IIH", index, len(records), 0x77)
                + b"".join(struct.pack("<" + layout.replace("P", self.p), *record) for record in records))

    def nodes(self, index, numbers):
        return self.bulk(index, "PQQQ", [(self.addresses[n], self.sizes[n], OBJECT_TYPES[n], len(REFERENCES[n])) for n in numbers])

    def edges(self, index, targets):
        return self.bulk(index, "PI", [(self.address(n), 0x66) for n in targets])

    def range(self, generation, start, used, reserved):
        return struct.pack(f"<B{self.p}QQH", generation, self.base + start, used, reserved, 0x77)

    def types(self, ids):
        out = struct.pack("<IH", len(ids), 0x77)
        for t in ids:
            module, token, flags, element, name, parameters, _ = TYPES[t]
            out += struct.pack("<QQIIB", t, module, token, flags, element) + z16(name)
            out += struct.pack(f"<I{len(parameters)}Q", len(parameters), *parameters)
        return out

    def events(self):
        return [e for e in self._events() if not self.nameless or e.kind not in (187, 99)]

    def _events(self):
        at = SYNC + GC_START_US
        edges = [n for targets in REFERENCES for n in targets]
        statics = struct.pack("<IQH", len(STATICS), 0x1122334455667788, 0x77) + b"".join(
            struct.pack("<QQQI", slot, self.address(number), kind, 0x55) + z16(name) for number, slot, kind, name in STATICS)
        ccws = struct.pack("<IH", len(CCWS), 0x77) + b"".join(
            struct.pack("<QQQQIII", slot, self.address(number), kind, 0xBEEF, 3, 4, 5) for number, slot, kind in CCWS)
        rcws = struct.pack("<IH", len(RCWS), 0x77) + b"".join(struct.pack("<QQQQII", self.addresses[n], 1, 2, 3, 4, 5) for n in RCWS)
        yield Ev(187, 1010, struct.pack("<HH4H4HIB", 9, 2, 10, 11, 12, 13, 4, 5, 6, 7, 0x1234, 3) + z16("/opt/never shown") + b"\0" * 18)
        yield Ev(9, SYNC + 50, struct.pack("<IIH", 0, 1, 0x77))
        yield Ev(1, SYNC + 60, struct.pack("<IIIIHQ", 5, 1, 0, 0, 0x77, 0))
        yield Ev(2, SYNC + 70, struct.pack("<IIH", 5, 1, 0x77))
        yield Ev(3, SYNC + 90, struct.pack("<H", 0x77))
        yield Ev(9, SYNC + SUSPENDED_US, struct.pack("<IIH", 1, 6, 0x77), thread=8)
        yield Ev(1, at, struct.pack("<IIIIHQ", 6, 2, 1, 0, 0x77, 0x99))
        yield Ev(205, at + 1, struct.pack("<Qi3iIHI", 0x1111, 4, 1, 2, 3, 0, 0x77, 0))
        for each in EARLY_RANGES:
            yield Ev(23, at + 2, self.range(*each))
        yield Ev(38, at + 3, statics)
        yield Ev(36, at + 4, ccws)
        yield Ev(37, at + 5, rcws)
        yield Ev(18, at + 6, self.nodes(0, range(0, 5)))
        yield Ev(16, at + 7, self.bulk(0, "PBIP", [(self.address(n), k, f, i) for n, k, f, i in ROOTS[:4]]))
        yield Ev(15, at + 8, self.types([0xA10, 0xA20, 0xA30, 0xA40]))
        yield Ev(19, at + 9, self.edges(0, edges[:4]))
        yield Ev(18, at + 10, self.nodes(1, range(5, 15)))
        yield Ev(19, at + 11, self.edges(1, edges[4:]))
        yield Ev(17, at + 12, self.bulk(0, "PPP", [(self.address(k), self.address(v), 0xD00 + k % 7) for k, v in DEPENDENTS[:3]]))
        yield Ev(17, at + 13, self.bulk(1, "PPP", [(self.address(k), self.address(v), 0xD00 + k % 7) for k, v in DEPENDENTS[3:]]))
        yield Ev(16, at + 14, self.bulk(1, "PBIP", [(self.address(n), k, f, i) for n, k, f, i in ROOTS[4:]]))
        for each in RANGES:
            yield Ev(23, at + 15, self.range(*each))
        yield Ev(2, SYNC + GC_END_US, struct.pack("<IIH", 6, 2, 0x77))
        yield Ev(3, SYNC + RESTARTED_US, struct.pack("<H", 0x77), thread=8)
        yield Ev(15, SYNC + RESTARTED_US + 1, self.types([0xA90, 0xA80, 0xA70, 0xA60, 0xA50]))
        for kind, (module, (assembly, path)) in zip((152, 253, 253), MODULES.items()):
            yield Ev(kind, SYNC + RESTARTED_US + 2, struct.pack("<QQII", module, assembly, 0x33, 0x44) + z16(path) + z16("native") + bytes(22) + z16("pdb") +
                     bytes(20) + z16("native pdb"))
        for assembly, name in ASSEMBLIES.items():
            yield Ev(255, SYNC + RESTARTED_US + 3, struct.pack("<QQQI", assembly, 0x35, 0x36, 0x37) + z16(name) + bytes(2))
        yield Ev(154, SYNC + RESTARTED_US + 3, struct.pack("<QQQI", 0x5A20, 0x35, 0x36, 0x37) + z16("Not.Asked.For, Version=0"))
        yield Ev(99, SYNC + RESTARTED_US + 4, z16("/opt/field heap --x") + z16("Linux-é") + z16("arm64"))

    def recording(self, writer=V4File, **more):
        file = writer(pointer_size=self.pointer_size, pid=PID, sync=SYNC, frequency=TICKS_A_SECOND, **more)
        at = file.data.index(struct.pack("<8H", 2024, 5, 2, 7, 10, 0, 0, 0))
        s = STARTED
        file.data[at:at + 16] = struct.pack("<8H", s.year, s.month, 6, s.day, s.hour, s.minute, s.second, s.microsecond // 1000)
        file.define(*((kind, *row) for kind, row in DEFINED.items()))
        if isinstance(file, V6File):
            file.threads((7, PID, 7), (8, PID, 8))
        return close(file, self.events())

    # -- what it says -------------------------------------------------------------------------------------------------

    def type_of(self, number):
        return self.type_ids.index(OBJECT_TYPES[number])

    def types_rows(self):
        """One for each type that an object or a static variable has: id, raw name, shown name, module path, number of objects, bytes."""
        rows = []
        for t in self.type_ids:
            module, token, flags, element, name, _, shown = TYPES[t]
            own = [self.sizes[n] for n, kind in enumerate(OBJECT_TYPES) if kind == t]
            rows.append({"id": t, "raw": name or RAW_NAMES[t], "named": name != "", "name": shown, "module": MODULE_PATHS[module],
                         "module_id": module, "token": token, "flags": flags, "element": element, "objects": len(own),
                         "bytes": min(sum(own), 2**64 - 1), "edges": sum(len(REFERENCES[n]) for n, kind in enumerate(OBJECT_TYPES) if kind == t)})
        return rows

    def graph_edges(self):
        """References of each object to objects that exist."""
        return [[n for n in targets if n not in (NULL, NOWHERE)] for targets in REFERENCES]

    def dependents(self):
        """By key; of one key in the order of the events.  Those that lead somewhere."""
        live = [(k, v) for k, v in DEPENDENTS if k != v and k != NOWHERE and v != NOWHERE]
        return sorted(live, key=lambda pair: pair[0])

    def roots(self):
        """(kind, flags, name, slot, object, type id) in the order of a graph; those that lead to an object."""
        rows = [("static", 0, name, slot, n, t) for n, slot, t, name in STATICS]
        rows += [(KINDS[k] if k < 3 else "other", flags, "", slot, n, None) for n, k, flags, slot in ROOTS]
        rows += [("com", 8, "", 0, n, None) for n, _, _ in CCWS]
        rows = [r for r in rows if r[4] not in (NULL, NOWHERE)]
        return [r[:5] + (r[5] or OBJECT_TYPES[r[4]],) for r in rows]

    def bytes(self):
        return min(sum(self.sizes), 2**64 - 1)

    def generation(self, number):
        for generation, start, used, _ in RANGES:
            if start <= OFFSETS[number] < start + used:
                return generation
        return None

    def dominators(self):
        """object: (parent or None, retained bytes), by removing one object after the other."""
        follow = [list(targets) for targets in self.graph_edges()]
        for key, value in self.dependents():
            follow[key].append(value)
        late = GROUPS.index("locals")                 # such roots count only for what no others reach
        tops = [(r[4], GROUPS.index(group(r[0], r[1])) >= late) for r in self.roots() if group(r[0], r[1]) != "weak"]

        def follow_from(left, without):
            seen = set()
            while left:
                n = left.pop()
                if n not in seen and n != without:
                    seen.add(n)
                    left += follow[n]
            return seen

        early = follow_from([n for n, is_late in tops if not is_late], None)

        def reach(without=None):
            seen = follow_from([n for n, is_late in tops if not is_late], without)
            return seen | follow_from([n for n, is_late in tops if is_late], without) - early

        alive = reach()
        dominated = {n: alive - reach(n) for n in alive}
        above = {n: [m for m in alive if m != n and n in dominated[m]] for n in alive}
        parents = {n: max(above[n], key=lambda m: len(above[m]), default=None) for n in alive}
        return {n: (parents[n], min(sum(self.sizes[m] for m in dominated[n]), 2**64 - 1)) for n in sorted(alive)}

    @staticmethod
    def started_unix_ms():
        return round((STARTED - datetime.datetime(1970, 1, 1)).total_seconds() * 1000)
