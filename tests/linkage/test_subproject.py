"""What other projects expect of ours: added with FetchContent it keeps to itself, and CMake's own variables mean what they mean everywhere."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.environ["GCDUMPC_SOURCE"]
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
from source_copy import copy_source                             # noqa: E402

TRACE = os.path.join(ROOT, "traces", "net10-wks", "heap.nettrace.gz")
CONSUMER = os.path.join(ROOT, "tests", "linkage", "consumer", "consumer.c")
COMPILER = ["-DCMAKE_C_COMPILER=gcc"] if shutil.which("gcc") else []


def run(*args, **kw):
    r = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **kw)
    if r.returncode != 0:
        raise AssertionError(f"{' '.join(args)}: exit {r.returncode}\n{r.stdout[-5000:]}")
    return r.stdout


def files(folder):
    return {os.path.relpath(os.path.join(f, n), folder) for f, _, names in os.walk(folder) for n in names}


class Project(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="gcdumpc-project-")
        self.addCleanup(holder.cleanup)
        self.dir = holder.name

    def path(self, *names):
        return os.path.join(self.dir, *names)

    def configure(self, source, name, *options):
        return run("cmake", "-S", source, "-B", self.path(name), f"-DGCDUMPC_SOURCE={ROOT}", *options)


class Added(Project):
    """The parent project names no build type, makes no packages, and has neither libuv nor jansson in mind."""
    SOURCE = os.path.join(ROOT, "tests", "linkage", "subproject")

    def test_the_parent_decides_on_shared_libraries_and_the_build_type(self):
        """With clang where it is; what clang says of the sources is in the builds with sanitizers."""
        said = self.configure(self.SOURCE, "work", *(["-DCMAKE_C_COMPILER=clang"] if shutil.which("clang") else []))
        self.assertIn('build type "", package "", gcdumpc::gcdumpc STATIC_LIBRARY', said)
        self.assertNotIn("libuv", said)
        said = self.configure(self.SOURCE, "work", "-DBUILD_SHARED_LIBS=ON", "-DCMAKE_BUILD_TYPE=MinSizeRel")
        self.assertIn('build type "MinSizeRel", package "", gcdumpc::gcdumpc SHARED_LIBRARY', said)

    def test_it_configures_builds_and_changes_nothing_of_its_parent(self):
        """It has the type of the build under test and is compiled two folders below a copy of the sources: so the compiler cache has what else
        takes a minute.  Make compiles in a folder of its own for each project."""
        source, work = copy_source(ROOT, self.path("copy")), os.path.join("copy", "build", "b")
        said = self.configure(self.SOURCE, work, f"-DGCDUMPC_SOURCE={source}", f"-DFETCHCONTENT_BASE_DIR={source}/build", "-DCMAKE_BUILD_TYPE=Release", *COMPILER)
        self.assertIn('build type "Release", package "", gcdumpc::gcdumpc STATIC_LIBRARY', said)
        run("cmake", "--build", self.path(work), "-j2")
        for program in ("with_gcdumpc", "with_static"):
            self.assertIn("17646 objects", run(self.path(work, program), TRACE))
        self.assertFalse(os.path.exists(self.path(work, "CPackConfig.cmake")))
        self.assertIn("Total Tests: 0", run("ctest", "-N", "--test-dir", self.path(work)))
        run("cmake", "--install", self.path(work), "--prefix", "/usr", env={**os.environ, "DESTDIR": self.path("staged")})
        self.assertEqual(files(self.path("staged")), {"usr/bin/with_static"})


class Alone(Project):
    def test_without_the_shared_library(self):
        """BUILD_SHARED_LIBS=OFF: find_package and pkg-config still have what they had, from the archive; installed into a DESTDIR.
        BUILD_TESTING=OFF leaves out the tests."""
        source, work = copy_source(ROOT, self.path("copy")), os.path.join("copy", "build", "b")
        self.configure(source, work, *COMPILER, "-DBUILD_SHARED_LIBS=OFF", "-DBUILD_TESTING=OFF")
        self.assertIn("Total Tests: 0", run("ctest", "-N", "--test-dir", self.path(work)))
        self.assertTrue(os.path.exists(self.path(work, "CPackConfig.cmake")))
        with open(self.path(work, "CMakeCache.txt"), encoding="utf-8") as f:
            self.assertRegex(f.read(), re.compile(r"^CMAKE_BUILD_TYPE:STRING=Release$", re.M))
        self.configure(source, work, "-DGCDUMPC_PROGRAM=OFF")
        run("cmake", "--build", self.path(work), "-j2")
        run("cmake", "--install", self.path(work), "--prefix", "/usr", env={**os.environ, "DESTDIR": self.path("staged")})
        names = files(self.path("staged"))
        self.assertFalse([n for n in names if ".so" in n or "/bin/" in n])
        self.assertTrue([n for n in names if n.endswith("libgcdumpc.a")])
        prefix = self.path("staged", "usr")
        os.mkdir(self.path("user"))
        with open(self.path("user", "CMakeLists.txt"), "w", encoding="utf-8") as f:
            f.write("cmake_minimum_required(VERSION 3.25)\nproject(user LANGUAGES C)\nfind_package(gcdumpc REQUIRED)\n"
                    f"add_executable(user {CONSUMER})\ntarget_link_libraries(user gcdumpc::gcdumpc)\n")
        self.configure(self.path("user"), "user/work", f"-DCMAKE_PREFIX_PATH={prefix}")
        run("cmake", "--build", self.path("user", "work"))
        self.assertIn("17646 objects", run(self.path("user", "work", "user"), TRACE))
        pc = next(n for n in names if n.endswith("gcdumpc.pc"))
        flags = run("pkg-config", "--cflags", "--libs", "gcdumpc", env={**os.environ, "PKG_CONFIG_PATH": os.path.dirname(self.path("staged", pc))}).split()
        run("cc", "-std=c11", CONSUMER, "-o", self.path("by-pkg-config"), *flags)
        self.assertIn("17646 objects", run(self.path("by-pkg-config"), TRACE))


if __name__ == "__main__":
    if os.environ.get("GCDUMPC_SANITIZE"):
        print("skipped: linkage/test_subproject: what others build has no sanitizers")
        sys.exit(77)
    unittest.main()
