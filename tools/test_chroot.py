# SPDX-License-Identifier: Apache-2.0
"""tools/chroot.sh refuses what it cannot do before it makes or mounts anything."""
import pathlib
import subprocess
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent / "chroot.sh"


def run(*arguments):
    return subprocess.run([SCRIPT, *arguments], capture_output=True, text=True, check=False)


class Chroot(unittest.TestCase):
    def test_wants_a_release_and_a_command(self):
        for arguments in ([], ["trixie"]):
            result = run(*arguments)
            self.assertEqual(result.returncode, 2)
            self.assertIn("Usage: tools/chroot.sh RELEASE COMMAND", result.stderr)

    def test_names_what_it_does_not_know(self):
        for arguments, sentence in (
                (["../trixie", "test"], "expected a Debian release such as trixie; got '../trixie'"),
                (["trixie", "test", "rm"], "there is no command 'rm'; see --help")):
            result = run(*arguments)
            self.assertEqual((result.returncode, result.stderr), (2, f"tools/chroot.sh: {sentence}\n"))


if __name__ == "__main__":
    unittest.main()
