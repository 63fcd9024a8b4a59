"""The static program: small, the same bytes wherever it is built, and enough by itself, in an empty root folder and beside a container."""
import contextlib
import glob
import json
import os
import shutil
import subprocess
import tempfile
import time
import unittest

from install_support import BUILD, PROGRAM, ROOT, SECONDS, TRACE, cached, main, run, text

MOST_BYTES = 4_000_000
NOBODY = 65534
# of the build under test; the rest is the same by default
SAME = ("CMAKE_GENERATOR", "CMAKE_C_COMPILER", "CMAKE_BUILD_TYPE", "CMAKE_C_FLAGS", "GCDUMPC_WERROR", "GCDUMPC_SQLITE")


def objects(build):
    """Path below the build folder -> bytes, of the objects of library and program."""
    found = {}
    for folder in ("gcdumpc_obj.dir", "gcdumpc_ipc.dir", "gcdumpc.dir"):
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
        source, cls.build = os.path.join(cls.dir, "another", "source"), os.path.join(cls.dir, "b")
        for name in ("CMakeLists.txt", "LICENSE", "README.md", "CHANGELOG.md"):
            os.makedirs(source, exist_ok=True)
            shutil.copy(os.path.join(ROOT, name), source)
        for name in ("include", "src", "ipc", "tools"):
            shutil.copytree(os.path.join(ROOT, name), os.path.join(source, name), symlinks=True)
        options = [f"-D{name}={cached(name)}" for name in SAME if name != "CMAKE_GENERATOR"]
        run("cmake", "-G", cached("CMAKE_GENERATOR"), "-S", source, "-B", cls.build, "-DGCDUMPC_STATIC=ON", "-DGCDUMPC_TESTS=OFF",
            "-DGCDUMPC_MANUAL=OFF", *options)
        run("cmake", "--build", cls.build, "--parallel", "2", "--target", "gcdumpc", "gcdumpc_static")
        cls.root = os.path.join(cls.dir, "root")
        os.mkdir(cls.root)
        run("strip", "-o", os.path.join(cls.root, "gcdumpc"), os.path.join(cls.build, "gcdumpc"))
        for folder in ("tmp", "proc"):
            os.mkdir(os.path.join(cls.root, folder))
        shutil.copy(TRACE, os.path.join(cls.root, "heap.nettrace.gz"))
        for folder in (cls.dir, cls.root):
            os.chmod(folder, 0o755)

    def need_root(self):
        if os.geteuid() != 0:
            self.skipTest("needs root, for chroot and namespaces")

    def test_one_small_file(self):
        program = os.path.join(self.root, "gcdumpc")
        self.assertLessEqual(os.path.getsize(program), MOST_BYTES)
        self.assertNotIn("INTERP", text("readelf", "-lW", program))
        self.assertNotIn("NEEDED", text("readelf", "-dW", program))

    def test_the_same_bytes_in_other_folders(self):
        here, there = objects(BUILD), objects(self.build)
        self.assertGreater(len(here), 100)
        self.assertEqual(set(here), set(there))
        # asks no name service when it is static
        differ = [name for name in here if here[name] != there[name] and not name.endswith("/cmd_ps.c.o")]
        self.assertEqual(differ, [])
        with open(os.path.join(BUILD, "libgcdumpc.a"), "rb") as a, open(os.path.join(self.build, "libgcdumpc.a"), "rb") as b:
            self.assertTrue(a.read() == b.read(), "libgcdumpc.a")
        with open(os.path.join(self.build, "gcdumpc"), "rb") as f:
            first = f.read()
        os.remove(os.path.join(self.build, "gcdumpc"))
        run("cmake", "--build", self.build, "--target", "gcdumpc")
        with open(os.path.join(self.build, "gcdumpc"), "rb") as f:
            self.assertTrue(first == f.read(), "linked again")
        for folder in (self.dir, ROOT, BUILD):
            self.assertNotIn(folder.encode(), first)

    def alone(self, *args, status=0):
        """In a root folder with nothing but the program and a recording: no /proc, no /etc, no library."""
        return run("chroot", self.root, "/gcdumpc", *args, status=status, env={}, cwd="/")

    def test_in_an_empty_root_folder(self):
        self.need_root()
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
        self.assertEqual(self.alone("help", "--format", "man"), run(PROGRAM, "help", "--format", "man"))
        self.assertEqual(self.alone("ps", status=1), b"")        # and says that there is no /proc
    # beside a process in namespaces of its own

    @contextlib.contextmanager
    def target(self, script, shared, namespaces=("--pid",), **environment):
        """HeapLab behind namespaces of its own; SHARED becomes its /tmp by SCRIPT."""
        from live_support import heaplab, need
        self.need_root()
        program = need(heaplab)
        unshare = ["unshare", "--fork", "--kill-child", "--mount", "--propagation", "private", *namespaces]
        if subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no namespaces of mounts and processes here")
        p = subprocess.Popen([*unshare, "sh", "-c", f"{script}", "sh", shared, program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
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
        """The static program in a root folder of its own, after MOUNTS there."""
        script = f"{mounts}exec chroot {userspec}. /gcdumpc \"$@\""
        return run("unshare", "--fork", "--kill-child", "--mount", "--propagation", "private", *namespaces, "sh", "-c", script, "sh", *args,
                   env={"PATH": os.environ["PATH"]}, cwd=self.root)

    def check(self, dump, counts):
        """A gclog of the whole heap."""
        path = os.path.join(self.dir, "live.gclog")
        with open(path, "wb") as f:
            f.write(dump)
        types = {t["raw_name"]: t["count"] for t in json.loads(text(PROGRAM, "report", path, "--json"))["types"]}
        wanted = [t for t in counts["types"] if "count" in t]
        self.assertGreater(len(wanted), 10)
        sums = {}
        for t in wanted:
            sums[t["name"]] = sums.get(t["name"], 0) + t["count"]
        self.assertEqual({n: types.get(n) for n in sums}, sums)

    def socket(self, shared):
        found = glob.glob(os.path.join(shared, "dotnet-diagnostic-*-socket"))
        self.assertEqual(len(found), 1)
        return os.path.basename(found[0])

    def test_sidecar(self):
        """Nothing is shared but /tmp."""
        shared = self.shared()
        with self.target('mount --bind "$1" /tmp && exec "$2"', shared) as (counts, _):
            name = self.socket(shared)
            dump = self.beside(f"mount --bind {shared} tmp && ", "--port", f"/tmp/{name}", "-q", "-f", "gclog", "-o", "-")
            self.check(dump, counts)

    def test_shared_processes(self):
        """As by kubectl debug --target: its processes are seen, its /tmp only through them."""
        with self.target('mount -t tmpfs none /tmp && exec "$2"', self.dir, namespaces=()) as (counts, p):
            pid = int(text("ps", "-o", "pid=", "--ppid", str(p.pid)))
            ps = self.beside("mount -t proc proc proc && ", "ps", "--json", namespaces=())
            self.assertIn(pid, [q["pid"] for q in json.loads(ps)["processes"]])
            dump = self.beside("mount -t proc proc proc && ", "--pid", pid, "-q", "-f", "gclog", "-o", "-", namespaces=())
            self.check(dump, counts)

    def test_shared_processes_without_capabilities(self):
        """The same as the program's user, with no right that it has not."""
        user = f"setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups --inh-caps=-all --bounding-set=-all"
        shared = self.shared()
        from live_support import heaplab, need
        shutil.copytree(os.path.dirname(need(heaplab)), os.path.join(shared, "lab"))     # where the other user can read it
        run("chmod", "-R", "a+rX", os.path.join(shared, "lab"))
        script = f'mount --bind "$1" /mnt && mount -t tmpfs none /tmp && exec {user} /mnt/lab/HeapLab'
        with self.target(script, shared, namespaces=(), DOTNET_BUNDLE_EXTRACT_BASE_DIR="/tmp", HOME="/tmp") as (counts, p):
            pid = int(text("ps", "-o", "pid=", "--ppid", str(p.pid)))
            self.assertEqual(os.stat(f"/proc/{pid}").st_uid, NOBODY)
            # chroot gives all capabilities away with the user
            dump = self.beside("mount -t proc proc proc && ", "--pid", pid, "-q", "-f", "gclog", "-o", "-", namespaces=(),
                               userspec=f"--userspec={NOBODY}:{NOBODY} --groups= ")
            self.check(dump, counts)

    def test_port_in_a_shared_folder(self):
        """No diagnostic socket is seen: the program comes to gcdumpc."""
        from live_support import heaplab, need
        self.need_root()
        need(heaplab)
        shared = self.shared()
        waiting = subprocess.Popen(["unshare", "--fork", "--kill-child", "--mount", "--propagation", "private", "--pid", "sh", "-c",
                                    f"mount --bind {shared} tmp && exec chroot . /gcdumpc \"$@\"", "sh", "--connect", "/tmp/heap.sock", "--delay", "2",
                                    "-q", "-f", "gclog", "-o", "-"], cwd=self.root, stdout=subprocess.PIPE)
        self.addCleanup(waiting.kill)
        end = time.monotonic() + SECONDS
        while not os.path.exists(os.path.join(shared, "heap.sock")) and time.monotonic() < end:
            time.sleep(0.05)
        with self.target('mount --bind "$1" /mnt && exec "$2"', shared, DOTNET_DiagnosticPorts="/mnt/heap.sock,nosuspend") as (counts, _):
            dump, _ = waiting.communicate(timeout=SECONDS)
            self.assertEqual(waiting.returncode, 0)
            self.check(dump, counts)


if __name__ == "__main__":
    main("the static program is tested in the build with living processes" if os.environ.get("GCDUMPC_IPC") == "OFF" else None)
