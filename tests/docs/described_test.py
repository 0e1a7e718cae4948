# SPDX-License-Identifier: Apache-2.0
"""docs/layers.md is what `linnet layers --markdown` prints, and so are other pages that follow from
descriptions: described_test.py COMMAND PAGE FOLDER."""
import difflib
import subprocess
import sys
from pathlib import Path


def main():
    command, page, folder = sys.argv[1:]
    made = subprocess.run([command, page, "--markdown"], capture_output=True, text=True,
                          check=True).stdout
    there = (Path(folder) / f"{page}.md").read_text(encoding="utf-8")
    if made == there:
        return 0
    write = f"linnet {page} --markdown"
    print("\n".join(difflib.unified_diff(there.splitlines(), made.splitlines(), f"docs/{page}.md",
                                         write, lineterm="")))
    print(f"docs/{page}.md is not what the descriptions say; write it anew: "
          f"{write} > docs/{page}.md")
    return 1


if __name__ == "__main__":
    sys.exit(main())
