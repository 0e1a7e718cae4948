#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A character model (4 layers of 128, context 128), trained and run beside PyTorch on the same batches, in turn.

    run.py --linnet PYTHON --torch PYTHON [--steps N] [--length N] [--repetitions N] [--threads N] [--out NAME]

Each PYTHON is an interpreter that has the package and NumPy. Both engines begin with the same weights. Every
repetition is a fresh process with a seed of its own. One thread is timed by the processor, since a busy machine
changes that little. The text is Python's own reference, which help() shows; nothing of it is kept. Prints and writes a
table: the losses of both after all steps, characters a second in training and in generation."""
import argparse
import os
import statistics
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import corpus  # noqa: E402
import in_turn  # noqa: E402


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--linnet", required=True, metavar="PYTHON", help="a Python that has Linnet")
    parser.add_argument("--torch", required=True, metavar="PYTHON", help="a Python that has PyTorch")
    parser.add_argument("--steps", type=int, default=500, metavar="N", help="more than 70")
    parser.add_argument("--length", type=int, default=1000, metavar="N", help="characters to generate")
    parser.add_argument("--repetitions", type=int, default=3, metavar="N")
    parser.add_argument("--threads", type=int, default=2, metavar="N")
    parser.add_argument("--out", type=Path, metavar="NAME", help="write NAME.json and NAME.md")
    options = parser.parse_args()
    if options.steps <= 70:
        parser.error("--steps: 70 steps are not timed; expected more")
    return options


def median(runs, measure):
    values = [run[measure] for run in runs if run and run.get(measure) is not None]
    return statistics.median(values) if values else float("nan")


def rows(found):
    ours, theirs = found["linnet"], found["torch"]
    both = [(a, b) for a, b in zip(ours, theirs) if a and b]
    apart = max((abs(a[key] - b[key]) for a, b in both for key in ("loss", "held_out")), default=float("nan"))
    yield ("training, characters a second", f"{median(ours, 'tokens_per_second'):,.0f}",
           f"{median(theirs, 'tokens_per_second'):,.0f}",
           in_turn.cell(in_turn.ratios(found, "torch", "tokens_per_second")))
    yield ("loss of the last 50 steps", f"{median(ours, 'loss'):.4f}", f"{median(theirs, 'loss'):.4f}",
           f"{apart:.4f} apart at most")
    yield ("held-out loss", f"{median(ours, 'held_out'):.4f}", f"{median(theirs, 'held_out'):.4f}", "")
    if all(a["generated_per_second"] for a, _ in both):
        yield ("generation with caches, characters a second", f"{median(ours, 'generated_per_second'):,.0f}",
               f"{median(theirs, 'generated_per_second'):,.0f}",
               in_turn.cell(in_turn.ratios(found, "torch", "generated_per_second")))
    yield ("generation without, characters a second", "", f"{median(theirs, 'recomputed_per_second'):,.0f}", "")


def measured(options):
    found = {"linnet": [], "torch": []}
    text = corpus.text()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text.txt"
        path.write_text(text, encoding="utf-8")
        for seed in range(1, options.repetitions + 1):
            work = [str(path), str(options.steps), str(seed), f"{folder}/weights.npz", str(options.length),
                    str(options.threads)]
            engines = {"linnet": ([options.linnet, "-B", str(HERE / "linnet_side.py"), *work], {}),
                       "torch": ([options.torch, "-B", str(HERE / "torch_side.py"), *work], {**in_turn.TUNED, "OMP_NUM_THREADS": str(options.threads)})}
            for engine, results in in_turn.repeated(engines, 1).items():
                found[engine] += results
    return text, found


def main():
    options = arguments()
    load = os.getloadavg()[0]
    text, found = measured(options)
    table = "\n".join(["| | Linnet | PyTorch | Linnet by PyTorch |", "| --- | --- | --- | --- |",
                       *(f"| {' | '.join(row)} |" for row in rows(found))])
    print(table)
    result = in_turn.begun(steps=options.steps, threads=options.threads, length=options.length, characters=len(text), **found)
    result["load"] = load
    if options.out:
        one = options.threads == 1
        in_turn.write(options.out, result, "language/run.py", "A character model beside PyTorch",
                      f"{options.threads} thread{' (seconds of the processor)' if one else 's'}; load average {load:.2f} at "
                      f"the start, on a host that others use too. {corpus.LAYERS} layers of width {corpus.WIDTH}, "
                      f"{corpus.HEADS} heads, context {corpus.CONTEXT}, batch {corpus.BATCH}, AdamW, {options.steps} steps "
                      f"from the same weights on the same windows of a text of {len(text):,} characters; "
                      f"{options.repetitions} repetitions with a seed each, in turn.", table)


main()
