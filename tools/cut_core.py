#!/usr/bin/env python3
"""cut_core.py CORE OUT.core.gz PROGRAM [ARGUMENT...]: a core file with only what PROGRAM reads of CORE.

Runs "PROGRAM ARGUMENT... CORE" under strace, notes which bytes it reads, and writes a core file that has these pages and the notes.
"""
import gzip
import re
import struct
import subprocess
import sys
import tempfile

PAGE = 4096
LARGE = 8 << 20


def pages_read(core, command):
    """The numbers of the pages of CORE that COMMAND reads."""
    with tempfile.NamedTemporaryFile("r", suffix=".strace") as log:
        subprocess.run(["strace", "-f", "-e", "trace=pread64", "-o", log.name, *command, core], check=True, stdout=subprocess.DEVNULL)
        pages = set()
        for line in log:
            m = re.search(r"pread64\(\d+,.*, (\d+), (\d+)\) += (\d+)", line)
            if m and int(m.group(3)) > 0:
                off, n = int(m.group(2)), int(m.group(3))
                pages.update(range(off // PAGE, (off + n - 1) // PAGE + 1))
        return pages


def kept(data, pages, at, n):
    """(begin, content) of what is kept of the N bytes at AT: up to LARGE bytes whole, with zeros for what was not read, because a reader
    also asks whether memory is there; of more, only what was read."""
    begin, part = None, b""
    for page in range(at // PAGE, (at + n + PAGE - 1) // PAGE):
        low, high = max(page * PAGE, at), min((page + 1) * PAGE, at + n)
        if page in pages or n <= LARGE and any(p in pages for p in range(at // PAGE, (at + n) // PAGE + 1)):
            begin = low if begin is None else begin
            part += data[low:high] if page in pages else bytes(high - low)
        elif begin is not None:
            yield begin, part
            begin, part = None, b""
    if begin is not None:
        yield begin, part


def main():
    core, out, *command = sys.argv[1:]
    with open(core, "rb") as f:
        data = f.read()
    off, count = struct.unpack_from("<Q", data, 32)[0], struct.unpack_from("<H", data, 56)[0]
    pages, segments = pages_read(core, command), []
    for i in range(count):
        kind, flags, at, address, _, n, _, _ = struct.unpack_from("<IIQQQQQQ", data, off + 56 * i)
        if kind == 4:
            segments.append((4, 0, 0, data[at:at + n]))
        if kind == 1:
            segments += [(1, flags, address + begin - at, content) for begin, content in kept(data, pages, at, n)]
    table, body, at = b"", b"", 64 + 56 * len(segments)
    for kind, flags, address, content in segments:
        table += struct.pack("<IIQQQQQQ", kind, flags, at + len(body), address, 0, len(content), len(content), 1)
        body += content
    header = bytearray(data[:64])
    struct.pack_into("<Q", header, 32, 64)
    struct.pack_into("<H", header, 56, len(segments))
    with open(out, "wb") as raw, gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=9, mtime=0) as f:
        f.write(bytes(header) + table + body)


if __name__ == "__main__":
    main()
