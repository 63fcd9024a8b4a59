"""The static program: small, reproducible in any folder, and self-contained, in an empty root folder and beside a container."""
import contextlib
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from install_support import BUILD, PROGRAM, ROOT, TRACE, cached, main, need_tool, run, text
from source_copy import copy_source

# SQLite takes 1.15 MB of it, the C library 1.4 with that of mathematics, PCRE2 0.5, ncursesw, libedit and terminfo 0.4, gcdumpc itself 1.8.  Of PCRE2,
# 0.24 MB are the JIT compiler, which is never called: pcre2_code_free needs its object of Debian's archive, so --gc-sections cannot drop it (4 KB).
MOST_BYTES = 5_800_000
MOST_DYNAMIC_BYTES = 1_900_000     # of the program under test
NOBODY = 65534
# All of them take 90 s of processor time more.
STRIDE = 1 if os.environ.get("GCDUMPC_LONG") == "1" else 24
NO_ZSTD = {"input.c.o", "unzstd.c.o"}       # differ: the static program cannot read what is compressed with it
OUTPUT = ("-q", "-f", "nettrace", "-o", "-")
# taken from the build under test; the rest has the same default
SAME = ("CMAKE_GENERATOR", "CMAKE_C_COMPILER", "CMAKE_BUILD_TYPE", "CMAKE_C_FLAGS", "GCDUMPC_WERROR", "GCDUMPC_SQLITE", "GCDUMPC_BROWSE", "GCDUMPC_HARDEN")


def objects(build):
    """Path below the build folder -> bytes, of the objects of library and program."""
    found = {}
    for folder in ("gcdumpc_obj.dir", "gcdumpc_ipc.dir", "gcdumpc_cli.dir", "gcdumpc.dir"):
        top = os.path.join(build, "CMakeFiles", folder)
        for path in glob.glob(os.path.join(top, "**", "*.o"), recursive=True):
            with open(path, "rb") as f:
                found[os.path.relpath(path, build)] = f.read()
    return found


class Static(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """A build of a copy of the source: other folders than those of the build under test."""
        holder = tempfile.TemporaryDirectory(prefix="gcdumpc-static-")
        cls.addClassCleanup(holder.cleanup)
        cls.dir = holder.name
        source = copy_source(ROOT, os.path.join(cls.dir, "another", "source"))
        cls.build = os.path.join(source, "build", "b")
        options = [f"-D{name}={cached(name)}" for name in SAME if name != "CMAKE_GENERATOR"]
        run("cmake", "-G", cached("CMAKE_GENERATOR"), "-S", source, "-B", cls.build, "-DGCDUMPC_STATIC=ON", "-DGCDUMPC_TESTS=OFF",
            "-DGCDUMPC_MANUAL=OFF", *options)
        make = ("cmake", "--build", cls.build, "--parallel", "2", "--target", "gcdumpc", "gcdumpc_static")
        run(*make)
        # compared are two compilations of some sources, not one and its copy
        os.environ["CCACHE_DISABLE"] = "1"
        for name in sorted(objects(cls.build))[::STRIDE]:
            os.unlink(os.path.join(cls.build, name))
        run(*make)
        cls.root = os.path.join(cls.dir, "root")
        os.mkdir(cls.root)
        run("strip", "-o", os.path.join(cls.root, "gcdumpc"), os.path.join(cls.build, "gcdumpc"))
        for folder in ("tmp", "proc"):
            os.mkdir(os.path.join(cls.root, folder))
        os.chmod(os.path.join(cls.root, "tmp"), 0o1777)
        shutil.copy(TRACE, os.path.join(cls.root, "heap.nettrace.gz"))
        for folder in (cls.dir, cls.root):
            os.chmod(folder, 0o755)

    def test_one_small_file(self):
        program = os.path.join(self.root, "gcdumpc")
        self.assertLessEqual(os.path.getsize(program), MOST_BYTES)
        self.assertNotIn("INTERP", text("readelf", "-lW", program))
        self.assertNotIn("NEEDED", text("readelf", "-dW", program))

    @unittest.skipUnless(cached("CMAKE_BUILD_TYPE") == "Release" and cached("GCDUMPC_HARDEN") == "ON", "another build than a user has")
    def test_the_one_with_libraries_is_smaller(self):
        stripped = os.path.join(self.dir, "with-libraries")
        run("strip", "-o", stripped, PROGRAM)
        self.assertLessEqual(os.path.getsize(stripped), MOST_DYNAMIC_BYTES)

    def test_the_same_bytes_in_other_folders(self):
        here, there = objects(BUILD), objects(self.build)
        for name in list(here):
            if os.path.basename(name) in NO_ZSTD:
                self.assertNotEqual(here.pop(name), there.pop(name, b""), name)
        self.assertGreater(len(here), 100)
        # an old build folder keeps the objects of removed sources
        gone = {name for name in set(here) - set(there) if not os.path.exists(os.path.join(ROOT, name.partition(".dir/")[2].removesuffix(".o")))}
        self.assertEqual(set(here) - gone, set(there))
        # uses no name service in a static program
        differ = [name for name in there if here[name] != there[name] and not name.endswith("/cmd_ps.c.o")]
        self.assertEqual(differ, [])
        here, there = ([line for line in text("ar", "tv", os.path.join(build, "libgcdumpc.a")).split("\n") if line.split(" ")[-1] not in NO_ZSTD]
                       for build in (BUILD, self.build))
        self.assertEqual(here, there)
        with open(os.path.join(self.build, "gcdumpc"), "rb") as f:
            first = f.read()
        os.remove(os.path.join(self.build, "gcdumpc"))
        run("cmake", "--build", self.build, "--target", "gcdumpc")
        with open(os.path.join(self.build, "gcdumpc"), "rb") as f:
            self.assertTrue(first == f.read(), "linked again")
        for folder in (self.dir, ROOT, BUILD):
            self.assertNotIn(folder.encode(), first)

    def test_hardened(self):
        if cached("GCDUMPC_HARDEN").upper() not in ("ON", "1", "TRUE", "YES"):
            self.skipTest("built without GCDUMPC_HARDEN")
        run(sys.executable, os.path.join(ROOT, "tests", "linkage", "test_hardening.py"),
            env={**os.environ, "GCDUMPC": os.path.join(self.build, "gcdumpc")})

    def alone(self, *args, status=0):
        """In a root folder with nothing but the program and a recording: no /proc, no /etc, no library."""
        return run(need_tool("chroot", "an empty root folder"), self.root, "/gcdumpc", *args, status=status, env={}, cwd="/")

    def test_in_an_empty_root_folder(self):
        if os.geteuid() != 0:
            self.skipTest("needs root, for chroot")
        for command in (["info"], ["info", "--json"], ["report"], ["retained"], ["leaks"], ["report", "--by", "module", "--csv"]):
            words = [command[0], "heap.nettrace.gz", *command[1:]]
            expected = run(PROGRAM, *words, cwd=self.root)
            self.assertEqual(self.alone(*words), expected, command)
        for name in ("x.gclog", "x.gcdump", "x.heapsnapshot", "x.pb.gz", "x.html", "x.csv", "x.sqlite"):
            if name == "x.sqlite" and cached("GCDUMPC_SQLITE") != "ON":
                continue
            self.alone("convert", "heap.nettrace.gz", "-o", name)
            mine, own = os.path.join(self.root, name), os.path.join(self.dir, name)
            run(PROGRAM, "convert", "heap.nettrace.gz", "-o", own, cwd=self.root)
            if os.path.isdir(mine):
                self.assertEqual(text("diff", "-r", mine, own), "")
                shutil.rmtree(mine)
                continue
            with open(mine, "rb") as a, open(own, "rb") as b:
                self.assertTrue(a.read() == b.read(), name)
            os.remove(mine)
        self.assertEqual(self.alone("completion", "bash"), run(PROGRAM, "help", "--format", "bash"))
        self.assertEqual(self.alone("ps"), b"")          # there is no /proc

    def test_a_terminal_in_an_empty_root_folder(self):
        """There are no terminal descriptions, so the program assumes one like xterm."""
        if os.geteuid() != 0 or cached("GCDUMPC_BROWSE").upper() not in ("ON", "1", "TRUE", "YES"):
            self.skipTest("needs root, for chroot, and GCDUMPC_BROWSE")
        sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
        from screen import Screen
        for term in ("linux", "xterm-kitty"):
            s = Screen([need_tool("chroot", "an empty root folder"), self.root, "/gcdumpc", "browse", "heap.nettrace.gz"],
                       {"TERM": term, "LC_ALL": "C.UTF-8"}, cwd="/")
            try:
                s.wait("HeapLab.Lab")
                s.press("3", "end", "home", "down", "enter")
                s.wait("Paths from the roots")
                s.press("q")
                self.assertEqual(s.end(), 0)
                self.assertTrue(s.restored())
            finally:
                s.close()

    # beside a process in namespaces of its own

    @contextlib.contextmanager
    def target(self, script, shared, namespaces=("--pid",), user="", **environment):
        """Runs SCRIPT and then HeapLab as USER in namespaces of its own, where SHARED is /mnt."""
        from live_support import heaplab, need
        if os.geteuid() != 0:
            self.skipTest("needs root, for chroot and namespaces")
        program = os.path.dirname(need(heaplab))
        unshare = ["unshare", "--fork", "--kill-child", "--mount", "--propagation", "private", *namespaces]
        if subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no namespaces of mounts and processes here")
        shutil.copytree(program, os.path.join(shared, "lab"))        # visible whatever /tmp is, and to other users
        run("chmod", "-R", "a+rX", os.path.join(shared, "lab"))
        p = subprocess.Popen([*unshare, "sh", "-c", f'mount --bind "$1" /mnt && {script} && exec {user} /mnt/lab/HeapLab', "sh", shared],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             env={**{k: v for k, v in os.environ.items() if k != "TMPDIR"}, **environment})
        try:
            yield json.loads(p.stdout.readline()), p
        finally:
            p.kill()
            p.communicate()

    def shared(self):
        d = tempfile.mkdtemp(dir=self.dir)
        os.chmod(d, 0o1777)
        return d

    def beside(self, mounts, *args, namespaces=("--pid",), userspec=""):
        """The static program in its own root folder, after MOUNTS there."""
        script = f"{mounts}exec chroot {userspec}. /gcdumpc \"$@\""
        return run("unshare", "--fork", "--kill-child", "--mount", "--propagation", "private", *namespaces, "sh", "-c", script, "sh", *args,
                   env={"PATH": os.environ["PATH"]}, cwd=self.root)

    def check(self, recording, counts):
        """The complete heap, compared with the target's own line."""
        import check_counts
        path = os.path.join(self.dir, "live.nettrace")
        with open(path, "wb") as f:
            f.write(recording)
        self.assertEqual([], list(check_counts.check_types(counts, json.loads(text(PROGRAM, "report", path, "--json")), False)))
        self.assertEqual([], list(check_counts.check_info(counts, json.loads(text(PROGRAM, "info", path, "--json")), False)))

    def socket(self, shared):
        found = glob.glob(os.path.join(shared, "dotnet-diagnostic-*-socket"))
        self.assertEqual(len(found), 1)
        return os.path.basename(found[0])

    def test_sidecar(self):
        """Nothing is shared but /tmp."""
        shared = self.shared()
        with self.target("mount --bind /mnt /tmp", shared) as (counts, _):
            name = self.socket(shared)
            dump = self.beside(f"mount --bind {shared} tmp && ", "--port", f"/tmp/{name}", *OUTPUT)
            self.check(dump, counts)

    def test_shared_processes(self):
        """As in kubectl debug --target: its processes are visible, its /tmp only through them."""
        with self.target("mount -t tmpfs none /tmp", self.shared(), namespaces=()) as (counts, p):
            pid = int(text("ps", "-o", "pid=", "--ppid", str(p.pid)))
            ps = self.beside("mount -t proc proc proc && ", "ps", "--json", namespaces=())
            self.assertIn(pid, [q["pid"] for q in json.loads(ps)["processes"]])
            dump = self.beside("mount -t proc proc proc && ", "--pid", pid, *OUTPUT, namespaces=())
            self.check(dump, counts)

    def test_shared_processes_without_capabilities(self):
        """The same as the program's user, without any capability."""
        user = f"setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups --inh-caps=-all --bounding-set=-all"
        with self.target("mount -t tmpfs none /tmp", self.shared(), namespaces=(), user=user, HOME="/tmp") as (counts, p):
            pid = int(text("ps", "-o", "pid=", "--ppid", str(p.pid)))
            self.assertEqual(os.stat(f"/proc/{pid}").st_uid, NOBODY)
            # chroot drops all capabilities with the user
            dump = self.beside("mount -t proc proc proc && ", "--pid", pid, *OUTPUT, namespaces=(),
                               userspec=f"--userspec={NOBODY}:{NOBODY} --groups= ")
            self.check(dump, counts)

    def test_port_in_a_shared_folder(self):
        """No diagnostic socket is visible: the program connects to gcdumpc once that listens."""
        shared = self.shared()
        with self.target("mount -t tmpfs none /tmp", shared, DOTNET_DiagnosticPorts="/mnt/heap.sock,nosuspend") as (counts, _):
            dump = self.beside(f"mount --bind {shared} tmp && ", "--listen", "/tmp/heap.sock", *OUTPUT)
            self.check(dump, counts)


if __name__ == "__main__":
    main("the static program is tested in the build with living processes" if os.environ.get("GCDUMPC_IPC") == "OFF" else None)
