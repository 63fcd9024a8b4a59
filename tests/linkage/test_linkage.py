"""The installed package is enough to build programs, and the library keeps its promises as a library."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = os.environ["GCDUMPC_SOURCE"]
BUILD = os.environ["GCDUMPC_BUILD"]
TRACE = os.path.join(ROOT, "traces", "net10-wks", "heap.nettrace.gz")


def run(*args, **kw):
    r = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **kw)
    if r.returncode != 0:
        raise AssertionError(f"{' '.join(args)}: exit {r.returncode}\n{r.stdout}")
    return r.stdout


def headers():
    """Name and text of each public header; those of unstable/ are neither installed nor exported."""
    folder = os.path.join(ROOT, "include", "gcdumpc")
    for name in os.listdir(folder):
        if name.endswith(".h"):
            with open(os.path.join(folder, name), encoding="utf-8") as f:
                yield name, f.read()


class Linkage(unittest.TestCase):
    def test_installed_package(self):
        with tempfile.TemporaryDirectory() as d:
            prefix = os.path.join(d, "prefix")
            run("cmake", "--install", BUILD, "--prefix", prefix)
            work = os.path.join(d, "work")
            run("cmake", "-S", os.path.join(ROOT, "tests", "linkage", "consumer"), "-B", work, f"-DCMAKE_PREFIX_PATH={prefix}",
                f"-DEXAMPLES={prefix}/share/doc/gcdumpc/examples/library")
            run("cmake", "--build", work)
            for program in ("consumer", "consumer_cpp", "consumer_static"):
                self.assertIn("17646 objects", run(os.path.join(work, program), TRACE))
                needed = "[libgcdumpc.so.0.3]" in run("readelf", "-dW", os.path.join(work, program))
                self.assertEqual(needed, program != "consumer_static", program)
            self.assertFalse(os.path.exists(os.path.join(prefix, "include", "gcdumpc", "unstable")))
            self.live(os.path.join(work, "take_dump"))
            self.by_pkg_config(d, prefix)
            self.examples(d, prefix)
            self.assertIn("17646", run(os.path.join(prefix, "bin", "gcdumpc"), "report", TRACE))

    def live(self, program):
        """The example that takes a dump of a process; a process without a runtime is refused in one line."""
        if os.environ.get("GCDUMPC_IPC") == "OFF":
            self.assertFalse(os.path.exists(program))
            return
        r = subprocess.run([program, str(os.getpid())], capture_output=True, text=True, check=False)
        self.assertEqual((r.returncode, r.stdout, len(r.stderr.splitlines())), (1, "", 1), r)
        self.assertRegex(r.stderr, "socket")

    def flags(self, prefix, *options):
        """The flags from pkg-config, and the folder of the library."""
        lib = next(f for f, _, names in os.walk(prefix) if "gcdumpc.pc" in names)
        out = run("pkg-config", *options, "--cflags", "--libs", "gcdumpc", env={**os.environ, "PKG_CONFIG_PATH": lib}).split()
        return out, os.path.realpath(os.path.join(lib, ".."))

    def by_pkg_config(self, d, prefix):
        """The .pc file works in any folder; with --static it lists the libraries that the archive needs."""
        out, source = os.path.join(d, "by-pkg-config"), os.path.join(ROOT, "tests", "linkage", "consumer", "consumer.c")
        flags, lib = self.flags(prefix)
        self.assertNotIn("-lz", flags)
        run("cc", "-std=c11", source, "-o", out, *flags)
        self.assertIn("17646 objects", run(out, TRACE, env={"LD_LIBRARY_PATH": lib}))
        flags, lib = self.flags(prefix, "--static")
        self.assertIn("-lz", flags)
        run("cc", "-std=c11", source, "-o", out, *[os.path.join(lib, "libgcdumpc.a") if f == "-lgcdumpc" else f for f in flags])
        self.assertIn("17646 objects", run(out, TRACE))

    def examples(self, d, prefix):
        """The installed examples list the same ten types as the program's report."""
        folder = os.path.join(prefix, "share", "doc", "gcdumpc", "examples", "library")
        report = run(os.path.join(prefix, "bin", "gcdumpc"), "report", TRACE, "--names", "raw", "--csv", "--top", "10")
        wanted = sorted(tuple(line.split(",")[:2]) for line in report.strip().split("\n")[1:])
        self.assertEqual(len(wanted), 10)
        flags, lib = self.flags(prefix)
        source = os.path.join(folder, "largest_types.c")
        with open(source, encoding="utf-8") as f:
            self.assertLess(len(f.readlines()), 50)
        out = os.path.join(d, "largest_types")
        run("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", source, "-o", out, *flags)
        lines = run(out, TRACE, env={"LD_LIBRARY_PATH": lib}).strip().split("\n")
        self.assertEqual(sorted(tuple(line.split()[:2]) for line in lines), wanted)
        for python in (sys.executable, "/usr/bin/python3"):
            if subprocess.run([python, "-c", "import numpy"], capture_output=True, check=False).returncode == 0:
                lines = run(python, os.path.join(folder, "graph_numpy.py"), TRACE, os.path.join(lib, "libgcdumpc.so.0.3")).split("\n")
                self.assertEqual(sorted(tuple(line.split()[:2]) for line in lines[1:11]), wanted)
                return
        print("skipped: linkage/test_linkage: the example for numpy: no Python with numpy on this machine")

    def test_the_shared_library_exports_what_the_headers_declare(self):
        """The library exports every gcd_ function of every public header, with name and version, and nothing else."""
        library = os.path.join(BUILD, "libgcdumpc.so")
        self.assertIn("[libgcdumpc.so.0.3]", run("readelf", "-dW", library))
        exported = {line.split()[-1] for line in run("nm", "-D", "--defined-only", library).split("\n") if line}
        declared = set()
        for name, text in headers():
            if name != "ipc.h":    # of the other library, which needs libuv
                text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
                declared |= {m[1] for m in re.finditer(r"GCD_API[^;]*?\b(gcd_\w+)\(", text)}
        self.assertGreater(len(declared), 100)
        self.assertEqual(exported, declared)
        undefined = {line.split()[-1].split("@")[0] for line in run("nm", "-D", "-u", library).split("\n") if line}
        self.assertEqual({s for s in undefined if s.startswith(("uv_", "json_", "gcd_"))}, set())

    def test_the_library_has_no_state_and_no_libuv(self):
        archive = os.path.join(BUILD, "libgcdumpc.a")
        state = []
        for line in run("size", "-A", archive).split("\n"):
            words = line.split()
            if len(words) == 3 and words[0].split(".")[1:2] in (["data"], ["bss"]) and not words[0].startswith(".data.rel.ro") and words[1] != "0":
                state.append(line)
        self.assertEqual(state, [])
        undefined = {line.split()[-1] for line in run("nm", "-u", archive).split("\n") if line.strip().startswith("U ")}
        self.assertTrue(undefined)
        forbidden = {"printf", "puts", "exit", "_exit", "abort", "getenv", "stdout", "stderr", "signal", "sigaction"}
        self.assertEqual(undefined & forbidden, set())
        defined = {line.split()[-1] for line in run("nm", "--defined-only", archive).split("\n") if len(line.split()) == 3}
        self.assertEqual({s for s in undefined - defined if s.startswith("uv_") or s.startswith("json_")}, set())

    def test_only_the_public_interface_is_visible(self):
        symbols = [line.split() for line in run("nm", "-g", "--defined-only", os.path.join(BUILD, "libgcdumpc.a")).split("\n")]
        names = {w[2] for w in symbols if len(w) == 3}
        text = "\n".join(text for _, text in headers())
        declared = set(re.findall(r"\b(\w+)\(", text))
        listed = run("readelf", "-Ws", os.path.join(BUILD, "libgcdumpc.a"))
        hidden = {line.split()[-1] for line in listed.split("\n") if "HIDDEN" in line}
        self.assertEqual(names - declared - hidden, set())
        self.assertGreater(len(hidden), 100)


if __name__ == "__main__":
    if os.environ.get("GCDUMPC_SANITIZE"):
        print("skipped: linkage test: the library is built with a sanitizer")
        sys.exit(77)
    if os.environ.get("GCDUMPC_STATIC") == "ON":
        print("skipped: linkage test: this build has no shared library")
        sys.exit(77)
    unittest.main()
