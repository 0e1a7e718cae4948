#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what a release holds: release.py ARTEFACTS NOTES.

NOTES has a line for each group of artefacts, with tabs between part, pattern of names, command that made them and what
tested them where, or "PART failed" with a tab. ARTEFACTS gets RELEASE.md, a table of all parts with sizes and SHA-256,
and SHA256SUMS of everything there. Prints the table; exits with 1 where a part failed. An artefact that no line names
is an error, as is a line that names none."""
import argparse
import fnmatch
import hashlib
import platform
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "packaging/wheels"))
from parts import linnet_version  # noqa: E402
PARTS = {"wheel": "wheels for Linux", "sdist": "the sdist", "packages": "Debian packages", "static": "the static program",
         "arm64": "Debian packages for ARM64", "web": "the package for JavaScript, and its page"}
BILL = "linnet.cdx.json"
WRITTEN = ("RELEASE.md", "SHA256SUMS")


def sum_of(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()


def commit():
    return subprocess.run(["git", "describe", "--always", "--abbrev=12", "--dirty=, with changes"], cwd=ROOT, check=False,
                          capture_output=True, text=True).stdout.strip() or "unknown"


def system():
    names = dict(line.split("=", 1) for line in Path("/etc/os-release").read_text(encoding="utf-8").splitlines() if "=" in line)
    return f"{names.get('PRETTY_NAME', 'Linux').strip(chr(34))}, {platform.machine()}"


def rows(folder, lines):
    """Returns a row of the table for each artefact and for each part that was not made, and the parts that failed."""
    names = sorted(path.name for path in folder.iterdir() if path.name not in (*WRITTEN, BILL))
    failed = [fields[0] for fields in lines if fields[1:] == ["failed"]]
    found, left = [], set(names)
    for part, title in PARTS.items():
        noted = [fields for fields in lines if fields[0] == part and len(fields) == 4]
        for _, pattern, made, tested in noted:
            matching = fnmatch.filter(names, pattern)
            if not matching:
                raise SystemExit(f"release.py: no artefact is named {pattern}, which '{made}' makes")
            left -= set(matching)
            found += [(name, (folder / name).stat().st_size, sum_of(folder / name), f"`{made}`", tested) for name in matching]
        if part in failed or not noted:
            found.append((f"{title}: {'FAILED' if part in failed else 'not made'}", "", "", "", ""))
    if left:
        raise SystemExit(f"release.py: nothing says what made and tested {', '.join(sorted(left))}")
    if (folder / BILL).exists():
        path = folder / BILL
        found.append((BILL, path.stat().st_size, sum_of(path), "`./dev release`", "the list of parts (CycloneDX 1.5); not tested"))
    return found, failed


def table(found):
    text = f"# Linnet {linnet_version()}\n\nCommit {commit()}, made on {system()}.\n\n"
    text += "| artefact | bytes | SHA-256 | made by | tested |\n| --- | ---: | --- | --- | --- |\n"
    return text + "".join("| " + " | ".join(map(str, row)) + " |\n" for row in found)


def main(folder, notes):
    lines = [line.split("\t") for line in notes.read_text(encoding="utf-8").splitlines()]
    for fields in lines:
        if fields[0] not in PARTS or not (len(fields) == 4 or fields[1:] == ["failed"]):
            raise SystemExit(f"release.py: {notes} has a line that is not a note: {' '.join(fields)}")
    found, failed = rows(folder, lines)
    text = table(found)
    (folder / "RELEASE.md").write_text(text, encoding="utf-8")
    files = sorted(path for path in folder.iterdir() if path.name != "SHA256SUMS")
    (folder / "SHA256SUMS").write_text("".join(f"{sum_of(file)}  {file.name}\n" for file in files), encoding="utf-8")
    print(text, end="")
    return 1 if failed else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", metavar="ARTEFACTS", type=Path)
    parser.add_argument("notes", metavar="NOTES", type=Path)
    arguments = parser.parse_args()
    raise SystemExit(main(arguments.folder, arguments.notes))
