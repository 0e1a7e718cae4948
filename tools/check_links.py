#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows every relative link in the *.md files whose file or heading does not exist, and every path
in `code` that is not there.

Anchors follow GitHub: lower case, punctuation dropped, spaces to dashes, repeats numbered. Links
within code blocks and to other sites are not looked at. A path is looked at where it begins with a
folder of the repository or of src/ (`plan/passes/`, `tests/op_harness.h`) and has no placeholder;
what `build/` holds and what the reader of a page makes (`<!-- makes src/ops/leaky_relu -->`) is not.
"""
import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

# [text](target "title"), also ![image](target), and [label]: target; targets in <> may hold spaces.
INLINE = re.compile(r"\]\(\s*(?:<([^>]*)>|([^()\s]*(?:\([^()\s]*\)[^()\s]*)*))(?:\s+[\"'][^\"']*[\"'])?\s*\)")
LABEL = re.compile(r"^ {0,3}\[[^\]]+\]:\s+(\S+)")
HTML = re.compile(r"<(?:a|img|source)\b[^>]*?\b(?:href|src|srcset)=\"([^\"]*)\"")
HEADING = re.compile(r"^ {0,3}#{1,6}\s+(.*?)\s*#*\s*$")
HTML_ANCHOR = re.compile(r"<a\b[^>]*\b(?:name|id)=\"([^\"]+)\"")
FENCE = re.compile(r"^\s*(```+|~~~+)")


def prose(text):
    """Yields (line number, line) outside of fenced code, inline code blanked."""
    fence = None
    for number, line in enumerate(text.splitlines(), 1):
        match = FENCE.match(line)
        if match and fence is None:
            fence = match.group(1)
        elif match and match.group(1).startswith(fence):
            fence = None
        elif fence is None:
            yield number, line


def without_code(line):
    return re.sub(r"(`+)(.+?)\1", "", line)


def slug(heading):
    heading = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    heading = re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower())
    return heading.replace(" ", "-")


def code_paths(text):
    """Yields (line number, path) of every word in `code` that could be a path."""
    for number, line in prose(text):
        for _, code in re.findall(r"(`+)(.+?)\1", line):
            if re.fullmatch(r"[\w.+-]+(?:/[\w.+-]+)*/?", code) and "/" in code:
                yield number, code


def anchors(text):
    """Every anchor that a Markdown text offers."""
    found, seen = set(), {}
    for _, line in prose(text):
        found.update(HTML_ANCHOR.findall(line))
        match = HEADING.match(line)
        if match:
            name = slug(match.group(1))
            count = seen.get(name, 0)
            seen[name] = count + 1
            found.add(name if count == 0 else f"{name}-{count}")
    return found


def links(text):
    """Yields (line number, target) of every link."""
    for number, line in prose(text):
        line = without_code(line)
        for match in INLINE.finditer(line):
            yield number, match.group(1) or match.group(2)
        for target in LABEL.findall(line) + HTML.findall(line):
            yield number, target


def documents(root):
    """The Markdown files that git tracks or would track; without git, all but hidden and build ones."""
    command = ["git", "-C", str(root), "ls-files", "-co", "--exclude-standard", "-z", "*.md"]
    try:
        listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        names = [root / name for name in listed.split("\0") if name]
        return sorted({p for p in names if p.is_file()})
    except (OSError, subprocess.CalledProcessError):
        return sorted(p for p in root.rglob("*.md")
                      if not any(part.startswith((".", "build", "runs"))
                                 for part in p.relative_to(root).parts))


def check(root, files=None):
    """The sentences about everything that is wrong below `root`."""
    root = Path(root).resolve()
    problems = []
    for path in documents(root) if files is None else files:
        text = path.read_text()
        name = path.relative_to(root).as_posix()
        for number, target in links(text):
            if re.match(r"[a-zA-Z][\w+.\-]*:|//", target):
                continue
            file, _, anchor = target.partition("#")
            place = Path(os.path.normpath(path.parent / unquote(file))) if file else path
            if not place.exists():
                problems.append(f"{name}:{number}: no file for the link '{target}'")
            elif not place.is_relative_to(root):
                problems.append(f"{name}:{number}: the link '{target}' leaves the repository")
            elif anchor and place.suffix == ".md" and anchor not in anchors(place.read_text()):
                problems.append(f"{name}:{number}: no heading for the link '{target}'")
        made = ("build/", *re.findall(r"<!-- makes (\S+) -->", text))
        for number, code in code_paths(text):
            if code.startswith(made) or "..." in code:
                continue
            starts = [start for start in (root, root / "src", path.parent)
                      if (start / code.split("/")[0]).is_dir()]
            if starts and not any((start / code).exists() for start in starts):
                problems.append(f"{name}:{number}: no file or folder '{code}'")
    return problems


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    problems = check(root)
    print("\n".join(problems + [f"Links: {len(problems)} wrong."]) if problems
          else "Links: every file, heading and path is there.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
