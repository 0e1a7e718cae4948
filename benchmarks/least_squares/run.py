#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A small network that Levenberg-Marquardt fits to Rosenbrock's function, beside SciPy's least_squares, in turn.

    run.py --linnet COMMAND --python PYTHON [--iterations N] [--threads N] [--seeds N] [--out NAME]

PYTHON is an interpreter that has SciPy. A seed gives first weights of one distribution, of each engine its own; each
run is a fresh process. Prints and writes a table: mean squared errors of the best seed and the mean, and seconds."""
import argparse
import datetime
import json
import os
import statistics
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import in_turn  # noqa: E402
import machine  # noqa: E402


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--linnet", required=True, metavar="COMMAND", help="the command linnet")
    parser.add_argument("--python", required=True, metavar="PYTHON", help="a Python that has SciPy")
    parser.add_argument("--iterations", type=int, default=60, metavar="N")
    parser.add_argument("--threads", type=int, default=1, metavar="N")
    parser.add_argument("--seeds", type=int, default=10, metavar="N")
    parser.add_argument("--out", type=Path, metavar="NAME", help="write NAME.json and NAME.md")
    return parser.parse_args()


def engines(options, seed):
    steps, threads = str(options.iterations), str(options.threads)
    limited = {"OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
    ours = [options.python, "-B", str(HERE / "linnet_side.py"), options.linnet, str(seed), steps, threads]
    made = {"Linnet": (ours, {})}
    theirs = [options.python, "-B", str(HERE / "scipy_side.py"), "lm", str(seed), steps]
    made["SciPy's least_squares, lm"] = (theirs, limited)
    return made


def row(engine, runs):
    runs = [run for run in runs if run]
    if not runs:
        return f"| {engine} | – | – | – | – | – | – |"
    errors = [run["error"] for run in runs]
    scaled = [run["scaled_error"] for run in runs]
    seconds = [run["seconds"] for run in runs]
    iterations = statistics.median(run["iterations"] for run in runs)
    return (f"| {engine} | {min(errors):.4f} | {statistics.mean(errors):.4f} | {min(scaled):.5f} | "
            f"{statistics.mean(scaled):.5f} | {statistics.median(seconds):.3f} ({min(seconds):.3f} to "
            f"{max(seconds):.3f}) | {iterations:.0f} |")


def main():
    options = arguments()
    found = {}
    for seed in range(options.seeds):
        for engine, results in in_turn.repeated(engines(options, seed), 1).items():
            found.setdefault(engine, []).extend(results)
    heads = ("| engine | best, standardised y | mean | best, y in [-1, 1] | mean | seconds | iterations |\n"
             "| --- | --- | --- | --- | --- | --- | --- |")
    table = "\n".join([heads, *(row(engine, runs) for engine, runs in found.items())])
    print(table)
    if not options.out:
        return
    result = {"date": datetime.datetime.now().isoformat(timespec="seconds"), "machine": machine.about(),
              "load": os.getloadavg()[0], "iterations": options.iterations, "threads": options.threads, "runs": found}
    options.out.with_suffix(".json").write_text(json.dumps(result, indent=1) + "\n")
    options.out.with_suffix(".md").write_text("\n".join([
        f"# Least squares, {result['date']}", "",
        f"{result['machine']['processor']}, {options.threads} thread(s); load average {result['load']:.2f} at the end; "
        f"Rosenbrock's function of 10 inputs, 10,000 points, 10 tanh units, at most {options.iterations} iterations "
        f"(of SciPy: evaluations), {options.seeds} seeds, in turn. Mean squared errors of the training points, of "
        "targets with standard deviation 1 and of the same targets scaled to [-1, 1].", "",
        "Made by `benchmarks/least_squares/run.py`.", "", table, ""]))


main()
