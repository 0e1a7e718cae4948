#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows every absolute path of somebody's machine in the files that git tracks or would track.

Commands are relative to the repository, data are $DATA (benchmarks/portable.py). A path below
/usr, /etc, /proc, /tmp and the like is one of any machine.
"""
import re
import subprocess
import sys
from pathlib import Path

# Not where it goes on from a word, as in a URL.
START = r"(?<![\w.~$@}])"
# Folders below which people and their programs live. (NVIDIA's packages go to opt/nvidia on any
# machine.)
FOLDERS = ("home", "root", "work", "opt(?!/nvidia/)", "srv", "mnt", "media", "Users")
PATH = re.compile(START + "/(?:" + "|".join(FOLDERS) + r")/[\w.$~-][^\s\"'`<>|,;)]*")


def files(root):
    command = ["git", "-C", str(root), "ls-files", "-co", "--exclude-standard", "-z"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [root / name for name in listed.split("\0") if name and (root / name).is_file()]


def check(root, names=None):
    """The sentences about everything that is wrong below `root`."""
    problems = []
    own = re.compile(START + re.escape(str(root.resolve())) + r"(?![\w-])[^\s\"'`<>|,;)]*")
    for path in files(root) if names is None else names:
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue  # an image
        for number, line in enumerate(text.splitlines(), 1):
            for match in sorted({*PATH.findall(line), *own.findall(line)}):
                problems.append(f"{path.relative_to(root).as_posix()}:{number}: the path '{match}' "
                                "is one of a single machine")
    return problems


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    problems = check(root)
    print("\n".join(problems + [f"Paths: {len(problems)} wrong."]) if problems
          else "Paths: none is of a single machine.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
