"""Bounded reading of little-endian bytes.

The whole decoder rests on one distinction (nettrace.md section 12): a file whose bytes *end early* is truncated, a
file whose bytes *lie* is corrupt.  A Cursor therefore knows two ends: `end`, where the enclosing structure says it
ends, and the end of the data that really arrived.  Asking beyond `end` is Corrupt, asking beyond the data is Truncated.
"""

import struct


class BadInput(Exception):
    """Base of the two verdicts; carries the file offset at which reading stopped."""

    def __init__(self, offset, message):
        super().__init__(message)
        self.offset = offset


class Corrupt(BadInput):
    """The bytes contradict the format."""


class Truncated(BadInput):
    """The bytes end before the structure does."""


ENDLESS = 1 << 63       # a file does not declare its own end: whatever is missing there is truncation


class Cursor:
    """A window [pos, end) of the file; `end` may lie beyond the bytes that arrived."""

    __slots__ = ("data", "pos", "end")

    def __init__(self, data, pos=0, end=None):
        self.data = data
        self.pos = pos
        self.end = ENDLESS if end is None else end

    def need(self, count, what="field"):
        if count < 0 or count > self.end - self.pos:
            raise Corrupt(self.pos, f"{what} of {count} bytes does not fit its container")
        if count > len(self.data) - self.pos:
            raise Truncated(self.pos, f"end of data inside a {what}")

    def left(self):
        return self.end - self.pos

    def sub(self, count):
        """A window of `count` bytes from here; this cursor moves past it.

        Only the declared size is checked, so that the part of a cut block that arrived can still be read.
        """
        if count < 0 or count > self.end - self.pos:
            raise Corrupt(self.pos, f"{count} bytes do not fit their container")
        inner = Cursor(self.data, self.pos, self.pos + count)
        self.pos += count
        return inner

    def skip(self, count):
        self.need(count)
        self.pos += count

    def take(self, count, what="byte string"):
        """The next bytes as a view: nothing is copied."""
        self.need(count, what)
        view = memoryview(self.data)[self.pos:self.pos + count]
        self.pos += count
        return view

    def _number(self, layout, size):
        self.need(size, "number")
        value = layout.unpack_from(self.data, self.pos)[0]
        self.pos += size
        return value

    def u8(self):
        self.need(1, "byte")
        value = self.data[self.pos]
        self.pos += 1
        return value

    def u16(self):
        return self._number(_U16, 2)

    def u32(self):
        return self._number(_U32, 4)

    def i32(self):
        return self._number(_I32, 4)

    def u64(self):
        return self._number(_U64, 8)

    def i64(self):
        return self._number(_I64, 8)

    def varuint(self, bits):
        """7 bits per byte, lowest group first; at most 5 bytes for 32 bits and 10 for 64 (section 5)."""
        start, value, shift = self.pos, 0, 0
        while True:
            byte = self.u8()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
            if shift >= bits:
                raise Corrupt(start, f"variable-length number longer than {bits} bits")
        if value >> bits:
            raise Corrupt(start, f"variable-length number above {bits} bits")
        return value

    def utf8(self):
        """A V6 string: byte count, then UTF-8."""
        return bytes(self.take(self.varuint(32), "string")).decode("utf-8", "replace")


_U16, _U32, _U64 = struct.Struct("<H"), struct.Struct("<I"), struct.Struct("<Q")
_I32, _I64 = struct.Struct("<i"), struct.Struct("<q")


def utf16z(data, pos):
    """The zero-terminated UTF-16 string at `pos` of `data` (bytes) and the position after it.

    Raises ValueError without a terminator: every string read needs a bound (gc-events.md section 2).
    Lone surrogates become U+FFFD, as gclog.md section 5 requires.
    """
    end = data.find(b"\0\0", pos)
    while end >= 0 and (end - pos) % 2:      # two zero bytes that belong to two different units
        end = data.find(b"\0\0", end + 1)
    if end < 0:
        raise ValueError("UTF-16 string without terminator")
    return data[pos:end].decode("utf-16-le", "replace"), end + 2
