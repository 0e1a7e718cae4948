#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `linnet train FILE.csv --past P --future F` with simple forecasts and scikit-learn on three series.

    benchmarks/series.py --data ../shared/data/tabular      wants build/release/bin/linnet

Needs scikit-learn (PyPI) in the Python that runs it. Linnet trains by its defaults, once for each of five
seeds; its persistence and seasonal naive errors are taken over from `--json`. scikit-learn's Ridge and
standardised MLPRegressor of (128, 128) with early stopping learn from the same training windows (Linnet's
training and validation windows together, since they hold out their own), on the same inputs: the past of
all columns, less the target's last value, the calendar of the forecast steps. They forecast the change
from the last value. All are measured on the same test windows. With all series it writes
benchmarks/results/<date>-cpu-<isa>-series.json and .md.
"""
import argparse
import csv
import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np
from sklearn import __version__ as sklearn_version
from sklearn.linear_model import RidgeCV
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import other_results
import tabular

# File, time, format of the time, target, past, future.
SERIES = {
    "daily-min-temperatures": ("daily-min-temperatures.csv", "Date", "%Y-%m-%d", "Temp", 30, 7),
    "madrid-no2": ("madridNO2forecasting.csv", "Date", "%d/%m/%Y", "NO2", 30, 7),
    "mauna-loa-co2": ("mauna_loa_co2.csv", "date", "%Y%m%d", "co2", 104, 26),
}
NETWORKS = ("mlp", "conv1d", "gru", "lstm")
SEEDS = range(5)
YEAR = 365.2425


def number(text):
    try:
        return float(text)
    except ValueError:
        return float("nan")


class Windows:
    """Reads a file as Linnet does: equal steps, last values instead of missing ones, parts by time."""

    def __init__(self, path, time_column, form, target, past, future):
        with open(path, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        dates = [datetime.datetime.strptime(r[time_column], form) for r in rows]
        gaps = [(b - a).days for a, b in zip(dates, dates[1:])]
        self.step = statistics.mode(gaps)
        ordinal = np.array([d.toordinal() for d in dates])
        n = len(dates)
        cut = [ordinal[round(0.7 * n)], ordinal[round(0.8 * n)]]
        names = [target] + [c for c in rows[0] if c not in (target, time_column)]
        grid = np.arange(ordinal[0], ordinal[-1] + 1, self.step)
        raw = np.full((len(grid), len(names)), np.nan)
        raw[(ordinal - ordinal[0]) // self.step] = [[number(r[c]) for c in names] for r in rows]
        train = grid < cut[0]
        mean, std = np.nanmean(raw[train], 0), np.nanstd(raw[train], 0)
        filled = raw.copy()
        for j in range(raw.shape[1]):
            last = mean[j]
            for i in range(len(raw)):
                last = filled[i, j] = last if np.isnan(filled[i, j]) else filled[i, j]
        x = (filled - mean) / std
        days = [datetime.date.fromordinal(int(g)) for g in grid]
        turn = [np.array([d.timetuple().tm_yday - 1 for d in days]) / YEAR]
        if self.step == 1:
            turn.append(np.array([d.weekday() for d in days]) / 7)
        calendar = np.stack([f(2 * np.pi * t) for t in turn for f in (np.sin, np.cos)], 1)
        self.y, self.last, self.part, inputs = [], [], [], []
        for s in range(len(grid) - past - future + 1):
            horizon = slice(s + past, s + past + future)
            if np.isnan(raw[horizon, 0]).any():
                continue
            first, end = grid[s + past], grid[s + past + future - 1]
            part = 0 if end < cut[1] and (end < cut[0] or first >= cut[0]) else 2 if first >= cut[1] else 1
            window = x[s:s + past].copy()
            window[:, 0] -= window[-1, 0]
            inputs.append(np.concatenate([window.ravel(), x[s + past - 1], calendar[horizon].ravel()]))
            self.y.append(raw[horizon, 0])
            self.last.append(filled[s + past - 1, 0])
            self.part.append(part)
        self.inputs = np.array(inputs)
        self.y, self.last, self.part = np.array(self.y), np.array(self.last), np.array(self.part)


def errors(y, forecast):
    return {"mae": float(np.abs(forecast - y).mean()), "rmse": float(np.sqrt(((forecast - y) ** 2).mean()))}


def run_sklearn(windows, seed):
    train, test = windows.part == 0, windows.part == 2
    change = windows.y - windows.last[:, None]
    scale = change[train].std()
    results = {}
    models = {"sklearn-mlp": MLPRegressor(hidden_layer_sizes=(128, 128), early_stopping=True, random_state=seed)}
    if seed == 0:  # it draws nothing
        models["ridge"] = RidgeCV(alphas=np.logspace(-2, 4, 13))
    for name, model in models.items():
        started = time.perf_counter()
        fitted = make_pipeline(StandardScaler(), model).fit(windows.inputs[train], change[train] / scale)
        took = time.perf_counter() - started
        forecast = fitted.predict(windows.inputs[test]) * scale + windows.last[test, None]
        results[name] = errors(windows.y[test], forecast) | {"seconds": took}
    return results


def run_linnet(linnet, path, settings, network, seed, arguments):
    _, time_column, _, target, past, future = settings
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        out = subprocess.run(
            [linnet, "train", path, "--target", target, "--time", time_column, "--past", str(past), "--future",
             str(future), "--network", network, "--seed", str(seed), "--device", "cpu", "--out",
             f"{folder}/run", "--json", *arguments], check=True, capture_output=True, text=True).stdout
        took = time.perf_counter() - started
    summary = json.loads(out.splitlines()[-1])
    series = summary["series"]
    of = series["targets"][0]
    return {"score": {k: of["model"][k] for k in ("mae", "rmse", "mase")} | {"seconds": took},
            "persistence": of["persistence"], "seasonal": of["seasonal_naive"], "season": series["season"],
            "windows": series["windows"]}


def compare(name, folder, options):
    settings = SERIES[name]
    path = folder / settings[0]
    windows = Windows(path, *settings[1:])
    result = {"series": name, "target": settings[3], "past": settings[4], "future": settings[5],
              "test_windows": int((windows.part == 2).sum()), "scores": {}}
    for seed in SEEDS:
        scores = run_sklearn(windows, seed)
        for network in NETWORKS:
            run = run_linnet(options.linnet, str(path), settings, network, seed, options.arguments)
            assert run["windows"] == result["test_windows"], (run["windows"], result["test_windows"])
            scores[f"linnet-{network}"] = run["score"]
            result["season"] = run["season"]
            result["persistence"] = {k: run["persistence"][k] for k in ("mae", "rmse", "mase")}
            result["seasonal"] = {k: run["seasonal"][k] for k in ("mae", "rmse", "mase")}
        for what, score in scores.items():
            result["scores"].setdefault(what, []).append(score)
    last = errors(windows.y[windows.part == 2], windows.last[windows.part == 2, None])
    assert abs(last["mae"] / result["persistence"]["mae"] - 1) < 1e-5, (last, result["persistence"])
    return result


def save(results, options, at_start):
    other_results.save(
        options, at_start, [], {"scikit-learn": {"scikit-learn": sklearn_version, "numpy": np.__version__}},
        {"repetitions": len(SEEDS)}, ["benchmarks/series.py --data ../shared/data/tabular"], series=results)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--series", nargs="*", default=list(SERIES), choices=list(SERIES))
    options = tabular.parsed(parser, "series")
    at_start = os.getloadavg()[0]
    warnings.filterwarnings("ignore")
    with tabular.unpacked(options.folder) as folder:
        results = []
        for name in options.series:
            results.append(compare(name, folder, options))
            for what, scores in results[-1]["scores"].items():
                print(f"{name:24} {what:16} {statistics.median(s['mae'] for s in scores):.4f}  "
                      f"{statistics.median(s['seconds'] for s in scores):6.1f} s", flush=True)
    if options.series == list(SERIES):
        save(results, options, at_start)


if __name__ == "__main__":
    sys.exit(main())
