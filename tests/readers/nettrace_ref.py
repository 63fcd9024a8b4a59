#!/usr/bin/env python3
"""Reference reader of .nettrace files and of the GC heap dump in them.

    nettrace_ref.py FILE            a short summary
    nettrace_ref.py FILE --json     one JSON object (the fields are listed in README.md)
    nettrace_ref.py FILE --events   events per provider and id

Written from the format documents alone, to have a second opinion on what the C program reads: it shares no code and no
author with it, and it prefers the plain way to the fast one.
"""

import argparse
import json
import sys
import zlib

import nettrace_v4
import nettrace_v6
from byte_cursor import Corrupt, Cursor, Truncated
from gc_heap import assemble
from trace_model import Trace, Unsupported

GZIP = b"\x1f\x8b"
PIECE = 1 << 16         # small, so that what comes before damage in a gzip file is kept
MAGIC = b"Nettrace"


def read_file(path):
    """The bytes of a file, unwrapped when its content is gzip, and what is wrong with the wrapping ("" = nothing).

    A gzip file that breaks off gives what can be unpacked: the trace inside is then truncated, not unreadable.
    """
    with open(path, "rb") as file:
        data = file.read()
    return gunzip(data) if data[:2] == GZIP else (data, "")


def gunzip(data):
    parts, view, pos = [], memoryview(data), 0
    while data[pos:pos + 2] == GZIP:            # members can follow each other
        member = zlib.decompressobj(wbits=31)
        while not member.eof:
            if pos == len(data):
                return b"".join(parts), "gzip data ends early"
            piece = view[pos:pos + PIECE]
            try:
                parts.append(member.decompress(piece))
            except zlib.error as error:
                return b"".join(parts), f"gzip data damaged: {error}"
            pos += len(piece) - len(member.unused_data)
    return b"".join(parts), ""


def decode(data):
    """The Trace in `data`.  Raises Unsupported when it is no .nettrace file of a known version.

    Damage is not an exception: the Trace says where and why reading stopped, and holds everything before.
    """
    trace = Trace()
    try:
        _decoder(data, trace).run()
    except (Corrupt, Truncated) as error:
        trace.state = "corrupt" if isinstance(error, Corrupt) else "truncated"
        trace.state_detail, trace.state_offset = str(error), error.offset
    return trace


def _decoder(data, trace):
    magic_part = data[:len(MAGIC)]
    if len(data) < 12 and (MAGIC.startswith(magic_part) or nettrace_v4.SERIALIZATION.startswith(data)):
        raise Truncated(len(data), "the stream is empty" if not data else "end of data in the first bytes")
    if magic_part != MAGIC:
        start = 0
    elif data[8:12] == bytes(4):
        return nettrace_v6.Decoder(Cursor(data, 8), trace)
    else:
        start = len(MAGIC)
    mark = nettrace_v4.SERIALIZATION
    if not mark.startswith(data[start:start + len(mark)]):
        raise Unsupported("not a .nettrace file")
    return nettrace_v4.Decoder(Cursor(data, start), trace)


def load(path):
    data, damage = read_file(path)
    trace = decode(data)
    if damage:
        trace.state_detail = f"{trace.state_detail} ({damage})".strip()
    return trace


# -- report ----------------------------------------------------------------------------------------------------------

def event_counts(trace):
    return {f"{provider}/{event_id}": count for (provider, event_id), count in sorted(trace.counts().items())}


def report(trace):
    """Everything about the trace and its dump, ready for JSON."""
    heap = assemble(trace)
    facts = {
        "version": trace.version,
        "v5_metadata": trace.v5_records,
        "pointer_size": trace.pointer_size,
        "pid": heap.process if heap else trace.process,
        "state": trace.state,
        "state_detail": trace.state_detail,
        "state_offset": trace.state_offset,
        "trailing_bytes": trace.trailing_bytes,
        "sequence_points": trace.sequence_points,
        "final_sequence_point": trace.final_sequence_point,
        "lost_events": trace.loss.total,
        "lost_by_thread": {str(thread): count for thread, count in sorted(trace.loss.lost.items())},
        "irregular_sequence_steps": trace.loss.irregular,
        "unknown_metadata": trace.unknown_metadata,
        "bad_metadata": trace.bad_metadata,
        "events": event_counts(trace),
    }
    if heap is None:
        facts.update(objects=0, bytes=0, edges=0, complete=False, reasons=["no heap dump"])
        return facts
    facts.update(heap.report())
    facts["reasons"] = trace_reasons(trace) + heap.reasons()
    facts["complete"] = not facts["reasons"]
    return facts


def trace_reasons(trace):
    """Why the trace as a whole does not allow the verdict "complete" (gc-events.md section 14)."""
    reasons = []
    if trace.state != "closed":
        reasons.append(f"trace {trace.state} at offset {trace.state_offset}: {trace.state_detail}")
    if trace.version == 3:
        reasons.append("loss unknown: V3 has no sequence numbers")
    elif not trace.final_sequence_point:
        reasons.append("loss not verified: no sequence point at the end")
    if trace.loss.total:
        reasons.append(f"{trace.loss.total} events lost")
    if trace.loss.irregular:
        reasons.append(f"loss not verified: {trace.loss.irregular} irregular sequence numbers")
    if trace.unknown_metadata:
        reasons.append(f"{trace.unknown_metadata} events of unknown type")
    return reasons


def summary(facts):
    verdict = "complete" if facts["complete"] else "incomplete: " + "; ".join(facts["reasons"])
    return (f"nettrace V{facts['version']}, {facts['pointer_size']}-byte pointers, pid {facts['pid']}, "
            f"{facts['state']}, {sum(facts['events'].values())} events\n"
            f"{facts['objects']} objects, {facts['bytes']} bytes, {facts['edges']} edges\n{verdict}")


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Reference reader of .nettrace files.")
    parser.add_argument("file")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--json", action="store_true", help="print one JSON object")
    what.add_argument("--events", action="store_true", help="print event counts per provider and id")
    options = parser.parse_args(arguments)
    try:
        trace = load(options.file)
    except (OSError, Unsupported) as error:
        print(f"nettrace_ref: {options.file}: {error}", file=sys.stderr)
        return 1
    if options.events:
        for key, count in event_counts(trace).items():
            print(key, count)
    elif options.json:
        print(json.dumps(report(trace), indent=2, ensure_ascii=False))
    else:
        print(summary(report(trace)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
