"""gcdumpc ps, without .NET: processes that answer, that know nothing of themselves, that are stopped, that only have memory, and those of others."""
import json
import os
import pwd
import re
import signal

from cli_support import main, small_trace
from fake_process import FakeProcess
from terminal import Terminal
from test_direct import WithStatue

COLUMNS = ("PID", "User", "Runtime", "Uptime", "Memory", "Ways", "Assembly", "Command line")
RIGHT = ("PID", "Uptime", "Memory")


class Processes(WithStatue):
    def setUp(self):
        super().setUp()
        recording = self.path(self.put("in", small_trace()))
        self.fakes = [FakeProcess(self.tmp, recording, "talks", linger=0.001, version="9.0.7"), FakeProcess(self.tmp, recording, "old"),
                      FakeProcess(self.tmp, recording, "stopped")]
        self.fakes[2].process.send_signal(signal.SIGSTOP)
        self.pids = [p.pid for p in self.fakes] + [self.statue().pid]
        self.user = pwd.getpwuid(os.getuid()).pw_name

    def tearDown(self):
        for process in self.fakes:
            process.close()
        super().tearDown()

    def command_line(self, pid):
        with open(f"/proc/{pid}/cmdline", encoding="utf-8") as f:
            return " ".join(f.read().split("\0")[:-1])

    def rows(self, text):
        """The cells of our processes, which stand below their headings."""
        head, *lines = text.splitlines()
        places = [m.span() for m in re.finditer(r"\S+( line)?", head)]
        names = [head[a:b] for a, b in places]
        self.assertEqual([n for n in names if n != "Container"], list(COLUMNS))
        found = {}
        for line in lines:
            words = re.split(r"  +", line.strip(), maxsplit=len(names) - 1)
            row = dict(zip(names, words))
            if not row["PID"].isdigit() or int(row["PID"]) not in self.pids:
                continue
            found[int(row["PID"])] = row
            for name, (begin, end) in zip(names, places):
                cell = row.get(name, "")
                self.assertEqual(line[end - len(cell):end] if name in RIGHT else line[begin:begin + len(cell)], cell, line)
        return [found[p] for p in self.pids]

    def test_json(self):
        whole = json.loads(self.done("ps", "--json").text)
        rows = {r["pid"]: r for r in whole["processes"]}
        self.assertEqual((set(whole), whole["schema"]), ({"schema", "processes"}, 2))
        said = (("ok", ["events"], "9.0.7", "x64", "talks"), ("failed", ["events"], None, None, None), ("no answer", ["events"], None, None, None),
                ("no socket", ["direct"], None, None, None))
        for pid, words in zip(self.pids, said):
            row = rows[pid]
            self.assertEqual(tuple(row[k] for k in ("answer", "ways", "runtime_version", "architecture", "entry_assembly")), words)
            self.assertEqual((row["uid"], row["user"], row["name"]), (os.getuid(), self.user, os.path.basename(os.path.realpath(f"/proc/{pid}/exe"))))
            self.assertEqual((row["command_line"], row["container"], row["container_name"], row["container_pid"]), (self.command_line(pid), None, None, None))
            self.assertEqual(row["socket"], {p.pid: p.socket for p in self.fakes}.get(pid))
            with open(f"/proc/{pid}/statm", encoding="ascii") as f:
                self.assertAlmostEqual(row["resident_bytes"], int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE"), delta=1 << 20)
            self.assertLess(row["uptime_ms"], 60000)

    def test_table(self):
        rows = self.rows(self.done("ps").text)
        said = (("9.0.7", "events", "talks"), ("?", "events", "?"), ("(no answer)", "events", "?"), ("(no socket)", "direct", "?"))
        self.assertEqual([tuple(r[k] for k in ("Runtime", "Ways", "Assembly")) for r in rows], list(said))
        for row, pid in zip(rows, self.pids):
            self.assertEqual((row["User"], row["Command line"]), (self.user, self.command_line(pid)))
            self.assertRegex(row["Uptime"], r"\A00:00:\d\d\Z")
            self.assertGreater(int(row["Memory"]), 1 << 22)

    def test_terminal(self):
        """Sizes for people; a command line is cut where the window ends."""
        terminal = Terminal(100)
        self.addCleanup(terminal.close)
        process = self.start("ps", stdout=terminal.theirs, env={"TERM": "xterm", "NO_COLOR": "1"})
        text = terminal.shown(process)
        self.finish(process)
        for row, pid in zip(self.rows(text), self.pids):
            self.assertRegex(row["Memory"], r"\A\d+\.\d MiB\Z")
            self.assertTrue(self.command_line(pid).startswith(row.get("Command line", "").rstrip("…")), row)
        self.assertEqual({len(line) for line in text.splitlines()[1:] if re.match(rf" *({'|'.join(map(str, self.pids))}) ", line)}, {100})

    def test_those_of_others(self):
        others = self.as_nobody()
        if not others:
            self.skipTest("needs root, which has processes that others do not see")
        rows = self.rows(self.done("ps", **others).text)
        self.assertEqual([r["Runtime"] for r in rows], 3 * ["(no access)"] + ["(no socket)"])
        self.assertEqual([r["Ways"] for r in rows], 4 * ["-"])
        got = {r["pid"]: r for r in json.loads(self.done("ps", "--json", **others).text)["processes"]}
        self.assertEqual([(got[p]["answer"], got[p]["ways"]) for p in self.pids], 3 * [("no access", [])] + [("no socket", [])])


if __name__ == "__main__":
    main()
