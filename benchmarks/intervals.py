#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the coverage of `linnet predict --interval` on the held-out rows of ten tables and two series.

    benchmarks/intervals.py --data ../shared/data/tabular      wants build/release/bin/linnet

Needs scikit-learn (PyPI) in the Python that runs it, for one of the tables. For each table and each seed the rows are
shuffled; 80 % of them train (Linnet takes its validation set from these), and 20 % are predicted with intervals of 80, 90
and 95 %. Reported are the share of true values that lie in them, over all seeds, and how the shares of single splits
spread. Few validation rows make few errors, so a single split of a small table is off by more than its mean: of n errors
the coverage of a split has a standard deviation of about sqrt(c (1 - c) / n). A series is cut by time, as its training
cuts it, and its intervals are those of each step; the coverage of 90 % is that of the training's own test windows.
It writes intervals.json and README.md to benchmarks/results/intervals.
"""
import argparse
import csv
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

import machine
import tabular

COVERAGES = (0.8, 0.9, 0.95)
# File, target (number from 1), header, separator, columns that are left out, seeds, further arguments.
TABLES = {
    "abalone": ("abalone.csv", 9, False, ",", [], 10, ["--task", "regression"]),
    "adult, age": ("adult-train.csv", 1, False, ",", [], 3, ["--task", "regression", "--epochs", "8"]),
    "airfoil": ("airfoil_self_noise.csv", 6, True, ";", [], 10, []),
    "bike-sharing-day": ("bike_day.csv", 16, True, ",", [1, 2, 14, 15], 20, []),
    "bike-sharing-hour": ("bike_hour.csv", 17, True, ",", [1, 2, 15, 16], 3, ["--epochs", "15"]),
    "breast cancer, smoothness": ("sklearn_breast_cancer.csv", 5, False, ",", [], 20, []),
    "diabetes": (None, 11, True, ",", [], 20, []),
    "penguins, body mass": ("penguins.csv", 6, True, ",", [], 20, []),
    "wine-quality-red": ("winequality-red.csv", 12, False, ",", [], 10, ["--task", "regression"]),
    "wine-quality-white": ("winequality-white.csv", 12, False, ",", [], 10, ["--task", "regression"]),
}
SERIES = {
    "daily-min-temperatures": ("daily-min-temperatures.csv", ["--target", "Temp", "--past", "30", "--future", "7"]),
    "mauna-loa-co2": ("mauna_loa_co2.csv", ["--target", "co2", "--past", "24", "--future", "6"]),
}


def rows_of(file, header, separator, folder):
    if file is None:
        from sklearn.datasets import load_diabetes
        x, y = load_diabetes(return_X_y=True, scaled=False)
        return [f"x{i}" for i in range(10)] + ["y"], [[*map(str, row), str(t)] for row, t in zip(x, y)]
    with open(folder / file, newline="", encoding="utf-8") as text:
        rows = [[field.strip() for field in row] for row in csv.reader(text, delimiter=separator) if row]
    rows = [row for row in rows if len(row) == len(rows[-1])]  # one file begins with its sizes
    names = rows.pop(0) if header else [f"column_{i + 1}" for i in range(len(rows[0]))]
    return names, rows


def caller(linnet, folder):
    return lambda *command: subprocess.run([linnet, *map(str, command)], cwd=folder, check=True, capture_output=True,
                                           text=True).stdout


def of_split(linnet, names, rows, target, seed, arguments):
    """Coverage -> (true values held, rows, mean width over the standard deviation of the target)."""
    rows = list(rows)
    random.Random(seed).shuffle(rows)
    cut = len(rows) // 5
    test, train = rows[:cut], rows[cut:]
    truth = [float(row[target]) for row in test]
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        tabular.write(folder / "train.csv", names, train)
        tabular.write(folder / "test.csv", names, test)
        call = caller(linnet, folder)
        call("train", "train.csv", "--target", names[target], "--test", 0, "--seed", seed, "--out", "run", "--device",
             "cpu", "--quiet", *arguments)
        for coverage in COVERAGES:
            answers = json.loads(call("predict", "run", "test.csv", "--interval", coverage, "--json"))["predictions"]
            held = sum(a["low"][0] <= y <= a["high"][0] for a, y in zip(answers, truth, strict=True))
            width = statistics.mean(a["high"][0] - a["low"][0] for a in answers)
            found[coverage] = (held, len(truth), width / statistics.pstdev(truth))
    return found


def of_table(linnet, name, folder):
    file, target, header, separator, ignored, seeds, arguments = TABLES[name]
    names, rows = rows_of(file, header, separator, folder)
    rows = [row for row in rows if tabular.is_number(row[target - 1])]
    keep = [i for i in range(len(names)) if i + 1 not in ignored]
    rows, place = [[row[i] for i in keep] for row in rows], keep.index(target - 1)
    splits = [of_split(linnet, [names[i] for i in keep], rows, place, seed, arguments) for seed in range(seeds)]
    result = {"table": name, "rows": len(rows), "seeds": seeds, "coverages": {}}
    for coverage in COVERAGES:
        held, count = (sum(split[coverage][i] for split in splits) for i in (0, 1))
        shares = [split[coverage][0] / split[coverage][1] for split in splits]
        result["coverages"][str(coverage)] = {
            "measured": held / count, "least": min(shares), "most": max(shares),
            "width_over_std": statistics.mean(split[coverage][2] for split in splits)}
    return result


def of_series(linnet, name, folder):
    file, arguments = SERIES[name]
    shares, windows = [], 0
    with tempfile.TemporaryDirectory() as out:
        for seed in range(3):
            text = caller(linnet, folder)("train", file, *arguments, "--seed", seed, "--device", "cpu", "--quiet", "--json",
                                          "--out", pathlib.Path(out) / str(seed))
            series = json.loads(text)["series"]
            windows = series["windows"]
            shares.append(series["targets"][0]["interval"]["measured"])
    return {"series": name, "windows": windows, "seeds": 3, "measured": statistics.mean(shares), "least": min(shares),
            "most": max(shares)}


def markdown(result):
    percent = lambda share: f"{100 * share:.1f}"
    lines = ["# Coverage of prediction intervals", "",
             f"`benchmarks/intervals.py --data ../shared/data/tabular`; Linnet {result['linnet']}. The share in % of held-out "
             "values that lie in intervals of `linnet predict --interval`, over all splits (least to most of single splits), "
             "and the mean width over the target's standard deviation. What each column means stands in the script.", "",
             "| table | rows | splits | " + " | ".join(f"asked {100 * c:g} %" for c in COVERAGES) + " | width at 90 % |",
             "| --- | --- | --- | " + "--- | " * len(COVERAGES) + "--- |"]
    for each in result["tables"]:
        cells = [f"{percent(c['measured'])} ({percent(c['least'])} to {percent(c['most'])})"
                 for c in each["coverages"].values()]
        lines.append(f"| {each['table']} | {each['rows']:,} | {each['seeds']} | " + " | ".join(cells) +
                     f" | {each['coverages']['0.9']['width_over_std']:.2f} |")
    worst = max(abs(c["measured"] - float(asked)) for each in result["tables"] for asked, c in each["coverages"].items())
    at_90 = max(abs(each["coverages"]["0.9"]["measured"] - 0.9) for each in result["tables"])
    lines += ["", f"Farthest from what was asked: {100 * worst:.1f} points, at 90 % {100 * at_90:.1f} points.", "",
              "| series | test windows | trainings | asked 90 % |", "| --- | --- | --- | --- |"]
    for each in result["series"]:
        lines.append(f"| {each['series']} | {each['windows']:,} | {each['seeds']} | {percent(each['measured'])} "
                     f"({percent(each['least'])} to {percent(each['most'])}) |")
    lines += ["", "A series breaks the assumption that new values are drawn as those of the validation set were: where it "
              "changes with time, so does the coverage."]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", dest="folder", type=pathlib.Path, required=True,
                        help="folder of the tables, or of their tabular.tar.xz")
    parser.add_argument("--linnet", default=str(pathlib.Path(__file__).resolve().parents[1] / "build/release/bin/linnet"))
    parser.add_argument("--tables", nargs="*", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--out", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent / "results/intervals")
    options = parser.parse_args()
    linnet = str(pathlib.Path(options.linnet).resolve())
    result = {"linnet": machine.linnet_version(linnet), "tables": [], "series": []}
    with tabular.unpacked(options.folder) as folder:
        for name in options.tables:
            result["tables"].append(of_table(linnet, name, folder))
            print(json.dumps(result["tables"][-1]), flush=True)
        if options.tables != list(TABLES):
            return
        for name in SERIES:
            result["series"].append(of_series(linnet, name, folder))
            print(json.dumps(result["series"][-1]), flush=True)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "intervals.json").write_text(json.dumps(result, indent=1) + "\n")
    (options.out / "README.md").write_text(markdown(result))


if __name__ == "__main__":
    sys.exit(main())
