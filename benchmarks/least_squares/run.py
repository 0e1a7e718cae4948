#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""OpenNN's precision task, a small network that fits Rosenbrock's function, beside SciPy, in turn.

    run.py --linnet PYTHON --scipy PYTHON [--iterations N] [--threads N] [--seeds N] [--out NAME]

The first interpreter has the package linnet, the second SciPy; both have NumPy. A seed gives the same first weights to
every engine; each run is a fresh process. Prints and writes a table: mean squared errors of the best seed and the
mean, and seconds."""
import argparse
import statistics
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import in_turn  # noqa: E402


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--linnet", required=True, metavar="PYTHON", help="a Python that has the package linnet")
    parser.add_argument("--scipy", required=True, metavar="PYTHON", help="a Python that has SciPy")
    parser.add_argument("--iterations", type=int, default=1000, metavar="N", help="as OpenNN's epochs: 1000")
    parser.add_argument("--threads", type=int, default=1, metavar="N")
    parser.add_argument("--seeds", type=int, default=10, metavar="N")
    parser.add_argument("--out", type=Path, metavar="NAME", help="write NAME.json and NAME.md")
    return parser.parse_args()


def engines(options, seed):
    steps, threads = str(options.iterations), str(options.threads)
    limited = {"OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
    sides = {"Linnet": (options.linnet, "linnet_side.py", [threads]), "SciPy": (options.scipy, "scipy_side.py", [])}
    return {f"{name}, {called}": ([python, "-B", str(HERE / program), method, str(seed), steps, *more], limited)
            for method, called in (("lm", "Levenberg-Marquardt"), ("lbfgs", "L-BFGS"))
            for name, (python, program, more) in sides.items()}


def row(engine, runs):
    runs = [run for run in runs if run]
    if not runs:
        return f"| {engine} | – | – | – | – |"
    errors = [run["error"] for run in runs]
    seconds = [run["seconds"] for run in runs]
    iterations = statistics.median(run["iterations"] for run in runs)
    return (f"| {engine} | {min(errors):.4f} | {statistics.mean(errors):.4f} | {statistics.median(seconds):.3f} "
            f"({min(seconds):.3f} to {max(seconds):.3f}) | {iterations:.0f} |")


def main():
    options = arguments()
    found = {}
    for seed in range(options.seeds):
        for engine, results in in_turn.repeated(engines(options, seed), 1).items():
            found.setdefault(engine, []).extend(results)
    heads = ("| engine | best | mean | seconds | iterations |\n"
             "| --- | --- | --- | --- | --- |")
    table = "\n".join([heads, *(row(engine, runs) for engine, runs in found.items())])
    print(table)
    if not options.out:
        return
    result = in_turn.begun(iterations=options.iterations, threads=options.threads, runs=found)
    in_turn.write(options.out, result, "least_squares/run.py", "Least squares",
                  f"{options.threads} thread(s); load average {result['load']:.2f} at the end; OpenNN's precision task "
                  "([problem.py](../../least_squares/problem.py)): Rosenbrock's function of 10 inputs, 10,000 points, 10 "
                  "tanh units, all columns standardised, first weights in [-1, 1], the same for all; at most "
                  f"{options.iterations} iterations (of SciPy's least_squares: evaluations), {options.seeds} seeds, in "
                  "turn. Mean squared errors of the training points. OpenNN's own figures, on its machine: "
                  "Levenberg-Marquardt 0.108 to 0.12 in 14 s, quasi-Newton 0.108 in 0.9 s.", table)


main()
