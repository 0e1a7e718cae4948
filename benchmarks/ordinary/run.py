#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ten ordinary networks that Linnet was not tuned for, beside a tuned PyTorch, in turn.

    run.py --linnet PYTHON --torch PYTHON [--repetitions N] [--compile] [--out NAME] [NETWORK...]

Each PYTHON is an interpreter that has the package (a wheel of `./dev wheel`; PyTorch from PyPI). Every repetition
is a fresh process on two threads. Prints and writes a table of medians (least to most), with ratios above 1 where
Linnet is faster, and everything measured as JSON beside it."""
import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import machine  # noqa: E402

NAMES = ["table-mlp", "keras-cnn", "resnet18", "mobilenet", "lstm", "transformer", "conv1d", "autoencoder",
         "convnext", "vit"]
# Settings that make PyTorch faster on the CPU: bound, spinning threads, and memory that is kept.
TUNED = {"OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "active", "OMP_PROC_BIND": "close",
         "MALLOC_MMAP_THRESHOLD_": "4000000000", "MALLOC_TRIM_THRESHOLD_": "8000000000",
         "MALLOC_TOP_PAD_": "100000000"}
MEASURES = {"train": "training", "batch": "predicting a batch", "one": "predicting one"}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NETWORK", help=", ".join(NAMES))
    parser.add_argument("--linnet", required=True, metavar="PYTHON", help="a Python that has Linnet")
    parser.add_argument("--torch", required=True, metavar="PYTHON", help="a Python that has PyTorch")
    parser.add_argument("--repetitions", type=int, default=5, metavar="N")
    parser.add_argument("--compile", action="store_true", help="also beside torch.compile")
    parser.add_argument("--out", type=Path, metavar="NAME", help="write NAME.json and NAME.md")
    options = parser.parse_args()
    for name in options.names:
        if name not in NAMES:
            parser.error(f"there is no network '{name}'; expected one of {', '.join(NAMES)}")
    return options


def measured(command, environment):
    ran = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, check=False)
    if ran.returncode != 0:
        print(f"{' '.join(command[1:])} failed: {ran.stderr[-600:]}", file=sys.stderr)
        return None
    return json.loads(ran.stdout.strip().splitlines()[-1])


def repetitions(name, options):
    """{engine: its results}, the engines in turn."""
    engines = {"linnet": ([options.linnet, "-B", str(HERE / "linnet_side.py"), name], {}),
               "torch": ([options.torch, "-B", str(HERE / "torch_side.py"), name], TUNED)}
    if options.compile:
        engines["torch.compile"] = ([options.torch, "-B", str(HERE / "torch_side.py"), name, "compile"], TUNED)
    found = {engine: [] for engine in engines}
    for _ in range(options.repetitions):
        for engine, (command, environment) in engines.items():
            found[engine].append(measured(command, environment))
    return found


def ratios(found, peer, measure):
    return [ours[measure] / theirs[measure] for ours, theirs in zip(found["linnet"], found[peer]) if ours and theirs]


def cell(values):
    if not values:
        return "–"
    return f"{statistics.median(values):.2f} × ({min(values):.2f} to {max(values):.2f})"


def table(result):
    peers = [each for each in next(iter(result["networks"].values())) if each != "linnet"]
    heads = [f"{text}, × {peer}" for peer in peers for text in MEASURES.values()]
    lines = [f"| network | {' | '.join(heads)} | first epoch, s | memory, MiB |",
             "| --- |" + " --- |" * (len(heads) + 2)]
    for name, found in result["networks"].items():
        cells = [cell(ratios(found, peer, measure)) for peer in peers for measure in MEASURES]
        for measure, digits in (("first_epoch", 2), ("memory", 0)):
            cells.append(" / ".join(f"{statistics.median(run[measure] for run in runs if run):.{digits}f}"
                                    for runs in found.values() if any(runs)))
        lines.append(f"| {name} | {' | '.join(cells)} |")
    medians = [statistics.median(statistics.median(ratios(found, peer, measure) or [0])
                                 for found in result["networks"].values())
               for peer in peers for measure in MEASURES]
    lines.append("| median | " + " | ".join(f"{each:.2f} ×" for each in medians) + " | | |")
    return "\n".join(lines)


def main():
    options = arguments()
    result = {"date": datetime.datetime.now().isoformat(timespec="seconds"), "machine": machine.about(),
              "load": os.getloadavg()[0], "repetitions": options.repetitions, "networks": {}}
    for name in options.names or NAMES:
        result["networks"][name] = repetitions(name, options)
        print(table({"networks": {name: result["networks"][name]}}).splitlines()[2], flush=True)
    print(table(result))
    if options.out:
        options.out.with_suffix(".json").write_text(json.dumps(result, indent=1) + "\n")
        page = [f"# Ten networks that Linnet was not tuned for, {result['date']}", "",
                f"{result['machine']['processor']}, 2 threads; load average {result['load']:.2f} at the start; "
                f"{options.repetitions} repetitions, each a fresh process, engines in turn; "
                "first epoch and memory: " + " / ".join(next(iter(result["networks"].values()))) + ".", "",
                "Made by `benchmarks/ordinary/run.py`.", "", table(result), ""]
        options.out.with_suffix(".md").write_text("\n".join(page))


main()
