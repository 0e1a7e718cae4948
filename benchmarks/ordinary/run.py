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
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import in_turn  # noqa: E402
import machine  # noqa: E402
from in_turn import TUNED, cell, ratios  # noqa: E402

NAMES = ["table-mlp", "keras-cnn", "resnet18", "mobilenet", "lstm", "transformer", "conv1d", "autoencoder",
         "convnext", "vit"]
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


def repetitions(name, options):
    """{engine: its results}, the engines in turn."""
    engines = {"linnet": ([options.linnet, "-B", str(HERE / "linnet_side.py"), name], {}),
               "torch": ([options.torch, "-B", str(HERE / "torch_side.py"), name], TUNED)}
    if options.compile:
        engines["torch.compile"] = ([options.torch, "-B", str(HERE / "torch_side.py"), name, "compile"], TUNED)
    return in_turn.repeated(engines, options.repetitions)


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
