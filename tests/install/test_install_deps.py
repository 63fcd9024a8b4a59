"""tools/install-deps.sh with fake package tools: it fails only if something is missing afterwards."""
import os
import stat
import subprocess
import tempfile
import unittest

from install_support import ROOT, main

SCRIPT = os.path.join(ROOT, "tools", "install-deps.sh")


class InstallDeps(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.dir = holder.name

    def tool(self, name, script):
        path = os.path.join(self.dir, name)
        with open(path, "w", encoding="ascii") as f:
            f.write("#!/bin/sh\n" + script)
        os.chmod(path, stat.S_IRWXU)

    def run_script(self, installed, update, install, *words):
        """Exit statuses of apt-get update and install; the run, and what apt-get was asked for."""
        self.tool("dpkg-query", "echo install ok installed\n" if installed else "exit 1\n")
        self.tool("apt-get", f'echo "$1" >> {self.dir}/asked\n[ "$1" != update ] || exit {update}\nexit {install}\n')
        self.tool("sudo", 'exec "$@"\n')
        asked = os.path.join(self.dir, "asked")
        if os.path.exists(asked):
            os.unlink(asked)
        run = subprocess.run(["sh", SCRIPT, *words], env={**os.environ, "PATH": f"{self.dir}:{os.environ['PATH']}"}, capture_output=True, text=True)
        words = []
        if os.path.exists(asked):
            with open(asked, encoding="ascii") as f:
                words = f.read().split()
        return run, words

    def test_nothing_is_missing(self):
        """No list is refreshed, so no mirror is needed."""
        for words in ((), ("--tests",)):
            run, asked = self.run_script(True, 100, 100, *words)
            self.assertEqual((run.returncode, run.stdout, run.stderr, asked), (0, "", "", []))

    def test_lists_that_cannot_be_refreshed(self):
        run, asked = self.run_script(False, 100, 0)
        self.assertEqual((run.returncode, asked), (0, ["update", "install"]))
        self.assertIn("could not be refreshed", run.stderr)

    def test_packages_that_cannot_be_installed(self):
        for update in (0, 100):
            run, asked = self.run_script(False, update, 100)
            self.assertEqual((run.returncode, asked), (100, ["update", "install"]))


if __name__ == "__main__":
    main()
