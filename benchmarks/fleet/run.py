#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains 32 table MLPs (32-128-128-1, batch 256) as a fleet and beside it, in turn, by other ways.

    run.py --linnet PYTHON [--torch PYTHON] [--jax PYTHON] [--repetitions N] [--seconds S] [--out NAME]

Each PYTHON is an interpreter that has the package. Members have learning rates of their own. Every repetition is a
fresh process on two threads. Prints and writes a table of medians (least to most), and everything measured as JSON
beside it. Ratios above 1 say that the fleet is faster; the share of the roof is its operations, counted from the
shapes, by the machine's measured peak in f32."""
import argparse
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import in_turn  # noqa: E402
from in_turn import TUNED, cell, ratios  # noqa: E402

SIDES = [("linnet", "fleet", "Linnet, a fleet"), ("linnet", "alone", "Linnet, one after the other"),
         ("torch", "alone", "PyTorch, one after the other"), ("torch", "func", "torch.func: stack_module_state, vmap"),
         ("jax", "vmap", "JAX: vmap")]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--linnet", required=True, metavar="PYTHON", help="a Python that has Linnet")
    parser.add_argument("--torch", metavar="PYTHON", help="a Python that has PyTorch")
    parser.add_argument("--jax", metavar="PYTHON", help="a Python that has JAX")
    parser.add_argument("--repetitions", type=int, default=7, metavar="N")
    parser.add_argument("--seconds", type=float, default=5, metavar="S", help="time of each measurement")
    parser.add_argument("--out", type=Path, metavar="NAME", help="write NAME.json and NAME.md")
    return parser.parse_args()


def table(found):
    lines = ["| | samples of members a second, × 1000 | the fleet is faster by |", "| --- | --- | --- |"]
    for package, way, text in SIDES:
        name = "linnet" if way == "fleet" else f"{package} {way}"
        if name not in found:
            continue
        speed = cell([run["train"] / 1000 for run in found[name] if run], "")
        lines.append(f"| {text} | {speed} | {'' if way == 'fleet' else cell(ratios(found, name, 'train'))} |")
    roof = cell([100 * run["train"] * run["flops"] / run["roof"] for run in found["linnet"] if run], " %")
    return "\n".join(lines) + f"\n\nThe fleet reaches {roof} of the measured peak in f32."


def main():
    options = arguments()
    engines = {}
    for package, way, _ in SIDES:
        python = getattr(options, package)
        if python is None:
            continue
        command = [python, "-B", str(HERE / f"{package}_side.py"), way, str(options.seconds)]
        engines["linnet" if way == "fleet" else f"{package} {way}"] = (command, TUNED if package == "torch" else {})
    result = in_turn.begun(repetitions=options.repetitions)
    result["found"] = in_turn.repeated(engines, options.repetitions)
    print(table(result["found"]))
    if options.out:
        in_turn.write(options.out, result, "fleet/run.py", "A fleet of 32 table networks",
                      f"2 threads; load average {result['load']:.2f} at the start; {options.repetitions} repetitions, each a "
                      "fresh process, in turn; medians (least to most).", table(result["found"]))


main()
