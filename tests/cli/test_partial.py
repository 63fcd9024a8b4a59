"""A dump that breaks off: a scripted runtime stops in the middle of its stream, ends or goes silent.  With and without --keep-partial."""
import os
import signal
import struct

from cli_support import SECONDS, CliTest, endless_trace, main, trace_bytes, types_trace
from scripted_runtime import ERROR, Flood, Runtime, reply


class PartialTest(CliTest):
    def runtime(self, *streams, **how):
        """The options that name it."""
        path = os.path.join(self.tmp, "port")
        if os.path.lexists(path):                # of one before it
            os.unlink(path)
        self.target = Runtime(path, streams, **how)
        self.addCleanup(self.target.close)
        self.before = self.folder()
        self.port = path
        return ("--port", path)

    def tearDown(self):
        if hasattr(self, "port"):
            os.unlink(self.port)
        super().tearDown()

    @classmethod
    def setUpClass(cls):
        if os.environ.get("GCDUMPC_IPC") == "OFF":
            cls.skipTest(cls, "this build has no support for living processes (GCDUMPC_IPC=OFF)")
        cls.whole = trace_bytes("net10-wks")
        cls.half = cls.whole[:len(cls.whole) // 2]       # in the middle of the objects
        cls.head = cls.whole[:2000]                      # before them

    def test_nothing_is_left(self):
        self.refused(1, r".*the process has ended", *self.runtime(self.half), "-o", "x.gclog", "--save-trace", "x.nettrace")

    def test_nothing_is_left_without_a_heap_walk(self):
        self.refused(1, r".*the process has ended", *self.runtime(self.head), "-o", "x.gclog", "--save-trace", "x.nettrace")

    def test_the_received_part_of_a_heap_walk(self):
        run = self.gcdumpc(*self.runtime(self.half), "-o", "x.gclog", "--save-trace", "x.nettrace", "--keep-partial")
        self.assertEqual(run.code, 3, run.err)
        self.assertRegex(run.err, rb"the process has ended")
        self.assertRegex(run.err, rb"incomplete: the recording ends early")
        self.assertRegex(run.err, rb"x\.gclog: [\d,]+ objects, .* INCOMPLETE")
        self.assertEqual(self.target.opened, 1)          # no attempt at a process that is gone
        self.assertEqual(self.get("x.nettrace"), self.half)
        self.done("convert", "x.nettrace", "-o", "y.gclog", code=3)
        self.assertEqual(self.get("x.gclog"), self.get("y.gclog"))

    def test_net_core_3_describes_types_once(self):
        """So the second dump of a process has no names, although no other tool is involved."""
        run = self.gcdumpc(*self.runtime(types_trace(("Shop.Order", 3, 24), ("Shop.Item", 2, 24), described=1), silent=True), "-o", "x.gclog")
        self.assertEqual(run.code, 3, run.err)
        self.assertRegex(run.err, rb"incomplete: .*; a runtime of \.NET Core 3 reports each type once: .* only a process that was started again has names")

    def test_a_strict_one_leaves_no_recording_either(self):
        """--strict: an incomplete dump writes nothing, however much has arrived; a complete one writes both files."""
        for stream, code in ((trace_bytes("net10-wks-lossy"), 1), (self.whole, 0)):
            run = self.gcdumpc(*self.runtime(stream, silent=True), "-o", "x.gclog", "--save-trace", "x.nettrace", "--strict", "--retries", "0")
            self.assertEqual(run.code, code, run.err)
            self.assertEqual("x.gclog" in self.folder(), code == 0)
            self.assertEqual("x.nettrace" in self.folder(), code == 0)
        self.assertEqual(self.get("x.nettrace"), self.whole)

    def test_a_walk_without_an_end_in_a_program_that_collects_on(self):
        """The events of its collections come without end, and say nothing about the walk."""
        self.port = os.path.join(self.tmp, "port")
        target = Flood(self.port, *endless_trace(), pause=0.05)
        self.addCleanup(target.close)
        run = self.done("--port", self.port, "-o", "x.gclog", "--timeout", "30", "--retries", "0", code=3)
        self.assertRegex(run.err, rb"the end of the heap walk was not recorded")
        self.assertRegex(run.err, rb"x\.gclog: 1 object, ")

    def test_as_a_recording_only(self):
        self.done(*self.runtime(self.half), "-o", "x.nettrace", "--keep-partial", code=3)
        self.assertEqual(self.get("x.nettrace"), self.half)

    def test_without_a_heap_walk_only_the_stream(self):
        run = self.gcdumpc(*self.runtime(self.head), "-o", "x.gclog", "--save-trace", "x.nettrace", "--keep-partial")
        self.assertEqual(run.code, 1, run.err)
        self.assertEqual(self.get("x.nettrace"), self.head)
        self.assertNotIn("x.gclog", self.folder())

    def test_when_the_time_is_up(self):
        run = self.gcdumpc(*self.runtime(self.half, silent=True), "-o", "x.gclog", "--timeout", "4", "--keep-partial")
        self.assertEqual(run.code, 3, run.err)
        self.assertRegex(run.err, rb"within 4000 ms")
        self.assertRegex(run.err, rb"INCOMPLETE")

    def test_an_interrupt_leaves_nothing(self):
        process = self.start(*self.runtime(self.half, silent=True), "-o", "x.gclog", "--save-trace", "x.nettrace", "--keep-partial")
        self.assertTrue(self.target.sent.wait(SECONDS))
        process.send_signal(signal.SIGTERM)
        run = self.finish(process)
        self.assertEqual(run.code, 130, run.err)
        self.assertEqual(self.folder(), self.before)

    def test_a_stop_that_fails_costs_nothing(self):
        """The whole walk is there, and so is the end of the stream."""
        for stopped, message in ((reply(ERROR, struct.pack("<I", 0x80004005)), rb"port: cannot stop the event session: .*0x80004005"),
                                 (b"", rb"port: cannot stop the event session: no answer: the process ended or closed its diagnostic port")):
            run = self.done(*self.runtime(self.whole, silent=True, stopped=stopped), "-o", "x.gclog", "--save-trace", "x.nettrace")
            self.assertRegex(run.err, message)
            self.assertEqual(self.target.opened, 1)
            self.assertEqual(self.get("x.nettrace"), self.whole)

    def test_a_retry_that_fails_does_not_cost_the_first_attempt(self):
        lossy = trace_bytes("net10-wks-lossy")
        run = self.gcdumpc(*self.runtime(lossy, self.half, silent=True), "-o", "x.gclog", "--save-trace", "x.nettrace", "--buffer", "1",
                           "--timeout", "4")          # less than the silence that ends a recording
        self.assertEqual(run.code, 3, run.err)
        self.assertEqual(self.target.opened, 2)
        self.assertRegex(run.err, rb"attempt 1: .* lost; single, CollectTracing2, buffer 1 MiB")
        self.assertRegex(run.err, rb"attempt 2 failed: .*; attempt 1 is kept")
        self.assertEqual(self.get("x.nettrace"), lossy)

    def test_a_retry_that_loses_as_much_is_not_taken(self):
        lossy = trace_bytes("net10-wks-lossy")
        run = self.gcdumpc(*self.runtime(lossy, lossy, lossy, silent=True), "-o", "x.gclog", "--buffer", "1", "--retries", "2")
        self.assertEqual(run.code, 3, run.err)
        self.assertEqual(self.target.opened, 3)
        self.assertEqual(run.err.count(b"attempt 1 is kept"), 2)

    def test_a_program_that_collects_garbage_itself(self):
        """Two walks in one session: there is no --walk to choose with."""
        run = self.done(*self.runtime(trace_bytes("net8-wks-two-dumps"), silent=True), "-o", "x.gclog")
        self.assertRegex(run.err, rb"port: the heap was walked 2 times, each with a pause: [^\n]*; this is walk number 1\n")
        self.assertNotIn(b"--walk", run.err)


if __name__ == "__main__":
    main()
