"""Packages for arm64 that this machine makes (tools/cross/build.sh), and a build with musl.  Takes minutes: only where compilers are installed."""
import glob
import os
import shlex
import subprocess
import sys
import tempfile
import unittest

from install_support import BUILD, ROOT, TRACE, main, need_tool, text


class Arm64(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for tool in ("aarch64-linux-gnu-gcc", "qemu-aarch64", "dpkg-shlibdeps"):
            need_tool(tool, "packages for arm64")
        cls.dir = os.environ.get("GCDUMPC_CROSS", "")    # keeps the builds
        if not cls.dir:
            holder = tempfile.TemporaryDirectory(prefix="gcdumpc-cross-")
            cls.addClassCleanup(holder.cleanup)
            cls.dir = holder.name
        run = subprocess.run(["sh", os.path.join(ROOT, "tools", "cross", "build.sh"), "arm64", cls.dir], capture_output=True, text=True, timeout=3500,
                             env={**os.environ, "GCDUMPC_NATIVE": BUILD, "TRACE": TRACE}, check=False)
        if run.returncode == 77:
            raise unittest.SkipTest(run.stdout.splitlines()[-1])
        cls.code, cls.said = run.returncode, run.stdout + run.stderr

    def unpacked(self, name):
        package, = glob.glob(os.path.join(self.dir, name))
        holder = tempfile.TemporaryDirectory(prefix="gcdumpc-unpacked-")
        self.addCleanup(holder.cleanup)
        folder = holder.name
        if package.endswith(".deb"):
            text("dpkg-deb", "-x", package, folder)
        else:
            text("tar", "xf", package, "-C", folder)
        program, = glob.glob(os.path.join(folder, "**", "bin", "gcdumpc"), recursive=True)
        return package, program

    def check_program(self, program):
        self.assertIn("AArch64", text("readelf", "-h", program))
        dynamic = text("readelf", "-dW", program)
        self.assertNotRegex(dynamic, r"\((RUNPATH|RPATH)\)")
        with open(program, "rb") as f:
            self.assertNotIn(self.dir.encode(), f.read())
        return dynamic

    def test_the_same_bytes(self):
        self.assertEqual(self.code, 0, self.said[-3000:])
        self.assertRegex(self.said, r"\n[1-9]\d* answers and [1-9]\d* files, 0 differences\n")

    def test_the_static_program(self):
        _, program = self.unpacked("gcdumpc-*-linux-aarch64.tar.gz")
        self.assertNotIn("NEEDED", self.check_program(program))
        self.assertNotIn("INTERP", text("readelf", "-lW", program))
        self.assertEqual(text("qemu-aarch64", program, "info", TRACE), text(os.path.join(BUILD, "gcdumpc"), "info", TRACE))

    def test_the_package(self):
        package, program = self.unpacked("gcdumpc_*_arm64.deb")
        self.assertEqual(text("dpkg-deb", "-f", package, "Architecture"), "arm64\n")
        dynamic = self.check_program(program)
        self.assertIn("interpreter: /lib/ld-linux-aarch64.so.1]", text("readelf", "-lW", program))
        depends = text("dpkg-deb", "-f", package, "Depends")
        for library, name in (("libuv.so.1", "libuv1"), ("libz.so.1", "zlib1g"), ("libjansson.so.4", "libjansson4"), ("libpcre2-8.so.0", "libpcre2-8-0"), ("libc.so.6", "libc6")):
            self.assertIn(f"[{library}]", dynamic)
            self.assertRegex(depends, rf"(^|, ){name} \(")
        self.assertEqual(len(glob.glob(os.path.join(self.dir, "*_arm64.deb"))), 3)


class SameBytes(unittest.TestCase):
    def test_a_difference_is_noticed(self):
        """A program that prints an extra line for "info", and writes an extra byte into each .gclog."""
        with tempfile.TemporaryDirectory(prefix="gcdumpc-same-") as folder:
            program = os.path.join(folder, "gcdumpc")
            with open(program, "w", encoding="utf-8") as f:
                f.write(f'#!/bin/sh\n{shlex.quote(os.path.join(BUILD, "gcdumpc"))} "$@"\ncode=$?\n'
                        'case $1 in info) echo more ;; esac\ncase ${4-} in *.gclog) echo >>"$4" ;; esac\nexit $code\n')
            os.chmod(program, 0o755)
            run = subprocess.run([sys.executable, "-B", os.path.join(ROOT, "tools", "analyse", "same_bytes.py"), BUILD, folder, TRACE],
                                 capture_output=True, text=True, timeout=600, check=False)
        *problems, last = run.stdout.splitlines()
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertRegex(last, rf"^[1-9]\d* answers and [1-9]\d* files, {len(problems)} differences$")
        for problem in problems:
            self.assertRegex(problem, r"^gcdumpc info |\.gclog is not the same$")
        self.assertTrue({"gcdumpc info", "again-dartheap.gclog is not the same"} <= {" ".join(p.split()[:2]) for p in problems} |
                        {" ".join(p.split()[-5:]) for p in problems}, problems)


class Musl(unittest.TestCase):
    def test_a_root_folder_with_nothing_but_musl(self):
        for tool in ("musl-gcc", "chroot", "dpkg-source"):
            need_tool(tool, "a build with musl")
        if os.geteuid() != 0:
            self.skipTest("needs root, for chroot")
        folder = os.environ.get("GCDUMPC_CROSS", "")
        if not folder:
            holder = tempfile.TemporaryDirectory(prefix="gcdumpc-musl-")
            self.addCleanup(holder.cleanup)
            folder = holder.name
        run = subprocess.run(["sh", os.path.join(ROOT, "tools", "analyse.sh"), "musl"], capture_output=True, text=True, timeout=3500, check=False,
                             env={**os.environ, "GCDUMPC_ANALYSE": folder, "GCDUMPC_NATIVE": BUILD})
        with open(os.path.join(folder, "musl.log"), encoding="utf-8", errors="replace") as f:
            log = f.read()
        if "E: Failed to fetch" in log or "E: Unable to" in log:
            self.skipTest("Debian's sources cannot be downloaded")
        self.assertEqual(run.returncode, 0, log[-3000:] + run.stdout[-3000:])
        self.assertIn("100% tests passed", log)
        self.assertRegex(log, r"\n[1-9]\d* answers and [1-9]\d* files in an empty root folder, 0 differences\n")


if __name__ == "__main__":
    main()
