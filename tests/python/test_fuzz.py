# SPDX-License-Identifier: Apache-2.0
"""Nothing that Python passes ends the process."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path


class Fuzz(unittest.TestCase):
    def test_wrong_arguments(self):
        script = Path(__file__).resolve().parent / "fuzz_calls.py"
        with tempfile.TemporaryDirectory() as folder:
            ended = subprocess.run([sys.executable, "-X", "faulthandler", script, "1", "15"], cwd=folder,
                                   capture_output=True, text=True, timeout=600)
            last = Path(folder, "last_call.txt")
            self.assertEqual(ended.returncode, 0,
                             f"{last.read_text() if last.exists() else ''}{ended.stderr[-3000:]}")
            self.assertIn("calls", ended.stdout)


if __name__ == "__main__":
    unittest.main()
