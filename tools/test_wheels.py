# SPDX-License-Identifier: Apache-2.0
"""Wheels for older systems: what is linked with the stubs, and the check of what a wheel needs (packaging/wheels)."""
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import zipfile
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "packaging/wheels"))
import archives  # noqa: E402
import check_wheel  # noqa: E402
import old_libraries  # noqa: E402

# Each line calls what glibc 2.28 lacks, or has in an older version.
PROGRAM = r"""
#include <sys/stat.h>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
struct Before { Before() { value = "constructed"; } std::string value; };
static Before before;
int main(int count, char**) {
  struct stat found;
  if (stat("/", &found) != 0 || !S_ISDIR(found.st_mode)) return 1;
  std::mutex mutex;
  std::condition_variable condition;
  std::unique_lock lock(mutex);
  const auto begin = std::chrono::steady_clock::now();
  if (condition.wait_for(lock, std::chrono::milliseconds(20 * count), [] { return false; })) return 2;
  if (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(20 * count)) return 3;
  auto shared = std::make_shared<int>(arc4random() != arc4random());
  std::thread([copy = shared] { *copy += 1; }).join();
  std::printf("%s %d %.3f %.3f\n", before.value.c_str(), *shared, std::exp(1.0 * count), std::pow(2.0, count));
}
"""


def run(*command, **options):
    return subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False, **options)


@unittest.skipUnless(sys.platform == "linux" and shutil.which("g++") and shutil.which("readelf"), "no g++ or no readelf")
class OlderGlibc(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory(prefix="linnet-wheels-")
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = Path(temporary.name)
        old_libraries.make(cls.folder / "stubs", "2.28", "")

    def link(self, text, *flags):
        (self.folder / "program.cpp").write_text(text, encoding="utf-8")
        return run("g++", "-std=c++20", "-fPIC", self.folder / "program.cpp", f"-L{self.folder}/stubs", "-static-libstdc++",
                   "-Wl,--exclude-libs,ALL", "-o", self.folder / "program", *flags)

    def wheel(self, tag, *names):
        """Returns a wheel with that tag which holds what was linked last, once by each name."""
        path = self.folder / f"linnet-0.1.0-cp312-abi3-{tag}.whl"
        with zipfile.ZipFile(path, "w") as archive:
            for name in names:
                archive.write(self.folder / "program", name)
        return path

    def test_a_program_runs_and_needs_no_newer_symbol(self):
        linked = self.link(PROGRAM)
        self.assertEqual(linked.returncode, 0, linked.stdout)
        ran = run(self.folder / "program")
        self.assertEqual((ran.returncode, ran.stdout), (0, "constructed 2 2.718 2.000\n"))
        versions = run("readelf", "--version-info", "--wide", self.folder / "program").stdout
        self.assertLessEqual(max(check_wheel.number(v) for v in re.findall(r"GLIBC_([\d.]+)", versions)), (2, 28))
        self.assertNotIn("GLIBCXX", versions)
        self.assertEqual(check_wheel.faults(self.wheel("manylinux_2_28_x86_64", "linnet/bin/linnet")), [])

    def test_a_shared_library_has_them_too(self):
        """It takes what replaces newer symbols, without what only programs have."""
        linked = self.link(PROGRAM, "-shared", "-Wl,--no-undefined")
        self.assertEqual(linked.returncode, 0, linked.stdout)
        self.assertEqual(check_wheel.faults(self.wheel("manylinux_2_28_x86_64", "linnet.libs/libprogram.so")), [])

    def test_a_shared_library_of_archives_for_programs(self):
        """Debian's archives name stderr as programs may."""
        said = "#include <cstdio>\nextern \"C\" int say() { return std::fputs(\"said\\n\", stderr); }\n"
        (self.folder / "said.cpp").write_text(said, encoding="utf-8")
        for flag in ("-fPIE", "-fPIC"):
            done = run("g++", flag, "-c", self.folder / "said.cpp", "-o", self.folder / "said.o")
            self.assertEqual(done.returncode, 0, done.stdout)
            linked = self.link("", "-shared", self.folder / "said.o")
            self.assertEqual(linked.returncode, 0, linked.stdout)
            ran = run(sys.executable, "-c", f"import ctypes; ctypes.CDLL({str(self.folder / 'program')!r}).say()")
            self.assertEqual((ran.returncode, ran.stdout), (0, "said\n"))
            linked = self.link('extern "C" int say(); static int before = say();\nint main() { say(); }\n', self.folder / "said.o")
            self.assertEqual(linked.returncode, 0, linked.stdout)
            self.assertEqual(run(self.folder / "program").stdout, "said\nsaid\n")

    def test_what_the_older_glibc_lacks_does_not_link(self):
        linked = self.link('extern "C" int close_range(unsigned, unsigned, int);\n'
                           "int main() { return close_range(9, 9, 0); }\n")
        self.assertNotEqual(linked.returncode, 0)
        self.assertIn("undefined reference to `close_range'", linked.stdout)

    def test_a_wheel_that_needs_more_than_its_tag_says(self):
        text = '#include <cstdlib>\n#include <cmath>\nextern "C" double f(double x) { return std::exp(x) + arc4random(); }\n'
        (self.folder / "program.cpp").write_text(text, encoding="utf-8")
        linked = run("g++", "-shared", "-fPIC", self.folder / "program.cpp", "-o", self.folder / "program")
        self.assertEqual(linked.returncode, 0, linked.stdout)
        self.assertEqual(check_wheel.faults(self.wheel("manylinux_2_28_x86_64", "linnet/_linnet.so")),
                         ["linnet/_linnet.so needs GLIBC_2.36; systems of the tag have GLIBC_2.28"])
        self.assertEqual(check_wheel.faults(self.wheel("manylinux_2_36_x86_64", "linnet/_linnet.so")), [])
        self.assertIn("has no tag", check_wheel.faults(self.wheel("linux_x86_64", "linnet/_linnet.so"))[0])

    def test_a_wheel_that_lacks_something(self):
        linked = self.link("int f() { return 1; }\n", "-shared", "-Wl,-soname,libother.so.1")
        self.assertEqual(linked.returncode, 0, linked.stdout)
        shutil.copy(self.folder / "program", self.folder / "libother.so.1")
        linked = self.link("int f(); int g() { return f(); }\n", "-shared", self.folder / "libother.so.1")
        self.assertEqual(linked.returncode, 0, linked.stdout)
        wheel = self.wheel("manylinux_2_28_x86_64", "linnet/bin/linnet")
        self.assertEqual(check_wheel.faults(wheel), ["linnet/bin/linnet needs libother.so.1, which is not in the wheel"])
        self.assertIn("there is no file linnet-[^/]*\\.data/scripts/linnet", check_wheel.faults(wheel, whole=True))
        self.assertEqual(check_wheel.faults(self.wheel("manylinux_2_28_x86_64", "linnet/_linnet.so",
                                                       "linnet.libs/libother.so.1")), [])


class Archives(unittest.TestCase):
    """A build that was interrupted goes on with the source that is there."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="linnet-wheels-")
        self.addCleanup(temporary.cleanup)
        self.prefix = Path(temporary.name)
        self.fetched = 0
        self.replace("Apt", lambda folder: self)
        self.replace("unpack", lambda name, description, target: target.mkdir())

    def replace(self, name, value):
        self.addCleanup(setattr, archives, name, getattr(archives, name))
        setattr(archives, name, value)

    def fetch(self, name, folder):
        self.fetched += 1
        return folder / "a.dsc", "9.1.0-2"

    def test_a_source_is_fetched_once(self):
        work = self.prefix / "work/fmtlib"
        for _ in range(2):
            self.assertEqual(archives.unpacked("fmtlib", work, self.prefix), "9.1.0-2")
            self.assertTrue((work / "source").is_dir())
        self.assertEqual(self.fetched, 1)

    def test_another_recipe_begins_again(self):
        work = self.prefix / "work/fmtlib"
        archives.unpacked("fmtlib", work, self.prefix)
        (work / "build").mkdir()
        self.replace("SOURCES", archives.SOURCES | {"fmtlib": ("bookworm", "9.1.0", (), ())})
        archives.unpacked("fmtlib", work, self.prefix)
        self.assertEqual(self.fetched, 2)
        self.assertFalse((work / "build").exists())


class Packing(unittest.TestCase):
    """What a wheel holds stays as it was, in fewer bytes that are always the same."""

    def test_a_repacked_wheel_has_the_same_contents(self):
        module = type(sys)("deflate")  # libdeflate's package is not installed where these tests run

        def compress(data, level):
            packer = zlib.compressobj(9, zlib.DEFLATED, -15)
            return packer.compress(data) + packer.flush()

        module.deflate_compress = compress
        with unittest.mock.patch.dict(sys.modules, {"deflate": module}), tempfile.TemporaryDirectory() as folder:
            import repack
            path = Path(folder, "a.whl")
            contents = {"a/b.py": b"x = 1\n" * 1000, "a/bin/c": bytes(range(256)), "empty": b"", "\u00e4.txt": b"y"}
            with zipfile.ZipFile(path, "w") as wheel:
                for name, data in contents.items():
                    info = zipfile.ZipInfo(name, (2026, 11, 29, 1, 2, 4))
                    info.external_attr = (0o100755 if "bin" in name else 0o100644) << 16
                    wheel.writestr(info, data)
            before = self.seen(path)
            repack.repack(path)
            self.assertEqual(self.seen(path), before)
            self.assertLess(path.stat().st_size, 2000)
            first = path.read_bytes()
            repack.repack(path)
            self.assertEqual(path.read_bytes(), first)
            listed = run("unzip", "-t", path).stdout if shutil.which("unzip") else "No errors"
            self.assertIn("No errors", listed)

    def seen(self, path):
        with zipfile.ZipFile(path) as wheel:
            self.assertIsNone(wheel.testzip())
            return [(i.filename, i.date_time, i.external_attr, i.create_system, wheel.read(i)) for i in wheel.infolist()]

    def test_a_large_copyright_file_is_its_licences(self):
        sys.modules.pop("parts", None)
        import parts
        text = "Format: x\n\nFiles: *\nCopyright: y\nLicense: Z\n\nLicense: Z\n Do what you like.\n"
        self.assertEqual(parts.shortened(text), text)
        large = text + "\nFiles: a\n" + "Copyright: somebody\n" * 30000
        self.assertEqual(parts.shortened(large), "License: Z\n Do what you like.\n")


class Launcher(unittest.TestCase):
    """The script `linnet` of a wheel starts the program in the package, and imports nothing of it."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="linnet-wheels-")
        self.addCleanup(temporary.cleanup)
        self.package = Path(temporary.name, "linnet")
        (self.package / "bin").mkdir(parents=True)
        (self.package / "__init__.py").write_text("raise ImportError('imported')\n", encoding="utf-8")

    def launch(self, *arguments, **environment):
        return run(sys.executable, ROOT / "packaging/wheels/linnet", *arguments,
                   env={"PYTHONPATH": str(self.package.parent), "PATH": "/usr/bin:/bin", **environment})

    def test_it_passes_arguments_and_certificates(self):
        program = self.package / "bin/linnet"
        program.write_text('#!/bin/sh\necho "$# $2 $SSL_CERT_FILE"; exit 7\n', encoding="utf-8")
        program.chmod(0o755)
        done = self.launch("a", "b c", SSL_CERT_FILE="/own.pem")
        self.assertEqual((done.returncode, done.stdout), (7, "2 b c /own.pem\n"))

    def test_it_says_what_is_missing(self):
        done = self.launch()
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, f"linnet: the program {self.package}/bin/linnet is missing; "
                                      "reinstall the wheel linnet\n")


if __name__ == "__main__":
    unittest.main()
