# SPDX-License-Identifier: Apache-2.0
"""A build that lacks libraries names all of them and their packages at once."""
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@unittest.skipUnless(shutil.which("cmake") and shutil.which("ninja"), "no cmake or no ninja")
class Missing(unittest.TestCase):
    def test_all_are_named(self):
        with tempfile.TemporaryDirectory(prefix="linnet-dependencies-") as build:
            process = subprocess.run(
                ["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DLINNET_CUDA=OFF", "-DLINNET_BUILD_TESTS=OFF",
                 "-DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON", "-DCMAKE_DISABLE_FIND_PACKAGE_TIFF=ON"],
                text=True, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
        self.assertEqual(process.returncode, 1, process.stdout)
        said = re.sub(r"\s+", " ", process.stdout)
        self.assertIn("Linnet needs libraries that were not found: fmt 8.1 (libfmt-dev), TIFF 4.3 (libtiff-dev).", said)
        self.assertEqual(process.stdout.count("CMake Error"), 1)


if __name__ == "__main__":
    unittest.main()
