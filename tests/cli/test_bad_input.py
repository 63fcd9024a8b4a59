"""Inputs that are damaged or are not recordings: one clear line, the right exit status, nothing left behind."""
import base64
import gzip
import os
import random
import re
import shutil
import struct
import subprocess
import unittest

from cli_support import SPARSE, CliTest, Ev, V4File, main, numbered, shop_events, small_trace, trace, trace_bytes, types_trace, write

NOT_A_TRACE = (r"(is neither a recording \(\.nettrace, \.etl\) nor a core file, nor a dump in \.gclog, \.gcdump or \.dartheap; other formats are written only, "
               r"and summaries of dumps are for gcdumpc trend|"
               r'is neither an \.etl nor a \.nettrace recording \(that should begin with "Nettrace" or "!FastSerialization\.1"\) \(at byte 0\))')    # info --events
ENDS_EARLY = r"the recording ends early: .* \(at byte {}\)"
HEADER = r"the file ends within its header \(at byte {}\)"
READERS = (["info"], ["report"], ["info", "--json"], ["report", "--json"], ["convert", "-o", "old"])
EVENTS = (["info", "--events"],)


def object_v4(name, body):
    """An object of the serializer, by hand."""
    return (b"\x05\x05\x01" + struct.pack("<iii", 4, 4, len(name)) + name + b"\x06" + body + b"\x06")


# A recording with a header and nothing else, by hand: 2024-05-07 10:00, clock, pointer size, process, processors, sampling.
HEADER_V4 = b"Nettrace" + struct.pack("<i", 20) + b"!FastSerialization.1" + object_v4(
    b"Trace", struct.pack("<8Hqqiiii", 2024, 5, 2, 7, 10, 0, 0, 0, 1000, 1000000, 8, 1234, 2, 1000000))


class BadInput(CliTest):
    commands = READERS

    def setUp(self):
        super().setUp()
        self.put("old", b"the output of another day")

    def refused_by_all(self, name, pattern, **options):
        for command in self.commands[::SPARSE]:
            self.refused(1, rf"{re.escape(name)}: {pattern}", *command, name, **options)

    def data_refused(self, name, data, pattern):
        """As file and through a pipe."""
        self.refused_by_all(self.put(name, data), pattern)
        for command in self.commands[::SPARSE]:
            self.refused(1, f"standard input: {pattern}", *command, "-", data=data)


class ChangedOnTheWay(BadInput):
    def test_transfers_as_text(self):
        for name in ("in.gcdump", "in.dartheap"):
            self.done("convert", trace("net10-wks"), "-o", name, "-q")
        for data in (trace_bytes("net10-wks"), self.get("in.gcdump"), self.get("in.dartheap")):
            self.refused_by_all(self.put("lines", data.replace(b"\n", b"\r\n")), r"was changed on the way: its line ends were converted .*without -t.*")
            text = data[:100000].decode("cp437").replace("\n", "\r\n")
            for code in ("utf-16", "utf-8-sig"):
                self.data_refused("unicode", text.encode(code), r"is text in Unicode: the > of PowerShell .*")
            self.data_refused("encoded", base64.encodebytes(data[:100000]), r"is encoded in base64; base64 -d .*")
        self.data_refused("encoded", base64.encodebytes(gzip.compress(data[:100000])), r"is encoded in base64; base64 -d .*")


    def test_gzip_as_text(self):
        """Said in the refusal, or as the reason of an incomplete dump; not of other damage."""
        with open(trace("net10-wks"), "rb") as f:
            packed = f.read()
        self.data_refused("lines.gz", packed.replace(b"\n", b"\r\n"), r".*the gzip data are damaged: its line ends were converted .*without -t.*")
        at = packed.index(b"\n", len(packed) // 2)
        run = self.done("info", self.put("late.gz", packed[:at] + packed[at:].replace(b"\n", b"\r\n")), code=3)
        self.assertNotIn("line ends", run.err.decode())      # its first half shows that no transfer has done this


class NoRecording(BadInput):
    commands = READERS + EVENTS

    def test_empty(self):
        self.data_refused("empty", b"", r"the input is empty.*")
        self.data_refused("empty.gz", gzip.compress(b""), r"the input is empty.*")
        self.refused_by_all("/dev/null", r"the input is empty.*")

    def test_not_there(self):
        self.refused_by_all("missing", r"cannot open: No such file or directory; gcdumpc --pid N -o FILE\.nettrace records a process")
        self.refused_by_all("missing/file", "cannot open: No such file or directory; .*")
        self.refused_by_all("old/file", "cannot open: Not a directory")
        self.refused_by_all("n" * 256, "cannot open: File name too long")
        os.symlink("loop", self.path("loop"))
        self.refused_by_all("loop", "cannot open: Too many levels of symbolic links")

    def test_folder(self):
        os.mkdir(self.path("folder"))
        for name in ("folder", "folder/", "."):
            self.refused_by_all(name, "is a directory, not a recording; name a file")
        fd = os.open(self.dir, os.O_RDONLY)
        self.addCleanup(os.close, fd)
        self.refused(1, "standard input: is a directory, not a recording; name a file", "info", "-", stdin=fd)

    def test_unreadable(self):
        self.put("secret", small_trace())
        os.chmod(self.path("secret"), 0)
        options = self.as_nobody()
        for command in self.commands:
            run = self.gcdumpc(*command, "secret", **options)
            self.assertEqual((run.code, run.err), (1, b"gcdumpc: secret: cannot open: Permission denied; run gcdumpc "
                                                   b"as the owner, or as root\n"))

    def test_closed_standard_input(self):
        self.refused(1, "standard input: cannot .*: Bad file descriptor", "info", "-", stdin=None, preexec_fn=lambda: os.close(0))

    def test_other_files(self):
        for name, data in (
                ("text", b"hello\n"), ("N", b"N0"), ("zeros", bytes(100000)), ("html", b"<!doctype html>\n" * 500),
                ("pe", b"MZ\x90\0\3\0\0\0" + bytes(1000)),
                ("png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1"),
                ("etl", bytes(4) + b"\0\4\1\0" + bytes(60000)),
                ("json", b'{"schema": 1}'), ("lower", b"nettrace" + bytes(50))):
            self.data_refused(name, data, NOT_A_TRACE)
            self.data_refused(name + ".gz", gzip.compress(data), NOT_A_TRACE)
        self.data_refused("zip", b"PK\3\4\x14\0\0\0\b\0" + bytes(100), r"is a ZIP archive \(\.nettrace\.zip, \.etl\.zip, .*unpack it.*")

    def test_files_that_have_to_be_unpacked_first_and_other_memory(self):
        no_events = NOT_A_TRACE.rpartition("|")[2].removesuffix(")")            # info --events
        self.data_refused("packed", b"\x28\xb5\x2f\xfd" + b"\xff" * 1000, rf"(is compressed with zstd: zstd -dc FILE .*|the zstd data (are damaged|end early): .*|{no_events})")
        self.data_refused("packed.gz", b"\x1f\x8b" + b"\xff" * 1000, r"the gzip data are damaged: .*")
        for program, magic in (("lz4", b"\x04\x22\x4d\x18"), ("xz", b"\xfd7zXZ\0"), ("bzip2", b"BZh9")):
            self.data_refused("packed", magic + bytes(1000), rf"(is compressed with {program}: {program} -dc FILE \| gcdumpc COMMAND - reads it|{no_events})")
        self.data_refused("dmp", b"MDMP\x93\xa7" + bytes(1000), f"(is a memory dump of Windows; .* core files of Linux can be read|{no_events})")
        self.data_refused("elf", b"\x7fELF\2\1\1\0" + bytes(8) + b"\3\0>\0\1\0\0\0" + bytes(4000),
                          f"(is a program or a library, not a core file|{no_events})")

    @unittest.skipUnless(shutil.which("zstd"), "no zstd on this machine")
    def test_zstd(self):
        def pack(data):
            return subprocess.run(["zstd", "-q", "-c"], input=data, capture_output=True, check=True).stdout

        def report(data, code=None):
            run = self.gcdumpc("report", self.put("packed", data))
            self.assertIn(run.code, (1, 3) if code is None else (code,), run.err)
            return run

        plain = trace_bytes("net10-wks")
        packed = pack(plain)
        if b"is compressed with zstd" in self.gcdumpc("report", self.put("packed", packed)).err:
            self.skipTest("this program is built without libzstd")
        whole = report(plain, 0).out
        self.assertEqual(report(packed, 0).out, whole)
        self.assertEqual(self.done("report", "-", data=packed).out, whole)
        self.assertEqual(report(pack(plain[:10000]) + pack(plain[10000:]), 0).out, whole)        # frames in sequence
        for end in 1, 4, 20, len(packed) // 2, len(packed) - 1:
            self.assertIn(b"the zstd data end early", report(packed[:end]).err, end)
        damaged = bytearray(packed)
        damaged[len(packed) // 2] ^= 255
        self.assertIn(b"the zstd data are damaged", report(bytes(damaged), 3).err)

    def test_other_files_of_the_same_serializer(self):
        for tag, name, shown in ((4, b"Graphs.MemoryGraph", ".*"), (5, b"EventBlock", "EventBlock"),
                                 (4, b"EventBlock", "EventBlock"), (4, b"a\x1b[31m\nb", r"a\?\[31m\?b")):
            data = (struct.pack("<i", 20) + b"!FastSerialization.1" + bytes([tag, tag, 1]) + struct.pack("<iii", 4, 4, len(name)) + name
                    + b"\x06" + bytes(200))
            self.data_refused("graph.gcdump", data, rf'is not a \.nettrace recording: .* "{shown}" \(at byte 39\)')

    def test_newer_format(self):
        for major in (5, 7, 255):
            self.data_refused("newer", b"Nettrace" + struct.pack("<III", 0, major, 0) + bytes(100), rf"nettrace format {major} .*at byte 12\)")

    def test_damaged_header(self):
        data = bytearray(HEADER_V4)
        data[8] ^= 1
        self.data_refused("header", bytes(data), r'.*"Nettrace".*damaged \(at byte 8\)')


class NoDump(BadInput):
    NEEDS = r"contains no heap dump: a recording needs the provider Microsoft-Windows-DotNETRuntime with keywords 0x1980001, level 4.*"

    def test_nothing_but_a_header(self):
        self.data_refused("header.nettrace", HEADER_V4 + b"\x01", self.NEEDS)

    def test_events_without_a_heap_walk(self):
        """Events of another provider with the ids of heap events, and a GC without a walk."""
        file = V4File()
        file.define((1, "Other-Provider", 18, 0), (2, "Other-Provider", 15, 0), (3, "Microsoft-Windows-DotNETRuntime", 1, 2))
        events = numbered([Ev(kind, 2000 + i, bytes(50)) for i, kind in enumerate((1, 1, 2, 3))])
        file.events(*events)
        file.sequence_point(5000, ((7, len(events)),))
        data = file.end()
        self.data_refused("other.nettrace", data, self.NEEDS)
        self.assertRegex(self.done("info", "--events", "-", data=data).text, r"\n +4 +200 +total\n")

    def test_dump_without_an_object(self):
        self.data_refused("none.nettrace", types_trace(), self.NEEDS)


class Cut(BadInput):
    """Truncated inputs: exit status 1 if they have no object, otherwise 3."""

    def test_in_the_header(self):
        for n in (1, 7, 8, 9, 11, 12, 13, 31):
            self.data_refused("cut", HEADER_V4[:n], HEADER.format(n))
        for n in (32, 33, 40, 60, len(HEADER_V4) - 1, len(HEADER_V4)):
            self.data_refused("cut", HEADER_V4[:n], ENDS_EARLY.format(n))

    def test_anywhere(self):
        whole, seen = small_trace(), []
        for n in [*range(1, len(whole), 41 * SPARSE), len(whole) - 1]:
            run = self.gcdumpc("convert", "-", "-o", "new", "-q", data=whole[:n])
            self.assertIn(run.code, (1, 3))
            self.assertIn(f"at byte {n}", run.err.decode())
            self.assertEqual(os.path.exists(self.path("new")), run.code == 3)
            seen.append(run.code)
            if run.code == 3:
                os.unlink(self.path("new"))
        self.assertEqual(seen, sorted(seen))
        self.assertEqual(set(seen), {1, 3})

    def test_a_real_one(self):
        whole = trace_bytes("net10-wks")
        for n in (113, 2000, 10000):
            self.data_refused("cut", whole[:n], ENDS_EARLY.format(n))
        objects = 0
        for n in (len(whole) // 4, len(whole) // 2, len(whole) * 3 // 4, len(whole) - 1):
            run = self.done("convert", self.put("cut", whole[:n]), "-o", "new", code=3)
            self.assertRegex(run.lines[-3] if n == len(whole) - 1 else run.err.decode(),
                             rf"cut: the dump is incomplete: the recording ends early, at byte {n};")
            self.assertRegex(run.lines[-1], r"\Agcdumpc: new: [\d,]+ objects, .*, INCOMPLETE\Z")
            found = self.get("new").count(b"\no ")
            self.assertGreater(found, objects)
            objects = found
        self.assertEqual(objects, 17646)

    def test_gzip(self):
        with open(trace("net10-wks"), "rb") as f:
            packed = f.read()
        for n in (2, 5, 10, 12):
            self.data_refused("cut.gz", packed[:n], r"the gzip data end early.*")
        for n in (len(packed) // 2, len(packed) - 100):
            run = self.done("report", self.put("cut.gz", packed[:n]), code=3)
            self.assertRegex(run.err.decode(), r"cut.gz: the dump is incomplete: .*(gzip|ends early)")

    def test_gzip_without_its_check_sum(self):
        """The whole recording is there, but it cannot be verified."""
        with open(trace("net10-wks"), "rb") as f:
            packed = f.read()
        for n in (len(packed) - 8, len(packed) - 1):
            run = self.done("report", self.put("cut.gz", packed[:n]), code=3)
            self.assertRegex(run.err.decode(), r"cut.gz: .*gzip data end early")


class Damaged(BadInput):
    def block_size_at(self, data, number):
        """Offset of the size of the event block NUMBER."""
        at = -1
        for _ in range(number):
            at = data.index(b"EventBlock\x06", at + 1)
        return at + len(b"EventBlock\x06")

    def with_size(self, data, at, size):
        return data[:at] + struct.pack("<I", size) + data[at + 4:]

    def test_lying_size_of_the_first_block(self):
        data = trace_bytes("net10-wks")
        at = self.block_size_at(data, 1)
        size = struct.unpack_from("<I", data, at)[0]
        for lie, pattern in ((0xFFFFFFFF, rf"a block of negative size \(at byte {at}\)"),
                             (0x7FFFFFFF, rf"a block of 2147483647 bytes is larger than the limit of 16777216.*\(at byte {at}\).*"),
                             (1 << 24 | 1, rf"a block of 16777217 bytes is larger .*\(at byte {at}\).*"),
                             (size + 4, r"expected the end of an object \(06\), found byte .*: its size is wrong \(at byte \d+\)"),
                             (size - 4, r"expected the end of an object \(06\), found byte .*: its size is wrong \(at byte \d+\)"),
                             (0, r"expected the end of an object \(06\), found byte .*: its size is wrong \(at byte \d+\)")):
            self.data_refused("lying", self.with_size(data, at, lie), pattern)

    def test_lying_size_of_a_later_block(self):
        data = trace_bytes("net10-wks")
        at = self.block_size_at(data, data.count(b"EventBlock\x06") // 2)
        for lie in (0xFFFFFFFF, 0x7FFFFFFF, 1 << 24, 0):
            run = self.done("convert", self.put("lying", self.with_size(data, at, lie)), "-o", "new", code=3)
            self.assertRegex(run.err.decode(), r"lying: the dump is incomplete: the recording (is damaged at byte \d+: |ends early)")

    def test_blocks_as_large_as_allowed(self):
        file = V4File()
        file.block("Padding", bytes(17 << 20))
        self.put("large", write(file, shop_events()))
        self.refused_by_all("large", r"a block of 17825792 bytes is larger than the limit of 16777216.*; --max-block raises it")
        self.assertRegex(self.done("info", "large", "--max-block", "17M").text, r"objects +3\n")

    def test_gzip(self):
        with open(trace("net10-wks"), "rb") as f:
            packed = bytearray(f.read())
        packed[20] ^= 0xFF
        self.data_refused("damaged.gz", bytes(packed), r".*gzip data are damaged.*")
        packed[20] ^= 0xFF
        packed[len(packed) // 2] ^= 0xFF
        run = self.done("report", self.put("damaged.gz", bytes(packed)), code=3)
        self.assertRegex(run.err.decode(), r"damaged.gz: the dump is incomplete: the recording (is damaged|ends early)")

    def test_gzip_with_a_wrong_check_sum(self):
        """One byte of the recording is changed: it must not be called complete."""
        for place in (-8, -1):
            packed = bytearray(gzip.compress(small_trace()))
            packed[place] ^= 0x01
            run = self.done("report", self.put("damaged.gz", bytes(packed)), code=3)
            self.assertRegex(run.err.decode(), r"damaged.gz: .*gzip data are damaged")

    def test_bytes_after_the_end(self):
        whole = small_trace()
        expected = self.done("report", self.put("whole", whole)).text
        run = self.done("report", self.put("more", whole + b"abcdef"))
        self.assertEqual((run.text, run.err), (expected, b"gcdumpc: more: 6 bytes after the end of the recording are ignored\n"))

    def test_any_byte(self):
        """No flipped byte leads to a crash, an endless file or a failure without a message."""
        chance = random.Random(1)
        for whole, times in ((small_trace(), 150 // SPARSE), (trace_bytes("net10-wks"), 50 // SPARSE)):
            for _ in range(times):
                data = bytearray(whole)
                data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
                run = self.gcdumpc("convert", "-", "-o", "new", "-q", data=bytes(data))
                self.assertIn(run.code, (0, 1, 3))
                if run.code == 1:
                    self.assertEqual((len(run.lines), sorted(self.folder())), (1, ["old"]), run)
                else:
                    self.assertRegex(self.get("new").split(b"\n")[-2], rb"\Ac .+ [0-9a-f]+\Z")
                    os.unlink(self.path("new"))
        self.assertEqual(self.get("old"), b"the output of another day")


if __name__ == "__main__":
    main()
