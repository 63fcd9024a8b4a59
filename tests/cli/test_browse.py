"""browse, in a real pseudo-terminal: every key on every view, windows, names, signals, ends."""
import json
import os
import re
import signal
import subprocess
import sys
import unittest

from cli_support import HAVE_SQLITE, PROGRAM, SANITIZED, SECONDS, SOURCE, CliTest, genheap, main, small_trace, trace, types_trace
import test_leaks
from test_leaks import cache
try:
    from screen import Screen
    MISSING = None
except unittest.SkipTest as e:
    Screen, MISSING = None, str(e)
if os.environ.get("GCDUMPC_BROWSE", "ON") in ("OFF", "0", "FALSE", "NO"):
    MISSING = "built without GCDUMPC_BROWSE"

VIEWS = {"1": "Suspects", "2": "Dominator tree", "3": "Types", "4": "Asynchronous operations"}
# every key that does something, with what ends its prompt
ALL_KEYS = (["up", "down", "page up", "page down", "home", "end", "tab", "back tab", "k", "j", "b", " ", "g", "G", "<", ">", "w", "w", "left"]
            + ["s", "s", "f", "f", "n", "N", "ctrl l", "ctrl c", "escape", "x", "ctrl a"]
            + ["/String\r", "/nothing at all\r", "/\x1b", "e\x1b", ":\x1b", "o\x1b", "?q", "i", "left"]
            + ["enter", "left", "right", "h", "l", "backspace", "v", "left", "t", "left", "d", "left"])


@unittest.skipIf(MISSING, MISSING)
class Browse(CliTest):
    # pyte supports all of the description "linux", but only parts of others
    def browse(self, *words, columns=110, lines=30, env=None, stdin=None, args=None):
        s = Screen(args or [PROGRAM, "browse", *map(str, words)], self.environment(**{"TERM": "linux", "NO_COLOR": "", **(env or {})}),
                   columns, lines, self.dir, stdin)
        self.addCleanup(s.close)
        return s

    def quit(self, s, code=0):
        s.press("q")
        self.assertEqual(s.end(), code, "\n".join(s.text()))
        self.assertTrue(s.restored())
        self.assertNotIn(b"Sanitizer", s.bytes)


class Views(Browse):
    def test_suspects(self):
        """The same as leaks: sentence, advice, the folded path; and the view behind each line."""
        self.put("x", cache()[0])
        s = self.browse("x")
        lines = s.wait("Suspects")
        sentence = json.loads(self.done("leaks", "x", "--json").text)["suspects"][0]["sentence"]
        self.assertTrue(lines[2].startswith("1 large holder: Cache"), lines[2])
        self.assertRegex(lines[4], r"^ +9\.5 MiB 100\.0 % █+ Cache: 100 Order, 97\.7 KiB each$")
        s.press("enter")
        lines = s.wait("Large holder 1: Cache")
        shown = " ".join(" ".join(lines).split())
        self.assertIn(" ".join(sentence.split()), shown)
        self.assertIn("static variable s_app", shown)
        s.press("/App", "enter", "enter")
        s.wait("Referred to by")
        s.press("left", "left")
        s.wait(lambda lines: lines[0] == "Suspects")
        self.quit(s)

    def test_sampled_allocations(self):
        s = self.browse(os.path.join(SOURCE, "traces", "sites", "leaks.nettrace.gz"), lines=80)
        s.wait("Suspects")
        s.press("enter")
        lines = s.wait("Suspect 1: SessionStore._sessions")
        self.assertIn("Allocated in SiteLab.SessionStore.Open (SiteLab.cs:26): 100 %", " ".join(" ".join(lines).split()))
        s.press("/Session$", "enter")
        s.press("left", "3")
        s.wait(lambda lines: lines[0] == "Types")
        s.press("/System.Int32[]", "enter", "enter")
        lines = s.wait("Allocated in (estimated)")
        self.assertIn("SiteLab.cs:70 SiteLab.Journal.Append (System.Int32[])", "\n".join(lines))
        self.quit(s)

    def test_without_suspects(self):
        s = self.browse(trace("net10-wks"))
        lines = s.wait("Largest consumers by type")
        self.assertIn("Nothing looks like a leak. Largest: Lab 1.2 MiB (at least 107 elements).", lines)
        self.assertIn("Suspects retain 4.0 MiB or more. The largest consumer:", lines)
        self.assertIn(" Lab: at least 107 elements", s.cursor())
        self.quit(s)

    def test_types(self):
        """All types, in all orders, the same as in report."""
        s = self.browse(trace("net10-wks"), lines=250, columns=250)
        s.wait("Suspects")
        s.press("3")
        lines = s.wait(lambda lines: lines[0] == "Types")
        for key, number in (("bytes", 0), ("count", 1), ("name", None), ("retained", 2)):
            table = json.loads(self.done("report", trace("net10-wks"), "--json", "--retained", "--names=csharp", f"--sort={key}").text)["types"]
            lines = s.wait(lambda lines, key=key: f"by {key} " in lines[-2])
            shown = [line.split(" ")[-1] for line in lines[2:-2] if line]
            self.assertEqual(len(shown), len(table))
            if number is None:
                names = [t["type"] for t in table]
                self.assertEqual(shown[0], sorted(names)[0].split(" ")[-1])
            else:
                self.assertTrue(lines[2].endswith(table[0]["type"].split(" ")[-1]), (key, lines[2]))
            s.press("s")
        self.quit(s)

    def test_tree(self):
        """The retained sizes of each level are those of retained --tree; Enter and Left go down and up, and back to the same line."""
        s = self.browse(trace("net10-wks"))
        s.wait("Suspects")
        s.press("2")
        lines = s.wait("Dominator tree")
        self.assertRegex(lines[2], r"1\.2 MiB  95\.8 % █████████▋ +24 B HeapLab\.Lab  0x7f52f5806d98")
        self.assertIn("1/377", lines[-2])
        s.press("enter", "enter")
        lines = s.wait("Dominator tree > HeapLab.Lab > System.Collections.Generic.List")
        self.assertIn("System.Object[]", lines[2])
        s.press("left", "left", "down", "enter")
        s.wait("Dominator tree > System.Collections.Generic.Dictionary")
        s.press("left")
        s.wait(lambda lines: "2/377" in lines[-2])
        self.assertIn("Dictionary", s.cursor())
        s.press("left")
        s.wait("this is where it began")
        s.press("s")
        lines = s.wait("by bytes  1/377")
        self.assertIn("8.0 KiB System.Object[]", lines[2])
        s.press("s")
        lines = s.wait("by name  1/377")
        self.assertLess(lines[2].split("B ")[-1], lines[20].split("B ")[-1])
        self.quit(s)

    def test_object(self):
        """The view of an object: what refers to it, what it refers to; its path with all steps, and folded."""
        self.put("x", cache()[0])
        node = json.loads(self.done("leaks", "x", "--json").text)["suspects"][0]
        s = self.browse("x")
        s.wait("Suspects")
        s.press("o", node["address"], "enter")
        lines = s.wait(f"Object {node['address']}")
        self.assertIn(node["type"], lines[2])
        for title in ("Path from the root", "Referred to by", "Refers to"):
            self.assertRegex("\n".join(lines), rf"(?m)^{title} \(\d+\)$")
        s.press("f")
        s.wait("all steps of paths")
        s.press("f")
        s.wait("folded paths")
        s.press("home", "t")                     # no object on this line: the one that the view is about
        s.wait(lambda lines: lines[0].endswith(node["type"]))
        s.press("o", "0x1", "enter")
        s.wait("there is no object 0x1")
        s.press("o", "nonsense", "enter")
        s.wait('"nonsense" is neither an address nor a number')
        self.quit(s)

    def test_a_type(self):
        s = self.browse(trace("net10-wks"), lines=60)
        s.wait("Suspects")
        s.press("3", "/HeapLab.Node", "enter", "enter")
        lines = s.wait(lambda lines: lines[0] == "Types > HeapLab.Node")
        text = "\n".join(lines)
        self.assertIn("5,000 objects, 156.2 KiB, retain at least 156.2 KiB.", text)
        self.assertRegex(text, r"(?m)^Referred to by \(2\)\n +\d[\d,]* HeapLab")
        self.assertRegex(text, r"(?m)^Objects \(5,000\)$")
        paths = self.done("paths", trace("net10-wks"), "--type", "HeapLab.Node", "--names=csharp").text
        for step in re.findall(r"(static variable \w+|HeapLab\.\w+)", paths):
            self.assertIn(step, text)
        self.quit(s)

    def test_paths_are_folded(self):
        """As in leaks: steps of the framework are one line, and a collection with its inside; f shows all of them, and back."""
        way = test_leaks.Leaks.deep(self)
        s = self.browse("in", lines=40, columns=140)
        s.wait("Suspects")
        s.press("3", "home", "enter")            # Shop.Order has most of the bytes
        s.wait("Paths from the roots")
        s.press("end", "enter")
        s.wait("Path from the root (")

        def steps():
            lines = s.settled()
            start = next(i for i, line in enumerate(lines) if line.startswith("Path from the root"))
            return [re.sub(r"( \(at least 100 elements\))?  0x\w+…?$", "", line[22:].strip()) for line in lines[start + 1:lines.index("", start)]]
        folded = ["static variable", "... 2 framework steps", "Parts.Engine", "System.Object", "Shop.Store",
                  "System.Collections.Generic.List<Shop.Order>", "Shop.Order"]
        self.assertEqual(steps(), folded)
        s.press("f")
        s.wait("all steps of paths")
        self.assertEqual(steps(), ["static variable", *way, folded[-2], "Shop.Order[]", "Shop.Order"])
        s.press("f")
        s.wait("folded paths")
        self.assertEqual(steps(), folded)
        self.quit(s)

    def test_async(self):
        s = self.browse(trace("net10-wks"), lines=60, columns=200)
        self.assertIn("Memory: ", "\n".join(s.wait("Suspects")))
        s.press("4")
        text = "\n".join(s.wait("Asynchronous operations"))
        answer = json.loads(self.done("async", trace("net10-wks"), "--json").text)
        self.assertEqual((answer["operations"], answer["stack_count"]), (1, 1))
        self.assertIn("1 asynchronous operation in 1 stack, which alone keeps", text)
        first = answer["stacks"][0]
        self.assertIn(first["frames"][0]["name"], s.cursor())
        s.size(110, 60)
        s.wait(lambda lines: any("TaskCompletionSource<Point> < Machines.WaitFor" in line for line in lines))  # without namespaces
        s.press("enter")
        text = "\n".join(s.wait("Stack of "))
        for frame in first["frames"]:
            self.assertIn(frame["name"], text)
        self.quit(s)

    def test_every_key_on_every_view(self):
        """No key ends the program unexpectedly; every view has a title and a verdict."""
        self.put("x", cache(50, 200_000)[0])
        for dump in ("x", trace("net10-wks")):
            s = self.browse(dump)
            s.wait("Suspects")
            for view, title in VIEWS.items():
                for way in ([], ["enter"], ["v"], ["t"], ["d"], ["i"], ["?"])[:7 if dump == "x" else 2]:
                    for key in ALL_KEYS:
                        s.press(view, *way, key)
                    s.press("escape", view)
                    lines = s.wait(lambda lines, title=title: lines[0] == title and "complete" in lines[-2])
                    self.assertIsNone(s.process.poll(), (view, way))
                    self.assertNotEqual(lines[2], "")
            self.quit(s)

    def test_search(self):
        s = self.browse(trace("net10-wks"))
        s.wait("Suspects")
        s.press("n")
        s.wait("/ searches first")
        s.press("3", "/lab.item", "enter")             # case does not matter
        s.settled()
        self.assertRegex(s.cursor(), r"HeapLab\.Item\[\]$")
        s.press("n")
        s.settled()
        self.assertRegex(s.cursor(), r"HeapLab\.Item$")
        s.press("N")
        s.settled()
        self.assertRegex(s.cursor(), r"HeapLab\.Item\[\]$")
        s.press("/HEAPLAB", "enter")
        s.wait("not found: HEAPLAB")
        s.press("home", "/ntry*key", "enter")
        s.settled()
        self.assertIn("Entry<HeapLab.Key, ", s.cursor())
        s.press("/" + r"/^HeapLab\.(Guest|Ring)$/", "enter")
        s.settled()
        self.assertRegex(s.cursor(), r"HeapLab\.(Guest|Ring)$")
        s.press("/", "/(/", "enter")
        s.wait("/(/: ")
        s.press("/", "up", "enter")                 # the one before
        s.wait("/(/: ")
        self.quit(s)

    @unittest.skipUnless(HAVE_SQLITE, "built without SQLite")
    def test_sql(self):
        """Rows can be opened; a mistake shows what is wrong and where; an endless query can be canceled."""
        s = self.browse(trace("net10-wks"))
        s.wait("Suspects")
        s.press(":", "SELECT id, size_bytes, type FROM objects WHERE type = 'HeapLab.Leaf' ORDER BY id LIMIT 3", "enter")
        lines = s.wait(lambda lines: lines[0].startswith("Suspects > SELECT id"))
        rows = json.loads(self.done("sql", trace("net10-wks"), "--json",
                                    "SELECT id, size_bytes, type FROM objects WHERE type = 'HeapLab.Leaf' ORDER BY id LIMIT 3").text)
        text = "\n".join(lines)
        self.assertRegex(lines[1], r"^ *id  size_bytes  type$")
        for i in range(3):
            self.assertRegex(lines[2 + i], r"^ *\d+ +24  HeapLab\.Leaf$")
        first = int(lines[2].split()[0])
        self.assertIn(str(first), json.dumps(rows))
        s.press("enter")
        s.wait(lambda lines: "Object 0x" in lines[0] and "HeapLab.Leaf" in "\n".join(lines))
        s.press("left", ":", "up", "ctrl u", "SELECT id, name, raw_name FROM types ORDER BY id LIMIT 1", "enter")
        name = s.wait(lambda lines: re.match(r" *id  name +raw_name$", lines[1]))[2].split()[1]  # not the question as it is typed
        s.press("enter")
        s.wait(lambda lines: lines[0].endswith(name))
        for question, answer in (("SELEC", 'near "SELEC": syntax error (at byte 1)'), ("SELECT nonesuch FROM objects", "no such column: nonesuch"),
                                 ("SELECT 1; SELECT 2", "one statement at a time"), ("DELETE FROM objects", ""), ("-- no", "there is no statement")):
            s.press("1", ":", question, "enter")
            s.wait(lambda lines, answer=answer: answer in lines[-1] and not lines[-1].startswith(("SQL: ", "?:")))
            self.assertEqual(s.text()[0], "Suspects", text)
        s.press(":", "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n", "enter")
        s.wait("Ctrl-C gives up", working=True)
        s.press("ctrl c")
        s.wait("given up: asking in SQL")
        self.quit(s)

    def test_help(self):
        """The help fits 80 columns and names every key that is tried above."""
        s = self.browse(trace("net10-wks"), columns=80, lines=50)
        s.wait("Suspects")
        s.press("?")
        lines = s.wait("Help")
        text = "\n".join(lines)
        for key in "kjbgG<>whl1234vtdoi/nNsfe:?q":
            self.assertIn(key, text)
        self.assertNotIn("…", "\n".join(lines[2:-2]))
        s.press("q")
        s.wait(lambda lines: lines[0] == "Suspects")
        self.quit(s)


class Files(Browse):
    def test_a_view_is_written(self):
        """The file has all lines with all digits and mode 0600; it replaces no file without a yes."""
        s = self.browse(trace("net10-wks"))
        s.wait("Suspects")
        s.press("3", "e", "types.txt", "enter")
        s.wait("written: types.txt")
        self.assertEqual(os.stat(self.path("types.txt")).st_mode & 0o777, 0o600)
        text = self.get("types.txt").decode()
        table = self.done("report", trace("net10-wks"), "--names=csharp").text.splitlines()[1:-1]
        self.assertIn("async HeapLab.Machines.WaitFor", "".join(table))
        for line in table:
            count, size, _, name = line.split(maxsplit=3)
            self.assertRegex(text, rf"(?m)^ +{size} +{count} .*  {re.escape(name)}$")
        self.put("types.txt", b"mine")
        s.press("e", "types.txt", "enter")
        s.wait("types.txt exists. Replace it?")
        s.press("n")
        s.wait("not written")
        self.assertEqual(self.get("types.txt"), b"mine")
        s.press("e", "types.txt", "enter", "y")
        s.wait("written: types.txt")
        self.assertEqual(self.get("types.txt").decode(), text)
        s.press("e", "none/x.txt", "enter")
        s.wait("none")
        s.press("e", "-", "enter")
        s.wait("give the name of a file")
        self.quit(s)
        self.assertEqual(os.listdir(self.dir), ["types.txt"])

    def test_an_incomplete_dump(self):
        """Every view, files, the end and the exit status report that the dump is incomplete."""
        s = self.browse(trace("net10-wks-lossy"), columns=60, lines=12)
        s.wait("Suspects")
        for key in "1234i?":
            s.press(key)
            s.wait(lambda lines: lines[-2].startswith("INCOMPLETE: 171 events"))
        s.press("q", "3", "e", "x", "enter")
        s.wait("written: x")
        self.assertIn(b"INCOMPLETE: ", self.get("x"))
        self.quit(s, code=3)
        self.assertIn(b"the dump is incomplete", s.bytes)

    def test_a_file_that_goes_away(self):
        """The heap is in memory, so nothing changes."""
        self.put("x", small_trace())
        s = self.browse("x")
        s.wait("Suspects")
        os.remove(self.path("x"))
        s.press("3")
        s.wait("Shop.Order")
        self.quit(s)


class Windows(Browse):
    def test_sizes(self):
        """Any window works; too small ones show one line, and growing brings everything back."""
        s = self.browse(trace("net10-wks"))
        s.wait("Suspects")
        for columns, lines in ((40, 10), (200, 60), (80, 24), (41, 11), (39, 10), (40, 9), (1, 1), (10, 3), (500, 120), (110, 30)):
            s.size(columns, lines)
            for view, title in VIEWS.items():
                s.press(view)
                if columns < 40 or lines < 10:
                    text = f"{columns}x{lines} is too small: 40x10"
                    start = text[:columns] if columns >= len(text) else text[:columns - 1]
                    s.wait(lambda lines, start=start: lines[0].startswith(start) and not any(lines[1:]))
                    continue
                shown = s.wait(lambda l, title=title: l[0] == title and "complete" in l[-2] and l[-1].startswith("?:help"))
                self.assertIsNotNone(s.cursor(), (columns, lines, shown))
        self.quit(s)

    def test_the_cursor_stays(self):
        """At any height, and after texts are wrapped again."""
        s = self.browse(trace("net10-wks"))
        s.wait("Suspects")
        s.press("3", "/HeapLab.Guest", "enter")
        for lines in (12, 40, 10, 30):
            s.size(90, lines)
            s.wait(lambda lines: (s.cursor() or "").endswith("HeapLab.Guest"))
        s.press("enter")
        s.wait("Referred to by")
        s.press("end")
        s.settled()
        last = s.cursor().split()[-1]
        for columns in (40, 200, 60):
            s.size(columns, 12)
            s.settled()
            self.assertIsNotNone(s.cursor())
            if columns > 50:
                self.assertIn(last, s.cursor())
        self.quit(s)

    def test_colours(self):
        for env, colours in (({"TERM": "xterm-256color"}, True), ({"TERM": "xterm"}, True), ({"TERM": "vt100"}, False), ({"NO_COLOR": "1"}, False),
                             ({"TERM": "linux"}, True), ({"TERM": "screen-256color"}, True)):
            s = self.browse(trace("net10-wks"), env=env)
            s.wait("HeapLab.Lab")
            used = {cell.fg for row in s.screen.buffer.values() for cell in row.values()} - {"default"}
            self.assertEqual(bool(used), colours, (env, used))
            self.assertIsNotNone(s.cursor())
            self.quit(s)

    def test_locales(self):
        """Bars and other alphabets appear in UTF-8, even if the user's locale is not installed; otherwise everything is ASCII, whatever is in the names."""
        self.put("x", types_trace(("Größe", 5, 24), ("数据", 5, 32)))
        for env, utf8 in (({"LC_ALL": "C.UTF-8"}, True), ({"LC_ALL": "xx_YY.UTF-8"}, True), ({"LC_ALL": "C"}, False), ({"LC_ALL": "POSIX"}, False),
                          ({"LC_ALL": "", "LC_CTYPE": "", "LANG": ""}, False)):
            s = self.browse("x", env=env)
            s.wait("Suspects")
            s.press("3")
            text = "\n".join(s.wait(lambda lines: lines[0] == "Types"))
            self.assertEqual("Größe" in text, utf8, (env, text))
            self.assertEqual("█" in text, utf8, env)
            self.assertEqual("####" in text, not utf8, env)
            if not utf8:
                self.assertIn("Gr??e" if "Gr??e" in text else "Gr?e", text)
                self.assertTrue(all(b < 0x80 for b in s.bytes))
            self.quit(s)

    def test_hostile_names(self):
        """Names contain nothing that a terminal obeys; wide and combining characters end at the right column."""
        names = ["A\x1b[31mred\x1b]0;title\x07", "B\x9b31m\x85", "C\u202eright\u2066", "数据" * 60, "e\u0301" * 200, "\u0301lead", "Z" + "\u0301" * 50 + "z",
                 "x\u200by\ufeffz", "long" * 100, "😀" * 80, "tab\tnew\nline\r"]
        self.put("x", types_trace(*((n, 1, 24 + i) for i, n in enumerate(names))))
        for columns in (40, 79, 80, 81, 120):
            s = self.browse("x", columns=columns)
            s.wait("Suspects")
            for keys in (["3"], ["2"], [">", ">"], ["<"], ["3", "s", "enter"], ["left", "down", "v"], ["3", "G", "enter"]):
                s.press(*keys)
                s.settled()
                self.assertNotIn("red\x1b", "\n".join(s.text()))
                self.assertEqual(s.screen.title, "")
                self.assertIn("complete", s.text()[-2])
                self.assertNotIn("\u202e", "".join(s.text()))
            s.press("3")
            text = "\n".join(s.wait(lambda lines: lines[0] == "Types"))
            self.assertIn("A?[31mred?]0;title?", text)
            self.assertIn("C?right?", text)
            self.assertIn("?lead", text)
            self.assertIn("x?y?z", text)
            self.quit(s)


class Ends(Browse):
    def test_signals(self):
        """The terminal is restored, and the status is 130."""
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            s = self.browse(trace("net10-wks"), env={"TERM": "xterm"})
            s.wait("Suspects")
            s.process.send_signal(number)
            self.assertEqual(s.end(), 130)
            self.assertTrue(s.restored(), number)
            self.assertIn(b"\x1b[?1049l", s.bytes)

    def test_a_terminal_that_goes_away(self):
        s = self.browse(trace("net10-wks"))
        s.wait("Suspects")
        os.close(s.theirs)
        os.close(s.ours)
        s.ours, s.theirs = os.open("/dev/null", os.O_RDWR), os.open("/dev/null", os.O_RDWR)
        s.process.wait(timeout=SECONDS)

    def test_one_that_goes_away_without_a_signal(self):
        s = self.browse(args=["sh", "-c", 'trap "" HUP; exec "$@"', "sh", PROGRAM, "browse", trace("net10-wks")])
        s.wait("Suspects")
        os.close(s.theirs)
        os.close(s.ours)
        s.ours, s.theirs = os.open("/dev/null", os.O_RDWR), os.open("/dev/null", os.O_RDWR)
        s.process.wait(timeout=SECONDS)

    def test_suspend(self):
        """By Ctrl-Z and by a signal: the shell gets its terminal back, and fg restores the screen."""
        for way in ("key", "signal"):
            s = self.browse(args=["sh", "-c", 'set -m; "$1" browse "$2"; stty -a | grep -o -- "-*icanon"; echo stopped; read x; fg; echo ended $?', "sh",
                                  PROGRAM, trace("net10-wks")])
            s.wait("Suspects")
            if way == "key":
                s.press("ctrl z")
            else:
                child = subprocess.run(["pgrep", "-P", str(s.process.pid)], capture_output=True, text=True, check=True).stdout.split()[0]
                os.kill(int(child), signal.SIGTSTP)
            s.wait("stopped")
            self.assertRegex(s.bytes, rb"[^-]icanon\r")
            s.bytes = b""
            s.press("\r")
            s.wait("HeapLab.Lab")
            self.assertIn(b"HeapLab.Lab", s.bytes)
            s.press("3")
            s.wait(lambda lines: lines[0] == "Types")
            s.press("q")
            s.wait("ended 0")
            self.assertEqual(s.end(), 0)
            self.assertTrue(s.restored())

    def test_no_terminal(self):
        self.refused(1, "browse needs a terminal; for files and pipes there are gcdumpc leaks, retained, report and paths", "browse", trace("net10-wks"))
        for env, line in (({"TERM": ""}, "needs the name of the terminal: set TERM"), ({"TERM": "dumb"}, '"dumb" is unknown'),
                          ({"TERM": "nonsense"}, '"nonsense" is unknown')):
            s = self.browse(trace("net10-wks"), env=env)
            self.assertEqual(s.end(), 1)
            self.assertIn(line, "\n".join(s.text()))
            self.assertEqual(len([x for x in s.text() if x]), 1)

    def test_no_database_of_terminals(self):
        """Uses a built-in description, a copy of ansi.ti."""
        source = os.path.join(SOURCE, "src", "cli", "browse")
        with open(os.path.join(source, "terminal_fallback.c"), encoding="utf-8") as f:
            built_in = "".join(re.findall(r'^ *"([0-9A-F]+)"', f.read(), re.M))
        if subprocess.run(["tic", "-V"], capture_output=True, check=False).returncode == 0:
            subprocess.run(["tic", "-o", self.tmp, os.path.join(source, "ansi.ti")], check=True)
            with open(os.path.join(self.tmp, "g", "gcdumpc-ansi"), "rb") as f:
                self.assertEqual(f.read().hex().upper(), built_in)
            os.remove(os.path.join(self.tmp, "g", "gcdumpc-ansi"))
            os.rmdir(os.path.join(self.tmp, "g"))

    def test_a_dump_from_standard_input(self):
        """Keys then come from the terminal."""
        self.put("x", small_trace())
        with open(self.path("x"), "rb") as f:
            s = self.browse("-", stdin=f)
            s.wait("Suspects")
            s.press("3")
            s.wait("Shop.Order")
            self.quit(s)

    def test_bad_inputs(self):
        """They are reported before the terminal changes."""
        for words, code, line in ((["none"], 1, "none: "), ([], 2, "browse: a file is needed"), (["a", "--pid", "1"], 2, "give a file or a process")):
            s = self.browse(*words)
            self.assertEqual(s.end(), code)
            self.assertIn(line.split(": ")[0], "\n".join(s.text()))
            self.assertNotIn(b"\x1b[?1049h", s.bytes)


class Large(Browse):
    def test_a_million_siblings(self):
        """A key press does no work per sibling: the first, the last, a search through all, a file."""
        objects = 1_000_000 if not SANITIZED else 50_000
        subprocess.run([genheap(self.tmp), "-n", str(objects), "--shape", "fan", self.path("fan")], check=True)
        for name in os.listdir(self.tmp):
            os.remove(os.path.join(self.tmp, name))
        s = self.browse("fan")
        s.wait("Suspects", seconds=300)
        s.press("2")
        s.wait(lambda lines: lines[0] == "Dominator tree")
        for _ in range(3):                   # down to where they are
            if int(s.text()[-2].split("/")[-1].replace(",", "")) > objects // 2:
                break
            s.press("enter")
            s.settled()
        n = int(s.text()[-2].split("/")[-1].replace(",", ""))
        self.assertGreater(n, objects // 2)
        s.press("end")
        s.wait(lambda lines: f"{n:,}/{n:,}" in lines[-2])
        s.press("page up", "home", "/no such name", "enter")
        s.wait("not found: no such name")
        s.press("s")
        s.wait("by bytes  1/")
        s.press("e", "all", "enter")
        s.wait("written: all", seconds=300)
        with open(self.path("all"), "rb") as f:
            self.assertGreaterEqual(sum(1 for _ in f), n)
        self.quit(s)

    def test_given_up(self):
        """Ctrl-C during a computation returns to the view, and the computation can be started again."""
        subprocess.run([genheap(self.tmp), "-n", "1000000", self.path("big")], check=True)
        for name in os.listdir(self.tmp):
            os.remove(os.path.join(self.tmp, name))
        s = self.browse("big", "--threads", "1")
        s.wait("Ctrl-C gives up", seconds=300, working=True)
        s.press("ctrl c")
        s.wait("given up: looking for suspects")
        s.wait(lambda lines: lines[0] == "Types")
        s.press("1")
        s.wait(lambda lines: lines[0] == "Suspects", seconds=300)
        self.quit(s)


if __name__ == "__main__":
    main()
