"""What a decoded trace is, whatever version of the container it came from."""

from collections import Counter
from dataclasses import dataclass, field

from event_loss import LossCounter


class Unsupported(Exception):
    """Not a .nettrace file, or a version outside V3, V4 (with V5 tags) and V6."""


@dataclass(slots=True)
class Metadata:
    """One event type.  Runtime events have neither name nor fields: (provider, id, version) is the key."""

    provider: str
    event_id: int
    name: str
    version: int


@dataclass(slots=True)
class Event:
    provider: str
    event_id: int
    version: int
    name: str
    process: int            # process id; in V6 a file can hold several processes
    thread: int             # capture thread (V6: its index; V3: the only thread there is)
    timestamp: int          # ticks, signed
    payload: memoryview     # view into the file


@dataclass
class Trace:
    version: int = 0                # 3, 4 or 6; V5 = 4 with v5_records > 0
    pointer_size: int = 0
    process: int = 0
    sync_ticks: int = 0             # tick count at the start of the trace
    frequency: int = 0              # ticks per second
    events: list = field(default_factory=list)      # in file order
    loss: LossCounter = field(default_factory=LossCounter)
    state: str = "closed"           # closed, truncated, corrupt
    state_detail: str = ""
    state_offset: int = 0
    trailing_bytes: int = 0         # after the end mark: ignored
    sequence_points: int = 0
    final_sequence_point: bool = False      # the last block before the end mark is one
    v5_records: int = 0             # metadata records with V5 tags
    unknown_metadata: int = 0       # events whose type was never defined
    bad_metadata: int = 0           # metadata records that could not be read

    def add_event(self, metadata, process, thread, timestamp, payload, version=None):
        self.events.append(Event(metadata.provider, metadata.event_id,
                                 metadata.version if version is None else version,
                                 metadata.name, process, thread, timestamp, payload))

    def counts(self):
        """Number of events per (provider, id)."""
        return Counter((event.provider, event.event_id) for event in self.events)
