#!/usr/bin/env python3
"""Check a gclog file against the trace it was made from.

    gclog_check.py TRACE GCLOG [--name NAME | --no-name-check]

The file must follow the grammar of gclog.md section 1 and contain exactly what the reference reader finds in the trace.
Exit: 0 and a one-line summary, 1 and one line per difference (at most 20), 2 when there is nothing to compare.
"""

import argparse
import re
import sys
import zlib

from gc_heap import assemble
from gclog_expect import Expectation, application_name
from nettrace_ref import load, read_file
from trace_model import Unsupported

MOST_DIFFERENCES = 20
ORDER = "atroc"
HEX = rb"(?:0|[1-9a-f][0-9a-f]{0,15})"
STAMP = rb"(?:0|[1-9a-f][0-9a-f]{0,7})"
GRAMMAR = {
    "a": re.compile(rb"a 2 ([^\0\r\n]+) (" + STAMP + rb")"),
    "t": re.compile(rb"t (" + HEX + rb") ([^\0\r\n]+)"),
    "r": re.compile(rb"r (" + HEX + rb") ([0-5]) (" + HEX + rb")(?: (" + HEX + rb"))?"),
    "o": re.compile(rb"o (" + HEX + rb") (" + HEX + rb") (" + HEX + rb")((?: " + HEX + rb")*)"),
    "c": re.compile(rb"c ([^\0\r\n]+) (" + STAMP + rb")"),
}
# the checksum of all before it, in the last type record
SUM = re.compile(rb"t (" + HEX + rb") \[gcdumpc (?:in)?(?:complete|unverified) crc32=([0-9a-f]+) objects=" + HEX + rb" references=" + HEX + rb"\]\n")
LABELS = {
    "a": ("name", "stamp"),
    "t": ("id", "name"),
    "r": ("object", "kind", "flags", "container"),
    "o": ("id", "type", "size", "references"),
    "c": ("name", "stamp"),
}


class TooMany(Exception):
    """Enough differences were found."""


class Report:
    def __init__(self):
        self.lines = []

    def add(self, text):
        self.lines.append(text)
        if len(self.lines) == MOST_DIFFERENCES:
            raise TooMany


class Line:
    """One record of the file: its letter and the fields the grammar gives it."""

    __slots__ = ("number", "raw", "letter")

    def __init__(self, number, raw):
        self.number = number
        self.raw = raw
        self.letter = raw[:1].decode("latin-1")

    def fields(self):
        """None when the line breaks the grammar."""
        pattern = GRAMMAR.get(self.letter)
        match = pattern.fullmatch(self.raw) if pattern else None
        if match is None or not _is_utf8(self.raw):
            return None
        return match.groups(b"")

    def key(self):
        """What makes two records the same one, for finding the place again after a missing or extra line."""
        parts = self.raw.split(b" ")
        return b" ".join(parts[:2]) if self.letter in "to" else self.raw


def _is_utf8(raw):
    try:
        raw.decode("utf-8")
        return True
    except UnicodeDecodeError:
        return False


def split_lines(data, report):
    """The records of the file by letter.  Also checks what concerns the file as a whole: end, order, one section."""
    if data and not data.endswith(b"\n"):
        report.add("the last line does not end in LF")
        data += b"\n"
    at = data.rfind(b"\nt ") + 1
    checksum = SUM.match(data, at)
    if checksum:
        if zlib.crc32(data[:at]) != int(checksum[2], 16):
            report.add("the checksum is wrong")
        data = data[:at] + data[checksum.end():]
    groups = {letter: [] for letter in ORDER}
    place, previous = 0, ""
    for number, raw in enumerate(data.split(b"\n")[:-1], 1):
        line = Line(number, raw)
        position = ORDER.find(line.letter) if line.letter else -1
        if position >= 0:
            groups[line.letter].append(line)
        if position < 0:
            report.add(f"line {number}: no record: {shown(raw)}")
        elif position >= place:
            place = position
        elif line.letter != previous:           # once per run of such lines
            report.add(f"line {number}: record {line.letter} after record {ORDER[place]}")
        previous = line.letter
    for letter in "ac":
        if len(groups[letter]) != 1:
            report.add(f"{len(groups[letter])} {letter} records instead of one")
    return groups


def shown(raw):
    text = raw.decode("utf-8", "backslashreplace") if isinstance(raw, bytes) else raw
    return text if len(text) <= 100 else text[:97] + "..."


def pair(expected, found):
    """Expected and found records side by side; None stands for one that has no partner.

    Looks one record ahead on both sides, so that a single missing or extra line is reported as such.
    """
    expected, found = iter(expected), iter(found)
    want, have = next(expected, None), next(found, None)
    while want or have:
        if want and have and want.raw != have.raw and want.key() != have.key():
            next_want, next_have = next(expected, None), next(found, None)
            if next_want and next_want.key() == have.key():
                yield want, None
                yield next_want, have
                want, have = next(expected, None), next_have
            elif next_have and next_have.key() == want.key():
                yield None, have
                yield want, next_have
                want, have = next_want, next(found, None)
            else:
                yield want, have
                want, have = next_want, next_have
        else:
            yield want, have
            want, have = next(expected, None), next(found, None)


def compare(expected, found, report):
    """One group of records.  Returns how many there are and how many references they carry."""
    count = references = 0
    for want, have in pair(expected, found):
        count += 1
        if have is None:
            report.add(f"missing: {shown(want.raw)}")
        elif want is None:
            report.add(f"line {have.number}: too much: {shown(have.raw)}")
        elif want.raw == have.raw:
            references += max(0, want.raw.count(b" ") - 3) if want.letter == "o" else 0
        else:
            report.add(difference(want, have))
    return count, references


def difference(want, have):
    fields = have.fields()
    if fields is None:
        return f"line {have.number}: not by the grammar: {shown(have.raw)} (expected: {shown(want.raw)})"
    wrong = [field_difference(label, got, wanted)
             for label, got, wanted in zip(LABELS[have.letter], fields, want.fields() or ()) if got != wanted]
    return f"line {have.number}: {have.letter} {shown(fields[0])}: " + ", ".join(wrong)


def field_difference(label, got, wanted):
    if label != "references":
        return f"{label} {shown(got)!r} instead of {shown(wanted)!r}"
    got, wanted = got.split(), wanted.split()
    if len(got) != len(wanted):
        return f"{len(got)} references instead of {len(wanted)}"
    place = next(at for at in range(len(got)) if got[at] != wanted[at])
    return f"reference {place + 1} is {shown(got[place])} instead of {shown(wanted[place])}"


def check(trace, heap, name, data, name_check=True, damage=""):
    """The differences as lines of text, and the summary."""
    report = Report()
    counts = {}
    references = 0
    try:
        if damage:
            report.add(damage)
        groups = split_lines(data, report)
        if not name_check:
            name = written_name(groups["a"], name)
        expectation = Expectation(trace, heap, name)
        for letter, texts in (("a", [expectation.begin()]), ("t", expectation.types()), ("r", expectation.roots()),
                              ("o", expectation.objects()), ("c", [expectation.end()])):
            wanted = (Line(0, text.encode("utf-8", "surrogateescape")) for text in texts)
            counts[letter], more = compare(wanted, groups[letter], report)
            references += more
    except TooMany:
        report.lines[-1] += " (further differences not shown)"
    if report.lines:
        return report.lines, ""
    return [], (f"gclog ok: {counts['o']} objects, {references} references, "
                f"{counts['r']} roots, {counts['t']} types")


def written_name(lines, default):
    """The name the file itself gives.  It must still follow the grammar and be the same on both lines."""
    fields = lines[0].fields() if lines else None
    return fields[0].decode("utf-8").strip(" ") if fields else default


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Check a gclog file against its trace.")
    parser.add_argument("trace")
    parser.add_argument("gclog")
    names = parser.add_mutually_exclusive_group()
    names.add_argument("--name", help="the application name to expect")
    names.add_argument("--no-name-check", action="store_true", help="accept any application name")
    options = parser.parse_args(arguments)
    try:
        trace = load(options.trace)
        data, damage = read_file(options.gclog)
    except (OSError, Unsupported) as error:
        print(f"gclog_check: {error}", file=sys.stderr)
        return 2
    heap = assemble(trace)
    if heap is None:
        print(f"gclog_check: no heap dump in {options.trace}", file=sys.stderr)
        return 2
    name = options.name if options.name is not None else application_name(trace, heap, options.trace)
    differences, summary = check(trace, heap, name, data, not options.no_name_check, damage)
    for line in differences:
        print(line)
    if summary:
        print(summary)
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
