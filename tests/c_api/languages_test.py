#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The programs of examples/c_interface compile, and print what a C++ program does:
languages_test.py REFERENCE LIBRARY INCLUDE CC."""
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples/c_interface"
reference = library = include = compiler = None


def run(*command, cwd=None):
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False, encoding="utf-8", cwd=cwd)
    if done.returncode != 0:
        raise AssertionError(f"{command[0]} exited with {done.returncode}:\n{done.stdout}")
    return done.stdout


def numbers(lines):
    """The floats that lines hold, as the bits of f32."""
    return [struct.pack("f", float(line)) for line in lines]


class Languages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory(prefix="linnet-c-")
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = Path(temporary.name)
        cls.model = cls.folder / "model.safetensors"
        cls.expected = run(reference, cls.model).splitlines()
        cls.linked = [library, f"-Wl,-rpath,{Path(library).parent}"]

    def same(self, printed):
        lines = printed.splitlines()
        self.assertEqual(len(self.expected), 12)
        self.assertEqual(lines[:3], self.expected[:3])
        self.assertEqual(numbers(lines[3:]), numbers(self.expected[3:]))

    def compiled(self, source, *flags):
        program = self.folder / Path(source).stem
        run(compiler, "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", *flags, f"-I{include}", source, "-o", program,
            *self.linked)
        return program

    def test_c(self):
        self.same(run(self.compiled(EXAMPLES / "predict.c"), self.model))

    def test_ctypes(self):
        self.same(run(sys.executable, EXAMPLES / "predict.py", library, self.model))

    def test_fortran(self):
        gfortran = shutil.which("gfortran")
        if gfortran is None:
            self.skipTest("gfortran is not installed")
        run(gfortran, "-Wall", "-Wno-c-binding-type", EXAMPLES / "predict.f90", "-o", self.folder / "fortran", *self.linked,
            cwd=self.folder)
        self.same(run(self.folder / "fortran", self.model))

    def test_rust(self):
        rustc = shutil.which("rustc")
        if rustc is None:
            self.skipTest("rustc is not installed")
        run(rustc, "-D", "warnings", EXAMPLES / "predict.rs", "-o", self.folder / "rust", "-L", Path(library).parent,
            "-l", "linnet", "-C", f"link-arg=-Wl,-rpath,{Path(library).parent}")
        self.same(run(self.folder / "rust", self.model))

    def test_the_page(self):
        """The program of the page is the example, and it prints what the page says."""
        source = EXAMPLES / "train_and_predict.c"
        page = (ROOT / "docs/c-interface.md").read_text(encoding="utf-8")
        program = re.search(r"^```c\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[1]
        self.assertEqual(program, re.sub(r"^/\*.*?\*/\n", "", source.read_text(encoding="utf-8"), flags=re.DOTALL))
        printed = re.search(r"^```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[1]
        self.assertEqual(run(self.compiled(source), cwd=self.folder), printed)

    def test_the_header_is_cpp_too(self):
        source = self.folder / "both.cpp"
        source.write_text("#include <linnet/c_api.h>\n#include <linnet/model.h>\n"
                          "int main() { return linnet_c_api_version() - LINNET_C_API_VERSION; }\n", encoding="utf-8")
        self.assertEqual(run(compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", f"-I{include}",
                             source), "")


if __name__ == "__main__":
    _, reference, library, include, compiler = sys.argv
    del sys.argv[1:]
    unittest.main()
