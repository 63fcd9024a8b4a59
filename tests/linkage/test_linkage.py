"""The installed package serves somebody who has nothing else, and the library keeps its promises as a library."""
import os
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


class Linkage(unittest.TestCase):
    def test_installed_package(self):
        with tempfile.TemporaryDirectory() as d:
            prefix = os.path.join(d, "prefix")
            run("cmake", "--install", BUILD, "--prefix", prefix)
            work = os.path.join(d, "work")
            run("cmake", "-S", os.path.join(ROOT, "tests", "linkage", "consumer"), "-B", work, f"-DCMAKE_PREFIX_PATH={prefix}")
            run("cmake", "--build", work)
            for program in ("consumer", "consumer_cpp"):
                self.assertIn("17646 objects", run(os.path.join(work, program), TRACE))
            lib = next(os.path.join(f, "pkgconfig") for f, folders, _ in os.walk(prefix) if "pkgconfig" in folders)
            flags = run("pkg-config", "--static", "--cflags", "--libs", "gcdumpc", env={**os.environ, "PKG_CONFIG_PATH": lib}).split()
            flags = [f.replace("/usr/local", prefix) for f in flags]
            out = os.path.join(d, "by-pkg-config")
            run("cc", "-std=c11", os.path.join(ROOT, "tests", "linkage", "consumer", "consumer.c"), "-o", out, *flags)
            self.assertIn("17646 objects", run(out, TRACE))
            self.assertIn("17646", run(os.path.join(prefix, "bin", "gcdumpc"), "report", TRACE))

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
        public = set()
        for h in os.listdir(os.path.join(ROOT, "include", "gcdumpc")):
            with open(os.path.join(ROOT, "include", "gcdumpc", h), encoding="utf-8") as f:
                public.add(f.read())
        text = "\n".join(public)
        hidden = run("readelf", "-Ws", os.path.join(BUILD, "libgcdumpc.a"))
        for name in names:
            if f" {name}(" in text or f"*{name}(" in text:
                continue
            self.assertTrue(any("HIDDEN" in line and line.endswith(" " + name) for line in hidden.split("\n")), name)


if __name__ == "__main__":
    if os.environ.get("GCDUMPC_SANITIZE"):
        print("skipped: linkage test: the library is built with a sanitizer")
        sys.exit(77)
    unittest.main()
