"""Small traces and event payloads, built byte by byte for the self tests.

Nothing here is shared with the decoder: a mistake in reading must not be repeated in writing.  Every file class has the
same four calls (define, events, sequence_point, end), so that one heap can be written in every version.
"""

import struct
from dataclasses import dataclass

CLR = "Microsoft-Windows-DotNETRuntime"
PIPE = "Microsoft-DotNETCore-EventPipe"


def varuint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def z16(text):
    return text.encode("utf-16-le", "surrogatepass") + b"\0\0"


def utf8(text):
    data = text.encode()
    return varuint(len(data)) + data


@dataclass
class Ev:
    """One event to write.  `number` is its sequence number on `thread`."""

    kind: int               # metadata id
    time: int
    payload: bytes = b""
    thread: int = 7
    number: int = 1


def numbered(events):
    """The events with their numbers counted up per thread, as a writer that drops nothing would."""
    last = {}
    for event in events:
        event.number = last[event.thread] = last.get(event.thread, 0) + 1
    return list(events)


# -- containers ------------------------------------------------------------------------------------------------------

class V4File:
    """Also the base of V3: the object framing is the same."""

    version = 4
    begin_tag = 5

    def __init__(self, pointer_size=8, pid=1234, sync=1000, frequency=1_000_000, compressed=True):
        self.data = bytearray(b"Nettrace" if self.version == 4 else b"")
        self.data += struct.pack("<i", 20) + b"!FastSerialization.1"
        self.compressed = compressed
        self.object("Trace", self.version, struct.pack("<8Hqqiiii", 2024, 5, 2, 7, 10, 0, 0, 0, sync, frequency,
                                                      pointer_size, pid, 2, 1000000))

    def object(self, name, version, body):
        tag = self.begin_tag
        self.data += bytes([tag, tag, 1]) + struct.pack("<iii", version, version, len(name)) + name.encode()
        self.data += b"\x06" + body + b"\x06"

    def block(self, name, body, version=2):
        header = 3 + 12 + len(name) + 1 + 4         # what object() writes before the body, and BlockSize
        padding = -(len(self.data) + header) % 4
        self.object(name, version, struct.pack("<i", len(body)) + bytes(padding) + body)

    def block_start(self, name):
        """The file offset at which the content of the next block `name` will begin."""
        offset = len(self.data) + 3 + 12 + len(name) + 1 + 4
        return offset + -offset % 4

    def header(self, flags):
        return struct.pack("<HHqq", 20, flags, 0, 0)

    def record(self, kind, provider, event_id, version=0, name="", tail=struct.pack("<i", 0)):
        """A metadata record; `tail` is what follows Level."""
        return (struct.pack("<i", kind) + z16(provider) + struct.pack("<i", event_id) + z16(name)
                + struct.pack("<qii", 0, version, 4) + tail)

    def define(self, *rows, **options):
        blobs = b""
        for row in rows:
            record = self.record(*row, **options)
            # as the runtime writes its first metadata blob: size, sorted, thread and capture group
            blobs += (b"\xc6" + varuint(0xFFFFFFFF) + varuint(7) + varuint(0) + varuint(7) + varuint(0)
                      + varuint(len(record)) + record)
        self.block("MetadataBlock", self.header(1) + blobs)

    def events(self, *events):
        if self.compressed:
            body = self.header(1) + compressed_blobs(events)
        else:
            body = self.header(0) + plain_blobs(events, self.block_start("EventBlock") + 20)
        self.block("EventBlock", body)

    def stacks(self):
        self.block("StackBlock", struct.pack("<III", 1, 1, 0))

    def sequence_point(self, time, entries=()):
        self.block("SPBlock", struct.pack("<qI", time, len(entries))
                   + b"".join(struct.pack("<QI", *entry) for entry in entries))

    def end(self):
        self.data += b"\x01"
        return bytes(self.data)


def compressed_blobs(events, v6=False):
    """Every field is written in every blob; what may be left out is tested with bytes written by hand."""
    out, last_time, last_number = b"", 0, 0
    for event in events:
        out += bytes([0x80 | 0x40 | 0x0F]) + varuint(event.kind)
        out += varuint((event.number - last_number - 1) & 0xFFFFFFFF) + varuint(event.thread) + varuint(0)
        out += varuint(event.thread) + varuint(1)
        out += varuint((event.time - last_time) & 0xFFFFFFFFFFFFFFFF) + varuint(len(event.payload)) + event.payload
        last_time, last_number = event.time, event.number
    return out


def plain_blobs(events, offset):
    out = b""
    for event in events:
        body = struct.pack("<IIQQIIq16s16sI", event.kind | 0x80000000, event.number, event.thread, event.thread, 0, 1,
                           event.time, b"", b"", len(event.payload)) + event.payload
        body += bytes(-(offset + len(out) + 4 + len(body)) % 4)
        out += struct.pack("<I", len(body)) + body
    return out


class V3File(V4File):
    version = 3
    begin_tag = 4

    def define(self, *rows):
        blobs = b"".join(self.blob(0, 7, 0, self.record(*row)) for row in rows)
        self.block("EventBlock", blobs, 1)

    def events(self, *events):
        blobs = b"".join(self.blob(event.kind, event.thread, event.time, event.payload) for event in events)
        self.block("EventBlock", blobs, 1)

    def blob(self, kind, thread, time, payload):
        body = struct.pack("<IIq16s16sI", kind, thread, time, b"", b"", len(payload)) + payload
        body += struct.pack("<IQ", 8, 0xDEAD)           # a stack of one frame
        body += bytes(-len(body) % 4)
        return struct.pack("<I", len(body)) + body

    def sequence_point(self, time, entries=()):
        """V3 has none."""


class V6File:
    def __init__(self, pointer_size=8, pid=1234, sync=1000, frequency=1_000_000, compressed=True):
        self.data = bytearray(b"Nettrace" + struct.pack("<III", 0, 6, 3))
        self.compressed = compressed
        keys = b"".join(map(utf8, ("ProcessId", str(pid), "HardwareThreadCount", "2")))
        self.block(1, struct.pack("<8Hqqii", 2024, 5, 2, 7, 10, 0, 0, 0, sync, frequency, pointer_size, 2) + keys)

    def block(self, kind, body):
        self.data += struct.pack("<I", len(body) | kind << 24) + body

    def define(self, *rows, fields=b""):
        body = struct.pack("<H", 3) + b"???"            # a header of three unknown bytes
        for kind, provider, event_id, *version in rows:
            options = b"\x08\x04" + (b"\x09" + bytes(version) if version else b"")
            row = (varuint(kind) + utf8(provider) + varuint(event_id) + utf8("")
                   + struct.pack("<H", bool(fields)) + fields
                   + struct.pack("<H", len(options)) + options + b"rest")
            body += struct.pack("<H", len(row)) + row
        self.block(3, body)

    def threads(self, *rows):
        """rows: (index, OS process id, OS thread id)"""
        body = b""
        for index, process, thread in rows:
            row = (varuint(index) + b"\x01" + utf8("worker") + b"\x02" + varuint(process) + b"\x03" + varuint(thread))
            body += struct.pack("<H", len(row)) + row
        self.block(6, body)

    def events(self, *events, labels=0):
        header = struct.pack("<HHqq", 24, int(self.compressed), 0, 0) + b"more"
        if self.compressed:
            self.block(2, header + compressed_blobs(events, v6=True))
            return
        out = b""
        for event in events:
            body = struct.pack("<IIQQIIqII", event.kind | 0x80000000, event.number, event.thread, event.thread, 0, 1,
                               event.time, labels, len(event.payload)) + event.payload
            out += struct.pack("<I", len(body)) + body
        self.block(2, header + out)

    def sequence_point(self, time, entries=(), flags=0):
        self.block(4, struct.pack("<QII", time, flags, len(entries))
                   + b"".join(varuint(thread) + varuint(number) for thread, number in entries))

    def remove_threads(self, *entries):
        self.block(7, b"".join(varuint(thread) + varuint(number) for thread, number in entries))

    def end(self):
        self.block(0, b"")
        return bytes(self.data)


# -- payloads --------------------------------------------------------------------------------------------------------

class Payloads:
    """Payloads of gc-events.md for one pointer size."""

    def __init__(self, pointer_size=8):
        self.p = "Q" if pointer_size == 8 else "I"

    @staticmethod
    def gc_start(number=1, depth=2, reason=1, kind=0):
        return struct.pack("<IIIIHQ", number, depth, reason, kind, 0, 0)

    @staticmethod
    def gc_end(number=1):
        return struct.pack("<IIH", number, 2, 0)

    def _bulk(self, index, layout, records):
        return (struct.pack("<IIH", index, len(records), 0)
                + b"".join(struct.pack("<" + layout.replace("P", self.p), *record) for record in records))

    def nodes(self, index, *records):
        """(address, size, type, edges)"""
        return self._bulk(index, "PQQQ", records)

    def edges(self, index, *targets):
        return self._bulk(index, "PI", [(target, 0) for target in targets])

    def roots(self, index, *records):
        """(address, kind, flags, id)"""
        return self._bulk(index, "PBIP", records)

    def dependents(self, index, *records):
        """(key, value)"""
        return self._bulk(index, "PPP", [(*record, 0xF00) for record in records])

    @staticmethod
    def ccws(*addresses):
        return struct.pack("<IH", len(addresses), 0) + b"".join(
            struct.pack("<QQQQIII", 0xF8, address, 0, 0, 1, 0, 1) for address in addresses)

    @staticmethod
    def rcws(*addresses):
        return struct.pack("<IH", len(addresses), 0) + b"".join(
            struct.pack("<QQQQII", address, 0, 0, 0, 1, 0) for address in addresses)

    @staticmethod
    def statics(*records):
        """(address, type, field name)"""
        return struct.pack("<IQH", len(records), 0xA, 0) + b"".join(
            struct.pack("<QQQI", 0xF10, address, type_id, 0) + z16(name) for address, type_id, name in records)

    @staticmethod
    def types(*records):
        """(type id, name[, flags, name id, parameters])"""
        out = struct.pack("<IH", len(records), 0)
        for type_id, name, *more in records:
            flags, name_id, parameters = more or (0, 0x02000001, ())
            out += struct.pack("<QQIIB", type_id, 0x30, name_id, flags, 0x12) + z16(name)
            out += struct.pack(f"<I{len(parameters)}Q", len(parameters), *parameters)
        return out

    def generation_range(self, generation, start, used):
        return struct.pack(f"<B{self.p}QQH", generation, start, used, used, 0)

    @staticmethod
    def process_info(command_line):
        return z16(command_line) + z16("Linux") + z16("x64")
