#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows every word that docs/style.md has a plainer one for.

The table "instead of | write" of that page is the list: a regular expression in backticks, matched on
whole words in any case, and what to write. Looked at is every text file that git tracks or would track,
names of variables included; not the page itself, results of benchmarks, data of tests, and lines that
say `wording: ok`.
"""
import re
import sys
from pathlib import Path

import check_paths

PAGE = "docs/style.md"
SUFFIXES = (".h", ".cpp", ".cu", ".cuh", ".py", ".md", ".toml", ".cmake", ".txt", ".in", ".sh", ".js")
EXCLUDED = (PAGE, "CHANGELOG.md", "benchmarks/results/", "tests/fixtures/",
            "tools/check_wording.py", "tools/test_check_wording.py")
ROW = re.compile(r"^\| `(.+?)` \| (.+?) \|$", re.MULTILINE)


def terms(page):
    """(expression, what to write) of every row."""
    return [(re.compile(rf"\b(?:{word})\b", re.IGNORECASE), better)
            for word, better in ROW.findall(page.replace(r"\|", "|"))]


def check_text(text, words):
    """(line, word, what to write) of every hit."""
    return [(number, match.group(), better)
            for number, line in enumerate(text.splitlines(), 1) if "wording: ok" not in line
            for expression, better in words for match in expression.finditer(line)]


def files(root):
    names = [path.relative_to(root).as_posix() for path in check_paths.files(root)]
    return [name for name in names
            if (name.endswith(SUFFIXES) or name == "dev") and not name.startswith(EXCLUDED)]


def check(root, names=None):
    """The sentences about everything that is wrong below `root`."""
    root = Path(root)
    words = terms((root / PAGE).read_text())
    return [f"{name}:{number}: '{word}'; write {better}"
            for name in (files(root) if names is None else names)
            for number, word, better in check_text((root / name).read_text(errors="replace"), words)]


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    problems = check(root)
    print("\n".join(problems + [f"Wording: {len(problems)} places; {PAGE} says why."]) if problems
          else "Wording: plain.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
