#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows what makes a page of the manual hard to read: a paragraph of more than 90 words, a table's cell of more
than 25, a date beside a measurement, and a README of more than 600 words.

The manual is README.md and docs/, without the notebook: docs/notes/ holds dated measurements, docs/decisions/ says
why something is as it is. Code, comments, and the targets of links are not looked at; tables are not paragraphs,
and each entry of a list is one.
"""
import re
import sys
from pathlib import Path

import check_links

PARAGRAPH_WORDS, CELL_WORDS, README_WORDS = 90, 25, 600
NOTEBOOK = ("docs/notes/", "docs/decisions/")
MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
DATE = re.compile(rf"\b20\d\d-\d\d-\d\d\b|\b\d{{1,2}}\.? (?:{MONTHS})\b(?: 20\d\d)?|\b(?:{MONTHS}) (?:\d{{1,2}}\b(?!\.\d)|20\d\d\b)"
                  r"|(?<![\w.,-])(?:0[1-9]|1[0-2])-(?:[0-2]\d|3[01])(?![\w.-]?[\w-])")
LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|(?<=\w)\]\([^)]*\)")  # also the end of one that began a line before
START = re.compile(r"^\s*(?:[-*+]|\d+\.|#{1,6})\s+")  # of an entry of a list, or of a heading


def plain(line):
    """The line's words: code counts as one, a link as its text."""
    line = re.sub(r"<!--.*?-->", "", line)
    return LINK.sub(r"\1", re.sub(r"(`+)(.+?)\1", "`code`", line))


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").replace(r"\|", "/").split("|")]


def is_row(line):
    return line.lstrip().startswith("|")


def paragraphs(text):
    """Yields (line number, words) of each paragraph and each entry of a list."""
    start, words, last = 0, [], 0
    for number, line in check_links.prose(text):
        line = plain(line)
        if words and (not line.strip() or is_row(line) or START.match(line) or number != last + 1):
            yield start, words
            words = []
        if line.strip() and not is_row(line):
            if not words:
                start = number
            words += START.sub("", line).split()
            if line.startswith("#"):
                yield start, words
                words = []
        last = number
    if words:
        yield start, words


def check_text(name, text):
    """The sentences about everything that is wrong in one page."""
    problems = [(number, f"a paragraph of {len(words)} words; at most {PARAGRAPH_WORDS}")
                for number, words in paragraphs(text) if len(words) > PARAGRAPH_WORDS]
    for number, line in check_links.prose(text):
        line = plain(line)
        if is_row(line):
            problems += [(number, f"a cell of {len(cell.split())} words; at most {CELL_WORDS}")
                         for cell in cells(line) if len(cell.split()) > CELL_WORDS]
        problems += [(number, f"the date '{date}'; dated measurements stand in docs/notes/") for date in DATE.findall(line)]
    if name == "README.md":
        count = sum(len(words) for _, words in paragraphs(text))
        if count > README_WORDS:
            problems.append((1, f"{count} words; at most {README_WORDS}"))
    return [f"{name}:{number}: {problem}" for number, problem in sorted(problems)]


def pages(root):
    names = [path.relative_to(root).as_posix() for path in check_links.documents(root)]
    return [name for name in names
            if name == "README.md" or name.startswith("docs/") and not name.startswith(NOTEBOOK)]


def check(root):
    """The sentences about everything that is wrong below `root`."""
    root = Path(root).resolve()
    return [problem for name in pages(root) for problem in check_text(name, (root / name).read_text())]


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    problems = check(root)
    print("\n".join(problems + [f"Manual: {len(problems)} places."]) if problems
          else "Manual: short paragraphs and cells, no dates.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
