"""Each runtime with each garbage collector: every dump is complete and has names, whatever other sessions exist."""
import json
import os
import signal
import socket
import subprocess
import sys

from live_support import RUNTIMES, SECONDS, LiveTest, Process, check_counts, dotnet_tool, heaplab, main, need, open_session, session, type_counts
from record_nettrace import PROVIDER

STRATEGIES = ("drain", "single")
COLLECTORS = {"workstation": {"DOTNET_gcServer": "0"}, "server": {"DOTNET_gcServer": "1", "DOTNET_GCHeapCount": "2"}}
LONG = os.environ.get("GCDUMPC_LONG") == "1"
GC, LOADER, TYPES, MOST = 0x1, 0x8, 0x80000, 0x14C14FCCBD      # the last one: the default of dotnet-trace


class Matrix:
    """Tests of RUNTIME with COLLECTOR."""

    @classmethod
    def setUpClass(cls):
        need(heaplab, cls.runtime)

    def process(self, *args):
        target = Process(*args, program=heaplab(self.runtime), **COLLECTORS[self.collector])
        self.addCleanup(target.__exit__)
        counts = target.counts()
        self.assertEqual((int(counts["runtime"].split(".")[0]), counts["gc"]), (self.runtime, self.collector))
        return target

    def check_same_names(self, target, strategies=STRATEGIES * (2 if LONG else 1)):
        """Dumps in a row: all complete, all with the same types by name."""
        first = None
        for strategy in strategies:
            with self.subTest(strategy=strategy):
                report = self.report(target, "--strategy", strategy)
                self.assertFalse([t["type"] for t in report["types"] if t["type"].startswith("UNKNOWN 0x")])
                # The number of the runtime's own objects varies.
                ours = {n: c for n, c in type_counts(report).items() if n in target.wanted()}
                self.assertEqual(first or ours, ours)
                first = ours

    def test_dumps_in_a_row(self):
        target = self.process()
        for strategy in STRATEGIES:
            self.check_counts(target, "--strategy", strategy)
        self.check_same_names(target, STRATEGIES * 2)
        self.check_sessions(target)


class BesideSessions:
    """With sessions of others, which do not know of the garbage collector: so beside one of them only, but in a long run."""

    def test_while_another_session_is_open(self):
        for provider, keywords, arguments in ((PROVIDER, GC, ""), (PROVIDER, LOADER, ""),
                                              ("System.Runtime", 0, "EventCounterIntervalSec=1")):
            with self.subTest(provider=provider, keywords=keywords):
                target = self.process()
                with open_session(target, provider, keywords, arguments) as other:
                    self.check_same_names(target)
                    self.check_sessions(target, 1)
                    self.assertGreater(other.received, 0)
                self.check_same_names(target, STRATEGIES[:1])

    def test_types_described_to_another_session(self):
        """With the keyword of the types open elsewhere, the runtime describes each type to the first dump only."""
        target = self.process()
        with open_session(target, PROVIDER, TYPES):
            self.report(target)
            r = self.gcdumpc("report", "--pid", target.pid, "--json", "--quiet", status=3)
            report = json.loads(r.stdout)
            unnamed = [t for t in report["types"] if t["type"].startswith("UNKNOWN 0x")]
            self.assertGreater(len(unnamed), 90)
            self.assertEqual(sum(type_counts(report).get(n, 0) for n in target.wanted()), 0)
            # all objects are there, with a message and a hint
            self.assertGreaterEqual(report["objects"], target.counts()["objects"]["min"])
            self.assertRegex(r.stderr, rf"^gcdumpc: process {target.pid}: the dump is incomplete: {len(unnamed)} types of [^\n]* no name; [^\n]*another tool[^\n]*\n$")
            info = json.loads(self.gcdumpc("info", "--pid", target.pid, "--json", "--quiet", status=3).stdout)
            self.assertEqual([r["code"] for r in info["verdict"]["reasons"]], ["types_undescribed"])
        self.check_same_names(target)            # it has gone, and the names are back

    def test_types_described_to_a_session_that_has_ended(self):
        """The session of a killed client stays until the runtime sends something to it."""
        target = self.process()
        other = session(target, PROVIDER, GC | TYPES)
        self.report(target)
        other.connection.shutdown(socket.SHUT_RDWR)
        other.wait_end()
        # the walk shows it to the runtime; if too late for the names, only in the first attempt
        r = self.gcdumpc("report", "--pid", target.pid, "--json")
        self.assertEqual([], list(check_counts.check_types(target.counts(), json.loads(r.stdout), False)))
        self.assertNotIn("incomplete", r.stderr)


class BesideTheTool:
    """With sessions of dotnet-trace.  Of all runtimes only in a long run: a session of BesideSessions is the same to a runtime, and the tool takes
    more time than what it records."""

    def wait_until_recording(self, dotnet_trace):
        """Its output then starts with a line about what it records; the rest is read only at the end."""
        line = ""
        while "Output File" not in line:
            line = dotnet_trace.stdout.readline()
            self.assertNotEqual(line, "")

    def test_beside_dotnet_trace(self):
        trace = need(dotnet_tool, "dotnet-trace")
        for keywords, named in ((GC, True), (LOADER, True), (MOST, False)):
            with self.subTest(keywords=hex(keywords)):
                target = self.process()
                other = subprocess.Popen([trace, "collect", "-p", str(target.pid), "-o", self.path("other.nettrace"), "--rundown", "false",
                                          "--providers", f"{PROVIDER}:{keywords:x}:4"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                         stderr=subprocess.STDOUT, text=True)
                try:
                    self.wait_until_recording(other)
                    self.check_sessions(target, 1)
                    if named:
                        self.check_same_names(target)
                    else:
                        self.report(target)
                        r = self.gcdumpc("report", "--pid", target.pid, "--json", status=3)
                        self.assertRegex(r.stderr, "another tool")
                    self.check_sessions(target, 1)
                    other.send_signal(signal.SIGINT)
                    out, _ = other.communicate(timeout=SECONDS)
                    self.assertEqual(other.returncode, 0, out)
                    self.assertGreater(os.path.getsize(self.path("other.nettrace")), 0)
                finally:
                    other.kill()
                    other.communicate()
                self.check_same_names(target)


for _runtime in RUNTIMES:
    for _collector in COLLECTORS:
        _name = f"Net{_runtime}{_collector.capitalize()}"
        _more = ((BesideTheTool,) if LONG or (_runtime, _collector) == (RUNTIMES[-1], "workstation") else ()) + \
                ((BesideSessions,) if LONG or _collector == "workstation" else ())
        setattr(sys.modules[__name__], _name, type(_name, (*_more, Matrix, LiveTest), {"runtime": _runtime, "collector": _collector, "__module__": __name__}))


if __name__ == "__main__":
    main()
