#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the man page linnet(1) from the command's own help: man_page.py FILE COMMAND...

COMMAND is the program, after an emulator's words where it needs one.

The date in the page is that of SOURCE_DATE_EPOCH; without it, there is none."""
import argparse
import os
import re
import time
from pathlib import Path

from reference import help_pages, version_of

TEXT_COLUMN = 28  # where HelpFormat begins descriptions (apps/linnet/commands/help_format.cpp)
# A name that leaves no room beside it: "--data-seed N", "-o, --output TEXT", "--log {csv,tensorboard} ...".
LONG_NAME = re.compile(r"(-\w, )?--[\w-]+(, --[\w-]+)*( (\{[^}]*\}|[A-Z|=]+))?( \.\.\.)?")


def escaped(text):
    """Returns roff that prints this text; words in backquotes become bold."""
    for sign, name in (("\\", r"\e"), ("-", r"\-"), ("'", r"\(aq"), ("^", r"\(ha"), ("~", r"\(ti")):
        text = text.replace(sign, name)
    text = re.sub(r"`([^`]+)`", r"\\fB\1\\fR", text).replace("`", r"\(ga")
    return re.sub(r"^\.", r"\\&.", text, flags=re.MULTILINE)


def entry(line):
    """Splits "  --lr NUMBER      Learning rate" into name and text; a long name's text follows in the next line."""
    name, _, text = line.strip().partition("  ")
    if text or LONG_NAME.fullmatch(name):
        return name, text.strip()
    return line[:TEXT_COLUMN].strip(), line[TEXT_COLUMN:]


def parsed(page):
    """Returns the sections of a help page, (title, [[name, text], ...]), and the lines that belong to none."""
    sections, rest, lines = [], [], page.splitlines()
    inside = False
    for line, following in zip(lines, [*lines[1:], ""]):
        if line.endswith(":") and line[0] != " " and following.startswith("  "):
            sections.append((line[:-1], []))
            inside = True
        elif inside and line.startswith(" " * TEXT_COLUMN):
            last = sections[-1][1][-1]
            last[1] = f"{last[1]} {line.strip()}".strip()
        elif inside and line.startswith("  "):
            sections[-1][1].append([*entry(line)])
        else:
            inside = False
            rest.append(line)
    return sections, "\n".join(rest).strip()


def written(sections):
    """Returns roff of these sections, names in bold."""
    text = ""
    for title, entries in sections:
        text += f".PP\n{escaped(title)}:\n"
        text += "".join(f".TP\n\\fB{escaped(name)}\\fR\n{escaped(words)}\n" for name, words in entries)
    return text


def notes(text):
    """Returns roff of what follows a page's options: sentences, and from "Example" on lines as they are."""
    said, example, lines = text.partition("Example")
    roff = f".PP\n{escaped(said.strip())}\n" if said.strip() else ""
    return roff + (f".PP\n.nf\n{escaped(example + lines)}\n.fi\n" if example else "")


def of_command(words, page):
    """Returns roff of a command's page: "linnet data info" and its help."""
    sections, rest = parsed(page)
    said, usage, others = re.fullmatch(r"(.*?)\n(Usage: [^\n]*)(.*)", rest, re.DOTALL).groups()
    about = [each for each in sections if each[0] not in ("Help", "Commands")]
    usage = usage.removeprefix("Usage: ")
    return (f".SS {escaped(words)}\n{escaped(said)}\n.PP\n\\fB{escaped(usage)}\\fR\n"
            f"{written(about)}{notes(others.strip())}")


def man_page(command, date):
    """Returns the man page of the command, which it is asked for."""
    pages = help_pages(command)
    (_, overview), commands = pages[0], pages[1:]
    sections, rest = parsed(overview)
    said, _, others = rest.partition("\n")
    said = said.removeprefix("Linnet ").rstrip(".")
    about = written(sections).removeprefix(".PP\n")
    text = f'.TH LINNET 1 "{date}" "{version_of(command)}" "User Commands"\n'
    text += ".nh\n.ad l\n"  # names of options stay whole
    text += f".SH NAME\nlinnet \\- {escaped(said)}\n"
    text += ".SH SYNOPSIS\n\\fBlinnet\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR] ...\n.br\n\\fBlinnet\\fR \\fIFILE\\fR\n"
    text += f".SH DESCRIPTION\n{about}{notes(others.strip())}"
    text += ".SH COMMANDS\n" + "".join(of_command(words, page) for words, page in commands)
    return text


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    today = time.strftime("%Y-%m-%d", time.gmtime(int(epoch))) if epoch else ""
    arguments.file.parent.mkdir(parents=True, exist_ok=True)
    arguments.file.write_text(man_page(arguments.command, today), encoding="utf-8")
