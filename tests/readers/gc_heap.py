"""The heap dump in a trace: which GC, and what its events say (gc-events.md).

The assembly keeps what arrived and reports what is missing; it repairs nothing.
"""

import struct
from array import array
from collections import Counter
from dataclasses import dataclass

import salvage
from byte_cursor import utf16z

RUNTIME = "Microsoft-Windows-DotNETRuntime"

GC_START, GC_END = 1, 2
BULK_TYPE, ROOT_EDGE, DEPENDENT, NODE, EDGE = 15, 16, 17, 18, 19
GENERATION_RANGE, ROOT_CCW, RCW, ROOT_STATIC = 23, 36, 37, 38
GEN_AWARE_BEGIN, GEN_AWARE_END = 206, 207
INDEXED = (ROOT_EDGE, DEPENDENT, NODE, EDGE)

ROOT_KINDS = {0: "stack", 1: "finalizer", 2: "handle"}      # anything else: "other"
WEAK = 2
ARRAY_FLAG = 8


# -- which GC --------------------------------------------------------------------------------------------------------

@dataclass(slots=True)
class Bracket:
    process: int
    number: int
    start: int                  # ticks
    end: int | None             # None: its GCEnd never arrived
    limit: int | None           # without GCEnd: where the next GC begins

    def holds(self, event):
        last = self.end if self.end is not None else self.limit
        return (event.process == self.process and event.timestamp >= self.start
                and (last is None or event.timestamp <= last))


def _starts_full_gc(event):
    """Induced, blocking, generation 2.  V0 of GCStart knows only the reason."""
    size = len(event.payload)
    if event.event_id == GEN_AWARE_BEGIN:
        return size >= 4
    if event.version == 0:
        return size >= 8 and struct.unpack_from("<I", event.payload, 4)[0] == 1
    if size < 16:
        return False
    depth, reason, kind = struct.unpack_from("<III", event.payload, 4)
    return depth >= 2 and reason == 1 and kind == 0


def _number(event):
    return struct.unpack_from("<I", event.payload)[0] if len(event.payload) >= 4 else None


def brackets(events, begin=GC_START, finish=GC_END):
    """Candidates in the order of time; file order means nothing between threads (nettrace.md section 11)."""
    starts = sorted((e for e in events if e.event_id == begin), key=lambda e: e.timestamp)
    ends = sorted((e for e in events if e.event_id == finish), key=lambda e: e.timestamp)
    for position, start in enumerate(starts):
        if not _starts_full_gc(start):
            continue
        number = _number(start)
        later = [e.timestamp for e in starts[position + 1:] if e.process == start.process]
        end = next((e.timestamp for e in ends if e.process == start.process
                    and e.timestamp >= start.timestamp and _number(e) == number), None)
        yield Bracket(start.process, number, start.timestamp, end, later[0] if later else None)


def assemble(trace):
    """The first dump of the trace, or None.  `other_dumps` of the result counts the ones that follow it."""
    events = [e for e in trace.events if e.provider == RUNTIME]
    for begin, finish in ((GC_START, GC_END), (GEN_AWARE_BEGIN, GEN_AWARE_END)):
        dumps = []
        for bracket in brackets(events, begin, finish):
            inside = [e for e in events if bracket.holds(e)]
            if any(e.event_id == NODE for e in inside):
                dumps.append((bracket, inside))
        if dumps:
            heap = Heap(trace.pointer_size, *dumps[0])
            heap.other_dumps = len(dumps) - 1
            heap.accounted = _accounted(trace, heap)
            heap.types = read_types((e for e in events if e.event_id == BULK_TYPE and e.process == heap.process), heap)
            return heap
    return None


def _accounted(trace, heap):
    """Do the gaps in the numbering explain every lost event?"""
    return (trace.state == "closed" and trace.final_sequence_point and not trace.loss.irregular and not trace.unknown_metadata
            and heap.end_seen and not heap.malformed and trace.loss.total == sum(c.missing + c.irregular for c in heap.index.values()))


# -- types -----------------------------------------------------------------------------------------------------------

@dataclass(slots=True)
class Type:
    name: str
    name_id: int
    flags: int
    module: int

    def display_name(self):
        """An empty name is shown by its token, as gclog.md section 5 says."""
        if self.name:
            return self.name
        return f"{'ArrayType' if self.flags & ARRAY_FLAG else 'Type'}(0x{self.name_id:x})"


def read_types(events, heap):
    """Types may be described long before the GC or after the nodes that use them; later descriptions are equal."""
    types = {}
    for event in events:
        data = bytes(event.payload)
        try:
            count, pos = struct.unpack_from("<I", data)[0], 6
            for _ in range(count):
                type_id, module, name_id, flags, _ = struct.unpack_from("<QQIIB", data, pos)
                name, pos = utf16z(data, pos + 25)
                parameters = struct.unpack_from("<I", data, pos)[0]
                pos += 4 + 8 * parameters
                if pos > len(data):
                    raise ValueError("type parameters outside the payload")
                known = types.get(type_id)
                if known is None or (name and not known.name):
                    types[type_id] = Type(name, name_id, flags, module)
        except (ValueError, struct.error):
            heap.malformed[BULK_TYPE] += 1
    return types


# -- the dump --------------------------------------------------------------------------------------------------------

class IndexCheck:
    """Index runs 0, 1, 2 … per kind of event and dump."""

    def __init__(self):
        self.expected = 0
        self.missing = 0
        self.irregular = 0

    def event(self, index):
        if index != self.expected:
            if index > self.expected:
                self.missing += index - self.expected
            else:
                self.irregular += 1
        self.expected = index + 1


class Heap:
    """Nodes and edges are two queues of one thread: node n takes its EdgeCount values from the front of the edges."""

    def __init__(self, pointer_size, bracket, events):
        self.process = bracket.process
        self.gc_number = bracket.number
        self.start_ticks = bracket.start
        self.end_seen = bracket.end is not None
        self.other_dumps = 0
        self.types = {}
        self.addresses, self.sizes, self.type_ids, self.edge_counts = (array("Q") for _ in range(4))
        self.edges = array("Q")
        self.roots = []             # (address, kind, flags, root id)
        self.dependents = []        # (key, value)
        self.statics = []           # (address, type id, field name)
        self.ccws = []              # address
        self.rcws = []              # address
        self.ranges = []            # (generation, start, used bytes), layout after the GC
        self.index = {kind: IndexCheck() for kind in INDEXED}
        self.events = {kind: [] for kind in INDEXED}    # (index, records)
        self.accounted = False      # all losses of the trace are gaps in these numbers
        self.malformed = Counter()  # event id -> events with fewer records than they announce
        self._pointer = "Q" if pointer_size == 8 else "I"
        self._read(events)

    def _read(self, events):
        first_node = next(e for e in events if e.event_id == NODE)
        self.thread = first_node.thread
        readers = {ROOT_EDGE: self._root_edges, DEPENDENT: self._dependents, NODE: self._nodes, EDGE: self._edges,
                   ROOT_STATIC: self._statics, ROOT_CCW: self._ccws, RCW: self._rcws}
        for event in events:
            if event.event_id == GENERATION_RANGE:
                if event.timestamp >= first_node.timestamp:     # the ones before show the layout before the GC
                    self._range(event)
            elif event.thread == self.thread and event.event_id in readers:
                try:
                    readers[event.event_id](event)
                except (ValueError, struct.error):
                    self.malformed[event.event_id] += 1

    # -- payloads, gc-events.md sections 4, 6 and 8 ------------------------------------------------------------------

    def _records(self, event, header, layout, count_at):
        """The fixed records of one bulk event, as tuples.  All of them or, when they do not fit, none."""
        count = struct.unpack_from("<I", event.payload, count_at)[0]
        record = struct.Struct("<" + layout.replace("P", self._pointer))
        end = header + count * record.size
        if end > len(event.payload):
            raise ValueError("fewer records than announced")
        return record.iter_unpack(event.payload[header:end])

    def _indexed(self, event, layout):
        records = self._records(event, 10, layout, 4)
        index, count = struct.unpack_from("<II", event.payload)
        self.index[event.event_id].event(index)
        self.events[event.event_id].append((index, count))
        return records

    def _nodes(self, event):
        for address, size, type_id, edges in self._indexed(event, "PQQQ"):
            self.addresses.append(address)
            self.sizes.append(size)
            self.type_ids.append(type_id)
            self.edge_counts.append(edges)

    def _edges(self, event):
        self.edges.extend(target for target, _ in self._indexed(event, "PI"))

    def _root_edges(self, event):
        self.roots.extend(self._indexed(event, "PBIP"))

    def _dependents(self, event):
        self.dependents.extend((key, value) for key, value, _
                               in self._indexed(event, "PPP"))

    def _ccws(self, event):
        self.ccws.extend(record[1] for record in self._records(event, 6, "QQQQIII", 0))

    def _rcws(self, event):
        self.rcws.extend(record[0] for record in self._records(event, 6, "QQQQII", 0))

    def _statics(self, event):
        data, pos = bytes(event.payload), 14
        for _ in range(struct.unpack_from("<I", data)[0]):
            _, address, type_id, _ = struct.unpack_from("<QQQI", data, pos)
            name, pos = utf16z(data, pos + 28)
            self.statics.append((address, type_id, name))

    def _range(self, event):
        try:
            self.ranges.append(struct.unpack_from("<B" + self._pointer + "Q", event.payload))
        except struct.error:
            self.malformed[GENERATION_RANGE] += 1

    # -- the graph ---------------------------------------------------------------------------------------------------

    def objects(self):
        """(address, type id, size, references) in walk order; each object gets what is certainly its own (salvage.py)."""
        node_events, first = [], 0
        for index, count in self.events[NODE]:
            node_events.append((index, sum(self.edge_counts[first:first + count]), count))
            first += count
        edge_events = [(index, count, count) for index, count in self.events[EDGE]]
        node_at, edge_at = salvage.place(node_events, edge_events, 8 if self._pointer == "Q" else 4, self.accounted)
        known, first = {}, 0         # position -> edge
        for (_, count, _), at in zip(edge_events, edge_at):
            if at is not None:
                known.update(zip(range(at, at + count), self.edges[first:first + count]))
            first += count
        position, end = 0, max(known, default=-1) + 1
        for (_, _, count), at in zip(node_events, node_at):
            for i in range(position, position + count):
                size = self.edge_counts[i]
                wanted = () if at is None else range(at, min(at + size, end))        # counts can be absurd in damaged data
                yield self.addresses[i], self.type_ids[i], self.sizes[i], [known[p] for p in wanted if p in known]
                at = None if at is None else at + size
            position += count

    def type_name(self, type_id):
        known = self.types.get(type_id)
        return known.display_name() if known else f"Type(0x{type_id:x})"

    # -- facts -------------------------------------------------------------------------------------------------------

    def reasons(self):
        """Why this dump is not complete, as far as its own events can tell."""
        reasons = []
        if not self.end_seen:
            reasons.append("GCEnd missing")
        for kind, check in self.index.items():
            if check.missing:
                reasons.append(f"{check.missing} events of id {kind} missing")
            if check.irregular:
                reasons.append(f"Index of event {kind} goes back {check.irregular} times")
        declared = sum(self.edge_counts)
        if declared != len(self.edges):
            reasons.append(f"{declared} edges declared, {len(self.edges)} received")
        for kind, count in sorted(self.malformed.items()):
            reasons.append(f"{count} malformed events of id {kind}")
        used = set(self.type_ids)
        unknown = len(used - self.types.keys())
        if unknown:
            reasons.append(f"{unknown} types without description")
        elif used and not any(self.types[type_id].name for type_id in used):
            reasons.append("no type has a name")
        return reasons

    def report(self):
        known = set(self.addresses)
        edges = dangling = 0
        by_type = {}
        for _, type_id, size, references in self.objects():
            edges += len(references)
            dangling += sum(target not in known for target in references if target)
            entry = by_type.setdefault(type_id, [0, 0])
            entry[0] += 1
            entry[1] += size
        types = [{"name": self.type_name(type_id), "id": f"0x{type_id:x}", "count": count, "bytes": size}
                 for type_id, (count, size) in by_type.items()]
        types.sort(key=lambda t: (-t["bytes"], -t["count"], t["id"]))
        roots = Counter(ROOT_KINDS.get(kind, "other") for address, kind, _, _ in self.roots if address)
        return {
            "gc_number": self.gc_number,
            "gc_start_ticks": self.start_ticks,
            "gc_end_seen": self.end_seen,
            "capture_thread": self.thread,
            "other_dumps": self.other_dumps,
            "objects": len(self.addresses),
            "bytes": sum(self.sizes),
            "edges": edges,
            "edges_declared": sum(self.edge_counts),
            "edges_received": len(self.edges),
            "dangling_edges": dangling,
            "roots": {kind: roots.get(kind, 0) for kind in (*ROOT_KINDS.values(), "other")},
            "weak_roots": sum(1 for address, _, flags, _ in self.roots if address and flags & WEAK),
            "null_roots": sum(1 for root in self.roots if not root[0]),
            "statics": sum(1 for static in self.statics if static[0]),
            "ccws": sum(1 for address in self.ccws if address),
            "rcws": len(self.rcws),
            "dependent_handles": sum(1 for key, _ in self.dependents if key),
            "index_gaps": {str(kind): check.missing for kind, check in self.index.items()},
            "generations": self._generations(),
            "types_without_description": sum(1 for type_id in by_type if type_id not in self.types),
            "types": types,
        }

    def _generations(self):
        """Objects and bytes per generation; "none" is outside all ranges: the frozen heap since .NET 8."""
        if not self.ranges:
            return {}
        ordered = sorted(self.ranges, key=lambda r: r[1])
        result, position = {}, 0
        for address, size in sorted(zip(self.addresses, self.sizes)):
            while position < len(ordered) and address >= ordered[position][1] + ordered[position][2]:
                position += 1
            inside = position < len(ordered) and address >= ordered[position][1]
            entry = result.setdefault(str(ordered[position][0]) if inside else "none", {"objects": 0, "bytes": 0})
            entry["objects"] += 1
            entry["bytes"] += size
        return dict(sorted(result.items()))
