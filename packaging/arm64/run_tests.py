#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs test programs for ARM64 under QEMU's emulation, or for Windows under wine: run_tests.py BUILD [PROGRAM...].

A program's cases run in shards, one process after another. BUILD/results/PROGRAM.json keeps what each case came to, so
that what was interrupted goes on; --again forgets it. A program that ends in .exe is run under wine. A case without a word for --seconds is ended, and the others go on
in a new process. --table prints a Markdown table of all results instead. Exits with 1 if a case failed."""
import argparse
import json
import os
import re
import selectors
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SYSROOT = ROOT / ".cache/arm64"
LINE = re.compile(r"^\[ +(RUN|OK|FAILED|SKIPPED) +\] (\S+?\.\S+?)(?:,.*)?(?: \((\d+) ms\))?$")
STATES = ("passed", "skipped", "failed", "crashed", "too slow")


def emulated(program, *arguments):
    """Returns the words that start a program for ARM64 or Windows."""
    if program.suffix == ".exe":
        return [str(ROOT / "packaging/windows/wine.sh"), str(program), *arguments]
    return [shutil.which("qemu-aarch64-static") or "qemu-aarch64-static", "-L", str(SYSROOT), str(program), *arguments]


def cases_of(program):
    listed = subprocess.run(emulated(program, "--gtest_list_tests"), check=True, capture_output=True, text=True).stdout
    suite, found = "", []
    for line in listed.splitlines():
        name = line.split("#")[0].rstrip()
        if name.startswith("  "):
            found.append(suite + name.strip())
        elif name.endswith("."):
            suite = name
    return [case for case in found if not re.search(r"(^|[./])DISABLED_", case)]


def lines_of(process, seconds):
    """Yields the lines of a process, and None when there was none for so long."""
    selector = selectors.DefaultSelector()
    selector.register(process.stdout, selectors.EVENT_READ)
    rest = b""
    while True:
        if not selector.select(timeout=seconds):
            yield None
            return
        read = os.read(process.stdout.fileno(), 1 << 16)
        if not read:
            if rest:
                yield rest.decode("utf-8", "replace")
            return
        *whole, rest = (rest + read).split(b"\n")
        for line in whole:
            yield line.decode("utf-8", "replace").rstrip("\r")


def run_shard(program, cases, seconds, results):
    """Runs cases in one process until all are done or one ends it; notes a state, milliseconds and words for each."""
    # A colon separates names; QEMU has no processor of its own, so all threads share what this machine has.
    words = emulated(program, "--gtest_brief=0", "--gtest_color=no", "--gtest_filter=" + ":".join(cases))
    running, said, start = None, [], time.monotonic()
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
                          cwd=program.parent) as process:
        ended = "crashed"
        for line in lines_of(process, seconds):
            if line is None:
                ended = "too slow"
                os.killpg(process.pid, signal.SIGKILL)
                break
            found = LINE.match(line)
            if found and found[1] == "RUN":
                running, said, start = found[2], [], time.monotonic()
            elif found and found[2] == running:
                state = {"OK": "passed", "FAILED": "failed", "SKIPPED": "skipped"}[found[1]]
                results[running] = [state, int(found[3] or 0), "" if state == "passed" else "\n".join(said)[-2000:]]
                running = None
            elif running:
                said.append(line)
        process.wait()
    if running:
        results[running] = [ended, int(1000 * (time.monotonic() - start)), "\n".join(said)[-2000:]]
    return running is not None or any(case in results for case in cases)


def run_program(program, record, arguments):
    results = {} if arguments.again or not record.exists() else json.loads(record.read_text(encoding="utf-8"))
    cases = cases_of(program)
    results = {case: results[case] for case in cases if case in results}
    todo = [case for case in cases if case not in results]
    while todo:
        if not run_shard(program, todo[: arguments.cases], arguments.seconds, results):
            raise SystemExit(f"run_tests.py: {program.name} ends before its first case")
        record.write_text(json.dumps(results, indent=0) + "\n", encoding="utf-8")
        todo = [case for case in todo if case not in results]
    return results


def counts(results):
    return [sum(result[0] == state for result in results.values()) for state in STATES]


def print_table(folder):
    print("| program | cases | " + " | ".join(STATES) + " |\n| --- |" + " ---: |" * (len(STATES) + 1))
    whole = [0] * len(STATES)
    for record in sorted(folder.glob("*.json")):
        found = counts(json.loads(record.read_text(encoding="utf-8")))
        whole = [a + b for a, b in zip(whole, found)]
        print(f"| {record.stem} | {sum(found)} | " + " | ".join(map(str, found)) + " |")
    print(f"| all | {sum(whole)} | " + " | ".join(map(str, whole)) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="default: every test program in BUILD/bin")
    parser.add_argument("--cases", type=int, default=50, help="in one process (default: 50)")
    parser.add_argument("--seconds", type=int, default=300, help="that a case may say nothing (default: 300)")
    parser.add_argument("--again", action="store_true", help="runs what an earlier run has results of, too")
    parser.add_argument("--table", action="store_true", help="prints results as a table and runs nothing")
    arguments = parser.parse_args()
    folder = arguments.build.resolve() / "results"
    folder.mkdir(exist_ok=True)
    if arguments.table:
        print_table(folder)
        return 0
    bad = False
    names = arguments.programs or sorted({path.stem for path in (arguments.build / "bin").glob("*_test*")
                                          if path.suffix in ("", ".exe")})
    for name in names:
        program = arguments.build.resolve() / "bin" / name
        results = run_program(program if program.exists() else program.with_suffix(".exe"), folder / f"{name}.json", arguments)
        print(f"{name}: " + ", ".join(f"{count} {state}" for count, state in zip(counts(results), STATES) if count), flush=True)
        for case, (state, _, said) in results.items():
            if state not in ("passed", "skipped"):
                bad = True
                print(f"  {state}: {case}\n" + "\n".join(f"    {line}" for line in said.splitlines()[:12]), flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
