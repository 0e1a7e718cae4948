#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `linnet train FILE.csv --target NAME` with scikit-learn on five tables.

    benchmarks/tables.py --data ../shared/data/tabular      wants build/release/bin/linnet

Needs scikit-learn (PyPI) in the Python that runs it. For each table and each of five seeds the rows
are split into 80 % for training and 20 % for test (adult has a test file of its own). All three learn
from the same training file and are measured on the same test file: Linnet by its defaults, a standardised
MLPClassifier or MLPRegressor of (128, 128) with early stopping, and HistGradientBoosting by its
defaults. The score is the accuracy or R². A model's initial weights move its score as much as the split
does, so each model learns three times on a split, from other seeds; the split's score is the mean of the
three, and the table has the median of the splits. No choice of Linnet's defaults was made on these
splits' test rows. scikit-learn's models get one-hot categories, standardised numbers, and the target of
a regression standardised.
With all tables it writes benchmarks/results/<date>-cpu-<isa>-tables.json and .md.
"""
import argparse
import csv
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np
from sklearn import __version__ as sklearn_version
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import other_results
import tabular

# File, target (number from 1), header, separator, classification, columns that tell the target or
# only number the rows.
TABLES = {
    "adult": ("adult-train.csv", 15, False, ",", True, []),
    "wine-quality-white": ("winequality-white.csv", 12, False, ",", False, []),
    "airfoil": ("airfoil_self_noise.csv", 6, True, ";", False, []),
    "bike-sharing-hour": ("bike_hour.csv", 17, True, ",", False, [1, 2, 15, 16]),
    "abalone": ("abalone.csv", 9, False, ",", False, []),
}
SEEDS = range(10, 15)
TRAININGS = 3


def read(path, separator, header):
    with open(path, newline="", encoding="utf-8") as file:
        rows = [[field.strip() for field in row] for row in csv.reader(file, delimiter=separator) if row]
    names = rows.pop(0) if header else [f"column_{i + 1}" for i in range(len(rows[0]))]
    return names, rows


def split(name, folder, seed):
    """Names, training rows and test rows; the columns that are left out are gone."""
    file, target, header, separator, classes, ignored = TABLES[name]
    names, rows = read(folder / file, separator, header)
    if name == "adult":
        _, test = read(folder / "adult-test.csv", separator, header)
        test = [row[:-1] + [row[-1].rstrip(".")] for row in test]
        train = rows
    else:
        train, test = train_test_split(rows, test_size=0.2, random_state=seed,
                                       stratify=[r[target - 1] for r in rows] if classes else None)
    keep = [i for i in range(len(names)) if i + 1 not in ignored]
    pick = lambda row: [row[i] for i in keep]
    return pick(names), names[target - 1], list(map(pick, train)), list(map(pick, test))


def run_sklearn(names, target, train, test, classes, seed):
    at = names.index(target)
    x = lambda rows: np.array([r[:at] + r[at + 1:] for r in rows], dtype=object)
    y = lambda rows: np.array([r[at] for r in rows]) if classes else np.array([float(r[at]) for r in rows])
    columns = x(train)
    numbers = [i for i in range(columns.shape[1]) if all(tabular.is_number(v) for v in columns[:, i])]
    texts = [i for i in range(columns.shape[1]) if i not in numbers]

    def transform():
        return ColumnTransformer([("n", StandardScaler(), numbers),
                                  ("c", OneHotEncoder(handle_unknown="ignore", sparse_output=False), texts)])

    mlp = (MLPClassifier if classes else MLPRegressor)(hidden_layer_sizes=(128, 128), early_stopping=True, random_state=seed)
    trees = (HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor)(random_state=seed)
    if not classes:
        mlp = TransformedTargetRegressor(mlp, transformer=StandardScaler())
    score = accuracy_score if classes else r2_score
    results = {}
    for what, model in (("sklearn-mlp", mlp), ("hist-gradient-boosting", trees)):
        started = time.perf_counter()
        pipeline = make_pipeline(transform(), model).fit(columns, y(train))
        seconds = time.perf_counter() - started
        results[what] = (score(y(test), pipeline.predict(x(test))), seconds)
    return results


def run_linnet(linnet, names, target, train, test, classes, seed, arguments):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        tabular.write(folder / "train.csv", names, train)
        tabular.write(folder / "test.csv", names, test)
        call = lambda *command: subprocess.run([linnet, *map(str, command)], cwd=folder, check=True,
                                               capture_output=True, text=True).stdout
        started = time.perf_counter()
        call("train", "train.csv", "--target", target, "--test", 0, "--seed", seed, "--out", "run",
             "--device", "cpu", *arguments)
        seconds = time.perf_counter() - started
        metrics = json.loads(call("evaluate", "run", "--data", "test.csv", "--json"))["metrics"]
    return metrics["accuracy" if classes else "r_squared"], seconds


def compare(name, folder, options):
    scores, seconds = {}, {}
    classes = TABLES[name][4]
    for seed in SEEDS:
        names, target, train, test = split(name, folder, seed)
        of_split = {}
        for training in range(TRAININGS):
            of_model = seed * TRAININGS + training
            results = {"linnet": run_linnet(options.linnet, names, target, train, test, classes, of_model,
                                            options.arguments)}
            if not options.only_linnet:
                results |= run_sklearn(names, target, train, test, classes, of_model)
            for what, (score, took) in results.items():
                of_split.setdefault(what, []).append(score)
                seconds.setdefault(what, []).append(took)
        for what, of_trainings in of_split.items():
            scores.setdefault(what, []).append(statistics.mean(of_trainings))
    return {"table": name, "score": "accuracy" if classes else "R²", "rows": len(train) + len(test),
            "scores": scores, "seconds": seconds}


def save(results, options, at_start):
    other_results.save(
        options, at_start, [], {"scikit-learn": {"scikit-learn": sklearn_version, "numpy": np.__version__}},
        {"repetitions": len(SEEDS) * TRAININGS}, ["benchmarks/tables.py --data ../shared/data/tabular"], tables=results)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="*", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--only-linnet", action="store_true", help="print Linnet's scores and write nothing")
    options = tabular.parsed(parser, "tables")
    at_start = os.getloadavg()[0]
    warnings.filterwarnings("ignore")
    with tabular.unpacked(options.folder) as folder:
        results = []
        for name in options.tables:
            results.append(compare(name, folder, options))
            for what, scores in results[-1]["scores"].items():
                print(f"{name:20} {what:24} {statistics.median(scores):.4f}  "
                      f"{statistics.median(results[-1]['seconds'][what]):6.1f} s  "
                      f"{' '.join(f'{s:.4f}' for s in scores)}", flush=True)
    if not options.only_linnet and options.tables == list(TABLES):
        save(results, options, at_start)


if __name__ == "__main__":
    sys.exit(main())
