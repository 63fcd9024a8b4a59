"""--container ID: programs in namespaces, a private /tmp and a cgroup of their own, as engines make them; without an engine."""
import contextlib
import json
import os
import re
import subprocess
import tempfile
import time

from live_support import PROGRAM, SECONDS, LiveTest, heaplab, main, need

FIRST, SECOND = "c0ffee" + 58 * "1", "c0ffee" + 58 * "2"
OTHER = "badcafe0" + 56 * "3"
SMALL = ("--objects", "1000")


def cgroup_folder():
    for folder in ("/sys/fs/cgroup/unified", "/sys/fs/cgroup/systemd", "/sys/fs/cgroup"):
        if os.path.exists(f"{folder}/cgroup.procs") and os.access(folder, os.W_OK):
            return folder
    return None


class Containers(LiveTest):
    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            self.skipTest("needs root, for namespaces and cgroups")
        if cgroup_folder() is None:
            self.skipTest("needs a hierarchy of cgroups")
        self.unshare = ["unshare", "--fork", "--kill-child", "--mount", "--pid", "--mount-proc", "--propagation", "private"]
        if subprocess.run([*self.unshare, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no namespaces of mounts and processes here")
        self.program = os.path.dirname(need(heaplab))

    @contextlib.contextmanager
    def container(self, cgroup, *args, script=""):
        """HeapLab as process 1 of its namespace, in the new cgroup CGROUP, with a /tmp of its own; SCRIPT starts more."""
        folder = f"{cgroup_folder()}/{cgroup}"
        os.makedirs(folder)
        inside = f'mount --bind "$1" /mnt && mount -t tmpfs none /tmp && shift || exit 1; {script} exec /mnt/HeapLab "$@"'
        environment = {k: v for k, v in os.environ.items() if k != "TMPDIR"}
        p = subprocess.Popen(["sh", "-c", f'echo $$ > {folder}/cgroup.procs && exec "$@"', "sh", *self.unshare,
                              "sh", "-c", inside, "sh", self.program, *args],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        try:
            yield json.loads(p.stdout.readline())
        finally:
            p.kill()
            p.communicate()
            end = time.monotonic() + SECONDS
            while time.monotonic() < end:                    # until its last process has gone
                with contextlib.suppress(OSError):
                    os.removedirs(folder)
                if not os.path.exists(folder):
                    break
                time.sleep(0.05)

    def rows(self, container):
        return [p for p in json.loads(self.gcdumpc("ps", "--json").stdout)["processes"] if p["container"] == container]

    def outputs(self):
        """Without what jobs remember beside them."""
        return [f for f in self.files() if not f.startswith(".")]

    def objects(self, *words):
        return json.loads(self.gcdumpc("report", *words, "--json").stdout)["objects"]

    def test_one_process(self):
        with self.container(f"system.slice/docker-{FIRST}.scope", *SMALL) as counts:
            [row] = self.rows(FIRST)
            self.assertEqual((row["container_pid"], row["container_name"], counts["pid"]), (1, None, 1))
            self.assertNotEqual(row["pid"], 1)
            self.assertEqual(row["ways"], ["events", "direct"])
            table = self.gcdumpc("ps").stdout
            self.assertRegex(table, rf"(?m)^ *{row['pid']} .* {FIRST[:12]} pid 1 ")
            for words in (("c0ffee",), (FIRST,), (f"docker://{FIRST}",), ("c0ffee", "--pid", 1), ("c0ffee", "--name", "Heap*"), ("c0ffee", "--direct")):
                with self.subTest(words):
                    self.assertGreaterEqual(self.objects("--container", *words), counts["objects"]["min"])
            name = self.path("%n-%p-%s.gclog")
            self.gcdumpc("collect", "--container", "c0ffee", "-o", name, "--keep", 3)
            self.gcdumpc("collect", "--container", "c0ffee", "--all", "-o", name)
            self.assertEqual({re.sub(r"-\d+\.gclog$", "", f) for f in self.outputs()}, {f"HeapLab-{row['pid']}"})
            for words, said in ((("c0ff3e",), 'no .NET process is in a container "c0ff3e"'), (("c0f",), "give at least 4 digits"),
                                (("c0ffee", "--pid", row["pid"]), "its number inside"), (("c0ffee", "--name", "Shop"), "fits --name")):
                self.assertIn(said, self.gcdumpc("report", "--container", *words, status=1).stderr)

    def test_several(self):
        script = "(sleep 1000 | /mnt/HeapLab --service 1000 > /tmp/second) & while ! [ -s /tmp/second ]; do sleep 0.1; done;"
        with self.container(f"kubepods/burstable/pod1b2c3d4e-0000-1111-2222-333344445555/{FIRST}", *SMALL, script=script), \
                self.container(f"kubepods.slice/kubepods-pod1.slice/cri-containerd-{SECOND}.scope", *SMALL), \
                self.container(f"machine.slice/libpod-{OTHER}.scope", *SMALL):
            inside = {row["container_pid"]: row["pid"] for row in self.rows(FIRST)}
            self.assertEqual(len(inside), 2)
            refused = self.gcdumpc("report", "--container", "c0ffee1", status=2).stderr
            self.assertIn('2 processes of container "c0ffee1" fit', refused)
            for number, pid in inside.items():
                self.assertRegex(refused, rf"(?m)^gcdumpc: +{pid} +{number}  |^ +{pid} +{number}  ")
                self.assertGreater(self.objects("--container", "c0ffee1", "--pid", number), 500)
            self.assertIn("means several containers", self.gcdumpc("report", "--container", "c0ffee", status=2).stderr)
            self.assertIn("means several containers", self.gcdumpc("--container", "c0ffee", "--all", "-o", self.path("%p.gclog"), status=2).stderr)
            self.gcdumpc("--container", "c0ffee1", "--all", "-o", self.path("%p.gclog"))
            self.assertEqual(self.outputs(), sorted(f"{pid}.gclog" for pid in inside.values()))
            self.gcdumpc("report", "--container", "badcafe0")
            self.gcdumpc("report", "--container", "c0ffee2")

    def test_watched_and_as_a_job(self):
        with self.container(f"docker/{OTHER}", *SMALL):
            [row] = self.rows(OTHER)
            done = self.gcdumpc("watch", "--container", "badcafe0", "--when", "rss > 1M", "--once", "-o", self.path("%n-%p-w.nettrace.gz"))
            self.assertIn(f"process {row['pid']}", done.stderr)
            with open(self.path("jobs"), "w", encoding="utf-8") as f:
                f.write(f"[one]\ncontainer = badcafe0\noutput = {self.path('%J-%p.nettrace.gz')}\n")
            self.gcdumpc("run", "one", "--config", self.path("jobs"))
            self.assertEqual(self.outputs(), sorted([f"HeapLab-{row['pid']}-w.nettrace.gz", f"one-{row['pid']}.nettrace.gz", "jobs"]))

    def test_the_name_that_docker_keeps(self):
        with self.container(f"docker/{OTHER}", *SMALL), tempfile.TemporaryDirectory() as docker:
            os.makedirs(f"{docker}/containers/{OTHER}")
            with open(f"{docker}/containers/{OTHER}/config.v2.json", "w", encoding="utf-8") as f:
                json.dump({"Name": "/coffee"}, f)
            ours = ["unshare", "--mount", "--propagation", "private", "sh", "-c",
                    'mkdir -p /var/lib && mount -t tmpfs none /var/lib && mkdir /var/lib/docker && mount --bind "$1" /var/lib/docker && shift && exec "$@"',
                    "sh", docker, PROGRAM]
            ps = subprocess.run([*ours, "ps"], capture_output=True, text=True, check=True, timeout=SECONDS)
            self.assertIn(" coffee pid 1 ", ps.stdout)
            subprocess.run([*ours, "--container", "coffee", "-o", self.path("a.gclog")], capture_output=True, check=True, timeout=SECONDS)
            self.assertEqual(self.files(), ["a.gclog"])

    def test_an_ephemeral_container(self):
        """As kubectl debug --target: the process namespace of the other one, another cgroup, /tmp and root folder."""
        with self.container(f"kubepods/pod1/{FIRST}", *SMALL):
            [row] = self.rows(FIRST)
            enter = ["nsenter", "--target", str(row["pid"]), "--pid", "unshare", "--mount", "--mount-proc", "--propagation", "private",
                     "sh", "-c", 'mount -t tmpfs none /tmp && exec "$@"', "sh", PROGRAM]
            ps = subprocess.run([*enter, "ps", "--json"], capture_output=True, text=True, check=True, timeout=SECONDS)
            [seen] = [p for p in json.loads(ps.stdout)["processes"] if p["pid"] == 1]
            self.assertEqual((seen["container"], seen["container_pid"]), (FIRST, 1))
            for words in (("--pid", "1"), ("--container", FIRST)):
                dump = subprocess.run([*enter, *words, "-q", "-f", "gcdump", "-o", "-"], capture_output=True, check=True, timeout=SECONDS)
                self.assertIn(b"!FastSerialization.1", dump.stdout[:64])
            # root of a container lacks a capability by default, but reads as the user of the process
            allowed, refused = (["setpriv", "--inh-caps=-sys_ptrace", f"--bounding-set={caps}"] for caps in ("-setuid", "-sys_ptrace"))
            program = enter.index(PROGRAM)
            subprocess.run([*enter[:program], *allowed, *enter[program:], "--pid", "1", "-q", "-f", "gclog", "-o", "-"], capture_output=True, check=True)
            failed = subprocess.run([*enter[:program], *refused, *enter[program:], "--pid", "1", "-o", "-", "-f", "gclog"], capture_output=True, text=True, check=False)
            self.assertEqual(failed.returncode, 1)
            self.assertIn("its root folder cannot be read: run as its user, or as root with the capability SYS_PTRACE", failed.stderr)
            # nothing can be written but /dev/shm
            read_only = ["sh", "-c", 'mount -o remount,ro /tmp && mount -o remount,bind,ro / && exec "$@"', "sh"]
            dump = subprocess.run([*enter[:program], *read_only, *enter[program:], "--pid", "1", "-q", "-f", "gcdump", "-o", "-"],
                                  capture_output=True, check=True, env={**os.environ, "TMPDIR": "/dev/shm"})
            self.assertIn(b"!FastSerialization.1", dump.stdout[:64])
            # into the other container's folder, as it mounts no volumes
            heap = "tmp/heap.gcdump"
            subprocess.run([*enter, "--pid", "1", "-o", os.path.join("/proc/1/root", heap)], capture_output=True, check=True, timeout=SECONDS)
            self.assertTrue(os.path.exists(os.path.join(f"/proc/{row['pid']}/root", heap)))


if __name__ == "__main__":
    main()
