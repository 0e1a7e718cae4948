#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Removes each fusion's folder in turn and runs the tests: all but those of the folder must pass.

A copy of the commit stands in SCRATCH/tree, with one build folder, so that only what a removed folder changes is
compiled and linked again. src/fusions/NAME and the folders that include it go, and come back afterwards.

Which tests run, by rule: every test program whose inputs in the build include the archive of the passes, since these
compile and run networks. Programs that have operators without passes, op_test among them, compare one operator with
its reference: they are built, and their cases are listed, so that one that needs the fusion's operator is found. Other
programs know no fusion. The command is built; its tests in Python, which run the same library, are left to
`./dev test`.

Each fusion's row is written to src/fusions/removed.md as soon as it is known. A run that was interrupted goes on with
the commit that it began with and the fusions that have no row of it; --again begins with the present commit. The
first row removes nothing: it shows what fails, and which tests there are, in the whole tree. --programs builds and runs
some of the programs alone; such a row says "2 of 20", and its fusion is still left.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import check_fusions  # noqa: E402

NOTHING = "nothing"
PASSES, OPERATORS = "src/fusions/liblinnet_fusions.a\n", "src/ops/liblinnet_ops.a\n"  # of ninja's list of inputs
COLUMNS = ("without", "removed with it", "commit", "programs that ran", "passed", "skipped", "programs listed",
           "own tests that went", "failed")
RAN = COLUMNS[3]
LOST = 20  # lines of a build's output that are shown
SECONDS = 1200  # that a program may take
ABOUT = """# Without each fusion

What `./dev check fusions` found: each row removes a folder of `src/fusions/`, and those that include it, from the tree
of that commit, builds, and runs every test program that compiles networks. Programs of operators alone are built, and
their cases listed. Own tests stood in the removed folders. `failed` names every other case that failed or is missing.
"""


class BuildError(Exception):
    """A command of the build failed; its last lines are the message."""


def run(command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
    if done.returncode != 0:
        raise BuildError("\n".join((done.stdout + done.stderr).splitlines()[-LOST:]))
    return done.stdout


def read_rows(path):
    """{fusion: {column: text}} of the table in `path`."""
    lines = path.read_text().splitlines() if path.is_file() else []
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return {row[0].strip("`"): dict(zip(COLUMNS, row)) for row in cells[2:]}


def write_rows(path, rows):
    lines = [COLUMNS, ["---"] * len(COLUMNS)] + [[row[c] for c in COLUMNS] for row in rows.values()]
    path.write_text(ABOUT + "\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines))


def fusions_left(rows, commit, names):
    """Those of `names` that have no row of this commit in which all programs ran."""
    return [name for name in names if rows.get(name, {}).get("commit") != commit or " of " in rows[name][RAN]]


def removed_with(rooms, name):
    """The fusion and those that include it."""
    return sorted(room for room in rooms if name in check_fusions.needed_by(rooms, room))


def compare(before, after, gone):
    """({own tests that went}, {others that are missing}) of {test: file} before and after folders went."""
    missing = {test: file for test, file in before.items() if test not in after}
    own = {test for test, file in missing.items() if any(f"/src/fusions/{room}/" in file for room in gone)}
    return own, set(missing) - own


class Tree:
    """A clone of the repository at one commit, and its build folder."""

    def __init__(self, scratch, arguments, only=()):
        self.path, self.commit, self.only = scratch / "tree", "", only
        self.build = self.path / "build/release"
        self.arguments = arguments
        # The copy is compiled at the same depth as the tree itself: ccache then knows it.
        self.environment = {"CCACHE_BASEDIR": str(ROOT), "CCACHE_NOHASHDIR": "1", **os.environ}

    def git(self, *words):
        return run(["git", "-C", self.path, *words]).strip()

    def take(self, commit):
        """Brings the tree to a commit; files that are equal there stay untouched."""
        if not (self.path / ".git").exists():
            shutil.rmtree(self.path, ignore_errors=True)
            run(["git", "clone", "-q", "--shared", "--no-checkout", ROOT, self.path])
        if commit:
            run(["git", "-C", self.path, "fetch", "-q", ROOT, "HEAD"])
            self.git("checkout", "-q", "-f", "--detach", commit)
        self.git("checkout", "-q", "-f", "HEAD", "--", "src/fusions")  # what an interrupted run removed
        self.commit = self.git("rev-parse", "--short=8", "HEAD")

    def remove(self, rooms):
        for room in rooms:
            shutil.rmtree(self.path / "src/fusions" / room)

    def build_all(self):
        """Builds what the rule names; returns {test program: whether it runs}, and how many would run by the rule."""
        self.step("cmake", "--preset", "release", "-DLINNET_CUDA=OFF", "-DLINNET_JOIN=OFF", *self.arguments)
        targets = self.step("ninja", "-C", self.build, "-t", "targets", "all")
        programs = re.findall(r"^bin/(\w+_test): ", targets, re.MULTILINE)
        inputs = {p: self.step("ninja", "-C", self.build, "-t", "inputs", f"bin/{p}") for p in programs}
        chosen = {p: PASSES in inputs[p] for p in sorted(programs) if PASSES in inputs[p] or OPERATORS in inputs[p]}
        whole = sum(chosen.values())
        chosen = {p: runs for p, runs in chosen.items() if not self.only or p in self.only}
        libraries = () if self.only else ("linnet", "linnet_command")
        self.step("cmake", "--build", self.build, "--target", *libraries, *chosen)
        return chosen, whole

    def step(self, *command):
        return run(command, cwd=self.path, env=self.environment)

    def results(self, program, runs):
        """The cases of a program: {Suite.Name: (file, completed, skipped, failed or listed)}; how it ended, if
        badly."""
        out = self.path.parent / "cases.json"
        out.unlink(missing_ok=True)
        try:
            done = subprocess.run([self.build / "bin" / program, f"--gtest_output=json:{out}",
                                   *([] if runs else ["--gtest_list_tests"])],
                                  cwd=self.path, capture_output=True, text=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return {}, f"{program} took over {SECONDS} s"
        if not out.is_file():
            return {}, f"{program} ended with {done.returncode}"
        cases = {}
        for suite in json.loads(out.read_text())["testsuites"]:
            for case in suite["testsuite"]:
                result = "failed" if case.get("failures") else case.get("result", "listed").lower()
                cases[f"{suite['name']}.{case['name']}"] = (case.get("file", ""), result)
        return cases, ""


def check_without(tree, name, gone, before):
    """The row of one fusion, and {test: file} of what ran."""
    tree.remove(gone)
    counts, failed, after, programs, whole = {}, [], {}, {}, 0
    try:
        programs, whole = tree.build_all()
        for program, runs in programs.items():
            cases, end = tree.results(program, runs)
            failed += [end] if end else []
            if end:
                cases = {}  # nothing is known of the cases before the end
            for case, (file, result) in cases.items():
                counts[result] = counts.get(result, 0) + 1
                failed += [case] if result == "failed" else []
                after[f"{program} {case}"] = file
    except BuildError as error:
        print(error, file=sys.stderr)
        failed.append("the build")
    finally:
        tree.git("checkout", "-q", "-f", "HEAD", "--", "src/fusions")
    own, missing = compare(before, after, gone)
    if "the build" not in failed:
        failed += sorted(test.split(" ")[1] for test in missing)
    companions = ", ".join(f"`{room}`" for room in gone if room != name)
    ran = sum(programs.values())
    values = (f"`{name}`", companions or "-", tree.commit, ran if ran == whole else f"{ran} of {whole}",
              counts.get("completed", 0), counts.get("skipped", 0), len(programs) - ran, len(own),
              ", ".join(f"`{case}`" for case in failed) or "-")
    return dict(zip(COLUMNS, map(str, values))), after


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fusions", nargs="*", help="folders of src/fusions (default: those that have no row)")
    parser.add_argument("--again", action="store_true", help="begin with the present commit, not where a run stopped")
    parser.add_argument("--programs", type=lambda text: text.split(","), default=[], help="build and run these alone")
    parser.add_argument("--most", type=int, help="stop after this many fusions")
    parser.add_argument("--scratch", type=Path, default=ROOT / "build/fusions")
    parser.add_argument("--rows", type=Path, default=ROOT / "src/fusions/removed.md", help="the table to write")
    parser.add_argument("--cmake", action="append", default=[], help="an argument of cmake, e.g. -DLINNET_WERROR=ON")
    arguments = parser.parse_args()
    rows = read_rows(arguments.rows)
    tree, tests = Tree(arguments.scratch, arguments.cmake, arguments.programs), arguments.scratch / "tests.json"
    arguments.scratch.mkdir(parents=True, exist_ok=True)
    goes_on = not arguments.again and (tree.path / ".git").exists()
    tree.take("" if goes_on else run(["git", "-C", ROOT, "rev-parse", "HEAD"]).strip())
    rooms = check_fusions.rooms(tree.path)
    if goes_on and not arguments.fusions and not fusions_left(rows, tree.commit, [NOTHING, *rooms]):
        tree.take(run(["git", "-C", ROOT, "rev-parse", "HEAD"]).strip())
        rooms = check_fusions.rooms(tree.path)
    unknown = sorted(set(arguments.fusions) - set(rooms))
    if unknown:
        parser.error(f"no folder of src/fusions: {', '.join(unknown)}; there are {', '.join(rooms)}")
    left = arguments.fusions or fusions_left(rows, tree.commit, rooms)
    print(f"Commit {tree.commit} in {tree.path}: {len(left)} fusions are left.", flush=True)
    before = json.loads(tests.read_text()) if tests.is_file() else {}
    if (before.get("commit"), before.get("programs")) != (tree.commit, arguments.programs):
        rows[NOTHING], found = check_without(tree, NOTHING, [], {})
        before = {"commit": tree.commit, "programs": arguments.programs, "tests": found}
        tests.write_text(json.dumps(before))
    for name in [None, *left[:arguments.most]]:
        if name:
            rows[name], _ = check_without(tree, name, removed_with(rooms, name), before["tests"])
        # Rows follow the order of the folders; a fusion that is gone has none.
        rows = {key: rows[key] for key in [NOTHING, *rooms] if key in rows}
        write_rows(arguments.rows, rows)
        print(f"| {' | '.join(rows[name or NOTHING].values())} |", flush=True)
    return 1 if any(row["failed"] != "-" for row in rows.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
