"""Event blobs of V4 and V6 blocks, with compressed and plain headers (nettrace.md sections 4 to 6 and 14)."""

from dataclasses import dataclass

from byte_cursor import Corrupt

MASK32 = 0xFFFFFFFF
MASK64 = 0xFFFFFFFFFFFFFFFF
NOT_SORTED = 0x80000000         # set = not sorted, although the public text says otherwise (section 16)


@dataclass(slots=True)
class Blob:
    metadata_id: int
    sequence: int
    capture_thread: int
    thread: int
    timestamp: int
    labels: int             # V6 label list
    is_sorted: bool
    payload: memoryview
    offset: int


def signed64(value):
    return value - (1 << 64) if value >> 63 else value


def read_blobs(block, v6=False):
    """The blobs of one event (or V4 metadata) block; `block` is a cursor at its header."""
    start = block.pos
    header_size = block.u16()
    flags = block.u16()
    if header_size < 20 or header_size > block.end - start:
        raise Corrupt(start, f"block header size {header_size}")
    block.skip(header_size - 4)
    if flags & 1:
        return _compressed(block, v6)
    return _plain_v6(block) if v6 else _plain_v4(block)


def _compressed(block, v6):
    """Each field is kept from the blob before, in this block only: the state starts at zero."""
    metadata_id = sequence = capture = thread = timestamp = labels = size = 0
    while block.left():
        offset = block.pos
        flags = block.u8()
        if flags & 0x01:
            metadata_id = block.varuint(32)
        if flags & 0x02:
            sequence = (sequence + block.varuint(32) + 1) & MASK32
            capture = block.varuint(64)
            block.varuint(32)                       # processor number
        elif v6 or metadata_id:
            sequence = (sequence + 1) & MASK32
        if flags & 0x04:
            thread = block.varuint(64)
        if flags & 0x08:
            block.varuint(32)                       # stack id
        timestamp = (timestamp + block.varuint(64)) & MASK64
        if flags & 0x10:
            if v6:
                labels = block.varuint(32)
            else:
                block.skip(16)                      # activity id
        if flags & 0x20 and not v6:
            block.skip(16)                          # related activity id
        if flags & 0x80:
            size = block.varuint(32)
        payload = block.take(size, "event payload")
        yield Blob(metadata_id, sequence, capture, thread, signed64(timestamp), labels,
                   bool(flags & 0x40), payload, offset)


def _plain_v4(block):
    while block.left():
        offset = block.pos
        blob = block.sub(4 + block_size(block))
        blob.skip(4)
        word, sequence = blob.u32(), blob.u32()
        thread, capture = blob.u64(), blob.u64()
        blob.skip(8)                                # processor, stack id
        timestamp = blob.i64()
        blob.skip(32)                               # the two activity ids
        payload = blob.take(blob.u32(), "event payload")
        blob.skip(blob.left())                      # padding: has to have arrived, too
        yield Blob(word & ~NOT_SORTED, sequence, capture, thread, timestamp, 0,
                   not word & NOT_SORTED, payload, offset)


def _plain_v6(block):
    while block.left():
        offset = block.pos
        blob = block.sub(4 + block_size(block))
        blob.skip(4)
        word, sequence = blob.u32(), blob.u32()
        thread, capture = blob.u64(), blob.u64()
        blob.skip(8)
        timestamp = blob.i64()
        labels = blob.u32()
        payload = blob.take(blob.u32(), "event payload")
        blob.skip(blob.left())
        yield Blob(word & ~NOT_SORTED, sequence, capture, thread, timestamp, labels,
                   not word & NOT_SORTED, payload, offset)


def block_size(block):
    """EventSize of the blob at the cursor, which stays where it is."""
    size = block.u32()
    block.pos -= 4
    return size
