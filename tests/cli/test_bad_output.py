"""Outputs that cannot be written: one clear line, exit status 1, no temporary file, existing files stay."""
import os
import re
import resource
import signal
import subprocess

from cli_support import COMMANDS, HAVE_SQLITE, NO_ROOM, SANITIZED, SECONDS, CliTest, big_trace, digest, main, small_trace, trace, trace_bytes, types_trace

LIMIT = b"a limit of the shell (ulimit -f) or of the file system is too small"
FULL = re.escape(NO_ROOM)
TO_STDOUT = (["info"], ["info", "--json"], ["report"], ["report", "--json"], ["convert", "-o", "-"], ["convert", "-o", "/dev/stdout"])


class BadOutput(CliTest):
    def setUp(self):
        super().setUp()
        self.put("in", small_trace())

    def test_missing_folder(self):
        for output, folder in (("no/out", "no/"), ("no/such/out.gz", "no/such/"), ("/no/out", "/no/")):
            self.refused(1, rf'{output}: .*folder "{folder}": No such file or directory; create that folder .*', "convert", "in", "-o", output)

    def test_missing_folder_with_a_pipe(self):
        """The copy of the pipe would go to the same folder, but the message is about the output."""
        self.refused(1, r'no/out: .*folder "no/": No such file or directory; create that folder .*', "convert", "-", "-o", "no/out",
                     data=small_trace())

    def test_a_file_as_folder(self):
        self.refused(1, r"in/out: .*: Not a directory", "convert", trace("net10-wks"), "-o", "in/out")

    def test_folder_as_output(self):
        os.mkdir(self.path("folder"))
        for output in ("folder", "folder/", "in/", "new/", ".", "/"):
            self.refused(1, rf"{output}: is a directory, a file name is needed", "convert", trace("net10-wks"), "-o", output)

    def test_empty_name(self):
        run = self.gcdumpc("convert", "in", "-o", "")
        self.assertIn(run.code, (1, 2))
        self.assertRegex(run.err.decode(), r"\Agcdumpc: .*output.*\n\Z")
        self.assertEqual(sorted(self.folder()), ["in"])

    def test_folder_that_may_not_be_written(self):
        os.mkdir(self.path("locked"))
        with open(self.path("locked", "old"), "wb") as f:
            f.write(b"old")
        os.chmod(self.path("in"), 0o644)
        options = self.as_nobody()
        os.chmod(self.path("locked"), 0o555)
        self.addCleanup(os.chmod, self.path("locked"), 0o755)
        for output in ("locked/out", "locked/old"):
            self.refused(1, rf"{output}: cannot create .*: Permission denied; run gcdumpc as .*", "convert", "in", "-o", output, **options)
        self.assertEqual(self.get("locked/old"), b"old")
        self.assertEqual(os.listdir(self.path("locked")), ["old"])

    def test_a_pipe_in_a_folder_that_may_not_be_written(self):
        """The copy of an input pipe then goes elsewhere, too."""
        os.mkdir(self.path("locked"))
        os.mkfifo(self.path("locked/pipe"))
        os.chmod(self.path("locked/pipe"), 0o666)
        options = self.as_nobody()
        os.chmod(self.path("locked"), 0o555)
        self.addCleanup(os.chmod, self.path("locked"), 0o755)
        reader = os.open(self.path("locked/pipe"), os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        self.done("convert", "-", "--format", "gclog", "-o", "locked/pipe", data=small_trace(), **options)
        written = os.read(reader, 1 << 20)
        self.done("convert", "in", "-o", "x.gclog")
        self.assertEqual(written, self.get("x.gclog"))

    def test_name_too_long(self):
        for name in ("n" * 256, "n" * 253 + ".gz", "n" * 5000, "f/" * 3000 + "n"):
            self.refused(1, rf"{name}: .*name (is )?too long", "convert", "in", "-o", name)

    def test_wrong_outputs_are_noticed_before_the_input_is_read(self):
        """An output that cannot be written is refused before minutes of work and before a program is paused."""
        os.mkdir(self.path("folder"))
        self.put("a.db-wal", b"pages")
        journal = ["a.db"] if HAVE_SQLITE else []
        for output in ("folder", "no/out", "n" * 256, *journal):
            process = self.start("convert", "-", "-o", output, stdin=subprocess.PIPE)
            try:
                self.assertEqual(process.wait(timeout=SECONDS), 1)
            except subprocess.TimeoutExpired:
                self.fail(f"still waits for input that would go to {output[:20]}")

    def test_full_device(self):
        self.refused(1, f"/dev/full: {FULL}", "convert", "in", "-o", "/dev/full")
        self.refused(1, f"/dev/full: {FULL}", "convert", trace("net10-wks"), "-o", "/dev/full")

    def test_full_standard_output(self):
        with open("/dev/full", "wb") as full:
            for name in ("in", trace("net10-wks")):
                for command in TO_STDOUT:
                    subject = "/dev/stdout" if "/dev/stdout" in command else "standard output"
                    self.refused(1, f"{subject}: {FULL}", *command, name, stdout=full)
            for words in (["--help"], ["--version"], ["help"], *([c, "--help"] for c in COMMANDS)):
                self.refused(1, f"standard output: {FULL}", *words, stdout=full)

    def test_closed_pipe(self):
        """Without a reader a dump is lost, so there is a message; tables end silently, as in "report | head"."""
        for name in ("in", trace("net10-wks")):
            with open(self.path(name), "rb") as f:
                copy = self.put("copy", f.read())
            for command in (*TO_STDOUT, ["diff", copy], ["leaks"], ["report", "--help"]):
                reading, writing = os.pipe()
                os.close(reading)
                try:
                    if command[0] == "convert":
                        self.refused(1, "(standard output|/dev/stdout): cannot write: Broken pipe", *command, name, stdout=writing)
                    else:
                        run = self.gcdumpc(*command, name, stdout=writing)
                        self.assertEqual((run.code, run.err), (-signal.SIGPIPE, b""), command)
                finally:
                    os.close(writing)

    def test_head(self):
        """More than a pipe holds, with a reader that closes early: it ends like cat would."""
        self.put("many", types_trace(*((f"Shop.Type{i:04}", 1, 24) for i in range(5000))))
        for words in (("report",), ("report", "--json"), ("report", "--csv")):
            process = self.start(*words, "many")
            self.assertEqual(len(process.stdout.read(100)), 100)
            process.stdout.close()
            process.stdout = None
            run = self.finish(process)
            self.assertEqual((run.code, run.err), (-signal.SIGPIPE, b""))

    def test_pipe_closed_on_the_way(self):
        process = self.start("convert", trace("net10-wks"), "-o", "-")
        self.assertEqual(process.stdout.read(8), b"a 2 Heap")
        process.stdout.close()
        process.stdout = None
        run = self.finish(process)
        self.assertEqual((run.code, run.err), (1, b"gcdumpc: standard output: cannot write: Broken pipe\n"))

    def test_closed_standard_output(self):
        closed = {"preexec_fn": lambda: os.close(1)}
        for command in TO_STDOUT[:-1]:
            self.refused(1, "standard output: cannot .*: Bad file descriptor", *command, "in", **closed)
        self.refused(1, "standard output: cannot .*: Bad file descriptor", "--version", **closed)

    def test_closed_standard_output_and_a_pipe(self):
        """The copy of the pipe must not become descriptor 1 and swallow the result."""
        self.refused(1, "standard output: cannot .*: Bad file descriptor", "convert", "-", "-o", "-", data=small_trace(),
                     preexec_fn=lambda: os.close(1))

    def test_messages_do_not_get_into_the_output(self):
        """Whichever descriptors are closed, no file of the program becomes standard error."""
        name = self.link("net10-wks-lossy")
        self.done("convert", name, "-o", "whole", code=3)
        for number in range(1, 8):
            closed = [fd for fd in (0, 1, 2) if number >> fd & 1]
            run = self.gcdumpc("convert", name, "-o", "out", preexec_fn=lambda fds=tuple(closed): [os.close(fd) for fd in fds])
            self.assertEqual((run.code, digest(self.get("out"))), (3, digest(self.get("whole"))), f"closed: {closed}")

    def test_limit_of_file_sizes(self):
        self.put("old", b"old")

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        process = self.start("convert", trace("net10-wks"), "-o", "old", preexec_fn=limit)
        out, err = process.communicate()
        self.assertEqual((process.returncode, out, err), (1, b"", b"gcdumpc: old: cannot write: File too large; " + LIMIT + b"\n"))
        self.assertEqual(self.folder(), {"in": digest(small_trace()), "old": b"old"})

    def test_limit_of_file_sizes_for_the_copy_of_a_pipe(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        process = self.start("convert", "-", "-o", "/dev/null", stdin=subprocess.PIPE, preexec_fn=limit)
        out, err = process.communicate(trace_bytes("net10-wks"))
        self.assertEqual(process.returncode, 1)
        self.assertRegex(err, rb"\Agcdumpc: standard input: temporary copy of the pipe: cannot write: File too large; " + re.escape(LIMIT) + rb"\n\Z")

    def test_little_memory(self):
        """With any amount of memory: the whole result, or one line with the reason."""
        if SANITIZED:
            self.skipTest("sanitizers need address space")
        self.put("big", big_trace(200000))
        codes = []
        for kib in range(3000, 24000, 250):         # what the libraries and the program itself take differs between builds
            def limit(most=kib * 1024):
                resource.setrlimit(resource.RLIMIT_AS, (most, most))
            process = self.start("convert", "big", "-o", "out", "-q", preexec_fn=limit)
            _, err = process.communicate()
            if process.returncode == 127 or b"shared libraries" in err:
                continue                            # not even the loader had enough
            if process.returncode == -signal.SIGSEGV and self.start("--version", preexec_fn=limit).wait() == -signal.SIGSEGV:
                continue                            # nor the kernel, to map the program
            codes.append(process.returncode)
            self.assertIn(process.returncode, (0, 1), (kib, err))
            if process.returncode == 1:
                self.assertRegex(err, rb"\Agcdumpc: (big|out): .*out of memory.*\n\Z")
            self.assertEqual(os.path.exists(self.path("out")), process.returncode == 0)
            if process.returncode == 0:
                os.unlink(self.path("out"))
            self.assertEqual(sorted(self.folder()), ["big", "in"])
            if codes[-4:] == [0] * 4:
                break
        self.assertEqual(set(codes), {0, 1})


if __name__ == "__main__":
    main()
