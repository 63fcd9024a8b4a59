"""V6: a chain of blocks without tags and padding, threads by index, several processes (nettrace.md section 14)."""

from byte_cursor import Corrupt, Truncated
from event_blobs import read_blobs
from nettrace_v4 import check_trace_fields
from trace_model import Metadata, Unsupported

FORGET_THREADS, FORGET_METADATA = 1, 2
LAST_LABEL = 0x80
VERSION_LABEL = 10


class Decoder:
    """Walks the blocks of one file and fills a Trace."""

    def __init__(self, cursor, trace):
        self.cursor = cursor
        self.trace = trace
        self.metadata = {}
        self.processes = {}             # thread index -> OS process id
        self.os_threads = {}            # thread index -> OS thread id; a sequence point may give a thread another index
        self.label_versions = {}        # label list -> event version, where a label overrides the metadata

    def run(self):
        cursor, trace = self.cursor, self.trace
        cursor.skip(4)                  # reserved: the zero that tells V6 from V4
        trace.version = cursor.u32()
        cursor.u32()                    # minor version: never a reason to refuse
        if trace.version != 6:
            raise Unsupported(f"nettrace major version {trace.version}")
        readers = {1: self._trace_block, 2: self._events, 3: self._metadata_rows, 4: self._sequence_point,
                   5: self._skipped, 6: self._threads_block, 7: self._remove_threads, 8: self._labels}
        last = None
        while True:
            start = cursor.pos
            if start >= len(cursor.data):
                raise Truncated(start, "no end mark")
            word = cursor.u32()
            kind, block = word >> 24, cursor.sub(word & 0xFFFFFF)
            if kind == 0:
                break
            if not trace.frequency and kind != 1:
                raise Corrupt(start, f"block of kind {kind} before the Trace block")
            readers.get(kind, self._skipped)(block)
            if kind in (2, 4):      # anything else that may follow, including blocks of unknown kinds, has no events
                last = kind
        trace.final_sequence_point = last == 4
        trace.trailing_bytes = max(0, len(cursor.data) - cursor.pos)

    # -- blocks ------------------------------------------------------------------------------------------------------

    def _trace_block(self, block):
        trace, start = self.trace, block.pos
        block.need(block.left(), "Trace block")
        block.skip(16)
        trace.sync_ticks, trace.frequency = block.i64(), block.i64()
        trace.pointer_size = block.i32()
        check_trace_fields(trace, start)
        for _ in range(max(0, block.i32())):
            key, value = block.utf8(), block.utf8()
            if key == "ProcessId" and value.isdigit():
                trace.process = int(value)

    def _events(self, block):
        trace = self.trace
        for blob in read_blobs(block, v6=True):
            trace.loss.event(blob.capture_thread, blob.sequence)
            metadata = self.metadata.get(blob.metadata_id)
            if metadata is None:
                trace.unknown_metadata += 1
                continue
            process = self.processes.get(blob.capture_thread, trace.process)
            thread = self.os_threads.get(blob.capture_thread, blob.capture_thread)
            trace.add_event(metadata, process, thread, blob.timestamp, blob.payload,
                            self.label_versions.get(blob.labels))

    def _metadata_rows(self, block):
        block.skip(block.u16())         # header size: here without itself
        while block.left():
            row = block.sub(block.u16())
            row.need(row.left(), "metadata row")
            metadata_id, provider = row.varuint(32), row.utf8()
            event_id, name = row.varuint(32), row.utf8()
            for _ in range(row.u16()):
                row.skip(row.u16())     # the description of one field
            self.metadata[metadata_id] = Metadata(provider, event_id, name, _version(row.sub(row.u16())))

    def _sequence_point(self, block):
        block.need(block.left(), "sequence point")
        block.skip(8)
        flags, count = block.u32(), block.u32()
        for _ in range(count):
            thread, number = block.varuint(64), block.varuint(32)
            self.trace.loss.sequence_point(thread, number)
        if flags & FORGET_THREADS:
            self.trace.loss.forget()
            self.processes.clear()
            self.os_threads.clear()
        if flags & FORGET_METADATA:
            self.metadata.clear()
        self.label_versions.clear()
        self.trace.sequence_points += 1

    def _threads_block(self, block):
        while block.left():
            row = block.sub(block.u16())
            row.need(row.left(), "thread row")
            index = row.varuint(64)
            self.processes.pop(index, None)
            self.os_threads.pop(index, None)
            while row.left():
                kind = row.u8()
                if kind == 1:
                    row.utf8()
                elif kind == 2:
                    self.processes[index] = row.varuint(64)
                elif kind == 3:
                    self.os_threads[index] = row.varuint(64)
                elif kind == 4:
                    row.utf8(), row.utf8()
                else:
                    break               # unknown entry: its length is unknown, too

    def _remove_threads(self, block):
        block.need(block.left(), "RemoveThread block")
        while block.left():
            thread, number = block.varuint(64), block.varuint(32)
            self.trace.loss.sequence_point(thread, number)
            self.trace.loss.forget(thread)
            self.processes.pop(thread, None)
            self.os_threads.pop(thread, None)

    def _labels(self, block):
        """Only a version label matters to a heap reader; the others are stepped over."""
        block.need(block.left(), "label list")
        first, count = block.u32(), block.u32()
        for index in range(first, first + count):
            kind = 0
            while not kind & LAST_LABEL:
                kind = block.u8()
                label = kind & ~LAST_LABEL
                if label in (1, 2, 3):
                    block.skip(16)
                elif label in (4, 8):
                    block.skip(8)
                elif label == 5:
                    block.utf8(), block.utf8()
                elif label == 6:
                    block.utf8(), block.varuint(64)
                elif label in (7, 9):
                    block.skip(1)
                elif label == VERSION_LABEL:
                    self.label_versions[index] = block.u8()
                else:
                    raise Corrupt(block.pos - 1, f"label of kind {label}")

    def _skipped(self, block):
        block.skip(block.left())


def _version(options):
    """The event version among the optional metadata; without one it is 0."""
    version = 0
    while options.left():
        kind = options.u8()
        if kind in (1, 8):
            options.skip(1)
        elif kind == 3:
            options.skip(8)
        elif kind in (4, 5):
            options.utf8()
        elif kind == 6:
            options.utf8(), options.utf8()
        elif kind == 7:
            options.skip(16)
        elif kind == 9:
            version = options.u8()
        else:
            break                       # unknown element: the rest of this list cannot be read
    return version
