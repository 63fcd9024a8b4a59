"""A copy of the working tree with its own build, in which mutants are built and tested."""
import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time

# Programs that scripts run.
PROGRAMS = ("tests_cli",)        # this target builds everything that the scripts need
PAGES = ("manual",)
SAID = tuple("test_" + name for name in (
    "suspects", "suspects_collections", "suspects_edges", "suspects_merge", "suspects_owner",
    "suspects_ways", "findings", "finding_rules"))      # golden/test_said runs them
SKIPPED = 77
BUILD_SECONDS, FIRST_BUILD_SECONDS = 900, 7200
# Wrong arguments must not become a mutant that any test kills.
ERRORS = " ".join("-Werror=" + w for w in ("incompatible-pointer-types", "int-conversion",
                                           "return-type"))


def can_find_leaks():
    """Can the compiler make a program that runs and looks for its leaks at the end?"""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "program")
        return all(subprocess.run(command, input=b"int main(void) { return 0; }",
                                  stderr=subprocess.DEVNULL).returncode == 0 for command in
                   (["cc", "-x", "c", "-fsanitize=leak", "-o", out, "-"], [out]))


class Broken(Exception):
    """Does not compile, or cannot be copied."""


def tracked_files(root):
    """All files of the working tree that git does not ignore."""
    r = subprocess.run(["git", "-C", root, "ls-files", "-z", "--cached", "--others",
                        "--exclude-standard"], capture_output=True, text=True)
    if r.returncode != 0:
        raise Broken(f"{root} is no git repository")
    return sorted(name for name in set(r.stdout.split("\0"))
                  if name and os.path.lexists(os.path.join(root, name)))


def read_bytes(path):
    with open(path, "rb") as f:
        return f.read()


def digest_of(root, names):
    digest = hashlib.sha256()
    for name in names:
        content = hashlib.sha256(read_bytes(os.path.join(root, name)))
        digest.update(name.encode() + b"\0" + content.digest())
    return digest.hexdigest()[:16]


def product_digest(root, names):
    """A digest of everything but tests and documents."""
    return digest_of(root, [name for name in names
                            if not name.startswith(("tests/", "traces/", "tools/mutate/")) and
                            not name.endswith(".md")])


def test_digest(root, names, test):
    prefix = f"tests/{test.partition(':')[0]}."
    return digest_of(root, [name for name in names if name.startswith(prefix)])


class Workshop:
    def __init__(self, root, scratch, number, names, flags=None):
        self.root, self.names, self.flags = root, names, flags
        self.shared = scratch                     # shared by all copies
        self.folder = os.path.join(scratch, f"copy-{number}")
        self.source = os.path.join(self.folder, "gcdumpc")
        self.build_folder = os.path.join(self.folder, "build")
        self.log = os.path.join(self.folder, "last.log")
        self.tests, self.commands = {}, {}

    # -- the copy

    def copy(self):
        """Writes only files that differ, so that the build is incremental."""
        os.makedirs(self.source, exist_ok=True)
        wanted = set(self.names)
        for name in self.names:
            self._copy_file(name)
        for folder, _, files in os.walk(self.source):
            for file in files:
                path = os.path.join(folder, file)
                if os.path.relpath(path, self.source) not in wanted:
                    os.unlink(path)
        beside, link = os.path.join(self.root, "..", "shared"), os.path.join(self.folder, "shared")
        if os.path.isdir(beside) and not os.path.lexists(link):
            os.symlink(os.path.realpath(beside), link)       # some tests use recordings there

    def _copy_file(self, name):
        old, new = os.path.join(self.root, name), os.path.join(self.source, name)
        if os.path.isfile(new) and os.stat(old).st_mode == os.stat(new).st_mode and \
                read_bytes(old) == read_bytes(new):
            return
        os.makedirs(os.path.dirname(new), exist_ok=True)
        shutil.copyfile(old, new)
        shutil.copymode(old, new)

    def read(self, name):
        with open(os.path.join(self.source, name), encoding="utf-8") as f:
            return f.read()

    def write(self, name, text):
        with open(os.path.join(self.source, name), "w", encoding="utf-8") as f:
            f.write(text)

    # -- the build

    def configure(self):
        """Runs cmake each time, so that new files and tests are found."""
        begun = os.path.exists(os.path.join(self.build_folder, "CMakeCache.txt"))
        generator = ["-G", "Ninja"] if shutil.which("ninja") and not begun else []
        # quick to compile, with assertions, and with the leaks that CI finds with sanitizers
        flags = self.flags or ("-O1 -fsanitize=leak" if can_find_leaks() else "-O1")
        self._run_build(["cmake", *generator, "-S", self.source, "-B", self.build_folder,
                         "-DCMAKE_BUILD_TYPE=Debug", f"-DCMAKE_C_FLAGS_DEBUG={flags} {ERRORS}",
                         "-DGCDUMPC_HARDEN=OFF", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"])
        with open(os.path.join(self.build_folder, "compile_commands.json"), encoding="utf-8") as f:
            for entry in json.load(f):
                self.commands.setdefault(entry["file"], entry)
        self.read_tests()

    def compile(self, name, *options):
        """The object of a C file with more OPTIONS.  Raises Broken if it does not compile."""
        entry = self.commands.get(os.path.join(self.source, name))
        if entry is None:
            raise Broken("is not part of this build")
        words = shlex.split(entry["command"])
        for option in ("-MT", "-MF"):
            if option in words:
                del words[words.index(option):words.index(option) + 2]
        out = os.path.join(self.folder, "one.o")
        words[words.index("-o") + 1] = out
        self._run_build([w for w in words if w != "-MD"] + list(options), entry["directory"])
        return read_bytes(out) if os.path.exists(out) else b""

    def check(self, name):
        """Raises Broken, quickly, for a C file that is not right."""
        self.compile(name, "-fsyntax-only", "-Werror=format")

    def optimized(self, name):
        """The optimized object of a C file: a mutant with the same code is equivalent."""
        return self.compile(name, "-O2")

    def read_tests(self):
        r = subprocess.run(["ctest", "--test-dir", self.build_folder, "--show-only=json-v1"],
                           capture_output=True, text=True, check=True)
        self.tests = {t["name"]: t for t in json.loads(r.stdout)["tests"]}

    def build(self, tests, seconds=BUILD_SECONDS):
        targets = set()
        for name in tests:
            targets.update([name.split("/")[1]] if self.is_program(name) else PROGRAMS)
            targets.update(PAGES if name.startswith("install/") else ())
            targets.update(SAID if name == "golden/test_said" else ())
        self._make(targets, seconds)

    def build_all(self, labels, seconds):
        """What all tests of LABELS need."""
        self._make({"tests_cli" if label == "golden" else f"tests_{label}" for label in labels},
                   seconds)

    def _make(self, targets, seconds):
        self._run_build(["cmake", "--build", self.build_folder, "-j", "1",
                         "--target", *sorted(targets)], seconds=seconds)

    def _run_build(self, command, folder=None, seconds=BUILD_SECONDS):
        try:
            with open(self.log, "w", encoding="utf-8") as log:
                r = subprocess.run(command, cwd=folder, stdout=log, stderr=subprocess.STDOUT,
                                   stdin=subprocess.DEVNULL, timeout=seconds)
        except subprocess.TimeoutExpired as e:
            raise Broken(f"builds for more than {seconds} s") from e
        if r.returncode != 0:
            with open(self.log, encoding="utf-8", errors="replace") as log:
                errors = [line for line in log.read().split("\n")
                          if re.search(r"error|undefined", line, re.I)]
            raise Broken(errors[0] if errors else f"cannot build, see {self.log}")

    # -- the tests

    def is_program(self, test):
        return test.split("/")[0] in ("unit", "sweep", "fuzz")

    def _property(self, name, key, otherwise):
        properties = {p["name"]: p["value"] for p in self.tests[name].get("properties", [])}
        return properties.get(key, otherwise)

    def environment(self, name):
        env = dict(os.environ)
        env.update(e.split("=", 1) for e in self._property(name, "ENVIRONMENT", []))
        return env

    def run(self, test, seconds, environment=None):
        """Runs TEST, which may be a part of a script (SCRIPT:CLASS.TEST).  Returns how it failed,
        "" if it passed, and its duration."""
        name, _, part = test.partition(":")
        if "command" not in self.tests[name]:
            self.read_tests()                    # ctest knows the command once it is built
        env = self.environment(name)
        temp = tempfile.mkdtemp(prefix="mut")    # short, because socket paths are limited
        os.chmod(temp, 0o1777)                   # some tests switch to another user
        env.update(TMPDIR=temp, GCDUMPC_READERS=os.path.join(self.shared, "readers"),
                   GCDUMPC_TEST_CACHE=os.path.join(self.shared, "heaplab"), **(environment or {}))
        command = list(self.tests[name]["command"])
        if not self.is_program(name):
            command += ["-f"] + ([part] if part else [])     # stop at the first failure
        begun = time.monotonic()
        with open(self.log, "w", encoding="utf-8") as log:
            p = subprocess.Popen(command, env=env, start_new_session=True, stdout=log,
                                 cwd=self._property(name, "WORKING_DIRECTORY",
                                                    self.build_folder),
                                 stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
            try:
                how = verdict(p.wait(seconds))
            except subprocess.TimeoutExpired:
                how = "time limit"
            finally:
                end_group(p)
        shutil.rmtree(temp, ignore_errors=True)
        return how, time.monotonic() - begun


def verdict(status):
    if status == SKIPPED:
        return "skipped"
    if status < 0:
        return signal.Signals(-status).name
    return f"exit {status}" if status else ""


def end_group(p):
    """Kills the test and everything it may have left running: it leads its own process group."""
    try:
        os.killpg(p.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    p.wait()
