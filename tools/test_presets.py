# SPDX-License-Identifier: Apache-2.0
"""The presets compile through ccache where the PATH has it, and do without where it has not."""
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@unittest.skipUnless(shutil.which("cmake") and shutil.which("ninja"), "no cmake or no ninja")
class Ccache(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="linnet-presets-")
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.bin = self.folder / "bin"  # all of the PATH but ccache
        self.bin.mkdir()
        for folder in os.environ["PATH"].split(":"):
            for program in Path(folder).iterdir() if Path(folder).is_dir() else ():
                link = self.bin / program.name
                if program.name != "ccache" and not link.is_symlink():
                    link.symlink_to(program.resolve())
        # A folder of links to ccache named as compilers are would bring it back.
        self.environment = {**os.environ, "PATH": str(self.bin)}

    def run_checked(self, command):
        process = subprocess.run(command, cwd=ROOT, env=self.environment, text=True, check=False,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
        self.assertEqual(process.returncode, 0, process.stdout)
        return process.stdout

    def compile_a_file(self, build):
        """Compiles a file of the library as the release preset does; returns the command."""
        self.run_checked(["cmake", "--preset", "release", "-B", str(build), "-DLINNET_CUDA=OFF",
                          "-DLINNET_BUILD_TESTS=OFF", "-DLINNET_BUILD_BENCHMARKS=OFF"])
        commands = self.run_checked(["ninja", "-C", str(build), "-t", "commands",
                                     "src/base/CMakeFiles/linnet_base.dir/check.cpp.o"])
        command = commands.splitlines()[-1]
        self.assertIn("check.cpp", command)
        self.run_checked(["sh", "-c", f"cd {build} && {command}"])
        return command

    def test_without_it(self):
        self.assertNotIn("ccache", self.compile_a_file(self.folder / "without"))

    def test_with_it(self):
        log = self.folder / "log"
        ccache = self.bin / "ccache"
        ccache.write_text(f'#!/bin/sh\necho "$CCACHE_SLOPPINESS" >>"{log}"\nexec "$@"\n')
        ccache.chmod(0o755)
        self.assertIn(str(ccache), self.compile_a_file(self.folder / "with"))
        self.assertEqual(log.read_text(), "pch_defines,time_macros\n")


if __name__ == "__main__":
    unittest.main()
