# SPDX-License-Identifier: Apache-2.0
"""linnet(1) has every command and option of the help, and what reads man pages warns of nothing."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from command import LINNET

FOLDER = Path(__file__).resolve().parents[2] / "tools/manual_site"
sys.path.insert(0, str(FOLDER))
import reference  # noqa: E402


def plain(roff):
    """Returns the text of a line of roff without fonts and escapes."""
    return re.sub(r"\\f[BIR]", "", roff).replace(r"\-", "-").replace(r"\(aq", "'").replace(r"\e", "\\")


class ManPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="linnet-man-")
        cls.addClassCleanup(folder.cleanup)
        cls.file = Path(folder.name, "linnet.1")
        subprocess.run([sys.executable, "-B", FOLDER / "man_page.py", cls.file, LINNET], check=True,
                       env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"})
        cls.lines = cls.file.read_text(encoding="utf-8").splitlines()

    def test_has_every_command_and_option(self):
        sections = "\n".join(self.lines).split("\n.SS ")
        pages = reference.help_pages([LINNET])
        self.assertGreater(len(pages), 25)
        self.assertEqual(len(sections), len(pages))
        for (words, page), section in zip(pages[1:], sections[1:]):
            lines = section.splitlines()
            self.assertEqual(plain(lines[0]), words)
            terms = [plain(lines[index + 1]) for index, line in enumerate(lines) if line == ".TP"]
            for option in re.findall(r"^  (-(?:\w, -)?-[\w-]+)", page, re.MULTILINE):
                if "--help" not in option:
                    self.assertEqual(sum(re.match(re.escape(option) + r"(,| |$)", term) is not None for term in terms), 1,
                                     f"{option} of {words}: {terms}")

    def test_names_end_where_descriptions_begin(self):
        for index, line in enumerate(self.lines):
            if line == ".TP":
                name, text = plain(self.lines[index + 1]), self.lines[index + 2]
                self.assertNotRegex(text, r"^\.[A-Z]", f"{name} has no description")
                self.assertLessEqual(len(re.findall(r"[a-z]{3,} ", name.partition("{")[0])), 4, name)

    def test_begins_with_version_and_date(self):
        version = subprocess.run([LINNET, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
        self.assertEqual(self.lines[0], f'.TH LINNET 1 "2023-11-14" "linnet {version}" "User Commands"')
        self.assertIn(r"linnet \- trains and runs neural networks on CPUs and NVIDIA GPUs", self.lines)

    def test_readers_warn_of_nothing(self):
        environment = {**os.environ, "LC_ALL": "C.UTF-8", "MANROFFSEQ": "", "MANWIDTH": "80"}
        readers = [["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z"]] if shutil.which("groff") else []
        readers = [reader for reader in [*readers, ["mandoc", "-Tlint", "-Wwarning"]] if shutil.which(reader[0])]
        if not readers:
            self.skipTest("neither man nor mandoc is installed")
        for reader in readers:
            printed = subprocess.run([*reader, self.file], capture_output=True, text=True, env=environment)
            said = printed.stderr if reader[0] == "man" else printed.stdout + printed.stderr
            self.assertEqual((said, printed.returncode), ("", 0))


if __name__ == "__main__":
    unittest.main()
