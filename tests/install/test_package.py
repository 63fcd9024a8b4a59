"""The packages: their contents, and that they can be installed and removed without a trace."""
import glob
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from install_support import BUILD, PROGRAM, ROOT, TRACE, main, need_tool, run, text

NAMES = ("gcdumpc", "libgcdumpc0.3", "libgcdumpc-dev")
# of lintian: about Debian's own archive; about the library folder of a build that was configured for /usr/local
KNOWN = ("initial-upload-closes-no-bugs", "pkg-config-unavailable-for-cross-compilation")


def cpack(folder, generator, prefix):
    """The packages of the build under test in FOLDER."""
    run("cpack", "-G", generator, "-B", folder, "-D", f"CPACK_PACKAGING_INSTALL_PREFIX={prefix}", cwd=BUILD,
        env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"})
    return sorted(glob.glob(os.path.join(folder, "*.deb" if generator == "DEB" else "*.tar.gz")))


def files(folder):
    return {os.path.relpath(os.path.join(f, n), folder) for f, _, names in os.walk(folder) for n in names}


class Installed(unittest.TestCase):
    def test_components(self):
        """Each file is in one component, and all components together are what cmake --install installs."""
        with tempfile.TemporaryDirectory() as d:
            run("cmake", "--install", BUILD, "--prefix", os.path.join(d, "all"))
            every, parts, live = files(os.path.join(d, "all")), [], set()
            for component in ("program", "library", "development", "ipc"):
                run("cmake", "--install", BUILD, "--prefix", os.path.join(d, component), "--component", component)
                parts += files(os.path.join(d, component))
                live |= {component for f in files(os.path.join(d, component)) if re.search(r"/ipc\.h$|gcdumpc[-_]ipc", f)}
            self.assertEqual(sorted(parts), sorted(every))
            for wanted in (r"bin/gcdumpc$", r"share/man/man1/gcdumpc-report\.1", r"share/man/man5/gcdumpc\.conf\.5",
                           r"bash-completion/completions/gcdumpc$", r"_gcdumpc$", r"gcdumpc\.fish$",
                           r"lib.*/libgcdumpc\.a$", r"lib.*/libgcdumpc\.so\.0\.3$", r"pkgconfig/gcdumpc\.pc$",
                           r"include/gcdumpc/version\.h$", r"examples/unattended/gcdumpc\.conf$", r"examples/container/Dockerfile$"):
                self.assertTrue(any(re.search(wanted, f) for f in every), wanted)
            self.assertEqual(live, {"ipc"})     # only this component needs libuv
            places = [d, ROOT, BUILD]
            for f in every:
                with open(os.path.join(d, "all", f), "rb") as content:
                    data = content.read()
                for place in places if "examples/unattended/" not in f else places[1:]:
                    self.assertNotIn(place.encode(), data, f)

    def test_samples_name_the_installed_program(self):
        """Samples copied to /etc must work."""
        with tempfile.TemporaryDirectory() as d:
            for prefix, env in ((os.path.join(d, "opt"), {}), ("/usr/local", {"DESTDIR": d}), ("/usr", {"DESTDIR": os.path.join(d, "b")})):
                run("cmake", "--install", BUILD, "--prefix", prefix, "--component", "program", env={**os.environ, **env})
                top = env.get("DESTDIR", "") + prefix
                self.assertTrue(os.access(os.path.join(top, "bin", "gcdumpc"), os.X_OK))
                for sample, count in (("crontab", 2), ("gcdumpc@.service", 1)):
                    with open(os.path.join(top, "share", "doc", "gcdumpc", "examples", "unattended", sample), encoding="utf-8") as f:
                        self.assertEqual(re.findall(r"[^\s=]+/gcdumpc(?= run )", f.read()), count * [f"{prefix}/bin/gcdumpc"], (prefix, sample))


    def test_the_documents_lead_to_installed_files(self):
        """Their links, too; and no folders and files that only Debian's packages want."""
        with tempfile.TemporaryDirectory() as d:
            run("cmake", "--install", BUILD, "--prefix", d)
            docs = os.path.join(d, "share", "doc")
            self.assertEqual(os.listdir(docs), ["gcdumpc"])
            self.assertFalse([f for f in files(docs) if "changelog" in f])
            self.assertIn("gcdumpc/LICENSE", files(docs))
            links = {}
            for name in files(docs):
                if name.endswith(".md"):
                    with open(os.path.join(docs, name), encoding="utf-8") as f:
                        links[name] = re.findall(r"\]\(([^():#]+)(?:#[^)]*)?\)", f.read())
                    for link in links[name]:
                        self.assertTrue(os.path.exists(os.path.join(docs, os.path.dirname(name), link)), f"{name}: {link}")
            self.assertGreater(len(links["gcdumpc/README.md"]), 15)
            self.assertGreater(sum(map(len, links.values())), 40)

    def test_the_shared_library_is_found_or_the_user_is_told(self):
        with tempfile.TemporaryDirectory() as d:
            said = text("cmake", "--install", BUILD, "--prefix", d)
            self.assertRegex(said, r"The linker does not look for libraries in \S+/lib\S*: set LD_LIBRARY_PATH")
            staged = text("cmake", "--install", BUILD, "--prefix", "/usr/local", env={**os.environ, "DESTDIR": d})
            self.assertNotRegex(staged, "LD_LIBRARY_PATH|ldconfig")


class Missing(unittest.TestCase):
    def test_build_sh_names_what_is_missing_before_it_compiles(self):
        with tempfile.TemporaryDirectory() as d:
            bin_folder = os.path.join(d, "bin")
            os.mkdir(bin_folder)
            for tool in ("sh", "cmake", "make", "pkg-config", "gzip", "dpkg-deb", "strip"):
                os.symlink(need_tool(tool, "packages"), os.path.join(bin_folder, tool))
            r = subprocess.run(["sh", os.path.join(ROOT, "tools", "package", "build.sh"), os.path.join(d, "out")], capture_output=True, text=True,
                               check=False, env={"PATH": bin_folder})
            self.assertEqual((r.returncode, r.stdout, r.stderr), (1, "", "build.sh: please install: file dpkg-dev\n"))
            self.assertFalse(os.path.exists(os.path.join(d, "out")))


class Debian(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for tool in ("dpkg-deb", "dpkg-shlibdeps"):
            need_tool(tool, "Debian packages")
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.dir = holder.name
        cls.debs = cpack(os.path.join(cls.dir, "one"), "DEB", "/usr")

    def test_the_same_bytes_again(self):
        again = cpack(os.path.join(self.dir, "two"), "DEB", "/usr")
        self.assertEqual([os.path.basename(p) for p in again], [os.path.basename(p) for p in self.debs])
        for one, two in zip(self.debs, again):
            with open(one, "rb") as a, open(two, "rb") as b:
                self.assertTrue(a.read() == b.read(), one)

    def test_what_is_in_them(self):
        self.assertEqual({text("dpkg-deb", "-f", p, "Package").strip() for p in self.debs}, set(NAMES))
        for path in self.debs:
            name = text("dpkg-deb", "-f", path, "Package").strip()
            depends = text("dpkg-deb", "-f", path, "Depends")
            listed = text("dpkg-deb", "-c", path)
            for wanted in {"gcdumpc": ["libc6 ", "libuv1 ", "zlib1g "], "libgcdumpc0.3": ["libc6 ", "zlib1g "],
                           "libgcdumpc-dev": ["libgcdumpc0.3 (= ", "zlib1g-dev"]}[name]:
                self.assertIn(wanted, depends, name)
            if name == "gcdumpc":
                sample = text("sh", "-c", f"dpkg-deb --fsys-tarfile {path} | tar -xO ./usr/share/doc/gcdumpc/examples/unattended/crontab")
                self.assertEqual(set(re.findall(r"\S+/gcdumpc(?= run )", sample)), {"/usr/bin/gcdumpc"})
            for wanted in ("copyright", "changelog.gz", "changelog.Debian.gz"):
                self.assertIn(f"./usr/share/doc/{name}/{wanted}\n", listed)
            self.assertNotRegex(listed, r"man/man./\S+\.\d\n")       # all compressed
            for line in listed.splitlines():
                self.assertRegex(line, r"^(drwxr-xr-x|-rwxr-xr-x|-rw-r--r--|lrwxrwxrwx) root/root")

            self.assertEqual("triggers" in text("dpkg-deb", "-I", path), name == "libgcdumpc0.3")
            self.assertNotIn("post", text("dpkg-deb", "-I", path), name)         # nothing is run

    def test_install_and_remove(self):
        """In a root folder of its own, without the packages that they depend on."""
        if os.geteuid() != 0:
            self.skipTest("needs root, to install files as root")
        root = os.path.join(self.dir, "root")
        for folder in ("info", "updates", "triggers"):
            os.makedirs(os.path.join(root, "var", "lib", "dpkg", folder))
        for name in ("status", "available"):
            open(os.path.join(root, "var", "lib", "dpkg", name), "w", encoding="utf-8").close()
        before = set(os.listdir(root))
        dpkg = ["dpkg", f"--root={root}", "--force-depends", "--log=/dev/null"]
        run(*dpkg, "-i", *self.debs)
        status = text("dpkg-query", f"--admindir={root}/var/lib/dpkg", "-W", "-f", "${Package} ${Status}\n")
        self.assertEqual(sorted(status.split("\n"))[1:], sorted(f"{n} install ok installed" for n in NAMES))
        installed = os.path.join(root, "usr", "bin", "gcdumpc")
        self.assertEqual(run(installed, "report", TRACE), run(PROGRAM, "report", TRACE))
        run(*dpkg, "--purge", *NAMES)
        self.assertEqual(set(os.listdir(root)), before)

    def test_lintian(self):
        need_tool("lintian", "its opinion of the packages")
        r = subprocess.run(["lintian", "--allow-root", "--fail-on", "none", "--suppress-tags", ",".join(KNOWN), *self.debs],
                           capture_output=True, text=True, check=False)
        self.assertEqual(re.findall(r"^[EW]: .*", r.stdout, re.M), [])


class Archive(unittest.TestCase):
    def test_unpacked_anywhere(self):
        with tempfile.TemporaryDirectory() as d:
            paths = cpack(os.path.join(d, "made"), "TGZ", "/")
            self.assertEqual(len(paths), 1)
            run("tar", "-xzf", paths[0], "-C", d)
            top = os.path.join(d, os.path.basename(paths[0])[:-len(".tar.gz")])
            self.assertEqual(run(os.path.join(top, "bin", "gcdumpc"), "report", TRACE), run(PROGRAM, "report", TRACE))
            man = shutil.which("man")
            if man is not None:
                page = os.path.join(top, "share", "man", "man1", "gcdumpc-report.1.gz")
                self.assertIn("gcdumpc report FILE", text(man, "-l", page, env={**os.environ, "MANWIDTH": "80", "MANPAGER": "cat"}))


if __name__ == "__main__":
    main("packages are made of the build with living processes" if os.environ.get("GCDUMPC_IPC") == "OFF" else None)
