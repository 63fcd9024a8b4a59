"""V3 (NetPerf) and V4 (NetTrace, with V5 metadata tags): a chain of tagged objects (nettrace.md sections 2 to 13)."""

from byte_cursor import Corrupt, Truncated, utf16z
from event_blobs import block_size, read_blobs
from trace_model import Metadata, Unsupported

END_OF_STREAM, BEGIN, BEGIN_PRIVATE, END_OBJECT = 1, 4, 5, 6
LONGEST_NAME = 64
SERIALIZATION = b"\x14\0\0\0!FastSerialization.1"


class Decoder:
    """Walks the objects of one file and fills a Trace."""

    def __init__(self, cursor, trace):
        self.cursor = cursor
        self.trace = trace
        self.metadata = {}
        self.object_version = 0

    def run(self):
        self.cursor.skip(len(SERIALIZATION))
        self._trace_object()
        last = ""
        while (name := self._begin_object()) is not None:
            body = {"EventBlock": self._events, "MetadataBlock": self._metadata_block,
                    "StackBlock": self._stacks, "SPBlock": self._sequence_point}.get(name)
            if body is None:
                raise Corrupt(self.cursor.pos, f"unknown object {name!r}")
            body(self._block())
            self._end_object()
            last = name
        self.trace.final_sequence_point = last == "SPBlock"
        self.trace.trailing_bytes = len(self.cursor.data) - self.cursor.pos

    # -- framing -----------------------------------------------------------------------------------------------------

    def _begin_object(self):
        """The type name of the next object, None at the end mark."""
        cursor, start = self.cursor, self.cursor.pos
        if start >= len(cursor.data):
            raise Truncated(start, "no end mark")
        tag = cursor.u8()
        if tag == END_OF_STREAM:
            return None
        if tag not in (BEGIN, BEGIN_PRIVATE):
            raise Corrupt(start, f"tag {tag} where an object begins")
        if cursor.u8() not in (BEGIN, BEGIN_PRIVATE) or cursor.u8() != 1:
            raise Corrupt(start, "bad tags at the begin of an object")
        self.object_version = cursor.i32()
        min_reader = cursor.i32()
        length = cursor.i32()
        if not 0 <= length <= LONGEST_NAME:
            raise Corrupt(cursor.pos - 4, f"type name of {length} bytes")
        name = bytes(cursor.take(length, "type name")).decode("utf-8", "replace")
        if cursor.u8() != END_OBJECT:
            raise Corrupt(cursor.pos - 1, "type not closed")
        if name == "Trace" and min_reader > 4:
            raise Unsupported(f"Trace object needs a reader of version {min_reader}")
        return name

    def _end_object(self):
        if self.cursor.u8() != END_OBJECT:
            raise Corrupt(self.cursor.pos - 1, "object not closed")

    def _block(self):
        """The body of a block; its padding counts from the start of the file.

        A truncated block is also returned: its reader finds the end of the data by itself, after the complete blobs.
        """
        cursor = self.cursor
        size = cursor.i32()
        if size < 0:
            raise Corrupt(cursor.pos - 4, f"block of {size} bytes")
        cursor.skip(-cursor.pos % 4)
        return cursor.sub(size)

    def _trace_object(self):
        name, cursor, trace = self._begin_object(), self.cursor, self.trace
        if name == "Microsoft.DotNet.Runtime.EventPipeFile" or (name == "Trace" and self.object_version < 3):
            raise Unsupported("NetPerf V1 or V2")
        if name != "Trace":
            raise Corrupt(cursor.pos, f"first object is {name!r}, not Trace")
        trace.version = self.object_version
        start = cursor.pos
        cursor.need(48, "Trace object")
        cursor.skip(16)                             # wall clock
        trace.sync_ticks, trace.frequency = cursor.i64(), cursor.i64()
        trace.pointer_size, trace.process = cursor.i32(), cursor.i32()
        cursor.skip(8)                              # processors, sampling rate
        check_trace_fields(trace, start)
        self._end_object()

    # -- blocks ------------------------------------------------------------------------------------------------------

    def _events(self, block):
        if self.trace.version == 3:
            return self._events_v3(block)
        for blob in read_blobs(block):
            if blob.metadata_id == 0:
                self.trace.unknown_metadata += 1    # not an event: it has no number either
                continue
            self.trace.loss.event(blob.capture_thread, blob.sequence)
            self._add(blob.metadata_id, blob.capture_thread, blob.timestamp, blob.payload)

    def _events_v3(self, block):
        """No block header; metadata are blobs with id 0; the stack follows the payload inside EventSize."""
        while block.left():
            blob = block.sub(4 + block_size(block))
            blob.skip(4)
            metadata_id, thread, timestamp = blob.u32(), blob.u32(), blob.i64()
            blob.skip(32)
            payload = blob.take(blob.u32(), "event payload")
            blob.skip(blob.left())
            if metadata_id == 0:
                self._define(payload)
            else:
                self._add(metadata_id, thread, timestamp, payload)

    def _add(self, metadata_id, thread, timestamp, payload):
        metadata = self.metadata.get(metadata_id)
        if metadata is None:
            self.trace.unknown_metadata += 1
        else:
            self.trace.add_event(metadata, self.trace.process, thread, timestamp, payload)

    def _metadata_block(self, block):
        for blob in read_blobs(block):
            self._define(blob.payload)

    def _stacks(self, block):
        """All GC heap events are declared "no stack": only the size is checked."""
        block.skip(block.left())

    def _sequence_point(self, block):
        block.need(block.left(), "sequence point")      # a cut one is not used at all
        block.skip(8)
        count = block.u32()
        if 12 * count > block.left():
            raise Corrupt(block.pos - 4, f"sequence point of {count} threads")
        for _ in range(count):
            thread, number = block.u64(), block.u32()
            self.trace.loss.sequence_point(thread, number)
        self.trace.sequence_points += 1

    # -- metadata ----------------------------------------------------------------------------------------------------

    def _define(self, payload):
        """Section 7.1.  The newest definition of an id wins; field descriptions are of no use to a heap reader."""
        record = bytes(payload)
        try:
            metadata_id = int.from_bytes(_exactly(record, 0, 4), "little")
            provider, pos = utf16z(record, 4)
            event_id = int.from_bytes(_exactly(record, pos, 4), "little")
            name, pos = utf16z(record, pos + 4)
            version = int.from_bytes(_exactly(record, pos + 8, 4), "little")
            _exactly(record, pos + 12, 4)               # level
        except ValueError:
            self.trace.bad_metadata += 1
            return
        self.metadata[metadata_id] = Metadata(provider, event_id, name, version)
        if has_tags(record, pos + 16):
            self.trace.v5_records += 1


def check_trace_fields(trace, offset):
    if trace.frequency <= 0:
        raise Corrupt(offset, f"tick frequency {trace.frequency}")
    if trace.pointer_size not in (4, 8):
        raise Corrupt(offset, f"pointer size {trace.pointer_size}")


def has_tags(record, pos):
    """Whether a V4 record has bytes after its fields: the only mark of V5 (section 7.2)."""
    try:
        return _skip_fields(record, pos, 0) < len(record)
    except ValueError:
        return False


def _skip_fields(record, pos, depth):
    if pos == len(record) or depth > 32:
        raise ValueError("no fields")
    count = int.from_bytes(_exactly(record, pos, 4), "little")
    pos += 4
    for _ in range(count):
        code = int.from_bytes(_exactly(record, pos, 4), "little")
        pos += 4
        if code == 1:
            pos = _skip_fields(record, pos, depth + 1)
        _, pos = utf16z(record, pos)
    return pos


def _exactly(record, pos, count):
    part = record[pos:pos + count]
    if len(part) != count:
        raise ValueError("record ends early")
    return part
