"""gcdumpc sites of a process, without .NET: a scripted runtime sends collections, sampled allocations and a walk, each in a session of its own."""
import json
import os
import re
import signal
import struct
import time

from cli_support import SOURCE, CliTest, Ev, V4File, main
from fake_process import FakeProcess
from sample_heaps import DEFINED, close, with_roots
from trace_bytes import CLR, Payloads

SUSPEND, RESTART, SURVIVED = 9, 3, 21
BACKGROUND, SUSPEND_FOR_BACKGROUND = 1, 6
P = Payloads()


def stream(*events):
    """A trace of EVENTS, (id, time in ms, payload), each in a block of its own."""
    file = V4File()
    file.define(*((kind, *row) for kind, row in DEFINED.items()), (SUSPEND, CLR, 9, 1), (RESTART, CLR, 3, 1), (SURVIVED, CLR, 21, 0))
    return close(file, with_roots([Ev(kind, 1000 + 1000 * ms, payload) for kind, ms, payload in events]), 1)


def begun(number, depth, kind=0, at=1):
    return 1, at, P.gc_start(number, depth=depth, reason=0, kind=kind)


def ended(number, at=2):
    return 2, at, P.gc_end(number)


def ranges(*rows):
    return struct.pack("<IIH", 0, len(rows), 1) + b"".join(struct.pack("<QQ", *row) for row in rows)


COLLECTIONS = (begun(1, 0), ended(1), begun(2, 1, at=3), ended(2, at=4))
RANGES = tuple((23, 12, P.generation_range(*row)) for row in ((2, 0x8000, 0x4000), (3, 0x20000, 0x20000)))
WALK = ((1, 10, P.gc_start(3)), *RANGES, (SURVIVED, 12, ranges((0x9000, 0x100), (0x20000, 0x20000))),
        (18, 12, P.nodes(0, (0x9000, 48, 0x7100, 0), (0x20000, 100000, 0x7100, 0))), (15, 12, P.types((0x7100, "System.Byte[]"))), *RANGES, ended(3, at=15))


PAUSE = ((SUSPEND, 1, struct.pack("<IIH", SUSPEND_FOR_BACKGROUND, 0, 1)), (RESTART, 21, struct.pack("<H", 1)), begun(1, 0, at=22), ended(1, at=23))
ABOUT = r"until the heap is walked, each background collection pauses the process up to about \d+ to \d+ ms longer"
BEGINS = rf"sampling for 1 s; {ABOUT} \(--max-pause ends that\)\n"
WALKED = r"pause unknown; 2 objects, complete; \d\.\d s\n"
CSV = ("count,bytes,error_share,type_share,bytes_per_second,age_seconds,samples,alive_samples,dead_samples,lost_samples,allocated_count,allocated_bytes,"
       "method,file,line,type\n")
# following finds which objects died; ticks are 100,000 bytes each; without following all three lie where an object is
FOLLOWED = '2135,262836,0.540428,1,,0,3,2,1,0,4269,365260,"Shop.Store.Open",,,"System.Byte[]"\n'
TICKS = '2084,200000,0.49988,1,,0,3,2,1,0,4168,300000,"Shop.Store.Open",,,"System.Byte[]"\n'
STILL = '3,160460,0.613492,1,,0,3,3,0,0,4269,365260,"Shop.Store.Open",,,"System.Byte[]"\n'
SESSIONS = ["collections 16 0 1 4", "allocations 256 1 80000400001 4", "walk 256 0 1580001 4"]
TICK_SESSIONS = ["collections 16 0 1 4", "allocations 256 1 400001 5", "walk 256 0 1d80001 4"]
STILL_SESSIONS = ["collections 16 0 1 4", "allocations 256 1 80000000001 4", "walk 256 0 1580001 4"]
REFUSED = r"sites writes \.nettrace and \.nettrace\.gz, and the profiles \.pb, \.folded and \.speedscope\.json, each also with \.gz\n"


def corpus(name):
    with open(os.path.join(SOURCE, "tests", "fuzz", "corpus", "fuzz_sites", f"{name}.nettrace"), "rb") as f:
        return f.read()


class Sampling(CliTest):
    """All commands run side by side, because most of the time is waiting."""

    def process(self, version="10.0.0", **streams):
        """A process of .NET VERSION; what its sessions get: COLLECTIONS, ALLOCATIONS, WALK, or nothing if None."""
        folder = self.path(f"streams-{len(os.listdir(self.dir))}")
        os.mkdir(folder)
        streams = {"collections": stream(*COLLECTIONS), "allocations": corpus("sampled"), "walk": stream(*WALK), **streams}
        for name, data in streams.items():
            if data is not None:
                with open(os.path.join(folder, name), "wb") as f:
                    f.write(data)
        process = FakeProcess(self.tmp, folder, version=version)
        process.asked = os.path.join(folder, "asked")
        self.closing = [*getattr(self, "closing", []), process]
        return process

    def tearDown(self):
        for process in getattr(self, "closing", ()):
            process.close()
        super().tearDown()

    def begin(self, process, *options, command="sites"):
        return self.start(command, "--pid", process.pid, "--window", "1s", "--settle", "0", *options)

    def asked(self, process):
        """Kind, buffer in MiB, rundown, keywords and level of each session but the short ones that make the runtime send its last events."""
        if not os.path.exists(process.asked):
            return []
        with open(process.asked, encoding="ascii") as f:
            return [line for line in f.read().splitlines() if line.split()[1] != "1"]

    def ends(self, process, run, code, out, err):
        run = self.finish(run)
        said = run.err.decode().replace(f"gcdumpc: process {process.pid}: ", "")
        self.assertEqual(run.code, code, said)
        self.assertRegex(said, rf"\A(?s:{err})\Z")
        if out is not None:
            self.assertEqual(run.text, out)
        return run

    def test_what_is_said_of_a_process(self):
        running = stream(begun(5, 2, BACKGROUND), ended(5, at=30))
        first = os.path.commonprefix([running, stream(begun(5, 2, BACKGROUND))])
        pause, silent = {"allocations": stream(*PAUSE)}, {"allocations": None}
        cases = (
            ({}, ("--csv",), 0, CSV + FOLLOWED, BEGINS + WALKED, SESSIONS),
            ({"allocations": corpus("ticks"), "version": "8.0.1"}, ("--csv", "-q"), 0, CSV + TICKS, "", TICK_SESSIONS),
            ({}, ("--csv", "--no-movement"), 0, CSV + STILL, WALKED, STILL_SESSIONS),
            ({"version": "7.0.9"}, (), 1, "", r"its runtime is older than \.NET 8, which sites needs\n", []),
            ({"collections": first, "later": running[len(first):]}, ("--csv",), 0, CSV + FOLLOWED,
             BEGINS + r"a background collection is running: sampling begins at its end\n" + WALKED, SESSIONS),
            (pause, ("--max-pause", "19", "--window", "60s"), 0, None,
             rf"sampling for 60 s; {ABOUT}\na background collection paused it for 20 ms: its objects are not followed any longer \(--max-pause 19\)\n"
             r"sampled for \d\.\d s instead of 60 s\n" + WALKED, SESSIONS),
            (pause, ("--max-pause", "20"), 0, None, rf"sampling for 1 s; {ABOUT}\n" + WALKED, SESSIONS),
            (silent, (), 1, "", BEGINS + r"does not answer: it is stopped, or busy with another client\n", SESSIONS[:2]),
            ({}, ("-o", "x.html"), 2, "", "gcdumpc: x.html: " + REFUSED, []),
        )
        started = []
        for streams, options, *_ in cases:
            process = self.process(**streams)
            started.append((process, self.begin(process, *options)))
        for (streams, options, code, out, err, asked), (process, run) in zip(cases, started):
            with self.subTest(options=options, streams=sorted(streams)):
                self.ends(process, run, code, out, err)
                self.assertEqual(self.asked(process), asked)

    def test_interrupts(self):
        """One goes on to the walk at once; another one then leaves nothing."""
        for walk, code, out, last in ((stream(*WALK), 0, CSV + FOLLOWED, WALKED), (None, 130, "", r"interrupted\n")):
            with self.subTest(code=code):
                process = self.process(walk=walk)
                run = self.begin(process, "--window", "60s", "--settle", "60s", "--csv")
                self.wait_until(lambda p=process: len(self.asked(p)) == 2, "it samples", 60)
                time.sleep(1)                    # until it has read the first bytes
                run.send_signal(signal.SIGINT)
                if walk is None:
                    self.wait_until(lambda p=process: len(self.asked(p)) == 3, "it walks", 60)
                    run.send_signal(signal.SIGINT)
                self.ends(process, run, code, out, rf"sampling for 60 s; {ABOUT} \(--max-pause ends that\)\nsampled for \d\.\d s instead of 60 s\n"
                          r"waited 0\.\d s instead of 60 s for short-lived objects to die\n" + last)

    def test_the_time_is_up(self):
        """--timeout includes the window, and what follows it has only what is left."""
        process = self.process()
        run = self.begin(process, "--window", "60s", "--timeout", "2")
        self.ends(process, run, 1, "", rf"sampling for 60 s; {ABOUT} \(--max-pause ends that\)\nthe time is up \(--timeout\); nothing was written\n")
        process = self.process(walk=None)
        run = self.begin(process, "--window", "3s", "--timeout", "8", "-q")
        self.ends(process, run, 1, "", r"the heap walk was not over within [1-5]000 ms\n")

    def test_the_process_ends(self):
        """While it is sampled, and while its objects settle."""
        runs = []
        for window, settle in (("60s", "0"), ("1s", "60s")):
            process = self.process()
            runs.append((process, window[:-1], self.begin(process, "--window", window, "--settle", settle, "--csv")))
        for process, _, _ in runs:
            self.wait_until(lambda p=process: len(self.asked(p)) == 2, "it samples")
        time.sleep(1.5)
        for process, window, run in runs:
            process.process.kill()
            self.ends(process, run, 1, "", rf"sampling for {window} s; {ABOUT} \(--max-pause ends that\)\n"
                      r"the event stream ended after [\d,]+ bytes, before the heap walk was over: the process has ended\n")

    def test_the_pause_that_is_announced(self):
        """13 to 60 ns for each object, of 80 bytes on average."""
        process = self.process()
        run = self.begin(process)
        least, most = map(int, re.search(rb"about (\d+) to (\d+) ms", self.finish(run).err).groups())
        with open(f"/proc/{process.pid}/statm", encoding="ascii") as f:
            objects = int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 80
        for announced, ns in ((least, 13), (most, 60)):
            self.assertAlmostEqual(announced - 1, objects * ns / 1e6, delta=1.2)

    def test_outputs(self):
        """A recording of sites, and one with them, hold what was shown; a profile has the stack with its bytes."""
        processes = [self.process() for _ in range(3)]
        runs = [self.begin(p, *options, command=command) for p, (command, *options) in zip(processes, (
            ("sites", "--json", "-o", "a.nettrace.gz"), ("collect", "-q", "-o", "b.nettrace"), ("sites", "-q", "--csv", "-o", "c.folded")))]
        first = json.loads(self.ends(processes[0], runs[0], 0, None, BEGINS + WALKED + r"gcdumpc: a.nettrace.gz: 2 objects, [\d,]+ bytes of nettrace written, complete\n").text)
        self.ends(processes[1], runs[1], 0, "", "")
        self.ends(processes[2], runs[2], 0, CSV + FOLLOWED, "")
        for name in ("a.nettrace.gz", "b.nettrace"):
            self.assertEqual({**json.loads(self.done("sites", name, "--json").text), "recording": first["recording"]}, first)
        self.assertEqual(self.get("c.folded").decode(), "Shop.Program.Main;Shop.Store.Open;System.Byte[] 262836\n")


if __name__ == "__main__":
    main()
