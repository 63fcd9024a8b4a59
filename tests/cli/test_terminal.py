"""Output on a terminal: progress, separators, and no escape sequence from a recording."""
import json
import os
import re
import select
import subprocess
import time
import unicodedata

from cli_support import COMMANDS, CliTest, V4File, Ev, Payloads, main, small_trace, trace, trace_bytes, types_trace, write
from terminal import Terminal

# one of each kind: C0 with escape sequences, DEL, C1 (U+009B alone begins a sequence for many terminals), line separators
EVIL = ("A\x1b[31mred", "B\x1b]0;title\x07", "C\nnew\rline\ttab", "D\x7fdel", "E\x9b31mC1", "F\x85nel", "G\x08\x08back")
FINE = ("Größe`1[数据]", "Лаборатория", "a b <c> & \"d\" 'e'", "😀")


class Commands(CliTest):
    """Characters of a recording or a command line that a terminal would obey."""

    def clean(self, data, lines=None):
        text = data.decode()
        found = [c for c in text if c != "\n" and unicodedata.category(c) == "Cc"]
        self.assertEqual(found, [])
        if lines is not None:
            self.assertEqual(len(text.splitlines()), lines, text)

    def test_type_names(self):
        self.put("evil", types_trace(*((name, 1, 24 + i) for i, name in enumerate(EVIL + FINE))))
        run = self.done("report", "evil", "--names=raw")
        self.clean(run.out, 2 + len(EVIL + FINE))
        for name in FINE:
            self.assertIn(f"  {name}\n", run.text)
        for name in EVIL:
            self.assertIn("  " + re.sub(r"[\x00-\x1f\x7f-\x9f]", "?", name) + "\n", run.text)

    def test_type_names_in_json(self):
        """In JSON they are escaped, not replaced."""
        self.put("evil", types_trace(*((name, 1, 24 + i) for i, name in enumerate(EVIL + FINE))))
        text = self.done("report", "evil", "--json", "--sort=name").text
        self.assertEqual([c for c in text if c < " " and c != "\n"], [])
        self.assertEqual({t["raw_name"] for t in json.loads(text)["types"]}, set(EVIL + FINE))

    def test_module_names(self):
        p = Payloads()
        module = "/srv/a\x1b[31m\nb\x9b.dll"
        types = p.types((0x70, "Same"), (0x71, "Same"))
        loaded = (0x30).to_bytes(8, "little") + bytes(8) + bytes(8) + (module + "\0").encode("utf-16-le") + bytes(4)
        file = V4File()
        file.define((152, "Microsoft-Windows-DotNETRuntime", 152, 2))
        self.put("modules", write(file, [
            Ev(152, 1999, loaded), Ev(1, 2000, p.gc_start()), Ev(18, 2001, p.nodes(0, (16, 24, 0x70, 0), (48, 24, 0x71, 0))),
            Ev(15, 2002, types), Ev(2, 2003, p.gc_end())]))
        self.clean(self.done("report", "modules").out, 4)

    def test_command_line_of_the_process(self):
        self.put("evil", types_trace(("A", 1, 24), command_line="/srv/x\x1b[31m\x9b\n\x7f --evil\r"))
        lines = len(self.done("info", self.put("good", small_trace())).text.splitlines())
        self.clean(self.done("info", "evil").out, lines)

    def test_names_of_files(self):
        for name in ("a\x1b[31m\nb\x7f", "a\x9b31m\x85b"):
            self.put(name, small_trace())
            self.clean(self.done("info", name).out)
            self.clean(self.done("convert", name, "-o", name + "out").err, 2)
            self.clean(self.gcdumpc("info", name + "missing").err, 1)
            self.clean(self.gcdumpc("convert", name, "-o", f"{name}/out").err, 1)
            self.clean(self.gcdumpc("info", "--" + name).err, 1)
            self.clean(self.gcdumpc(name).err, 1)


class OnTerminal(CliTest):
    def terminal(self, *words, stream="stdout", columns=None, env=None, **options):
        """The program with STREAM on a terminal; process.terminal.shown() returns its text."""
        terminal = Terminal(columns)
        self.addCleanup(terminal.close)
        process = self.start(*words, env=env or {"TERM": "xterm"}, **{stream: terminal.theirs}, **options)
        process.terminal = terminal
        return process

    def test_standard_input_from_the_terminal(self):
        """It says what it waits for."""
        terminal = Terminal(200)
        self.addCleanup(terminal.close)
        process = self.start("report", "-", stdin=terminal.theirs, stderr=subprocess.PIPE)
        os.write(terminal.ours, 20 * b"\x04")       # one for each time that it asks
        run = self.finish(process)
        self.assertEqual(run.code, 1)
        self.assertRegex(run.err.decode(), r"\Agcdumpc: waiting for a dump on standard input, which is the terminal")
        self.assertNotIn("waiting", self.gcdumpc("report", "-", data=small_trace()).err.decode())

    def test_for_people_without_a_terminal(self):
        """--human: the same numbers as on a terminal.  --color decides alone about bold."""
        name = self.link("net10-wks")
        plain, human = (self.done("report", name, *words).text for words in ((), ("--human",)))
        self.assertIn("17646", plain)
        self.assertIn("17,646", human)
        self.assertNotIn("\x1b", plain + human)
        self.assertIn("\x1b[1m", self.done("report", name, "--color", "always").text)
        self.assertIn("\x1b[1m", self.done("report", name, "--human", "--color=always").text)
        self.assertNotIn("\x1b[1m", self.seen("report", name, "--color=never"))
        self.assertIn("\x1b[1m", self.seen("report", name))
        self.refused(2, r"--color takes auto, always or never, not .*", "report", name, "--color", "red")
        self.assertEqual(self.done("report", name, "--json", "--human").text, self.done("report", name, "--json").text)

    def seen(self, *words, code=0, **options):
        """Everything shown there."""
        process = self.terminal(*words, **options)
        text = process.terminal.shown(process)
        self.assertEqual(self.finish(process).code, code)
        return text

    def test_separators(self):
        """For people only: numbers for scripts have neither separators nor units."""
        for command, number in (("report", "17,646    1.3 MiB  100.00%"), ("info", "bytes              1,378,569 (1.3 MiB)\n")):
            self.assertIn(number, self.seen(command, trace("net10-wks")))
            piped = self.done(command, trace("net10-wks")).text
            self.assertNotIn(number, piped)
            self.assertEqual(self.seen(command, trace("net10-wks"), env={"TERM": "dumb"}), piped)

    def test_windows(self):
        """At any width nothing is cut off and no line is longer, and a wide window has one line per row."""
        for words in (("report", trace("net10-wks"), "--names=csharp"), ("paths", trace("net10-wks"), "--type", "HeapLab.Node")):
            rows = self.done(*words).text.count("\n")
            whole = self.in_window(1000, *words)
            self.assertEqual(whole.count("\n"), rows)
            for columns in (30, 40, 60, 79, 80, 81, 120, 200):
                text = self.in_window(columns, *words)
                self.assertEqual([line for line in text.splitlines() if len(line) > columns], [], columns)
                self.assertEqual([line for line in text.splitlines() if line != line.rstrip()], [], columns)
                self.assertEqual("".join(text.split()), "".join(whole.split()), columns)

    def test_colour(self):
        """Headings are bold on a terminal that supports it, unless disabled."""
        words = ("report", trace("net10-wks"), "--top=1")
        for env, bold in (({}, True), ({"NO_COLOR": ""}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)):
            text = self.in_window(80, *words, **{"TERM": "xterm", "NO_COLOR": "", **env})
            self.assertEqual(text.startswith("\x1b[1m"), bold, env)
            self.assertEqual(text.count("\x1b"), 2 * bold, env)
        self.assertNotIn("\x1b", self.done(*words, env={"TERM": "xterm"}).text)

    def test_messages_and_help_in_narrow_windows(self):
        for columns in (40, 80):
            for words in (["--help"], *([c, "--help"] for c in COMMANDS)):
                text = self.in_window(columns, *words)
                if columns == 80:
                    self.assertEqual([line for line in text.splitlines() if len(line) > columns], [], words)
                plain = self.done(*words).text
                self.assertEqual("".join(text.split()), "".join(plain.split()), words)
            text = self.in_window(columns, "report", "--bogus", "x", stream="stderr", code=2)
            self.assertEqual(max(map(len, text.splitlines())) <= columns, True, text)
            self.assertEqual(" ".join(text.split()), 'gcdumpc: report has no option "--bogus"; see gcdumpc report --help')

    def test_long_columns_side_by_side(self):
        """Two long names in a row are both complete, in any column."""
        dump = trace("net10-wks")
        for words in (("retained", dump), ("retained", dump, "--tree", "9"), ("diff", trace("net8-wks"), dump)):
            whole = sorted("".join(self.in_window(1000, *words).split()))
            for columns in (50, 80, 100, 130):
                text = self.in_window(columns, *words)
                self.assertEqual([line for line in text.splitlines() if len(line) > columns], [], (words, columns))
                self.assertEqual(sorted("".join(text.split())), whole, (words, columns))

    def in_window(self, columns, *words, stream="stdout", code=0, **env):
        return self.seen(*words, columns=columns, stream=stream, code=code, env=env or {"TERM": "xterm", "NO_COLOR": "1"})

    def test_what_is_printed_begins_where_progress_was(self):
        data = trace_bytes("net10-wks")
        for words in (["report", "-"], ["report", "-", "--json"], ["report", "-", "--by", "length"], ["info", "-"], ["retained", "-"],
                      ["diff", self.link("net8-wks"), "-", "--paths"]):
            terminal = Terminal(200)
            self.addCleanup(terminal.close)
            process = self.start(*words, stdin=subprocess.PIPE, stdout=terminal.theirs, stderr=terminal.theirs, env={"TERM": "xterm", "NO_COLOR": "1"})
            for at in range(0, len(data), 5000):         # slowly until progress is shown
                process.stdin.write(data[at:at + 5000])
                process.stdin.flush()
                if not select.select([terminal.ours], [], [], 0)[0]:
                    time.sleep(0.05)
            process.stdin.close()
            process.stdin = None
            shown = terminal.shown(process)
            self.assertEqual(self.finish(process).code, 0, shown)
            self.assertRegex(shown, r"\A(\r[a-z ]+: [^\r\n]*\x1b\[K)+\r\x1b\[K", words)
            self.assertNotRegex(shown, r"\r[a-z ]+: +[\d.]+ [^\r\n]*\x1b\[K[^\r]", words)

    def test_progress(self):
        """After a second of work, only on a terminal, and erased at the end."""
        data = trace_bytes("net10-wks")
        words = ("convert", "-", "-o", "-")
        ways = {"terminal": self.terminal(*words, stream="stderr", stdin=subprocess.PIPE),
                "quiet": self.terminal(*words, "-q", stream="stderr", stdin=subprocess.PIPE),
                "dumb": self.terminal(*words, stream="stderr", stdin=subprocess.PIPE, env={"TERM": "dumb"}),
                "pipe": self.start(*words, stdin=subprocess.PIPE)}
        shows = [ways["terminal"].terminal.ours]
        piece = len(data) // 1000                    # in small pieces, so that the work lasts until progress is shown, however slow the machine
        for at in range(0, len(data), piece):
            for process in ways.values():
                process.stdin.write(data[at:at + piece])
                process.stdin.flush()
            if at < 900 * piece and not select.select(shows, [], [], 0)[0]:
                time.sleep(0.05)
        for name, process in ways.items():
            run = self.finish(process)
            self.assertEqual(run.code, 0, name)
            seen = process.terminal.shown(process) if name != "pipe" else run.err.decode()
            if name == "terminal":
                self.assertRegex(seen, r"\A(\r(reading|writing): +\d.*?\x1b\[K)+\r\x1b\[Kgcdumpc: standard output: in the [a-z0-9]+ format, [^\r]*\Z")
            elif name == "quiet":
                self.assertEqual(seen, "", name)
            else:
                self.assertRegex(seen, r"\Agcdumpc: standard output: in the [a-z0-9]+ format, [^\n]*\n\Z")


if __name__ == "__main__":
    main()
