"""--listen tcp:HOST:PORT with real .NET processes, whose port is a path: socat passes their connections on to TCP, as a router would."""
import json
import os
import re
import shutil
import signal
import subprocess
import time
import unittest

from live_support import SECONDS, Process, main
from test_listen import ReverseTest


@unittest.skipUnless(shutil.which("socat"), "socat is missing")
class OverTcp(ReverseTest):
    def listen(self, *args, command="report"):
        """gcdumpc, listening at a free port; its first message."""
        p = self.start_gcdumpc(command, "--listen", "tcp:127.0.0.1:0", *args)
        self.addCleanup(p.communicate)
        self.addCleanup(p.kill)
        text = ""
        while not text.endswith("\n"):
            byte = os.read(p.stderr.fileno(), 1).decode()
            self.assertNotEqual(byte, "", text)
            text += byte
        return p, re.search(r"waiting at (127\.0\.0\.1:\d+) for", text)[1]

    def router(self, address, name="phone"):
        """A path whose connections go to ADDRESS."""
        path = self.path(name)
        socat = subprocess.Popen(["socat", f"UNIX-LISTEN:{path},fork", f"TCP:{address}"], stderr=subprocess.DEVNULL, start_new_session=True)
        self.addCleanup(socat.wait)
        self.addCleanup(os.killpg, socat.pid, signal.SIGKILL)
        end = time.monotonic() + SECONDS
        while not os.path.exists(path) and time.monotonic() < end:
            time.sleep(0.01)
        return path

    def behind_router(self, *words, name="phone"):
        """For dumped()."""
        def start(*options):
            p, address = self.listen(*words, *options, command="collect")
            return p, self.router(address, f"{name}{options[-1]}")
        return start

    def test_both_ways_to_start_and_to_dump(self):
        for mode in ("suspend", "nosuspend"):
            for strategy in ("single", "drain"):
                with self.subTest(mode=mode, strategy=strategy):
                    name = f"{mode}-{strategy}"
                    port = self.behind_router("-o", self.path(name + ".nettrace"), "--strategy", strategy, name=name)
                    (target,), _, err = self.dumped(port, "," + mode)
                    self.assertRegex(err, rf"process {target.pid}: has connected: ")
                    report = json.loads(self.gcdumpc("report", self.path(name + ".nettrace"), "--json").stdout)
                    self.check_whole(target, json.dumps(report))
                    self.check_sessions(target, connections=False)      # it tries the router again and again
                    target.__exit__()

    def test_several_runtimes(self):
        (a, b), _, err = self.dumped(self.behind_router("-o", self.path("x.nettrace")), ",nosuspend", count=2)
        chosen, other = (a, b) if f"process {a.pid}: has connected" in err else (b, a)
        self.assertIn(f"process {chosen.pid}: has connected", err)
        self.assertNotIn(f"process {other.pid}:", err)
        self.check_whole(chosen, self.gcdumpc("report", self.path("x.nettrace"), "--json").stdout)

    def test_the_process_is_killed(self):
        p, address = self.listen("-o", self.path("x.nettrace"), "--delay", 1000, command="collect")
        with Process(DOTNET_DiagnosticPorts=self.router(address) + ",suspend") as target:
            self.assertTrue(target.line)         # it was resumed
        self.assertRegex(self.finish(p, 1)[1], "the process has ended")
        self.assertFalse(os.path.exists(self.path("x.nettrace")))


if __name__ == "__main__":
    main()
