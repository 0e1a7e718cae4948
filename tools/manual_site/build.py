#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the manual's site: build.py FOLDER [--linnet COMMAND] [--python PACKAGE]
[--doxygen HTML].

FOLDER/pages gets every page of docs/, the files of the repository that they link to (as pages in source/), and the
generated reference: the command's help by COMMAND, the Python API by the stubs of an installed PACKAGE folder, and
Doxygen's pages of the headers. Then `mkdocs build --strict`, of the Python that runs this, writes FOLDER/site. A link
that leads nowhere is an error.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import check_links  # noqa: E402
import reference  # noqa: E402

LANGUAGES = {".cpp": "cpp", ".h": "cpp", ".cu": "cpp", ".cuh": "cpp", ".py": "python", ".sh": "sh", ".cmake": "cmake",
             ".toml": "toml", ".yml": "yaml", ".json": "json"}
SHOWN_BYTES = 150_000  # of a file of the repository


def is_outside(target):
    return re.match(r"[a-zA-Z][\w+.\-]*:|//", target) is not None


def place_of(name, root):
    """Where the site has a file or folder of the repository; a folder is its README, if it has one."""
    if (root / name / "README.md").is_file():
        name += "/README.md"
    if name.startswith("docs/") and not (root / name).is_dir():
        return name.removeprefix("docs/")
    if name.endswith(".md"):
        return "source/" + name
    return f"source/{name.rstrip('/')}" + ("/index.md" if (root / name).is_dir() else ".md")


def moved(text, name, root, wanted):
    """The page with its links led to where the site has their targets, whose names `wanted` gets."""
    page = place_of(name, root)

    def there(target):
        file, mark, anchor = target.partition("#")
        if is_outside(target) or not file:
            return target
        linked = os.path.relpath(os.path.normpath((root / name).parent / unquote(file)), root)
        wanted.add(linked)
        return os.path.relpath(place_of(linked, root), os.path.dirname(page) or ".") + (mark + anchor)

    lines = text.splitlines(keepends=True)
    for number, line in check_links.prose(text):
        code = []  # spans of code keep what looks like a link
        kept = re.sub(r"(`+)(.+?)\1", lambda span: code.append(span.group()) or f"\0{len(code) - 1}\0", lines[number - 1])
        for pattern in (check_links.INLINE, check_links.LABEL, check_links.HTML):
            kept = pattern.sub(lambda match: match.group().replace(target_of(match), there(target_of(match)), 1), kept)
        lines[number - 1] = re.sub("\0(\\d+)\0", lambda mark: code[int(mark.group(1))], kept)
    return "".join(lines)


def target_of(match):
    return next(group for group in match.groups() if group is not None)


def shown(path, name):
    """A page that shows a file of the repository, or what a folder holds."""
    if path.is_dir():
        return f"# `{name}`\n\n" + "".join(f"- `{each.name}`\n" for each in sorted(path.iterdir())
                                          if not each.name.startswith((".", "__")))
    data = path.read_bytes()
    if len(data) > SHOWN_BYTES or b"\0" in data:
        return f"# `{name}`\n\nA file of {len(data):,} bytes in the repository.\n"
    text = data.decode("utf-8", errors="replace")
    fence = "`" * (max(map(len, re.findall(r"^`{3,}", text, re.MULTILINE)), default=2) + 1)
    return f"# `{name}`\n\n{fence}{LANGUAGES.get(path.suffix, 'text')}\n{text.rstrip()}\n{fence}\n"


def stage(root, pages):
    """Writes the manual's pages, and those of all that they link to, below `pages`."""
    wanted = {p.relative_to(root).as_posix() for p in check_links.documents(root)
              if p.is_relative_to(root / "docs")} | {"CONTRIBUTING.md", "CHANGELOG.md"}
    done = set()
    while wanted - done:
        name = sorted(wanted - done)[0]
        done.add(name)
        if (root / name / "README.md").is_file():
            wanted.add(f"{name}/README.md")
            continue
        path, target = root / name, pages / place_of(name, root)
        target.parent.mkdir(parents=True, exist_ok=True)
        if name.startswith("docs/") and path.is_file() and path.suffix != ".md":
            shutil.copy(path, target)
        elif path.suffix == ".md":
            target.write_text(moved(path.read_text(), name, root, wanted))
        else:
            target.write_text(shown(path, name))


def search_last(pages):
    """Lets a search show the notebook, and files of the repository, after the manual."""
    for folder in "notes", "source":
        for page in (pages / folder).rglob("*.md"):
            page.write_text("---\nsearch:\n  boost: 0.2\n---\n" + page.read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--linnet", type=Path, help="the command, for its help")
    parser.add_argument("--python", type=Path, help="the folder of an installed package linnet, for its stubs")
    parser.add_argument("--doxygen", type=Path, help="the folder of Doxygen's pages")
    options = parser.parse_args()
    pages = options.folder / "pages"
    shutil.rmtree(pages, ignore_errors=True)
    pages.mkdir(parents=True)
    stage(ROOT, pages)
    search_last(pages)
    (pages / "reference").mkdir()
    (pages / "reference/command.md").write_text(reference.command_page(options.linnet))
    (pages / "reference/python.md").write_text(reference.python_page(options.python))
    (pages / "reference/cpp.md").write_text(reference.cpp_page(options.doxygen))
    if options.doxygen:
        shutil.copytree(options.doxygen, pages / "cpp")
    shutil.copy(HERE / "extra.css", pages)
    shutil.copy(HERE / "mkdocs.yml", options.folder)
    # Without its log, as with --quiet, mkdocs counts no warnings.
    ran = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--clean", "-f",
                          str(options.folder / "mkdocs.yml")], check=False, text=True, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    if ran.returncode != 0:
        print(ran.stdout)
    return ran.returncode


if __name__ == "__main__":
    sys.exit(main())
