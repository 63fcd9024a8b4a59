"""Whose references are whose when events are missing: the reference reader's own way to it.

Nodes and edges are two sequences; node n takes its EdgeCount values from the front of the edges.  Every event gets a position in the
sequence of all edges, from the front or from the back, or None when neither is certain:

* from the front, as long as no event of the kind is missing before it;
* edge event i is at i times what fits into one, as every event but the last is full in CoreCLR: believed when all events that have
  a successor are full and one full event of either kind is there;
* from the back, as long as no event of the kind is missing after it and both sequences certainly end.

A sequence ends for certain with an event that is not full, or when all lost events of the trace are holes in the numbering.
"""

RECORDS_BYTES = 63 * 1024 - 0x100      # of one bulk event


class Sequence:
    """The events of one kind: (index, edges it accounts for, records)."""

    def __init__(self, events, record_bytes):
        self.events = events
        self.full = RECORDS_BYTES // record_bytes
        self.rising = all(a[0] < b[0] for a, b in zip(events, events[1:]))
        self.even = all(e[2] == self.full for e in events[:-1]) and all(e[2] <= self.full for e in events)
        self.full_seen = any(e[2] == self.full for e in events)
        self.positions = [None] * len(events)

    def whole(self):
        return [e[0] for e in self.events] == list(range(len(self.events)))

    def sum(self):
        return sum(e[1] for e in self.events)

    def from_front(self):
        at = 0
        for number, (index, edges, _) in enumerate(self.events):
            if index != number:
                break
            self.positions[number] = at
            at += edges

    def from_back(self, end):
        at, wanted = end, None
        for number in range(len(self.events) - 1, -1, -1):
            index, edges, _ = self.events[number]
            if wanted is not None and index != wanted or edges > at:
                break
            at -= edges
            wanted = index - 1
            if self.positions[number] is None:
                self.positions[number] = at


def place(node_events, edge_events, pointer_bytes, accounted):
    """Positions of node events and of edge events.  Events: (index, edges, records)."""
    nodes, edges = Sequence(node_events, pointer_bytes + 24), Sequence(edge_events, pointer_bytes + 4)
    sized = nodes.even and edges.even and (nodes.full_seen or edges.full_seen)

    def ends(sequence):
        short = sized and sequence.events and sequence.events[-1][2] < sequence.full
        return sequence.rising and (accounted or short)

    nodes.from_front()
    edges.from_front()
    reach = edges.sum()
    if sized and edges.events:
        reach = edges.events[-1][0] * edges.full + edges.events[-1][2]
    totals = []
    if ends(edges) and (sized or edges.whole()):
        totals.append(reach)
    if ends(nodes) and nodes.whole():
        totals.append(nodes.sum())
    if totals and (min(totals) != max(totals) or max(nodes.sum(), reach) > totals[0]):
        return nodes.positions, edges.positions         # nothing fits: only the front is believed
    if sized and edges.rising:
        edges.positions = [index * edges.full for index, _, _ in edges.events]
    if totals:
        if ends(nodes):
            nodes.from_back(totals[0])
        if ends(edges):
            edges.from_back(totals[0])
    return nodes.positions, edges.positions
