"""The ELF file of the program keeps the promises of GCDUMPC_HARDEN.  install/test_static runs this for the static program, too."""
import os
import platform
import re
import shutil
import subprocess
import sys
import unittest

PROGRAM = os.environ["GCDUMPC"]
ON = ("ON", "1", "TRUE", "YES")


def readelf(option):
    return subprocess.run(["readelf", "-W", option, PROGRAM], capture_output=True, text=True, check=True, env={**os.environ, "LC_ALL": "C"}).stdout


class Hardening(unittest.TestCase):
    def segment(self, name):
        """Its flags, such as RW."""
        rows = [line.split() for line in readelf("-l").splitlines() if line.split()[:1] == [name]]
        self.assertEqual(len(rows), 1, name)
        return "".join(rows[0][6:-1])

    def imported(self):
        if "NEEDED" not in readelf("-d"):
            self.skipTest("a static program imports nothing; its objects are those of the other one")
        return {line.split()[7].split("@")[0] for line in readelf("--dyn-syms").splitlines() if " UND " in line and len(line.split()) > 7}

    def test_position_independent(self):
        self.assertRegex(readelf("-h"), r"Type: +DYN")
        self.assertRegex(readelf("-d"), r"\(FLAGS_1\).*\bPIE\b")

    def test_read_only_after_relocation(self):
        self.segment("GNU_RELRO")
        self.assertRegex(readelf("-d"), r"\(BIND_NOW\)|\(FLAGS(_1)?\).*\b(BIND_)?NOW\b")

    def test_nothing_is_writable_and_executable(self):
        self.assertEqual(self.segment("GNU_STACK"), "RW")
        for line in readelf("-l").splitlines():
            if line.split()[:1] == ["LOAD"]:
                self.assertNotIn("RWE", line.replace(" ", ""))

    def test_stack_clash_protection(self):
        """Arrays of more than a page are touched page by page."""
        if platform.machine() != "x86_64" or shutil.which("objdump") is None:
            self.skipTest("needs objdump, and knows x86-64 only")
        if os.environ.get("GCDUMPC_SANITIZE") or os.environ.get("GCDUMPC_BUILD_TYPE") == "Debug":
            self.skipTest("frames look otherwise in this build")
        text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", PROGRAM], capture_output=True, text=True, check=True).stdout
        probes = re.findall(r"sub +\$0x1000,%rsp\n[^\n]*(?:or|mov)[ql] +\$0x0,(?:0x[0-9a-f]+)?\(%rsp\)", text)
        self.assertGreater(len(probes), 10)

    def test_stack_protector(self):
        self.assertIn("__stack_chk_fail", self.imported())

    def test_checked_functions(self):
        if os.environ.get("GCDUMPC_SANITIZE") or os.environ.get("GCDUMPC_BUILD_TYPE") == "Debug":
            self.skipTest("no _FORTIFY_SOURCE in this build")
        checked = {name for name in self.imported() if name.startswith("__") and name.endswith("_chk")}
        self.assertLessEqual({"__snprintf_chk", "__fprintf_chk"}, checked)


if __name__ == "__main__":
    if os.environ.get("GCDUMPC_HARDEN", "ON").upper() not in ON:
        print("skipped: built without GCDUMPC_HARDEN")
        sys.exit(77)
    if shutil.which("readelf") is None:
        print("skipped: readelf is missing")
        sys.exit(77)
    unittest.main()
