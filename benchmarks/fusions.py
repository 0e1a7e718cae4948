#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Removes each fusion's folder in turn and shows what else of the tree that breaks: nothing should.

In a scratch copy of the tree, src/fusions/NAME and the folders that include it go, then the library, the
command and the tests of graphs, plans and models are built and run. A test that fails counts what all fusions
give, or is a fault of the tree. ccache makes this bearable: a fusion takes minutes.
"""
import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import check_fusions  # noqa: E402

PROGRAMS = ("plan_test", "fusions_test", "op_test", "model_test", "loss_test", "end_to_end_test",
            "cuda_backend_test", "cudnn_ops_test")
TARGETS = ("linnet", "linnet_command", *PROGRAMS)
LOST = 20  # lines of a build's output that are shown


def copy_tree(to):
    """A copy of the files that git knows, or would."""
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                           check=True, capture_output=True, text=True).stdout.split("\0")
    for name in filter(None, names):
        path = ROOT / name
        if path.is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, to / name)


def removed_with(rooms, name):
    """The fusion and those that include it."""
    return sorted(room for room in rooms if name in check_fusions.needed_by(rooms, room))


def failed_tests(program):
    """The names of the cases that fail; the program's end where it does not get to the end."""
    done = subprocess.run([program, "--gtest_brief=1"], capture_output=True, text=True)
    names = re.findall(r"^\[  FAILED  \] ([^\s,(]+)", done.stdout, re.MULTILINE)
    names = sorted({name for name in names if "." in name})
    return names if names or done.returncode == 0 else [f"{program.name} ended with {done.returncode}"]


def check_without(tree, build, rooms, name, configure):
    """(folders removed, whether all builds, {program: failed cases})."""
    gone = removed_with(rooms, name)
    parked = tree.parent / "removed"
    parked.mkdir(exist_ok=True)
    for room in gone:
        (tree / "src/fusions" / room).rename(parked / room)
    try:
        for command in (configure, ["cmake", "--build", str(build), "--target", *TARGETS]):
            done = subprocess.run(command, cwd=tree, capture_output=True, text=True)
            if done.returncode != 0:
                print("\n".join((done.stdout + done.stderr).splitlines()[-LOST:]), file=sys.stderr)
                return gone, False, {}
        return gone, True, {program: failed_tests(build / "bin" / program) for program in PROGRAMS}
    finally:
        for room in gone:
            (parked / room).rename(tree / "src/fusions" / room)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("fusions", nargs="*", help="folders of src/fusions (default: all)")
    parser.add_argument("--scratch", type=Path, default=ROOT / "build/fusions")
    parser.add_argument("--cmake", action="append", default=[], help="an argument of cmake, e.g. -DLINNET_JOIN=OFF")
    arguments = parser.parse_args()
    rooms = check_fusions.rooms(ROOT)
    unknown = sorted(set(arguments.fusions) - set(rooms))
    if unknown:
        parser.error(f"no folder of src/fusions: {', '.join(unknown)}; there are {', '.join(rooms)}")
    tree, build = arguments.scratch / "tree", arguments.scratch / "build"
    shutil.rmtree(tree, ignore_errors=True)
    copy_tree(tree)
    configure = ["cmake", "--preset", "release", "-B", str(build), "-DLINNET_CUDA=OFF", *arguments.cmake]
    print("| without | removed with it | builds | failing tests |\n| --- | --- | --- | --- |", flush=True)
    failed = False
    for name in arguments.fusions or rooms:
        gone, built, results = check_without(tree, build, rooms, name, configure)
        cases = [case for program in results.values() for case in program]
        failed |= not built or bool(cases)
        print(f"| `{name}` | {', '.join(f'`{room}`' for room in gone if room != name) or '-'} | "
              f"{'yes' if built else 'no'} | {', '.join(f'`{case}`' for case in cases) or '-'} |", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
