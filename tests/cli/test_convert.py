"""convert: every kind of input and output gives the same bytes, and an existing file is replaced only by a complete one."""
import gzip
import json
import os
import re
import stat
import subprocess
import threading

from cli_support import SOURCE, CliTest, big_trace, digest, main, small_trace, trace, trace_bytes
from sample_heaps import shop_events, write
from trace_bytes import Ev, Payloads, V4File

# both dumps have the same number of objects, see traces/README.md
TWO_DUMPS = "net8-wks-two-dumps"
LOSSES = r"in the gclog format, \d+ static variables lose their names; \d+ dependent handles become references of their keys"


def feed(pipe, pieces):
    """Writes PIECES one after another from a thread, then closes."""
    def run():
        with pipe:
            for piece in pieces:
                pipe.write(piece)
                pipe.flush()
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


class WaysIn(CliTest):
    """The recording has the process's name, so the file name does not matter."""

    @classmethod
    def setUpClass(cls):
        cls.plain = trace_bytes("net10-wks")
        with open(trace("net10-wks"), "rb") as f:
            cls.packed = f.read()

    def setUp(self):
        super().setUp()
        self.put("plain", self.plain)
        self.put("packed", self.packed)
        self.whole = self.done("convert", "plain", "-o", "-").out

    def test_the_expected_text_is_complete(self):
        lines = self.whole.decode().splitlines()
        self.assertEqual((lines[0], lines[-1]), ("a 2 HeapLab 0", "c HeapLab 0"))
        self.assertEqual(sum(line.startswith("o ") for line in lines), 17646)

    def test_files(self):
        for name in ("plain", "packed", trace("net10-wks")):
            self.assertEqual(self.done("convert", name, "-o", "-").out, self.whole)

    def test_content_decides_not_the_name(self):
        os.rename(self.path("packed"), self.path("a.nettrace"))
        os.rename(self.path("plain"), self.path("b.nettrace.gz"))
        for name in ("a.nettrace", "b.nettrace.gz"):
            self.assertEqual(self.done("convert", name, "-o", "-").out, self.whole)

    def test_several_gzip_members(self):
        half = len(self.plain) // 2
        self.put("members", gzip.compress(self.plain[:half]) + gzip.compress(b"") + gzip.compress(self.plain[half:]))
        self.assertEqual(self.done("convert", "members", "-o", "-").out, self.whole)

    def test_standard_input(self):
        for name in ("plain", "packed"):
            with open(self.path(name), "rb") as f:
                self.assertEqual(self.done("convert", "-", "-o", "-", stdin=f).out, self.whole)
            with open(self.path(name), "rb") as f:
                self.assertEqual(self.done("convert", "/dev/stdin", "-o", "-", stdin=f).out, self.whole)

    def test_standard_input_is_read_from_its_offset(self):
        self.put("tail", b"read by somebody before\n" + self.plain)
        with open(self.path("tail"), "rb", buffering=0) as f:
            f.seek(24)
            self.assertEqual(self.done("convert", "-", "-o", "-", stdin=f).out, self.whole)

    def test_pipe(self):
        for data in (self.plain, self.packed):
            self.assertEqual(self.done("convert", "-", "-o", "-", data=data).out, self.whole)
            self.done("convert", "-", "-o", "out", data=data)
            self.assertEqual(self.get("out"), self.whole)
        self.assertEqual(sorted(self.folder()), ["out", "packed", "plain"])

    def test_pipe_in_small_pieces(self):
        for data in (self.plain, self.packed):
            process = self.start("convert", "-", "-o", "-", stdin=subprocess.PIPE)
            pieces = [data[i:i + 1] for i in range(200)] + [data[i:i + 997] for i in range(200, len(data), 997)]
            thread = feed(process.stdin, pieces)
            process.stdin = None
            run = self.finish(process)
            thread.join()
            self.assertEqual((run.code, digest(run.out)), (0, digest(self.whole)))

    def test_named_pipe(self):
        os.mkfifo(self.path("fifo"))
        process = self.start("convert", "fifo", "-o", "-")
        thread = feed(open(self.path("fifo"), "wb"), [self.packed])
        run = self.finish(process)
        thread.join()
        self.assertEqual((run.code, digest(run.out)), (0, digest(self.whole)))

    def test_the_writer_of_a_pipe_is_not_killed(self):
        """Bytes after the end of a compressed recording are read, too."""
        process = self.start("convert", "-", "-o", "-", stdin=subprocess.PIPE)
        run = self.finish(process, self.packed + bytes(1 << 20))
        self.assertEqual(run.out, self.whole)


class WaysOut(CliTest):
    def setUp(self):
        super().setUp()
        self.input = trace("net10-wks")
        self.whole = self.done("convert", self.input, "-o", "-").out

    def convert(self, output, *more, **options):
        return self.done("convert", self.input, "-o", output, *more, **options)

    def test_file(self):
        self.convert("out.gclog")
        self.assertEqual(self.folder(), {"out.gclog": digest(self.whole)})

    def test_gzip(self):
        self.convert("out.gclog.gz")
        packed = self.get("out.gclog.gz")
        self.assertEqual(gzip.decompress(packed), self.whole)
        self.assertLess(len(packed), len(self.whole) // 2)
        self.convert("again.gz")
        self.assertEqual(self.get("again.gz"), packed)
        self.convert("not.gclog.GZ", "-f", "gclog")
        self.assertEqual(self.get("not.gclog.GZ"), self.whole)

    def test_folders_and_strange_names(self):
        os.mkdir(self.path("a folder"))
        for name in ("a folder/x y", "./out", "größe", "a\nb", ".hidden", "*", b"\xff\xfe".decode(errors="surrogateescape")):
            self.convert(self.path(name))
            self.assertEqual(self.get(name), self.whole)
        self.assertEqual(os.listdir(self.path("a folder")), ["x y"])

    def test_longest_name(self):
        for name in ("n" * 255, "n" * 252 + ".gz"):
            self.convert(name)
        self.assertEqual(len(self.folder()), 2)

    def test_only_the_owner_may_read_it(self):
        self.put("old", b"old")
        os.chmod(self.path("old"), 0o644)
        for name in ("new", "old"):
            self.convert(name, umask=0)
            self.assertEqual(stat.S_IMODE(os.stat(self.path(name)).st_mode), 0o600)
            self.assertEqual(self.get(name), self.whole)

    def test_a_file_that_cannot_be_written_is_replaced_like_any(self):
        self.put("old", b"old")
        os.chmod(self.path("old"), 0o400)
        self.convert("old", **self.as_nobody())
        self.assertEqual(os.stat(self.path("old")).st_size, len(self.whole))

    def test_device(self):
        before = os.stat("/dev/null")
        self.convert("/dev/null")
        after = os.stat("/dev/null")
        self.assertTrue(stat.S_ISCHR(after.st_mode))
        self.assertEqual((before.st_ino, before.st_mode), (after.st_ino, after.st_mode))

    def test_named_pipe(self):
        os.mkfifo(self.path("fifo"), 0o666)
        process = self.start("convert", self.input, "-o", "fifo")
        with open(self.path("fifo"), "rb") as f:
            self.assertEqual(f.read(), self.whole)
        self.assertEqual(self.finish(process).code, 0)
        self.assertEqual([stat.S_ISFIFO(mode) for mode in self.folder().values()], [True])

    def test_names_of_standard_output(self):
        for name in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
            self.assertEqual(self.convert(name).out, self.whole)
            with open(self.path("redirected"), "wb") as f:
                self.convert(name, stdout=f)
            self.assertEqual(self.folder(), {"redirected": digest(self.whole)})

    def test_standard_output_is_not_truncated(self):
        with open(self.path("redirected"), "wb", buffering=0) as f:
            f.write(b"before\n")
            self.convert("-", stdout=f)
            f.write(b"after\n")
        self.assertEqual(self.get("redirected"), b"before\n" + self.whole + b"after\n")

    def test_a_symbolic_link_is_replaced_and_its_target_left_alone(self):
        self.put("target", b"old")
        for link, target in (("link", "target"), ("dangling", "missing")):
            os.symlink(target, self.path(link))
            self.convert(link)
            self.assertFalse(os.path.islink(self.path(link)))
        self.assertEqual(self.folder(), {"dangling": digest(self.whole), "link": digest(self.whole), "target": b"old"})

    def test_a_hard_link_is_replaced_and_the_other_name_left_alone(self):
        self.put("brother", b"old")
        os.link(self.path("brother"), self.path("out"))
        self.convert("out")
        self.assertEqual(self.folder(), {"brother": b"old", "out": digest(self.whole)})

    def test_copy_of_a_pipe_goes_beside_the_output(self):
        """So that a small /tmp does not matter; TMPDIR is for outputs without a folder."""
        data = trace_bytes("net10-wks")
        nowhere = {"TMPDIR": self.path("nowhere")}
        self.done("convert", "-", "-o", "out", data=data, env=nowhere)
        self.assertEqual(self.folder(), {"out": digest(self.whole)})
        self.refused(1, r"standard input: .*temporary file.*/nowhere: No such file or directory", "convert", "-", "-o", "-",
                     data=data, env=nowhere)


class Name(CliTest):
    """The program's name: from the recording, else from the file name."""

    def first(self, name, **options):
        return self.done("convert", name, "-o", "-", "-q", **options).text.splitlines()[0]

    def test_from_the_recording(self):
        self.put("other.nettrace", small_trace())
        self.assertEqual(self.first("other.nettrace"), "a 2 shop 1a2f")
        self.assertEqual(self.first("-", data=small_trace()), "a 2 shop 1a2f")

    def test_from_the_file(self):
        nameless = small_trace(process_name=False)
        os.mkdir(self.path("folder.d"))
        for name, called in (("my app.nettrace", "my app"), ("app.nettrace.gz", "app"), ("folder.d/x", "x"), ("app.dll", "app.dll"),
                             ("app.netperf", "app"), (".nettrace", ".nettrace")):
            self.put(name, gzip.compress(nameless) if name.endswith(".gz") else nameless)
            self.assertEqual(self.first(name), f"a 2 {called} 1a2f")

    def test_of_standard_input(self):
        nameless = small_trace(process_name=False)
        self.put("app.nettrace", nameless)
        self.assertEqual(self.first("-", data=nameless), "a 2 unknown 1a2f")
        with open(self.path("app.nettrace"), "rb") as f:
            self.assertEqual(self.first("-", stdin=f), "a 2 unknown 1a2f")

    def test_nothing_else_differs(self):
        nameless = small_trace(process_name=False)
        self.put("app.nettrace", nameless)
        named, unnamed = (re.sub(rb" crc32=\w+", b"", run.out) for run in (self.done("convert", "app.nettrace", "-o", "-"),
                                                                            self.done("convert", "-", "-o", "-", data=nameless)))
        self.assertEqual(unnamed, named.replace(b" app ", b" unknown "))


class Messages(CliTest):
    def test_summary(self):
        run = self.done("convert", self.link("net10-wks"), "-o", "out")
        self.assertEqual(run.out, b"")
        self.expected("convert-net10-wks.txt", run.err.decode())

    def test_summary_of_an_incomplete_dump(self):
        run = self.done("convert", self.link("net10-wks-lossy"), "-o", "out", code=3)
        self.expected("convert-net10-wks-lossy.txt", run.err.decode())
        self.assertEqual(self.get("out").splitlines()[-1], b"c HeapLab 0")

    def test_a_format_without_fields_says_so(self):
        recording = os.path.join(SOURCE, "traces", "sites", "leaks.nettrace.gz")
        said = b"91 types lose the names of their fields"
        for name, options, loses in (("x.gclog", (), True), ("x.gcdump", (), True), ("x.gclog", ("--no-fields",), False),
                                     ("x.heapsnapshot", (), False), ("x.sqlite", (), False)):
            run = self.done("convert", recording, "-o", name, *options)
            self.assertEqual(said in run.err, loses, (name, options, run.err))

    def test_what_the_input_does_not_tell(self):
        """A gclog of another program has no counts, so losses are unknown."""
        self.done("convert", self.link("net10-wks"), "-o", "x.gclog", "-q")
        self.put("x.gclog", re.sub(rb"t \w+ \[gcdumpc .*\n", b"", self.get("x.gclog")))
        run = self.done("convert", "x.gclog", "-o", "x.heapsnapshot")
        self.assertRegex(run.lines[-1], r"\Agcdumpc: x\.heapsnapshot: .* written, the input does not say whether it is complete\Z")

    def test_a_profile_says_whether_it_is_complete(self):
        for name, comment, code in (("net10-wks", b"complete", 0), ("net10-wks-lossy", b"incomplete: objects or references are missing", 3)):
            self.done("convert", self.link(name), "-o", "x.pb.gz", code=code)
            self.assertTrue(bytes([len(comment)]) + comment in gzip.decompress(self.get("x.pb.gz")), comment)

    def test_an_object_without_an_address(self):
        """A gclog could not refer to it."""
        p = Payloads()
        nodes = p.nodes(0, (0, 24, 0x70, 0), (0x1000, 24, 0x70, 0))
        self.put("in.nettrace", write(V4File(), [Ev(1, 2000, p.gc_start()), Ev(18, 2001, nodes), Ev(15, 2002, p.types((0x70, "T"))),
                                                 Ev(2, 2003, p.gc_end())]))
        run = self.done("convert", "in.nettrace", "-o", "-", "-f", "gclog", code=3)
        self.assertRegex(run.err, rb"in.nettrace: 1 object without an address was dropped\n")
        self.assertEqual([line for line in run.out.splitlines() if line[:2] == b"o "], [b"o 1000 1 18"])

    def test_the_largest_number_of_a_process(self):
        """A .gcdump has 31 bits for it; larger values become unknown."""
        for number, told in ((0x7fffffff, 0x7fffffff), (-0x80000000, None)):         # the field of a recording has a sign, too
            self.put("in.nettrace", write(V4File(pid=number), shop_events()))
            self.done("convert", "in.nettrace", "-q", "-o", "x.gcdump")
            self.assertEqual(json.loads(self.done("info", "x.gcdump", "--json").text)["process"]["pid"], told)

    def test_an_input_that_changes_meanwhile(self):
        """It is read a second time while the output is written; the message names the input."""
        self.put("in.nettrace", big_trace(400000))
        os.mkfifo(self.path("pipe"))
        process = self.start("convert", "in.nettrace", "-o", "pipe", "-f", "gclog")
        with open(self.path("pipe"), "rb") as pipe:
            self.assertEqual(pipe.read(1), b"a")         # more follows than a pipe holds
            os.truncate(self.path("in.nettrace"), 1000)
            while pipe.read(1 << 20):
                pass
        run = self.finish(process)
        self.assertEqual((run.code, len(run.lines)), (1, 1), run.err)
        self.assertRegex(run.lines[0], r"\Agcdumpc: in\.nettrace: ")

    def test_standard_output_has_data_only(self):
        run = self.done("convert", self.link("net10-wks"), "-o", "-")
        self.assertRegex(run.err.decode(), rf"\Agcdumpc: standard output: {LOSSES}\n\Z")
        self.assertEqual(self.done("convert", self.link("net10-wks"), "-o", "-", "-q").out, run.out)

    def test_quiet(self):
        loud = self.done("convert", self.link("net10-wks"), "-o", "loud")
        quiet = self.done("convert", self.link("net10-wks"), "-o", "quiet", "-q")
        self.assertNotEqual(loud.err, b"")
        self.assertEqual((quiet.out, quiet.err), (b"", b""))
        self.assertEqual(self.get("loud"), self.get("quiet"))
        self.assertEqual(self.done("convert", self.link(TWO_DUMPS), "-o", "two", "--quiet").err, b"")

    def test_quiet_keeps_warnings_and_errors(self):
        run = self.done("convert", self.link("net10-wks-lossy"), "-o", "out", "-q", code=3)
        self.assertIn("incomplete", run.lines[0])
        self.refused(1, r"missing: cannot open: No such file or directory; .*", "convert", "missing", "-o", "x", "-q")


class Strict(CliTest):
    def test_incomplete_writes_nothing(self):
        self.put("old", b"old")
        name = self.link("net10-wks-lossy")
        for output in ("old", "new", "new.gz", "-"):
            before = self.folder()
            run = self.done("convert", name, "-o", output, "--strict", code=1)
            self.assertRegex(run.err.decode(), r"\Agcdumpc: net10-wks-lossy.nettrace.gz: the dump is incomplete: 171 events .*\n"
                             r"gcdumpc: net10-wks-lossy.nettrace.gz: refused by --strict: nothing is written or shown\n\Z")
            self.assertEqual((run.out, self.folder()), (b"", before))

    def test_without_strict_incomplete_dumps_are_written(self):
        self.put("old", b"old")
        self.done("convert", self.link("net10-wks-lossy"), "-o", "old", code=3)
        self.assertTrue(self.get("old").startswith(b"a 2 HeapLab "))

    def test_complete_is_written(self):
        self.done("convert", self.link("net10-wks"), "-o", "strict", "--strict")
        self.done("convert", self.link("net10-wks"), "-o", "plain")
        self.assertEqual(self.get("strict"), self.get("plain"))


class SeveralDumps(CliTest):
    def converted(self, *words):
        return self.done("convert", self.link(TWO_DUMPS), "-o", "-", *words)

    def test_the_first_is_the_default(self):
        first = self.converted()
        self.assertEqual(self.converted("--walk", "1").out, first.out)
        self.assertRegex(first.err.decode(), r"\Agcdumpc: \S+: the recording holds 2 heap dumps, this is number 1; --walk N chooses\n"
                                             rf"gcdumpc: standard output: {LOSSES}\n\Z")

    def test_the_second(self):
        first, second = self.converted("--walk", "1").out, self.converted("-d2").out
        self.assertNotEqual(first, second)
        for text in (first, second):
            self.assertEqual(sum(line.startswith(b"o ") for line in text.splitlines()), 20717)

    def test_there_is_no_third(self):
        self.put("out", b"old")
        name = self.link(TWO_DUMPS)
        for n in (3, 65536):
            for words in (["convert", name, "-o", "out"], ["info", name], ["report", name]):
                self.refused(1, rf"{name}: has 2 heap dumps, number {n} was asked for; choose with --walk", *words, "--walk", n)
        self.refused(1, r"\S+: has 1 heap dump, number 2 was asked for; choose with --walk", "info", self.link("net10-wks"), "--walk", "2")

    def test_process(self):
        self.put("shop", small_trace())
        whole = self.done("convert", "shop", "-o", "-").out
        self.assertEqual(self.done("convert", "shop", "-o", "-", "--process", "1234").out, whole)
        self.refused(1, r"shop: .*process 77.*", "convert", "shop", "-o", "-", "--process", "77")
        name = self.done("info", "--json", "shop").out.decode().split('"name": "')[1].split('"')[0]
        self.assertEqual(self.done("convert", "shop", "-o", "-", "--process", name).out, whole)
        self.refused(1, r'shop: contains no heap dump of a process "x", but of others; gcdumpc info lists .*',
                     "convert", "shop", "-o", "-", "--process", "x")
        self.assertEqual(self.done("convert", "shop", "-o", "-", "--process", "x", "--process", "1234").out, whole)


if __name__ == "__main__":
    main()
