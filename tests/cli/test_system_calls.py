"""
What no output shows: an output is on the disk before the rename, nothing is opened through a link, no other user can read it and no child
inherits it.  Each command runs under strace; TABLE has the required system calls in order.
"""
import os
import re
import subprocess
import time
import unittest

from cli_support import HAVE_SQLITE, PROGRAM, SANITIZED, SECONDS, CliTest, big_trace, main, small_trace
from fake_process import FakeProcess
from system_calls import calls, command, need_strace

IPC = unittest.skipIf(os.environ.get("GCDUMPC_IPC") == "OFF", "this build has no support for living processes")
NEW = "O_CLOEXEC|O_CREAT|O_EXCL|O_NOFOLLOW|O_RDWR"
READ = 'openat <DIR>, "in.nettrace", O_CLOEXEC|O_NONBLOCK|O_RDONLY -> <DIR/in.nettrace>'
SPOOL = "O_CLOEXEC|O_EXCL|O_RDWR|O_TMPFILE, 0600"


def begun(name, folder="DIR", mode="0600"):
    """A private temporary file, locked."""
    temporary = f".{name}.#.gcdumpc-tmp"
    return [f'openat <{folder}>, "{temporary}", {NEW}, {mode} -> <{folder}/{temporary}>', f"flock <{folder}/{temporary}>, LOCK_EX|LOCK_NB"]


def synced(name, folder="DIR"):
    return [f"fsync <{folder}/.{name}.#.gcdumpc-tmp>"]


def published(name, folder="DIR"):
    """Sync the file, rename it, sync the folder."""
    return [*synced(name, folder), f'renameat <{folder}>, ".{name}.#.gcdumpc-tmp", <{folder}>, "{name}"', f"fsync <{folder}>"]


def file(name, **how):
    """A file whose input is read between both."""
    return [*begun(name, **how), READ, *published(name)]


def left_out(name):
    """Space for the part of a .gcdump that precedes its nodes but is written after them: the offsets of six nodes and a length, after the types."""
    return f"fallocate <DIR/.{name}.#.gcdumpc-tmp>, 0, 285, {4 * 6 + 4}"


def inner(name):
    """A temporary folder holds one folder whose name marks it as ours."""
    return f".{name}.#.gcdumpc-tmp/gcdumpc-folder"


def folder_begun(name):
    inside = inner(name)
    return [f'mkdirat <DIR>, "{os.path.dirname(inside)}", 0700', f'mkdirat <DIR>, "{inside}", 0700',
            f'openat <DIR>, "{inside}", O_CLOEXEC|O_DIRECTORY|O_NOFOLLOW|O_RDONLY -> <DIR/{inside}>', f"flock <DIR/{inside}>, LOCK_EX|LOCK_NB"]


def folder_published(name):
    inside = inner(name)
    return [f"fsync <DIR/{inside}>", f'renameat <DIR>, "{inside}", <DIR>, "{name}"', f'unlinkat <DIR>, "{os.path.dirname(inside)}", AT_REMOVEDIR',
            "fsync <DIR>"]


def folder_removed(name):
    inside = inner(name)
    return [f'unlinkat <DIR>, "{inside}", AT_REMOVEDIR', f'unlinkat <DIR>, "{os.path.dirname(inside)}", AT_REMOVEDIR']


def members(folder, *names):
    inside = f"DIR/{inner(folder)}"
    return [line for name in names for line in begun(name, inside) + published(name, inside)]


CSV = [f"{name}.csv" for name in ("facts", "types", "objects", "edges", "roots", "dependent_handles", "ranges")]
CONVERT = ("convert", "in.nettrace", "-q", "-o")
# arguments, and their effects on files
TABLE = [
    *[((*CONVERT, name), file(name)) for name in ("out.gclog", "out.gclog.gz", "out.gcdump.gz", "out.heapsnapshot", "out.dartheap", "out.pb.gz", "out.folded",
                                                  "out.html", *(["out.db"] if HAVE_SQLITE else []))],
    ((*CONVERT, "out.gcdump"), [*begun("out.gcdump"), READ, left_out("out.gcdump"), *published("out.gcdump")]),
    ((*CONVERT, "old.gclog"), file("old.gclog")),                                       # replaced, not written
    ((*CONVERT, "link.gclog"), file("link.gclog")),                                     # not followed
    ((*CONVERT, "out.csv/"), [*folder_begun("out.csv"), READ, *members("out.csv", *CSV), *folder_published("out.csv")]),
    (("report", "in.nettrace", "-o", "out.prom"), file("out.prom", mode="0644")),       # for node_exporter
    (("diff", "in.nettrace", "in.nettrace", "-o", "out.html"), [*begun("out.html"), READ, READ, *published("out.html")]),
    (("report", "in.nettrace"), [READ]),
    (("retained", "in.nettrace", "--json"), [READ]),
    (("info", "in.nettrace"), [READ]),
]
# a failure leaves nothing: the same calls up to the rename
FAILING = [
    ((*CONVERT, "out.gclog"), [*begun("out.gclog"), READ, 'unlinkat <DIR>, ".out.gclog.#.gcdumpc-tmp", 0']),
    ((*CONVERT, "out.csv/"), [*folder_begun("out.csv"), READ, *folder_removed("out.csv")]),
    (("report", "in.nettrace", "-o", "out.prom"), [*begun("out.prom", mode="0644"), READ, 'unlinkat <DIR>, ".out.prom.#.gcdumpc-tmp", 0']),
]
# calls that make a descriptor, and the flag that closes it in programs that we start
KEPT = {"openat": "O_CLOEXEC", "socket": "SOCK_CLOEXEC", "accept4": "SOCK_CLOEXEC", "socketpair": "SOCK_CLOEXEC", "epoll_create1": "EPOLL_CLOEXEC",
        "timerfd_create": "TFD_CLOEXEC", "eventfd2": "EFD_CLOEXEC", "pipe2": "O_CLOEXEC", "dup3": "O_CLOEXEC", "memfd_create": "MFD_CLOEXEC",
        "inotify_init1": "IN_CLOEXEC"}
INHERITED = {"open", "creat", "accept", "epoll_create", "eventfd", "pipe", "inotify_init", "signalfd", "dup"}


def once(lines):
    kept = []
    for line in lines:
        if line not in kept[-1:]:
            kept.append(line)
    return kept


class SystemCalls(CliTest):
    def setUp(self):
        super().setUp()
        need_strace()
        if SANITIZED:
            self.skipTest("a sanitizer has calls of its own")
        self.put("in.nettrace", small_trace())
        self.put("old.gclog", b"old")
        self.put("elsewhere", b"")
        os.symlink("elsewhere", self.path("link.gclog"))

    def traced(self, *args, code=0, **options):
        log = self.path("..", "log")
        run = subprocess.run([*command(log), PROGRAM, *args], cwd=self.dir, env=self.environment(), capture_output=True, timeout=SECONDS, check=False,
                             **({"stdin": subprocess.DEVNULL} if "input" not in options else {}), **options)
        self.assertEqual(run.returncode, code, run.stderr)
        with open(log, encoding="utf-8", errors="replace") as f:
            lines = list(calls(f.read(), {self.dir: "DIR", self.tmp: "TMP"}))
        self.check_rules(lines)
        return lines

    def check_rules(self, lines):
        """Rules for each call of each command."""
        for line in lines[1:]:
            name = line.split(" ")[0]
            if name == "execve":
                break                    # a program that we start has its own rules
            if line.startswith('openat "/dev/'):
                continue                 # from libraries, and the input of such a program
            with self.subTest(line):
                self.assertNotIn(name, INHERITED)
                self.assertIn(KEPT.get(name, ""), line)
                if name == "fcntl":
                    self.assertNotRegex(line, "F_DUPFD,")
                if name == "openat" and "O_CREAT" in line:
                    self.assertIn("O_EXCL|O_NOFOLLOW", line)
                # one step of a path, unless it is a magic link of /proc
                step = re.match(r'openat <(.*?)>, "([^/"]+)", (\S+)', line)
                if step and "O_PATH" in step[3] and step[2] not in (".", "..") and not step[1].startswith("/proc"):
                    self.assertIn("O_NOFOLLOW", step[3])

    @staticmethod
    def files(lines):
        """Effects on files and folders of the test, without calls that only look up folders; repeated calls count once."""
        def of_interest(line):
            name = line.split(" ")[0]
            if name in ("fcntl", "execve", "mmap", "madvise", "fadvise64", "connect") or not re.search("[<\"](DIR|TMP)", line):
                return False
            found = re.search(r'"\.", .*O_DIRECTORY|O_PATH', line) if name == "openat" else re.search(r'"\.\.?", 0', line)
            return not found
        return once(filter(of_interest, lines))

    def check_files(self, lines, expected):
        self.assertEqual("\n".join(self.files(lines)), "\n".join(once(expected)))

    def test_each_command(self):
        for args, expected in TABLE:
            with self.subTest(args):
                self.check_files(self.traced(*args), expected)
        self.assertEqual(self.get("elsewhere"), b"")

    def test_failures(self):
        self.put("in.nettrace", small_trace()[:-700])
        for args, expected in FAILING:
            with self.subTest(args):
                self.check_files(self.traced(*args, "--strict", code=1), expected)

    def test_an_input_pipe(self):
        """It is kept in an unnamed file that only we can read, in the folder of the output, else in TMPDIR."""
        self.put("in.nettrace", small_trace())
        with open(self.path("in.nettrace"), "rb") as f:
            data = f.read()
        self.check_files(self.traced("convert", "-", "-q", "-o", "out.gcdump", input=data),
                         [*begun("out.gcdump"), f'openat <DIR>, ".", {SPOOL}', left_out("out.gcdump"), *published("out.gcdump")])
        self.check_files(self.traced("retained", "-", input=data), [f'openat "TMP", {SPOOL}'])

    def test_the_path_of_an_output(self):
        """Each step is opened separately, and none through another user's link."""
        os.makedirs(self.path("a", "b"))
        lines = self.traced(*CONVERT, self.path("a", "b", "out.gclog"))
        self.assertEqual([line for line in lines if re.match(r'openat <DIR(/a)?>, "[ab]"', line)],
                         ['openat <DIR>, "a", O_CLOEXEC|O_DIRECTORY|O_NOFOLLOW|O_PATH|O_RDONLY -> <DIR/a>',
                          'openat <DIR/a>, "b", O_CLOEXEC|O_DIRECTORY|O_NOFOLLOW|O_PATH|O_RDONLY -> <DIR/a/b>'])
        self.assertIn('renameat <DIR/a/b>, ".out.gclog.#.gcdumpc-tmp", <DIR/a/b>, "out.gclog"', lines)

    def test_a_large_output(self):
        """It is written back early and does not displace other data from the page cache."""
        self.put("in.nettrace", big_trace(3200000))
        lines = [line for line in self.traced(*CONVERT, "out.csv/") if "/.objects.csv" in line]
        part, parts, temporary = 8 << 20, os.path.getsize(self.path("out.csv", "objects.csv")) >> 23, f"<DIR/{inner('out.csv')}/.objects.csv.#.gcdumpc-tmp>"
        self.assertGreater(parts, 5)
        expected = []
        for i in range(parts):
            expected.append(f"sync_file_range {temporary}, {i * part}, {part}, SYNC_FILE_RANGE_WRITE")
            if i >= 4:
                expected.append(f"sync_file_range {temporary}, {(i - 4) * part}, {part}, "
                                "SYNC_FILE_RANGE_WAIT_AFTER|SYNC_FILE_RANGE_WAIT_BEFORE|SYNC_FILE_RANGE_WRITE")
                expected.append(f"fadvise64 {temporary}, {(i - 4) * part}, {part}, POSIX_FADV_DONTNEED")
        self.assertEqual([line for line in lines if line.startswith(("sync_file_range", "fadvise64"))], expected)

    @IPC
    def test_a_port(self):
        """The socket listens before it gets its name, only we may connect, and it is removed at the end."""
        lines = [line for line in self.traced("info", "--listen", "port", "--timeout", "1", "-q", code=1)
                 if line.startswith(("socket ", "fchmod", "bind", "listen", "linkat", "unlinkat"))]
        lines = [re.sub(r", (110|4096|128)$", "", re.sub(r"socket:\[\d+\]|/proc/self/fd/\d+", "PORT", line)) for line in lines]
        self.assertEqual(lines, ["socket AF_UNIX, SOCK_CLOEXEC|SOCK_NONBLOCK|SOCK_STREAM, 0 -> <PORT>", "fchmod <PORT>, 0600",
                                 'bind <PORT>, {sa_family=AF_UNIX, sun_path="PORT/.gcdumpc-#"}', "listen <PORT>",
                                 'linkat <DIR>, ".gcdumpc-#", <DIR>, "port", 0', 'unlinkat <DIR>, ".gcdumpc-#", 0', 'unlinkat <DIR>, "port", 0'])

    @IPC
    def test_a_job(self):
        """The new dump is on the disk before the old one is removed, and gets its name after that."""
        self.put("hook", b"#!/bin/sh\nexit 0\n")
        os.chmod(self.path("hook"), 0o700)
        target = FakeProcess(self.tmp, self.path("in.nettrace"))
        args = ("collect", "--pid", str(target.pid), "-o", "dumps/%n/%p-%s.gclog", "--save-trace", "raw-%p-%s.nettrace", "--keep", "1", "--log", "text",
                "--metrics", "m.prom", "--on-success", self.path("hook"))
        try:
            first = self.traced(*args)
            time.sleep(1.1)              # another name
            second = self.traced(*args)
        finally:
            target.close()
        self.check_files(self.renamed(first, target.pid), self.of_a_job(False))
        self.check_files(self.renamed(second, target.pid), self.of_a_job(True))
        own = [line for line in second if '@"gcdumpc/' in line]
        self.assertRegex(own[0], r'^bind <socket:.*sun_path=@"gcdumpc/process/')

    @IPC
    def test_priorities(self):
        """Priorities are set before any work that could disturb others."""
        lines = self.traced("collect", "--name", "Nobody", "-o", "%s.gclog", "--nice", "7", "--io-idle", "--timeout", "9", code=1)
        asked = [i for i, line in enumerate(lines) if line.startswith(("setpriority", "ioprio_set", "setitimer"))]
        self.assertEqual([lines[i] for i in asked], ["setpriority PRIO_PROCESS, 0, 7",
                                                     "ioprio_set IOPRIO_WHO_PROCESS, 0, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0)",
                                                     # repeated each second: the call to be interrupted may start just after the first one
                                                     "setitimer ITIMER_REAL, {it_interval={tv_sec=1, tv_usec=0}, it_value={tv_sec=9, tv_usec=0}}, NULL"])
        self.assertFalse([line for line in lines[:asked[-1]] if '"/proc"' in line])

    def renamed(self, lines, pid):
        """With placeholders for parts that change in each run."""
        program = next(name for name in os.listdir(self.path("dumps")) if name[0] != ".")
        for line in lines:
            if not line.startswith('openat "'):
                yield re.sub(rf"\b{pid}-\d+", "PID-TIME", line.replace(program, "NAME"))

    @staticmethod
    def of_a_job(again):
        note, raw, dump, folder = ".NAME.gcdumpc-last", "raw-PID-TIME.nettrace", "PID-TIME.gclog", "DIR/dumps/NAME"
        there = ("-> <DIR/dumps/.NAME.gcdumpc-last>", "-> EEXIST") if again else ("-> ENOENT", "")
        look = f'openat <DIR/dumps>, "{note}", O_CLOEXEC|O_NOFOLLOW|O_NONBLOCK|O_RDONLY {there[0]}'
        found = 'openat <DIR/dumps>, "NAME", O_CLOEXEC|O_DIRECTORY|O_NOFOLLOW|O_RDONLY -> <DIR/dumps/NAME>'
        locked = ['openat <DIR>, "dumps", O_CLOEXEC|O_DIRECTORY|O_RDONLY -> <DIR/dumps>', "flock <DIR/dumps>, LOCK_EX|LOCK_NB"]
        rid = [found, 'unlinkat <DIR/dumps/NAME>, "PID-TIME.gclog", 0', 'unlinkat <DIR/dumps>, "NAME", AT_REMOVEDIR -> ENOTEMPTY']
        files = ".NAME.gcdumpc-files"
        known = f'openat <DIR/dumps>, "{files}", O_CLOEXEC|O_NOFOLLOW|O_NONBLOCK|O_RDONLY -> '
        listed = f"{known}<DIR/dumps/{files}>"
        # which files belong to this job, and to others
        read = [listed, 'openat <DIR>, "dumps", O_CLOEXEC|O_DIRECTORY|O_NONBLOCK|O_RDONLY -> <DIR/dumps>', listed]

        def wrote(first):
            """The list, for which the folders of all files are searched."""
            return [*locked, known + "ENOENT" if first else listed, found, *begun(files, "DIR/dumps"), *published(files, "DIR/dumps")]

        return [*([look, found] if again else []),                               # which is swept
                f'mkdirat <DIR>, "dumps", 0700 {there[1]}'.strip(), f'mkdirat <DIR/dumps>, "NAME", 0700 {there[1]}'.strip(),
                *begun(dump, folder), *wrote(not again), *begun(raw), f'openat <DIR>, "dumps/NAME", {SPOOL}',
                *published(raw), *read, *([f'unlinkat <DIR>, "{raw}", 0'] if again else []),
                *synced(dump, folder), *wrote(False), *read, found, *(rid if again else []), *published(dump, folder),
                *locked, look, *begun(note, "DIR/dumps"), *published(note, "DIR/dumps"), *wrote(False), *begun("m.prom", mode="0644"), *published("m.prom")]


if __name__ == "__main__":
    main()
