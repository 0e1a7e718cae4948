#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `linnet train TABLE --folds 5` and a search of 64 short runs take, beside one training of the same table.

    benchmarks/folds.py --data ../shared/data/tabular      wants build/release/bin/linnet

In each repetition, one after the other: a training by its defaults, five folds, five folds on one thread (one after the
other), and a search of 64 learning rates of a small network for 10 epochs. Each gives the seconds from start to end
and the seconds of processors (user and system). The goal: five folds take at most 2 times a training. A search says what
share of its processor seconds the epochs took. `--linnet OTHER` measures another build. --out NAME writes
NAME.json and NAME.md.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import in_turn
import tabular

ROOT = Path(__file__).resolve().parent.parent
TABLES = {"penguins": ("penguins.csv", "species"), "airfoil": ("airfoil_self_noise.csv", "scaled_sound_pressure_level"),
          "wine-red": ("winequality-red.csv", "12"), "abalone": ("abalone.csv", "9")}
FOLDS = 5
TRIALS = 64
SEARCH = """[data]
file = "{file}"
target = "{target}"
[network]
layers = [{{type = "dense", units = 32}}, {{type = "relu"}}, {{type = "dense", units = {outputs}}}]
[optimizer]
kind = "adam"
learning_rate = {{search = {{from = 1e-4, to = 1e-2, log = true}}}}
[training]
epochs = 10
[search]
runs = {trials}
"""
OUTPUTS = {"penguins": 3}  # others learn a value; files without names of columns have numbers


def epochs_of(folder):
    """Seconds in the epochs of all runs of a search."""
    return sum(json.loads(line)["seconds"] for history in folder.glob("run-*/history.jsonl")
               for line in history.read_text().splitlines())


def run_one(options):
    """Runs a command in this process' folder, and prints what it took."""
    file, target = TABLES[options.table]
    path = (options.data / file).resolve()
    with tempfile.TemporaryDirectory(prefix="linnet-folds-") as name:
        folder = Path(name)
        train = [options.linnet, "train", path, "--target", target, "--quiet", "--device", "cpu"]
        text = SEARCH.format(file=path, target=target, outputs=OUTPUTS.get(options.table, 1), trials=TRIALS)
        (folder / "search.toml").write_text(text)
        command = {"training": [*train, "--out", "run"], "folds": [*train, "--folds", str(FOLDS)],
                   "folds, one thread": [*train, "--folds", str(FOLDS), "--threads", "1"],
                   "search": [options.linnet, "search", "search.toml", "--out", "found", "--device", "cpu"]}[options.one]
        begun = time.perf_counter()
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        said = process.stderr.read()
        _, status, used = os.wait4(process.pid, 0)
        if status != 0:
            sys.exit(said.decode()[-600:])
        result = {"wall": time.perf_counter() - begun, "processors": used.ru_utime + used.ru_stime}
        if options.one == "search":
            result["epochs"] = epochs_of(folder / "found")
        print(json.dumps(result))


def table_of(measured):
    """The medians as Markdown."""
    lines = ["| table | measure | training | 5 folds | one thread | × training | 64 runs | in epochs |",
             "| --- | --- | --- | --- | --- | --- | --- | --- |"]
    for table, found in measured.items():
        for measure, words in (("wall", "seconds"), ("processors", "processor seconds")):
            of = {kind: [run[measure] for run in runs if run] for kind, runs in found.items()}
            ratio = [folds / one for one, folds in zip(of["training"], of["folds"])]
            medians = {kind: f"{statistics.median(values):.2f}" for kind, values in of.items()}
            epochs = statistics.median(run["epochs"] for run in found["search"] if run)
            share = f"{epochs:.2f}" if measure == "processors" else ""
            lines.append(f"| {table} | {words} | {medians['training']} | {medians['folds']} | {medians['folds, one thread']} "
                         f"| {in_turn.cell(ratio)} | {medians['search']} | {share} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--linnet", type=Path, default=ROOT / "build/release/bin/linnet")
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--table", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.linnet = options.linnet.resolve()
    if options.one:
        return run_one(options)
    result = in_turn.begun(repetitions=options.repetitions)
    result["tables"] = {}
    with tabular.unpacked(options.data) as folder:
        for table in options.tables.split(","):
            kinds = {kind: ([sys.executable, __file__, "--data", str(folder), "--linnet", str(options.linnet),
                             "--table", table, "--one", kind], {})
                     for kind in ("training", "folds", "folds, one thread", "search")}
            result["tables"][table] = in_turn.repeated(kinds, options.repetitions)
    table = table_of(result["tables"])
    print(table)
    if options.out:
        in_turn.write(options.out, result, "folds.py", "Folds and searches beside one training",
                      f"{result['machine']['processors']} processors, load {result['load']:.1f}, "
                      f"{options.repetitions} repetitions.", table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
