#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times a network of your own beside PyTorch, in turn: `./dev bench FILE.toml`.

    run.py FILE.toml --linnet PROGRAM [--torch PYTHON] [--repetitions N] [--install-peers]

FILE.toml is what `linnet train` takes; a file that names no data is timed on synthetic samples. PyTorch builds the same
layers, channels last, with a fused optimizer, on the same samples. Each repetition is a fresh process of both, on all
processors; the table has the medians, and ratios above 1 where Linnet is faster."""
import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import in_turn  # noqa: E402
import peer_python  # noqa: E402

MODES = {"train": "training", "infer": "predicting"}
# Sections that change what a step computes and that the PyTorch side does not have.
ONE_SIDED = ("augment", "loss")
ONE_SIDED_TRAINING = ("average", "lookahead", "clip_norm", "clip_value", "trains", "shards", "recompute", "precision")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path, metavar="FILE.toml")
    parser.add_argument("--linnet", required=True, metavar="PROGRAM", help="the command")
    parser.add_argument("--torch", metavar="PYTHON", help="a Python that has PyTorch; by default what --install-peers made")
    parser.add_argument("--repetitions", type=int, default=3, metavar="N")
    parser.add_argument("--install-peers", action="store_true", help="install PyTorch first, in an environment of its own")
    options = parser.parse_args()
    if options.repetitions < 1:
        parser.error("--repetitions: at least 1 is expected")
    if not options.file.is_file():
        parser.error(f"there is no file {options.file}")
    file = tomllib.loads(options.file.read_text())
    both = [section for section in ONE_SIDED if section in file]
    if both:
        parser.error(f"[{both[0]}] is not compared with PyTorch here; leave it out of {options.file}")
    for key in ONE_SIDED_TRAINING:
        if key in file.get("training", {}):
            parser.error(f"{key} of [training] is not compared with PyTorch here; leave it out of {options.file}")
    if "layers" not in file.get("network", {}):
        parser.error(f"{options.file} has no layers in [network], which is what PyTorch can build")
    return options


def linnet_speeds(options):
    """One fresh process of each mode; None where one fails."""
    found = {}
    for mode in MODES:
        ran = subprocess.run([options.linnet, "bench", str(options.file), "--device", "cpu", "--mode", mode, "--json", "-"],
                             capture_output=True, text=True, check=False)
        if ran.returncode not in (0, 3):  # 3: the loss does not fall, which leaves the speed as it is
            print(ran.stderr[-600:], file=sys.stderr)
            return None
        record = json.loads(ran.stdout)
        found[mode] = record["samples_per_second"]
    return {**found, "parameters": record["parameters"], "batch": record["batch"], "name": record["workload"]}


def speed(values):
    """Samples a second: the median, and the least and the most."""
    return f"{statistics.median(values):,.0f} ({min(values):,.0f} to {max(values):,.0f})" if values else "–"


def table(found, options):
    linnet = [each for each in found["linnet"] if each]
    torch = [each for each in found["torch"] if each]
    lines = ["| | Linnet, samples/s | PyTorch, samples/s | ratio (least to most) |", "| --- | --- | --- | --- |"]
    for mode, word in MODES.items():
        speeds = [speed([each[mode] for each in runs]) for runs in (linnet, torch)]
        lines.append(f"| {word} | {speeds[0]} | {speeds[1]} | {in_turn.cell(in_turn.ratios(found, 'torch', mode))} |")
    about = f"{linnet[0]['name']}, batch {linnet[0]['batch']}, {linnet[0]['parameters']:,} parameters"
    if torch:
        about += f"; PyTorch {torch[0]['torch']}, {torch[0]['parameters']:,} parameters"
    return "\n".join([about + f"; repetitions: {options.repetitions}", "", *lines])


def main():
    options = arguments()
    if options.install_peers:
        failure = peer_python.install("torch")
        if failure:
            sys.exit(f"run.py: PyTorch: {failure}")
    python = options.torch or peer_python.find("torch")
    found = {"linnet": [], "torch": []}
    with tempfile.TemporaryDirectory() as folder:
        written = subprocess.run([options.linnet, "bench", str(options.file), "--export", folder], check=False)
        if written.returncode != 0:  # it has said why
            return written.returncode
        for _ in range(options.repetitions):
            found["linnet"].append(linnet_speeds(options))
            if found["linnet"][-1] is None:
                sys.exit(1)
            batch = str(found["linnet"][-1]["batch"])
            found["torch"].append(in_turn.measured([python, "-B", str(HERE / "torch_side.py"), str(options.file), folder, batch],
                                                   in_turn.TUNED))
            if found["torch"][-1] is None:
                break  # said already; without PyTorch the table has Linnet's speeds alone
    print(table(found, options))
    return 0


if __name__ == "__main__":
    sys.exit(main())
