"""Heaps for the self tests, writable in every container version, with their gclog text written by hand."""

from trace_bytes import CLR, PIPE, Ev, Payloads, V3File, V4File, V6File, numbered

# metadata id -> (provider, event id, version)
DEFINED = {1: (CLR, 1, 2), 2: (CLR, 2, 1), 15: (CLR, 15, 0), 16: (CLR, 16, 0), 17: (CLR, 17, 0), 18: (CLR, 18, 0),
           19: (CLR, 19, 0), 23: (CLR, 23, 0), 36: (CLR, 36, 0), 37: (CLR, 37, 0), 38: (CLR, 38, 0), 99: (PIPE, 1, 1)}


WRITERS = {
    "V3": V3File,
    "V4": V4File,
    "V4 plain": lambda **more: V4File(compressed=False, **more),
    "V6": V6File,
    "V6 plain": lambda **more: V6File(compressed=False, **more),
}


def define_all(file):
    file.define(*((kind, *row) for kind, row in DEFINED.items()))


def close(file, events, in_block=None):
    """The events in one block, or IN_BLOCK in each, and a proper end: a final sequence point that agrees with them."""
    events = numbered(events)
    for i in range(0, len(events), in_block or len(events)):
        file.events(*events[i:i + (in_block or len(events))])
    last = {event.thread: event.number for event in events}
    file.sequence_point(events[-1].time + 1, tuple(last.items()))
    return file.end()


def with_roots(events):
    """EVENTS, in which a walk without roots or without static variables gets an empty event of them, as from a runtime."""
    result, seen, after = [], set(), 0                   # AFTER the last event with objects or references
    for event in events:
        if event.kind == 2 and 18 in seen:
            p, last = Payloads(), result[after - 1]
            result[after:after] = [Ev(kind, last.time, payload, last.thread)
                                   for kind, payload in ((16, p.roots(0)), (38, p.statics())) if kind not in seen]
        seen = set() if event.kind == 2 else seen | {event.kind}
        result.append(event)
        after = len(result) if event.kind in (18, 19) else after
    return result


def write(file, events, in_block=None):
    define_all(file)
    return close(file, with_roots(events), in_block)


# The worked example of gclog.md section 7.
SHOP_GCLOG = """\
a 2 shop 1a2f
t 1 Shop.Store
t 2 Shop.Order[]
t 3 Shop.Order
r 7f0000001000 4 0 1
r 7f0000001040 3 2
o 7f0000001000 1 18 7f0000001018
o 7f0000001018 2 28 7f0000001040
o 7f0000001040 3 20
c shop 1a2f
"""


def shop_events(base=0x7F0000001000, pointer_size=8):
    p, start = Payloads(pointer_size), 1000 + 6703 * 1000 + 999     # 6703.999 ms: the stamp is rounded down
    store, orders, order = base, base + 0x18, base + 0x40
    return [
        Ev(1, start, p.gc_start()),
        Ev(38, start + 1, p.statics((store, 0x71, "current"))),
        Ev(18, start + 2, p.nodes(0, (store, 0x18, 0x71, 1), (orders, 0x28, 0x72, 1), (order, 0x20, 0x73, 0))),
        Ev(16, start + 3, p.roots(0, (order, 2, 2, 0xF20))),
        Ev(19, start + 4, p.edges(0, orders, order)),
        Ev(15, start + 5, p.types((0x71, "Shop.Store"), (0x72, "Shop.Order[]", 8, 0x02000000, (0x73,)),
                                  (0x73, "Shop.Order"))),
        Ev(2, start + 6, p.gc_end()),
        Ev(99, start + 7, p.process_info("dotnet /srv/shop.dll --port 80")),
    ]


# Everything the format knows, in one small heap.
RICH_GCLOG = """\
a 2 rich app 5
t 1 Only.Static, used `1[by a field]
t 2 Key
t 3 Value
t 4 Type(0x99)
t 5 Type(0x2000055)
t 6 ArrayType(0x2000056)
t 7 a_b_c\ufffd
r 100 4 0 1
r 200 4 0 2
r dead 4 0 2
r 100 1 5
r 200 2 0
r 300 3 1
r 300 3 2
r 400 5 0
r 400 5 10
r 500 5 8
r 300 3 8
o 100 2 1a 200 200 100 300 400
o 200 3 100000000
o 300 4 18 beef
o 400 5 18
o 500 6 18 100 300
o 600 7 0
c rich app 5
"""


def rich_events():
    p, start = Payloads(), 1000 + 5000
    types = p.types((0x10, "Only.Static, used `1[by a field]"), (0x20, "Key"), (0x30, "Value"), (0x88, "Unused"))
    types_late = p.types((0x55, "", 0, 0x2000055, ()), (0x56, "", 8, 0x2000056, (0x55,)), (0x57, "a\rb\nc\ud800"))
    return [
        Ev(15, start - 100, types),
        Ev(1, start - 90, p.gc_start(number=1, reason=0)),                  # not induced: not the dump
        Ev(2, start - 80, p.gc_end(1)),
        Ev(1, start, p.gc_start(number=2), thread=8),
        Ev(37, start + 1, p.rcws(0x500)),
        Ev(36, start + 1, p.ccws(0x300, 0)),
        Ev(38, start + 2, p.statics((0x100, 0x10, "a"), (0, 0x88, "null"), (0x200, 0x20, ""), (0xDEAD, 0x20, "d"))),
        Ev(18, start + 3, p.nodes(0, (0x100, 26, 0x20, 4))),
        Ev(19, start + 4, p.edges(0, 0x200)),
        Ev(18, start + 5, p.nodes(1, (0x200, 1 << 32, 0x30, 0), (0x300, 24, 0x99, 1), (0x400, 24, 0x55, 0))),
        Ev(19, start + 6, p.edges(1, 0x200, 0x100, 0x300, 0xBEEF, 0x100, 0)),
        Ev(16, start + 7, p.roots(0, (0x100, 0, 5, 0), (0, 2, 2, 0), (0x200, 1, 0, 0), (0x300, 2, 1, 0))),
        Ev(16, start + 8, p.roots(1, (0x300, 2, 2, 0), (0x400, 3, 0, 0), (0x400, 4, 16, 0), (0x500, 5, 8, 0))),
        Ev(17, start + 9, p.dependents(0, (0x500, 0x300), (0x100, 0x400), (0, 0x300), (0x300, 0x300), (0xBAD, 0x100),
                                       (0x100, 0))),
        Ev(18, start + 10, p.nodes(2, (0x500, 24, 0x56, 2), (0x600, 0, 0x57, 0))),
        Ev(2, start + 11, p.gc_end(2)),
        Ev(15, start + 50, types_late),
        Ev(99, start + 60, p.process_info('"C:\\My Tools\\rich app.exe" -x')),
    ]
