#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Record the heap dump of a running .NET process (5 ... 10, Linux) as a .nettrace file.

It is independent of gcdumpc on purpose: it shares no code with the program that it tests.  It writes the stream as
received, and prints a summary as one line of JSON on standard output.

When is the dump over?  On .NET 5 ... 10 the reply to the command that triggers the collection comes after collection
and heap walk: all events are then sent or in the target's buffers, and a stop sends the rest.
"""

import argparse
import gzip
import json
import os
import shutil
import signal
import socket
import struct
import sys
import tempfile
import threading
import time

PROVIDER = "Microsoft-Windows-DotNETRuntime"
GC_HEAP_COLLECT = 0x800000              # forces the collection
HEAP_SNAPSHOT = 0x1980001               # GC, Type, GCHeapDump, GCHeapCollect, GCHeapAndTypeNames

STOP, COLLECT2, COLLECT4, COLLECT5 = 0x0201, 0x0203, 0x0205, 0x0206
REPLY_OK, REPLY_ERROR = 0xFF00, 0xFFFF
UNKNOWN_COMMAND = 0x80131385
GC_START, GC_END, GC_BULK_NODE, GC_BULK_EDGE, RUNTIME_INFORMATION = 1, 2, 18, 19, 187
RUNDOWN = {"none": 0, "loader": 0x8, "full": 0x80020139}
STREAM_HEADER = 102                     # the bytes that a session sends first


class RecordError(Exception):
    pass


class Refused(RecordError):
    def __init__(self, command, code):
        super().__init__(f"command 0x{command:04x} refused, HRESULT 0x{code:08x}")
        self.code = code


# --- messages ---------------------------------------------------------------------------------------------------------

def find_socket(pid):
    """Uses the target's TMPDIR, not ours.  Containers are not supported."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            variables = dict(v.split(b"=", 1) for v in file.read().split(b"\0") if b"=" in v)
        with open(f"/proc/{pid}/stat", "rb") as file:
            start_time = file.read().rpartition(b")")[2].split()[19].decode()
    except OSError as error:
        raise RecordError(f"cannot inspect process {pid}: {error.strerror}") from error
    directory = os.fsdecode(variables.get(b"TMPDIR") or b"/tmp")
    exact = os.path.join(directory, f"dotnet-diagnostic-{pid}-{start_time}-socket")
    if not os.path.exists(exact):        # a socket with another start time belongs to a process that was killed
        raise RecordError(f"process {pid} has no diagnostics socket")
    return exact


def wire_string(text):
    units = (text + "\0").encode("utf-16-le") if text else b""
    return struct.pack("<I", len(units) // 2) + units


def read_exactly(connection, count):
    data = b""
    while len(data) < count:
        piece = connection.recv(count - len(data))
        if not piece:
            raise RecordError("the target closed the connection without a reply")
        data += piece
    return data


def send(path, command, payload, timeout):
    """Sends one command.  Returns the connection, on which a stream may follow, and the reply's payload."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(timeout)
        connection.connect(path)
        header = struct.pack("<14sHBBH", b"DOTNET_IPC_V1", 20 + len(payload), command >> 8, command & 0xFF, 0)
        connection.sendall(header + payload)
        magic, size, group, number, _ = struct.unpack("<14sHBBH", read_exactly(connection, 20))
        if magic != b"DOTNET_IPC_V1\0" or size < 20:
            raise RecordError("the reply is no diagnostics message")
        body = read_exactly(connection, size - 20)
        reply = group << 8 | number
        if reply == REPLY_ERROR and len(body) >= 4:
            raise Refused(command, struct.unpack_from("<I", body)[0])
        if reply != REPLY_OK:
            raise RecordError(f"unexpected reply 0x{reply:04x}")
        return connection, body
    except BaseException:
        connection.close()
        raise


def collect_requests(buffer_mb, rundown, keywords, level):
    """The commands that can express the request, newest first."""
    # Old runtimes crash on out-of-range values: a buffer of 0, another format, too many providers.
    if not (1 <= buffer_mb <= 4095 and 0 <= level <= 5 and 0 < keywords < 1 << 64):
        raise RecordError("value out of range")
    provider = struct.pack("<QI", keywords, level) + wire_string(PROVIDER) + wire_string("")
    head = struct.pack("<II", buffer_mb, 1)
    rundown_keyword = struct.pack("<Q", RUNDOWN[rundown])
    every_event = struct.pack("<BI", 0, 0)
    one = struct.pack("<I", 1)
    no_stacks = b"\0"
    yield COLLECT5, struct.pack("<I", 0) + head + rundown_keyword + no_stacks + one + provider + every_event
    yield COLLECT4, head + rundown_keyword + no_stacks + one + provider
    if rundown == "loader":
        raise RecordError("this runtime knows rundown none and full only")
    yield COLLECT2, head + (b"\1" if rundown == "full" else b"\0") + one + provider


# --- sessions ---------------------------------------------------------------------------------------------------------

class Session:
    """An open event session; a thread reads its stream into FILE (or discards it) until the target ends it."""

    def __init__(self, path, requests, file, timeout):
        self.path, self.file, self.timeout = path, file, timeout
        self.received, self.last_data, self.failure = 0, time.monotonic(), None
        for command, payload in requests:
            try:
                self.connection, body = send(path, command, payload, timeout)
                break
            except Refused as refused:
                if refused.code != UNKNOWN_COMMAND:
                    raise
        else:
            raise RecordError("the target knows none of the commands that record")
        self.command = command
        self.id = struct.unpack_from("<Q", body)[0]
        self.connection.settimeout(None)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        try:
            while data := self.connection.recv(1 << 20):
                if self.file:
                    self.file.write(data)
                self.received += len(data)
                self.last_data = time.monotonic()
        except OSError as error:
            self.failure = error
        finally:
            self.connection.close()

    def wait_for(self, condition):
        end = time.monotonic() + self.timeout
        while not condition():
            if time.monotonic() > end:
                raise RecordError("no data from the target in time")
            time.sleep(0.01)

    def stop(self):
        """The reader thread keeps reading meanwhile: the target cannot answer before its stream is read."""
        connection, _ = send(self.path, STOP, struct.pack("<Q", self.id), self.timeout)
        connection.close()
        self.wait_end()

    def wait_end(self):
        self.reader.join(self.timeout)
        if self.reader.is_alive():
            raise RecordError("the stream does not end")
        if self.failure:
            raise RecordError(f"cannot read the stream: {self.failure}")


def record(options, file):
    path = find_socket(options.pid)
    opened = []

    def start(keywords, buffer_mb, rundown, sink):
        requests = collect_requests(buffer_mb, rundown, keywords, options.level)
        session = Session(path, requests, sink, options.timeout)
        opened.append(session)
        return session

    try:
        if options.strategy == "single":
            recorder = start(options.keywords, options.buffer, options.rundown, file)
            to_stop = [recorder]
        else:
            # A session that only records streams while the heap is walked; the second one triggers.
            recorder = start(options.keywords & ~GC_HEAP_COLLECT, options.buffer, options.rundown, file)
            recorder.wait_for(lambda: recorder.received >= STREAM_HEADER)
            trigger = start(GC_HEAP_COLLECT, 1, "none", None)
            to_stop = [trigger, recorder] if options.stop_first == "trigger" else [recorder, trigger]
        if options.finish == "kill":
            # Wait until all buffered events are in the file: the target sends them every 100 ms.
            recorder.wait_for(lambda: recorder.received > STREAM_HEADER and time.monotonic() > recorder.last_data + 1)
            os.kill(options.pid, signal.SIGKILL)
            opened.clear()
            recorder.wait_end()
        else:
            for session in to_stop:
                opened.remove(session)
                session.stop()
        return recorder.command
    finally:
        # A session that forces collections must not outlive us.
        for session in opened:
            try:
                session.stop()
            except (RecordError, OSError):
                pass


# --- summary of a recording -------------------------------------------------------------------------------------------

def varuint(data, pos):
    value = shift = 0
    while True:
        byte = data[pos]
        pos += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, pos
        shift += 7


def blobs(block):
    """(metadata id, sequence number, capture thread, time, payload) of the blobs of an event or metadata block."""
    pos = struct.unpack_from("<H", block)[0]
    if not block[2] & 1:
        raise ValueError("uncompressed block")
    kind = sequence = capture = when = size = 0
    while pos < len(block):
        flags = block[pos]
        pos += 1
        if flags & 0x01:
            kind, pos = varuint(block, pos)
        if flags & 0x02:
            delta, pos = varuint(block, pos)
            sequence = (sequence + delta + 1) & 0xFFFFFFFF
            capture, pos = varuint(block, pos)
            _, pos = varuint(block, pos)
        elif kind:
            sequence = (sequence + 1) & 0xFFFFFFFF
        if flags & 0x04:
            _, pos = varuint(block, pos)
        if flags & 0x08:
            _, pos = varuint(block, pos)
        delta, pos = varuint(block, pos)
        when = (when + delta) & 0xFFFFFFFFFFFFFFFF
        pos += 16 * bool(flags & 0x10) + 16 * bool(flags & 0x20)
        if flags & 0x80:
            size, pos = varuint(block, pos)
        yield kind, sequence, capture, when, block[pos:pos + size]
        pos += size


def summarize(data):
    """What can be said without decoding the dump: closed or not, events lost, sums, order of GC start and nodes."""
    ids, last, lost, closed, runtime = {}, {}, 0, False, None
    count = objects = edges = 0
    places = {GC_START: [], GC_END: [], GC_BULK_NODE: [], GC_BULK_EDGE: []}     # in the file
    pos = 32
    while pos < len(data):
        if data[pos] == 1:
            closed = True
            break
        length, = struct.unpack_from("<i", data, pos + 11)
        name = data[pos + 15:pos + 15 + length]
        pos += 15 + length + 1
        if name == b"Trace":
            pos += 48 + 1
            continue
        size, = struct.unpack_from("<i", data, pos)
        pos = (pos + 4 + 3) & ~3
        block = data[pos:pos + size]
        if len(block) < size:
            break
        pos += size + 1
        if name == b"MetadataBlock":
            for _, _, _, _, payload in blobs(block):
                key, = struct.unpack_from("<i", payload)
                end = 4
                while payload[end:end + 2] != b"\0\0":
                    end += 2
                ids[key] = payload[4:end].decode("utf-16-le"), struct.unpack_from("<i", payload, end + 2)[0]
        elif name == b"SPBlock":
            for i in range(struct.unpack_from("<I", block, 8)[0]):
                thread, number = struct.unpack_from("<QI", block, 12 + 12 * i)
                step = (number - last.get(thread, 0)) & 0xFFFFFFFF
                if 0 < step < 1 << 31:
                    lost += step
                    last[thread] = number
        elif name == b"EventBlock":
            for kind, sequence, thread, _, payload in blobs(block):
                step = (sequence - last.get(thread, 0) - 1) & 0xFFFFFFFF
                if step < 1 << 31:
                    lost += step
                    last[thread] = sequence
                provider, event = ids.get(kind, ("", 0))
                if provider == PROVIDER and event in places:
                    places[event].append(count)
                    if event == GC_BULK_NODE:
                        objects += struct.unpack_from("<I", payload, 4)[0]
                    elif event == GC_BULK_EDGE:
                        edges += struct.unpack_from("<I", payload, 4)[0]
                elif provider == PROVIDER + "Rundown" and event == RUNTIME_INFORMATION:
                    runtime = ".".join(str(n) for n in struct.unpack_from("<3H", payload, 4))
                count += 1
    starts, nodes = places[GC_START], places[GC_BULK_NODE]
    return {"bytes": len(data), "closed": closed, "lost": lost, "events": count, "gc_starts": len(starts),
            "gc_ends": len(places[GC_END]), "objects": objects, "edges": edges, "runtime": runtime,
            "start_after_nodes": bool(starts and nodes and min(starts) > min(nodes))}


# --- command line -----------------------------------------------------------------------------------------------------

def number_in(low, high):
    def parse(text):
        value = int(text, 0)
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"not in {low}..{high}: {text}")
        return value
    return parse


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pid", type=number_in(1, 1 << 31), required=True)
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="compressed if the name ends in .gz")
    parser.add_argument("--keywords", type=number_in(1, (1 << 64) - 1), default=HEAP_SNAPSHOT,
                        help="of the runtime provider (default 0x1980001)")
    parser.add_argument("--level", type=number_in(0, 5), default=4)
    parser.add_argument("--buffer", type=number_in(1, 4095), default=256, metavar="MB", help="in the target")
    parser.add_argument("--rundown", choices=RUNDOWN, default="none", help="loader needs .NET 9")
    parser.add_argument("--strategy", choices=("single", "two"), default="single",
                        help="two: one session records, another triggers")
    parser.add_argument("--stop-first", choices=("trigger", "recorder"), default="recorder",
                        help="with --strategy two; up to .NET 9 trigger gives a second dump in the stream")
    parser.add_argument("--finish", choices=("stop", "kill"), default="stop",
                        help="kill: end the target by SIGKILL when the dump has arrived")
    parser.add_argument("--timeout", type=number_in(1, 86400), default=300, metavar="SECONDS")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)       # sessions must be stopped then, too

    try:
        with tempfile.TemporaryFile() as spool:
            command = record(options, spool)
            spool.seek(0)
            summary = summarize(spool.read())
            spool.seek(0)
            with open(options.output, "wb") as output:
                if options.output.endswith(".gz"):
                    # As "gzip -n -9" does: no name, no time, so that equal streams give equal files.
                    with gzip.GzipFile("", "wb", 9, output, mtime=0) as packed:
                        shutil.copyfileobj(spool, packed)
                else:
                    shutil.copyfileobj(spool, output)
    except (RecordError, OSError) as error:
        print(f"record_nettrace: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    print(json.dumps({"command": f"0x{command:04x}", **summary}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
