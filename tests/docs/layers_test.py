# SPDX-License-Identifier: Apache-2.0
"""docs/layers.md is what `linnet layers --markdown` prints: layers_test.py COMMAND DOCUMENT."""
import difflib
import subprocess
import sys
from pathlib import Path


def main():
    made = subprocess.run([sys.argv[1], "layers", "--markdown"], capture_output=True, text=True,
                          check=True).stdout
    there = Path(sys.argv[2]).read_text(encoding="utf-8")
    if made == there:
        return 0
    print("\n".join(difflib.unified_diff(there.splitlines(), made.splitlines(), "docs/layers.md",
                                         "linnet layers --markdown", lineterm="")))
    print("docs/layers.md is not what the layers' descriptions say; write it anew: "
          "linnet layers --markdown > docs/layers.md")
    return 1


if __name__ == "__main__":
    sys.exit(main())
