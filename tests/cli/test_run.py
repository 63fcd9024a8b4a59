"""gcdumpc run: configuration files with jobs, and the samples for administrators.  Nothing is dumped here."""
import os
import re
import shutil
import subprocess
import unittest

from cli_support import SOURCE, CliTest, main

NO_PROCESSES = unittest.skipIf(os.environ.get("GCDUMPC_IPC") == "OFF", "this build cannot talk to processes, and says so of each job")
UNATTENDED = os.path.join(SOURCE, "tools", "unattended")


class Run(CliTest):
    def config(self, text):
        self.put("x.conf", text.encode())
        os.chmod(self.path("x.conf"), 0o600)

    def check(self, text, *words, code=0):
        self.config(text)
        return self.done("run", *words, "--config", "x.conf", "--check", code=code)

    def wrong(self, pattern, text, *words, code=2):
        run = self.check(text, *words, code=code)
        self.assertEqual(len(run.lines), 1, run.lines)
        self.assertRegex(run.lines[0], "^gcdumpc: " + pattern + "$")

    @NO_PROCESSES
    def test_valid_jobs(self):
        run = self.check("log = text\n; a comment\n[a]\npid=1\noutput = %n-%s;no comment.gclog\nkeep = 3\n[b c]\nall = yes\noutput=%p\n"
                         "format = gclog\nquiet = off\n# one more\n")
        self.assertEqual(run.text, "x.conf: job a: ok\nx.conf: job b c: ok\n")
        self.assertEqual(self.check("[a]\npid=1\noutput=x.gclog\n[b]\npid=zero\n", "a").text, "x.conf: job a: ok\n")
        # a job can override a common option
        self.assertEqual(self.check("keep = 0\npid = 1\n[a]\nkeep = 1\noutput=%s.gclog").text, "x.conf: job a: ok\n")

    @NO_PROCESSES
    def test_values_are_taken_as_they_are(self):
        """A comment is a line of its own: after a value, a semicolon or # is part of the value."""
        for value in ("%s ;x.gclog", "%s\t;x.gclog", "%s #x.gclog", "a = b %s.gclog", "[%s].gclog", '"%s".gclog', "%s : x.gclog"):
            self.assertEqual(self.check(f"[a]\npid=1\noutput = {value}\n").text, "x.conf: job a: ok\n", value)
            self.wrong("x.conf: job a: the name .* does not tell the format.*", f"[a]\npid=1\noutput = {value}x\n")
        self.assertEqual(self.check("; keep = x\n# keep = x\n  ; keep = x\n[a]\npid=1\noutput=%s.gclog\n").text, "x.conf: job a: ok\n")

    @NO_PROCESSES
    def test_spellings(self):
        """A job may have only common options, a colon means =, and a byte order mark or Windows line ends do no harm."""
        self.assertEqual(self.check("\ufeffpid = 1\r\noutput: %J.gclog\r\n[a]\r\n\r\n  [b] ; too\r\n\tquiet : yes\r\n[c]").text,
                         "x.conf: job a: ok\nx.conf: job b: ok\nx.conf: job c: ok\n")
        names = ["x" * 60 + "a", "x" * 60 + "b"]
        self.assertEqual(self.check("pid = 1\noutput = %J.gclog\n" + "".join(f"[{n}]\n" for n in names)).text, "".join(f"x.conf: job {n}: ok\n" for n in names))
        self.wrong('x.conf: line 2: collect has no option "\ufeffpid"; .*', "[a]\n\ufeffpid = 1\n")

    @NO_PROCESSES
    def test_invalid_jobs(self):
        self.wrong("x.conf: line 2: collect has no option \"keepp\" \(did you mean \"keep\"\?\); see gcdumpc collect --help", "[a]\nkeepp = 1\n")
        self.wrong("x.conf: line 3: --keep takes a number from 1 .*", "[a]\npid = 1\nkeep = 0\n")
        self.wrong("x.conf: line 2: strict is true or false, not \"maybe\"", "[a]\nstrict = maybe\n")
        self.wrong("x.conf: line 2: collect has no option \"help\"; .*", "[a]\nhelp = true\n")
        self.wrong("x.conf: line 2: is neither \\[NAME\\] nor OPTION = VALUE", "[a]\nstrict\n")
        self.wrong("x.conf: line 1: is neither .*", "[a\n")
        self.wrong("x.conf: line 3: the option is already set", "[a]\npid = 1\npid = 2\n")
        for more in ("output = x", "[b]", "x"):
            self.wrong("x.conf: line 3: the line is indented, but a value is one line", f"[a]\npid = 1\n\t{more}\n")
        self.wrong("x.conf: line 5: the job is already defined", "[a]\npid=1\n[b]\npid=1\n[a]\nkeep=2\n")
        self.wrong("x.conf: line 2: it is too long, or contains a NUL", "[a]\noutput = " + "x" * 9000)
        self.wrong("x.conf: line 2: it is too long, or contains a NUL", "[a]\npid = 1\0\nkeep = 2")
        self.wrong("x.conf: job a: collect needs the process: .*", "[a]\noutput = x.gclog\n")
        self.wrong('x.conf:.*--if-rss-above "85": without a unit these are 85 bytes: write 85M, or 85B .*', "[a]\npid=1\noutput = x.gclog\nif-rss-above = 85\n")
        self.wrong("x.conf: job a: --keep, --keep-days, --max-total and --adopt need a name with .*", "[a]\npid=1\noutput = x.gclog\nkeep=1\n")
        self.wrong("x.conf: job a: several processes need a name with %p in it.*", "[a]\nall=true\noutput = %s.gclog\n")
        self.wrong("x.conf: job a: \"%q.gclog\": after % comes one of .*", "[a]\npid=1\noutput = %q.gclog\n")
        self.wrong("x.conf: job a: the name \"x.y\" does not tell the format; .*", "[a]\npid=1\noutput = x.y\n")
        self.wrong("x.conf: a job is needed; there is: none", "# nothing\n")
        self.wrong("x.conf: has no job of that name; there is: a, b", "[a]\npid=1\n[b]\npid=1\n", "c")

    @NO_PROCESSES
    def test_each_pair_of_jobs(self):
        """Each way to choose processes with each kind of name; expected/run-pairs.txt has the pairs that meet."""
        targets = {"n": "name = shop", "m": "name = till", "star": "name = sh*p", "any": "name = ?hop", "set": "name = [st]hop", "pid": "pid = 1"}
        outputs = {"x": "output = x.gclog", "name": "output = %n.gclog", "job": "output = %n-%J.gclog", "time": "output = x-%s.gclog",
                   "trace": "output = %J.gclog\nsave-trace = x.nettrace", "summary": "output = %J.gclog\nsummary = %n.json",
                   "metrics": "output = %J.gclog\nmetrics = x.prom"}
        run = self.check("".join(f"[{t}-{o}]\n{target}\n{output}\n" for t, target in targets.items() for o, output in outputs.items()))
        self.assertEqual(len(run.text.splitlines()), len(targets) * len(outputs))
        self.expected("run-pairs.txt", run.err.decode())

    @NO_PROCESSES
    def test_jobs_with_the_same_files(self):
        """A warning appears if the outputs of two jobs can have the same name."""
        def shared(a, b, *more):
            run = self.check(f"pid = 1\n[a]\n{a}\n[b]\n{b}\n" + "".join(more))
            self.assertEqual(run.text.count(": ok\n"), 2 + len(more))
            return [re.sub("; %J .*", "", line) for line in run.lines]
        same = "gcdumpc: x.conf: jobs a and b write the same files: "
        for a, b in (("%n-%s.gclog", "%n-%s.gclog"), ("x.gclog", "./x.gclog"), ("%n-%s.gclog", "Shop-%s.gclog"), ("%n.gclog", "%h.gclog"),
                     ("d/%n-%F.gclog", "d/%n-%Y-%m-%d.gclog"), ("%p.gclog", "%s.gclog"), ("%p.gclog", "%Y%m%d.gclog"), ("%n/%J.gclog", "a/%n.gclog"),
                     ("100%%.gclog", "%n.gclog")):
            self.assertEqual(shared(f"output = {a}", f"output = {b}"), [same + b])
            self.assertEqual(shared(f"output = {b}", f"output = {a}"), [same + a])
        self.assertEqual((shared("output = %J.gclog", "output = a.gclog"), shared("output = a.gclog", "output = %J.gclog")), ([same + "a.gclog"], []))
        for a, b in (("%J-%s.gclog", "%J-%s.gclog"), ("%n.gclog", "%n.gcdump"), ("a/%n.gclog", "b/%n.gclog"), ("%n/%s.gclog", "%s.gclog"),
                     ("/d/%n.gclog", "d/%n.gclog"), ("%p.gclog", "x%p.gclog"), ("%Y.gclog", "%m.gclog"), ("%p.gclog", "Shop.gclog"),
                     ("a%n.gclog", "b%n.gclog"), ("%J.gclog", "x.gclog"), ("-", "-")):
            form = "\nformat = gclog" if a == "-" else ""
            self.assertEqual(shared(f"output = {a}{form}", f"output = {b}{form}"), [], (a, b))
        self.assertEqual(shared("output = a%s.gclog\nsave-trace = %s.nettrace", "output = %s.nettrace"), [same + "%s.nettrace"])
        self.assertEqual(shared("output = a.gclog\nmetrics = x.prom", "output = b.gclog\nmetrics = x.prom"),
                         ["gcdumpc: x.conf: jobs a and b write the same metrics, so each replaces those of the other: x.prom"])

    @NO_PROCESSES
    def test_jobs_for_processes_of_different_names(self):
        text = "output = %n-%s.gclog\n[a]\nname = Shop\n[b]\nname = Cart\n"
        self.assertEqual(self.check(text).lines, [])
        for other in (text.replace("Cart", "C*"), text.replace("%n", "x"), text.replace("Cart", "Shop")):
            self.assertEqual(len(self.check(other).lines), 1, other)

    @NO_PROCESSES
    def test_programs_that_are_not_there(self):
        start = "output = %s.gclog\n[a]\npid = 1\n"
        self.put("hook", b"#!/bin/sh\n")
        os.chmod(self.path("hook"), 0o700)
        for command in ("true", " true  x", "/bin/true", "./hook a"):
            self.assertEqual(self.check(f"{start}on-success = {command}\non-failure = {command}").lines, [], command)
        self.put("plain", b"")
        os.chmod(self.path("plain"), 0o600)
        for command in ("/no/such x", "nosuchprogram", "./plain", ".", "/tmp"):
            for option in ("on-success", "on-failure"):
                word = re.escape(command.split()[0])
                self.wrong(f'job a: {option}: there is no program "{word}" that can be run', f"{start}{option} = {command}", code=1)

    @NO_PROCESSES
    def test_the_name_of_a_job_without_one(self):
        self.refused(2, "%J is the name of a job, which only gcdumpc run has; .*", "--pid", "1", "-o", "%J.gclog")
        self.refused(2, "%J is the name of a job, which only gcdumpc run has; .*", "--pid", "1", "-o", "x.gclog", "--save-trace", "%J.nettrace")

    def test_the_job_must_be_named(self):
        self.config("[a]\npid=1\n")
        self.refused(2, r"x\.conf: a job is needed; there is: a", "run", "--config", "x.conf")

    def test_files_that_cannot_be_trusted(self):
        self.refused(1, r"nothing\.conf: cannot open: No such file .*; --config names another file, .*", "run", "a", "--config", "nothing.conf")
        os.mkdir(self.path("folder"))
        self.refused(1, r"folder: is not a regular file", "run", "a", "--config", "folder")
        self.config("[a]\npid=1\n")
        for mode in (0o620, 0o602):
            os.chmod(self.path("x.conf"), mode)
            self.refused(1, r"x\.conf: others may write it; chmod go-w", "run", "a", "--config", "x.conf")
        if os.geteuid() == 0:
            os.chmod(self.path("x.conf"), 0o600)
            os.chown(self.path("x.conf"), 12345, -1)
            self.refused(1, r"x\.conf: belongs to another user \(12345\); .*", "run", "a", "--config", "x.conf")

    def test_a_folder_of_another_user(self):
        """Its owner could give the name to another file of root, directly or behind root's own link."""
        if os.geteuid() != 0:
            self.skipTest("only root can make folders of another user")
        self.config("[a]\npid=1\noutput=x.gclog\n")
        for folder in ("theirs", "theirs/ours", "open"):
            os.mkdir(self.path(folder))
            shutil.copy(self.path("x.conf"), self.path(folder))
        os.symlink("theirs/ours/x.conf", self.path("link.conf"))
        os.chown(self.path("theirs"), 12345, 12345)
        os.chmod(self.path("open"), 0o777)
        for path in ("theirs/x.conf", "theirs/ours/x.conf", "link.conf", "open/x.conf"):
            for words in (("--check",), ()):
                self.refused(1, rf"{path}: is in a folder where another user could replace it; .*", "run", *words, "a", "--config", path)
        os.chmod(self.path("open"), 0o1777)                    # only owners rename their files, as in /tmp
        self.done("run", "--check", "a", "--config", "open/x.conf")

    def test_links_to_one_that_can_be_trusted(self):
        """The creator of a link could choose any file written by root; root's own links are followed."""
        os.mkdir(self.path("etc"))
        self.config("[a]\npid=1\noutput=x.gclog\n")
        os.rename(self.path("x.conf"), self.path("etc/x.conf"))
        for name, target in (("link.conf", "etc/x.conf"), ("again.conf", "link.conf"), ("way", "etc")):
            os.symlink(target, self.path(name))
        paths = ("link.conf", "again.conf", "way/x.conf")
        for path in paths:
            self.done("run", "--check", "a", "--config", path)
        if os.geteuid() != 0:
            self.skipTest("only root can make links of another user")
        for name in ("link.conf", "way"):
            os.lchown(self.path(name), 12345, 12345)
        for path in paths:
            for words in (("--check",), ()):
                self.refused(1, rf"{path}: cannot open: a link of another user leads to it; --config names another file, .*", "run", *words, "a",
                             "--config", path)


class Installed(CliTest):
    @NO_PROCESSES
    def test_the_sample_of_a_configuration(self):
        shutil.copy(os.path.join(UNATTENDED, "gcdumpc.conf"), self.path("gcdumpc.conf"))
        os.chmod(self.path("gcdumpc.conf"), 0o644)
        run = self.done("run", "--check", "--config", "gcdumpc.conf")
        self.assertEqual(run.text, "gcdumpc.conf: job nightly: ok\ngcdumpc.conf: job growing: ok\n")
        self.assertEqual(run.lines, [])          # each has its own files

    def test_the_samples_name_its_jobs(self):
        with open(os.path.join(UNATTENDED, "gcdumpc.conf"), encoding="utf-8") as f:
            jobs = set(re.findall(r"^\[(.*)\]$", f.read(), re.M))
        with open(os.path.join(UNATTENDED, "crontab"), encoding="utf-8") as f:
            lines = [line for line in f if not line.startswith("#")]
        self.assertEqual({re.search(r"gcdumpc run (\w+)", line)[1] for line in lines}, jobs)
        self.assertNotRegex("".join(lines), r"(?<!\\)%")      # cron would end the command there
        for line in lines:
            self.assertRegex(line, r"^[\d*/]+( +[\d*]+){4} +root +/usr/bin/gcdumpc run \w+")

    def test_the_units(self):
        if shutil.which("systemd-analyze") is None:
            self.skipTest("systemd-analyze is not here")
        for name in ("gcdumpc@.service", "gcdumpc@.timer"):
            with open(os.path.join(UNATTENDED, name), encoding="utf-8") as f:
                text = f.read().replace("/usr/bin/gcdumpc", os.path.realpath("/bin/true"))
            self.put(name, re.sub(r"^Documentation=.*\n", "", text, flags=re.M).encode())
        env = {**os.environ, "SYSTEMD_LOG_LEVEL": "warning"}
        r = subprocess.run(["systemd-analyze", "verify", self.path("gcdumpc@.service"), self.path("gcdumpc@.timer")], capture_output=True,
                           text=True, env=env, check=False)
        self.assertEqual([line for line in r.stderr.splitlines() if "gcdumpc" in line], [])
        self.assertEqual(r.returncode, 0, r.stderr)


if __name__ == "__main__":
    main()
