#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every command that the manual shows is one that exists, with options that its help lists: commands_test.py COMMAND.

Blocks ```sh, ```console (lines after "$ ") and those without a language are read, in README.md and docs/. What some
commands print is compared elsewhere: docs/guides/ by tests/command, docs/interop.md by tests/interop."""
import functools
import re
import shlex
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BLOCK = re.compile(r"^ *```(sh|console|)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
OPTION = re.compile(r"^ +(-[\w-]+(?:, ?-[\w-]+)*)", re.MULTILINE)
linnet = "linnet"


def pages():
    return [ROOT / "README.md", *(page for page in sorted((ROOT / "docs").rglob("*.md"))
                                  if page.relative_to(ROOT / "docs").parts[0] not in ("notes", "decisions"))]


def lines(text):
    """The command lines of a page, those that go on after a backslash as one."""
    for language, block in BLOCK.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            if line.startswith("$ "):
                yield line[2:]
            elif language == "sh":
                yield line


def words_of(line):
    try:
        return shlex.split(line.replace("$(", " ").replace(")\"", " ").replace('eval "', " "), comments=True)
    except ValueError:
        return line.split()


def calls(line):
    """The arguments of each call of linnet in a line: also within mpirun, and after the -- of linnet launch."""
    words = words_of(line)
    for place, word in enumerate(words):
        if word == "linnet" and not (place and words[place - 1] in ("-u", "--libs", "man", "upstream")):
            rest = words[place + 1:]
            while "--" in rest:
                yield rest[:rest.index("--")]
                rest = rest[rest.index("--") + 1:]
            yield [word for word in rest if word not in ("&", "|")]


@functools.lru_cache(maxsize=None)
def help_of(*names):
    ran = subprocess.run([linnet, *names, "--help"], capture_output=True, text=True, check=False)
    return ran.stdout if ran.returncode == 0 else ""


def commands_in(text):
    return set(re.findall(r"^  ([a-z][a-z-]*) {2,}[A-Z]", text, re.MULTILINE))


def problem(arguments):
    """What is wrong with a call, or None."""
    names = []
    while arguments and arguments[0] in commands_in(help_of(*names)):
        names.append(arguments[0])
        arguments = arguments[1:]
    if not names:
        if len(arguments) == 1:
            return None  # a file or a folder, whose survey is printed
        return f"there is no command '{arguments[0] if arguments else ''}'"
    known = {each for group in OPTION.findall(help_of(*names)) for each in re.split(", ?", group)}
    for word in arguments:
        if re.match(r"--?[A-Za-z]", word) and word.partition("=")[0] not in known:
            return f"'linnet {' '.join(names)}' has no option '{word}'"
    return None


class Commands(unittest.TestCase):
    def test_exist_with_their_options(self):
        count = 0
        for page in pages():
            for line in lines(page.read_text()):
                for call in calls(line):
                    count += 1
                    with self.subTest(page=page.relative_to(ROOT).as_posix(), line=line):
                        self.assertIsNone(problem(call))
        self.assertGreater(count, 80)

    def test_of_dev_exist(self):
        text = subprocess.run([ROOT / "dev", "help"], capture_output=True, text=True, check=True).stdout
        for page in [*pages(), ROOT / "CONTRIBUTING.md"]:
            for line in lines(page.read_text()):
                words = words_of(line)
                if "./dev" in words:
                    with self.subTest(page=page.relative_to(ROOT).as_posix(), line=line):
                        self.assertRegex(text, rf"(?m)^  {re.escape(words[words.index('./dev') + 1])}\b")

    def test_every_feature_of_opennn_has_its_place(self):
        """No cell of "OpenNN's features, here" is empty, what is missing says why, and its options exist."""
        known = set()
        for names in (*((each,) for each in commands_in(help_of())), ("data", "info")):
            known |= set(re.findall(r"--[a-z][\w-]*", help_of(*names)))
        rows = [[cell.strip() for cell in line.strip("|").split("|")]
                for line in (ROOT / "docs/guides/beside-opennn.md").read_text().splitlines() if line.startswith("|")]
        self.assertGreater(len(rows), 50)
        for row in rows:
            with self.subTest(row=row):
                self.assertEqual([bool(cell) for cell in row], [True, True])
                if row[1].startswith("missing"):
                    self.assertRegex(row[1], "^missing: .{20}")
                self.assertEqual(set(re.findall(r"--[a-z][\w-]*", row[1])) - known, set())

    def test_what_is_wrong_is_found(self):
        for line, wrong in (("linnet trian data.csv", "there is no command 'trian'"),
                            ("linnet train a.csv --targt x", "'linnet train' has no option '--targt'"),
                            ("A=1 mpirun -n 4 linnet train --epoch 3  # many", "'linnet train' has no option '--epoch'"),
                            ("linnet launch -n 4 -- train --shard 4", "'linnet train' has no option '--shard'"),
                            ("linnet data info x --too", "'linnet data info' has no option '--too'"),
                            ("linnet data info x --json", None), ("linnet photos/  # looks", None)):
            self.assertEqual([problem(call) for call in calls(line)][-1], wrong, line)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        linnet = sys.argv.pop(1)
    unittest.main()
