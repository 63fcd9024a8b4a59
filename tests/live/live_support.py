"""Shared by the live tests: HeapLab on each runtime, a second client of its port, and running gcdumpc on it."""
import contextlib
import fcntl
import functools
import glob
import hashlib
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.environ.get("GCDUMPC_SOURCE") or os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
BUILD = os.environ.get("GCDUMPC_BUILD", os.path.join(ROOT, "build"))
PROGRAM = os.environ.get("GCDUMPC", os.path.join(BUILD, "gcdumpc"))
TARGET = os.path.join(ROOT, "tests", "target")
# Built programs, shared by all builds that use the same folder.
CACHE = os.environ.get("GCDUMPC_TEST_CACHE") or os.path.join(BUILD, "heaplab")
RUNTIMES = (8, 9, 10, 11)
SKIP = 77
SECONDS = 300                    # enough for anything that should end by itself, even on a busy machine
NOBODY = {"user": 65534, "group": 65534, "extra_groups": []}     # keywords of subprocess

sys.path[:0] = [os.path.join(ROOT, "tools"), os.path.join(ROOT, "tests", "support"), TARGET]
import check_counts              # noqa: E402
import record_nettrace           # noqa: E402


# -- programs ----------------------------------------------------------------------------------------------------------

class Missing(Exception):
    """This machine lacks something that the test needs; the text says what."""


@contextlib.contextmanager
def made_together(names):
    """Name -> folder, for those of NAMES that are missing in CACHE.  The caller fills the folders, which then become CACHE/NAME."""
    os.makedirs(CACHE, exist_ok=True)
    with open(os.path.join(CACHE, "lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)                 # tests run in parallel
        with tempfile.TemporaryDirectory(dir=CACHE) as fresh:
            folders = {name: os.path.join(fresh, name) for name in names if not os.path.isdir(os.path.join(CACHE, name))}
            for folder in folders.values():
                os.mkdir(folder)
            yield folders
            for name, folder in folders.items():
                os.rename(folder, os.path.join(CACHE, name))


@contextlib.contextmanager
def made_once(name):
    """A folder CACHE/NAME and whether it exists.  If not, the caller fills the returned folder, which becomes CACHE/NAME."""
    with made_together([name]) as fresh:
        yield fresh.get(name, os.path.join(CACHE, name)), not fresh


@functools.cache
def sdk_version():
    try:
        return subprocess.run(["dotnet", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        raise Missing("no .NET SDK (dotnet) on this machine") from None


def own_runtime():
    """The .NET of the SDK."""
    return int(sdk_version().split(".")[0])


def framework(runtime):
    """The framework to build a program for .NET RUNTIME with, and the version of a runtime that is newer than the SDK: it runs older programs."""
    own = own_runtime()
    return f"net{min(runtime, own)}.0", f"{runtime}.0.0" if runtime > own else None


def heaplab_build(runtime):
    """The folder in CACHE for HeapLab for .NET RUNTIME, and the options of build.sh."""
    name, newer = framework(runtime)
    options = ["--framework", name, *([] if runtime == own_runtime() else ["--self-contained"]), *(["--runtime", newer] if newer else [])]
    digest = hashlib.sha256(repr((sdk_version(), options)).encode())
    for path in sorted(glob.glob(os.path.join(TARGET, "*.cs*"))) + [os.path.join(TARGET, "build.sh")]:
        with open(path, "rb") as f:
            digest.update(f.read())
    return f"net{runtime}-{digest.hexdigest()[:12]}", options


@functools.cache
def heaplab(runtime=None):
    """Path of HeapLab for .NET RUNTIME (default: that of the SDK), built at most once for the same sources."""
    name, options = heaplab_build(runtime or own_runtime())
    with made_once(name) as (folder, there):
        if not there:
            r = subprocess.run(["sh", os.path.join(TARGET, "build.sh"), *options, folder], capture_output=True, text=True)
            if r.returncode == SKIP:
                raise Missing(r.stdout.strip())
            if r.returncode != 0:
                raise RuntimeError(r.stdout + r.stderr)
            shutil.rmtree(os.path.join(folder, "artifacts"))
    return os.path.join(CACHE, name, "bin", "HeapLab")


def createdump_of(pid):
    """Path of the program beside the runtime that process PID has loaded; a program that is one file has none there."""
    with open(f"/proc/{pid}/maps", encoding="utf-8") as f:
        runtime = next((line.split()[-1] for line in f if line.rstrip().endswith("/libcoreclr.so")), "")
    return os.path.join(os.path.dirname(runtime), "createdump")


@functools.cache
def dotnet_tool(name):
    """Path of a Microsoft diagnostics tool from NuGet."""
    with made_once(name) as (folder, there):
        if not there:
            try:
                r = subprocess.run(["dotnet", "tool", "install", name, "--tool-path", folder], capture_output=True, text=True)
            except OSError:
                raise Missing("no .NET SDK (dotnet) on this machine") from None
            if r.returncode != 0:
                raise Missing(f"{name} cannot be installed from NuGet")
    return os.path.join(CACHE, name, name)


# -- HeapLab at work ---------------------------------------------------------------------------------------------------

class Process:
    """Starts HeapLab and reads its line of counts.  PROGRAM replaces the one built by the SDK, ARGV0 is its argv[0]."""

    def __init__(self, *args, program=None, argv0=None, cwd=None, **environment):
        program = program or heaplab()
        environment = {**os.environ, **environment}
        self.temporary = environment.get("TMPDIR", "/tmp")
        self.process = subprocess.Popen([argv0 or program, *args], executable=program, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env=environment, cwd=cwd)
        self.line = self.process.stdout.readline()
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()
        for kind in ("clr-debug-pipe", "dotnet-diagnostic"):     # left behind by a killed runtime
            for left in glob.glob(f"{glob.escape(self.temporary)}/{kind}-{self.pid}-*"):
                os.unlink(left)

    def counts(self):
        return json.loads(self.line)

    def wanted(self):
        """Type name -> objects, for types that only HeapLab uses."""
        sums = {}
        for t in self.counts()["types"]:
            if "count" in t:
                sums[t["name"]] = sums.get(t["name"], 0) + t["count"]
        return sums

    def session_threads(self):
        """Open event sessions, seen from outside: each has a sending thread in addition to the thread of the port."""
        threads, tasks = 0, f"/proc/{self.pid}/task"
        for task in os.listdir(tasks):
            with contextlib.suppress(OSError), open(f"{tasks}/{task}/comm", encoding="utf-8") as f:
                threads += f.read() == ".NET EventPipe\n"
        return threads - 1

    def sessions(self):
        """The same, or the number of connections without the socket of the port, whichever is larger."""
        connections, files = 0, f"/proc/{self.pid}/fd"
        for file in os.listdir(files):
            with contextlib.suppress(OSError):
                connections += os.readlink(f"{files}/{file}").startswith("socket:")
        return max(self.session_threads(), connections - 1)


def wait_for_frames(target):
    """Its first thread has built everything and reads its standard input."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        with open(f"/proc/{target.pid}/wchan", encoding="ascii") as f:
            if "pipe_read" in f.read():
                return
        time.sleep(0.01)
    raise AssertionError("it does not wait for its standard input")


def check_stacks(test, target, threads, first):
    """THREADS: the names and labels of the stack roots of HeapLab.  FIRST: how its first thread, which has no name, is labeled."""
    test.assertRegex(threads, r'(?m)^heaplab-worker +[1-9]\d* "heaplab-worker" in HeapLab\.Frames\.SleepHoldingObject$')
    test.assertRegex(threads, rf"(?m)^ +{re.escape(first)} in HeapLab\.Frames\.WaitHoldingObjects$")
    has_owners = not target.counts()["runtime"].startswith("8.")         # of thread-static variables
    test.assertEqual('"heaplab-worker", thread-static variables' in threads, has_owners, threads)
    # what the framework does for the program
    test.assertNotRegex(threads, r'(?m)^heaplab-worker .* in System\.(?!Threading\.Thread\.StartCallback$)')


def resident_mb(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return int(re.search(r"VmRSS:\s+(\d+) kB", f.read())[1]) * 1024 / 1e6


def lock_name(target):
    """Without its start time."""
    return f"gcdumpc/process/{os.stat(f'/proc/{target.pid}/ns/pid').st_ino}/{target.pid}"


def lock(name):
    """The lock NAME, held by this process as long as it is open."""
    holder = socket.socket(socket.AF_UNIX)
    end = time.monotonic() + SECONDS
    while True:
        try:
            holder.bind("\0" + name)
            break
        except OSError:                                  # another test holds it
            if time.monotonic() > end:
                raise
        time.sleep(0.01)
    holder.listen(8)                                     # a waiting process asks once
    return holder


def lock_of(target):
    with open(f"/proc/{target.pid}/stat", encoding="ascii") as f:
        start = f.read().rsplit(")", 1)[1].split()[19]
    return lock(f"{lock_name(target)}/{start}")


def wait_for_lock(target):
    """Waits until a gcdumpc holds the lock of TARGET; its signal handlers are installed before that."""
    end = time.monotonic() + SECONDS
    while True:
        with open("/proc/net/unix", encoding="ascii", errors="replace") as f:
            if f"@{lock_name(target)}/" in f.read():
                return
        if time.monotonic() > end:
            raise AssertionError("no lock was taken")
        time.sleep(0.01)


MOST_SESSIONS = 64               # dotnet/runtime, EP_MAX_NUMBER_OF_SESSIONS
REFUSED = 0x80004005


def session(target, provider, keywords, arguments="", buffer_mb=16):
    """A session of another client, whose stream is read and discarded; stop() ends it."""
    payload = (struct.pack("<IIBIQI", buffer_mb, 1, 0, 1, keywords, 4) + record_nettrace.wire_string(provider)
               + record_nettrace.wire_string(arguments))
    return record_nettrace.Session(record_nettrace.find_socket(target.pid), [(record_nettrace.COLLECT2, payload)], None, SECONDS)


@contextlib.contextmanager
def open_session(*args, **kw):
    s = session(*args, **kw)
    try:
        yield s
    finally:
        s.stop()


def free_sessions(target):
    """How many sessions the runtime still grants, by opening them until it refuses.  Slow: each stop takes 0.1 s."""
    opened = []
    try:
        while len(opened) <= MOST_SESSIONS:
            opened.append(session(target, "Nobody-Uses-This", 1, buffer_mb=1))
    except record_nettrace.Refused as refused:
        if refused.code != REFUSED:
            raise
    finally:
        for s in opened:
            s.stop()
    return len(opened)


# -- gcdumpc -----------------------------------------------------------------------------------------------------------

def gclog_sums(path):
    """Type name -> (objects, bytes) of a gclog, and its root lines."""
    names, sums, roots = {}, {}, []
    with open(path, encoding="utf-8") as f:
        for line in f:
            words = line.rstrip("\n").split(" ")
            if words[0] == "t":
                names[words[1]] = line.rstrip("\n").split(" ", 2)[2]
            elif words[0] == "o":
                n, b = sums.get(words[2], (0, 0))
                sums[words[2]] = (n + 1, b + int(words[3], 16))
            elif words[0] == "r":
                roots.append(words[1:])
    by_name = {}
    for i, (n, b) in sums.items():
        m, c = by_name.get(names[i], (0, 0))
        by_name[names[i]] = (m + n, c + b)
    return by_name, roots


def type_counts(report):
    """Type name -> objects, of the output of report --json."""
    sums = {}
    for t in report["types"]:
        sums[t["raw_name"]] = sums.get(t["raw_name"], 0) + t["count"]
    return sums


class LiveTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def files(self):
        return sorted(os.listdir(self.folder))

    def run_gcdumpc(self, *args, **kw):
        """With any exit status."""
        return subprocess.run([PROGRAM, *map(str, args)], capture_output=True, text=True, timeout=SECONDS, **kw)

    def gcdumpc(self, *args, status=0, **kw):
        r = self.run_gcdumpc(*args, **kw)
        self.assertEqual(r.returncode, status, r.stdout[-300:] + r.stderr)
        return r

    def lossy(self, *args, **kw):
        """A dump that must lose events.  The only place that knows how to keep gcdumpc from trying again."""
        return self.gcdumpc(*args, "--retries", 0, status=3, **kw)

    def start_gcdumpc(self, *args, **how):
        return subprocess.Popen([PROGRAM, *map(str, args)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **how)

    def report(self, target, *options):
        """The output of report --json of a complete dump, compared with the target's own line."""
        report = json.loads(self.gcdumpc("report", "--pid", target.pid, "--json", *options).stdout)
        self.assertEqual([], list(check_counts.check_types(target.counts(), report, False)))
        return report

    def check_counts(self, target, *options):
        """report and info of the living process against its own line."""
        self.report(target, *options)
        info = json.loads(self.gcdumpc("info", "--pid", target.pid, "--json", *options).stdout)
        self.assertEqual([], list(check_counts.check_info(target.counts(), info, False)))
        self.assertTrue(info["verdict"]["complete"])

    def check_sessions(self, target, count=0, connections=True):
        """Checks that COUNT sessions are open in the target, perhaps after a moment: it closes a connection after the last answer."""
        sessions = target.sessions if connections else target.session_threads
        end = time.monotonic() + SECONDS
        while sessions() != count and time.monotonic() < end:
            time.sleep(0.01)
        self.assertEqual(sessions(), count)

    def cgroup(self, limit_mb, versions=(1, 2)):
        """A memory cgroup of one of VERSIONS with this limit, or skips the test."""
        version = 1 if os.path.isdir("/sys/fs/cgroup/memory") else 2
        if version not in versions:
            self.skipTest(f"cgroups have version {version}")
        path = f"/sys/fs/cgroup/{'memory/' if version == 1 else ''}gcdumpc-test-{os.getpid()}"
        try:
            os.mkdir(path)
            with open(path + ("/memory.limit_in_bytes" if version == 1 else "/memory.max"), "w", encoding="ascii") as f:
                f.write(str(limit_mb << 20))
        except OSError as e:
            if os.path.isdir(path):
                os.rmdir(path)
            self.skipTest(f"no cgroup can be made: {e.strerror}")
        self.addCleanup(os.rmdir, path)
        return path

    def need_other_user(self):
        """Options to run the program as another user."""
        if os.geteuid() != 0:
            self.skipTest("needs root, to be another user")
        r = subprocess.run([PROGRAM, "--version"], capture_output=True, check=False, **NOBODY) if self._reachable() else None
        if r is None or r.returncode != 0:
            self.skipTest("another user cannot run the program here")

    def _reachable(self):
        folder = PROGRAM
        while folder != "/":
            folder = os.path.dirname(folder)
            if not os.stat(folder).st_mode & 1:
                return False
        return True


def need(function, *args):
    """FUNCTION(*ARGS), or skips the test with a line that says what is missing."""
    try:
        return function(*args)
    except Missing as missing:
        raise unittest.SkipTest(str(missing)) from None


def main():
    """unittest.main, with a line for each skipped test; 77 if all were skipped."""
    name = "live/" + os.path.splitext(os.path.basename(sys.argv[0]))[0]
    reason = None
    if os.environ.get("GCDUMPC_IPC") == "OFF":
        reason = "this build has no support for living processes (GCDUMPC_IPC=OFF)"
    else:
        try:
            heaplab()
        except Missing as missing:
            reason = str(missing)
    if reason is not None:
        print(f"skipped: {name}: {reason}")
        sys.exit(SKIP)
    result = unittest.main(exit=False).result
    for test, why in result.skipped:
        print(f"skipped: {name}: {test}: {why}")
    sys.exit(0 if result.wasSuccessful() else 1)
