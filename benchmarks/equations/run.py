#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Networks that are trained on differential equations, beside PyTorch on the same points, networks and steps, in turn.

    run.py --linnet PYTHON --torch PYTHON [--points N...] [--steps N] [--repetitions N] [--out NAME] [EQUATION...]

Each PYTHON is an interpreter that has the package and NumPy. Every repetition is a fresh process on two threads, with
a seed of its own. Prints and writes a table: steps a second by PyTorch's (medians, least to most), the relative L2
errors of the solutions, and the coefficient that `inverse` finds (0.4 is right)."""
import argparse
import statistics
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import in_turn  # noqa: E402

NAMES = ["burgers", "poisson", "heat", "inverse"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="EQUATION", help=", ".join(NAMES))
    parser.add_argument("--linnet", required=True, metavar="PYTHON", help="a Python that has Linnet")
    parser.add_argument("--torch", required=True, metavar="PYTHON", help="a Python that has PyTorch")
    parser.add_argument("--points", type=int, nargs="+", default=[1000, 10000], metavar="N")
    parser.add_argument("--steps", type=int, default=5000, metavar="N")
    parser.add_argument("--repetitions", type=int, default=3, metavar="N")
    parser.add_argument("--out", type=Path, metavar="NAME", help="write NAME.json and NAME.md")
    options = parser.parse_args()
    for name in options.names:
        if name not in NAMES:
            parser.error(f"there is no equation '{name}'; expected one of {', '.join(NAMES)}")
    return options


def repetitions(name, points, options):
    """{engine: its results}, the engines in turn, each repetition with a seed of its own."""
    found = {"linnet": [], "torch": []}
    for seed in range(1, options.repetitions + 1):
        work = [name, str(points), str(options.steps), str(seed)]
        engines = {"linnet": ([options.linnet, "-B", str(HERE / "linnet_side.py"), *work], {}),
                   "torch": ([options.torch, "-B", str(HERE / "torch_side.py"), *work], in_turn.TUNED)}
        for engine, results in in_turn.repeated(engines, 1).items():
            found[engine] += results
    return found


def median(runs, measure):
    values = [run[measure] for run in runs if run and run[measure] is not None]
    return statistics.median(values) if values else None


def row(name, points, found):
    ours, theirs = found["linnet"], found["torch"]
    speed = in_turn.cell(in_turn.ratios(found, "torch", "steps_per_second"))
    rate = " / ".join(f"{median(runs, 'steps_per_second') or 0:,.0f}" for runs in (ours, theirs))
    errors = " / ".join(f"{median(runs, 'error') or 0:.1e}" for runs in (ours, theirs))
    coefficient = median(ours, "coefficient")
    return (f"| {name} | {points:,} | {speed} | {rate} | {median(ours, 'warm') or 0:.2f} | {errors} | "
            f"{'' if coefficient is None else f'{coefficient:.4f}'} |")


def main():
    options = arguments()
    heads = ("| equation | points | × PyTorch | steps a second, Linnet / PyTorch | first 20 steps, s | error, both | "
             "coefficient |\n| --- | --- | --- | --- | --- | --- | --- |")
    result = in_turn.begun(steps=options.steps, runs=[])
    rows = []
    for name in options.names or NAMES:
        for points in options.points:
            found = repetitions(name, points, options)
            result["runs"].append({"equation": name, "points": points, **found})
            rows.append(row(name, points, found))
            print(rows[-1], flush=True)
    table = "\n".join([heads, *rows])
    print(table)
    if options.out:
        in_turn.write(options.out, result, "equations/run.py", "Networks for differential equations",
                      f"2 threads; load average {result['load']:.2f} at the start; {options.steps} steps of Adam on all "
                      f"points, {options.repetitions} repetitions with a seed each, in turn. Errors: relative L2 of the "
                      "solution on a grid of 101 x 101.", table)


main()
