#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What OpenNN's benchmark notes measure, here: each row beside the figure that its repository has published.

    run.py --programs FOLDER --linnet PYTHON [--torch PYTHON] [--threads N] [--repetitions N] [--out NAME]

FOLDER holds start_bench and rest_bench (targets of the build), the first interpreter the package linnet, the second
PyTorch; both have NumPy. Published figures are of other machines: they say what was counted, no more."""
import argparse
import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import in_turn  # noqa: E402

BATCH = 1024
# The repository Artelnics/opennn published them in docs/benchmarks, in July 2026.
PUBLISHED = {"train": "107,121 (i9-12900K), 59,372 (i7-12700H)", "infer": "416,825 (i9-12900K), 209,774 (i7-12700H)",
             "start": "36 ms", "rest": "195.2 to 235.6 MB", "lines": "14"}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--programs", type=Path, required=True, metavar="FOLDER", help="build/release/bin")
    parser.add_argument("--linnet", required=True, metavar="PYTHON", help="a Python that has the package linnet")
    parser.add_argument("--torch", metavar="PYTHON", help="a Python that has PyTorch")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), metavar="N")
    parser.add_argument("--rows", type=int, default=100 * BATCH, metavar="N", help="of the HIGGS-shaped data")
    parser.add_argument("--repetitions", type=int, default=5, metavar="N")
    parser.add_argument("--out", type=Path, metavar="NAME", help="write NAME.json and NAME.md")
    return parser.parse_args()


def logical_lines(source):
    """Lines of a C++ program as OpenNN's note counts: statements, includes and heads of blocks; no comments, no braces."""
    source = re.sub(r"/\*.*?\*/|//[^\n]*", "", source, flags=re.DOTALL)
    count, statement = 0, ""
    for line in map(str.strip, source.splitlines()):
        if not line or re.fullmatch(r"[{};]+", line):
            continue
        if line.startswith(("#include", "int main", "for ", "while ", "if ", "else", "try", "catch")):
            count += 1
            continue
        statement += line
        if ";" in line:
            count, statement = count + 1, ""
    return count + bool(statement)


def seconds_of(program):
    start = time.perf_counter()
    subprocess.run([program], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def kilobytes_of(program):
    printed = subprocess.run([program], check=True, stdout=subprocess.PIPE, text=True).stdout
    return int(printed.split()[-1])


def speeds(options, mode):
    """{engine: samples/s of each repetition}, in turn."""
    arguments = [mode, str(options.rows), str(BATCH), str(options.threads)]
    engines = {"linnet": ([options.linnet, "-B", str(HERE / "higgs_linnet.py"), *arguments], {})}
    if options.torch:
        limited = {"OMP_NUM_THREADS": str(options.threads)}
        engines["torch"] = ([options.torch, "-B", str(HERE / "higgs_torch.py"), *arguments], limited)
    return {engine: [run["samples_per_second"] for run in runs if run]
            for engine, runs in in_turn.repeated(engines, options.repetitions).items()}


def spread(values, scale=1.0, digits=0, unit=""):
    if not values:
        return "–"
    low, middle, high = (value * scale for value in (min(values), statistics.median(values), max(values)))
    return f"{middle:,.{digits}f}{unit} ({low:,.{digits}f} to {high:,.{digits}f})"


def main():
    options = arguments()
    programs = options.programs.resolve()
    seconds_of(programs / "start_bench")  # its files are in memory from here on
    found = {"train": speeds(options, "train"), "infer": speeds(options, "infer"),
             "start": [seconds_of(programs / "start_bench") for _ in range(4 * options.repetitions)],
             "rest": [1024 * kilobytes_of(programs / "rest_bench") for _ in range(options.repetitions)],
             "lines": logical_lines((HERE / "iris.cpp").read_text())}
    network = "28-1024-1024-1 on HIGGS-shaped data, batch 1,024, samples/s"
    table = "\n".join([
        "| | Linnet | PyTorch | OpenNN's notes, on their machines |", "| --- | --- | --- | --- |",
        *(f"| {title}: {network} | {spread(found[mode]['linnet'])} | {spread(found[mode].get('torch'))} | "
          f"{PUBLISHED[mode]} |" for mode, title in (("train", "training"), ("infer", "prediction"))),
        f"| process until its first prediction, 10-64-1 | {spread(found['start'], 1e3, 1, ' ms')} | | {PUBLISHED['start']} |",
        f"| memory at rest | {spread(found['rest'], 1e-6, 1, ' MB')} | | {PUBLISHED['rest']} |",
        f"| lines of a first program (Iris) | {found['lines']} | | {PUBLISHED['lines']} |"])
    print(table)
    if not options.out:
        return
    result = in_turn.begun(threads=options.threads, rows=options.rows, found=found)
    in_turn.write(options.out, result, "opennn_notes/run.py", "OpenNN's benchmark notes",
                  f"{options.threads} threads; load average {result['load']:.2f} at the end; medians, least to most.", table)


main()
