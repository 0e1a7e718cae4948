#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows every file that knows a fusion from outside of its folder, src/fusions/<name>/.

A fusion can be removed with its folder: nobody else includes its headers, uses the operators that they
declare or, in src/ and apps/, writes the names of its operators and passes; passes of other fusions may say
that they run before or after it. A fusion may include another, and goes with it then; these includes have
no cycle. What all fusions have is fusions/fusions.h.
"""
import re
import sys
from pathlib import Path

FOLDERS = ("include", "src", "apps", "python/src", "tests", "benchmarks", "examples")
SUFFIXES = (".h", ".cpp", ".cu", ".cuh")
INCLUDE = re.compile(r'^\s*#\s*include\s*"fusions/(\w+)/', re.MULTILINE)
OPERATOR = re.compile(r"^class (\w+Op) final : public OpBase<", re.MULTILINE)
NAME = re.compile(r'string_view kName = "(\w+)"')
PASS = re.compile(r'passes\.add\(\s*(?:Phase::\w+,\s*)?\{\s*"(\w+)"')
NEEDED = re.compile(r'LINNET_NEEDS_PASSES\(([^)]*)\)')
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def sources(folder):
    return sorted(p for p in folder.rglob("*") if p.suffix in SUFFIXES and p.is_file())


def rooms(root):
    """{fusion: ([classes], [names of operators and passes], {fusions that it includes})}."""
    found = {}
    for folder in sorted(p for p in (root / "src/fusions").iterdir() if p.is_dir()):
        text = {path: path.read_text() for path in sources(folder)}
        # Before tests are counted: they may compare with another fusion.
        own = [t for path, t in text.items() if not path.stem.endswith("_test")]
        found[folder.name] = (sorted({c for t in own for c in OPERATOR.findall(t)}),
                              sorted({n for t in own for n in NAME.findall(t) + PASS.findall(t)}),
                              {i for t in own for i in INCLUDE.findall(t)} - {folder.name})
    return found


def needed_by(all_rooms, name):
    """The fusion and all that it includes, in turn."""
    needed, left = set(), [name]
    while left:
        room = left.pop()
        if room not in needed and room in all_rooms:
            needed.add(room)
            left += all_rooms[room][2]
    return needed


def check(root):
    """The sentences about everything that is wrong below `root`."""
    root = Path(root)
    all_rooms = rooms(root)
    problems = []
    for name, (_, _, needs) in all_rooms.items():
        for other in sorted(needs):
            if other not in all_rooms:
                problems.append(f"src/fusions/{name}: includes the fusion '{other}', which is not there")
            elif name in needed_by(all_rooms, other):
                problems.append(f"src/fusions/{name}: includes the fusion '{other}', which includes it")
    passes = {n for _, names, _ in all_rooms.values() for n in names}
    for path in (p for folder in FOLDERS for p in sources(root / folder)):
        place = path.relative_to(root).as_posix()
        parts = place.split("/")
        known = needed_by(all_rooms, parts[2]) if parts[:2] == ["src", "fusions"] else set()
        text = path.read_text(errors="replace")
        for other in sorted(set(INCLUDE.findall(text)) - known):
            problems.append(f"{place}: includes the fusion '{other}'; only src/fusions/{other}/ may")
        code = COMMENT.sub("", text)
        needed = {n for names in NEEDED.findall(code) for n in re.findall(r'"(\w+)"', names)}
        problems += [f"{place}: needs the pass '{n}', which no fusion has; its test would always be skipped"
                     for n in sorted(needed - passes)]
        for other, (classes, names, _) in all_rooms.items():
            if other in known:
                continue
            said = [c for c in classes if re.search(rf"\b{c}\b", code)]
            if parts[0] in ("src", "apps") and parts[1] != "fusions" and not path.stem.endswith("_test"):
                said += [f'"{n}"' for n in names if f'"{n}"' in code]
            for what in said:
                problems.append(f"{place}: says {what} of the fusion '{other}'; only "
                                f"src/fusions/{other}/ may")
    return problems


def main():
    problems = check(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    print("\n".join(problems + [f"Fusions: {len(problems)} wrong."]) if problems
          else "Fusions: each is known in its folder alone.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
