#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times Python beside the command: benchmark.py LINNET [ROUNDS], where LINNET is build/release/bin/linnet.

Prints the seconds of an epoch of mnist-cnn from both, in turns, and what a prediction of one sample costs in
Python beyond what a prediction costs in C++ (`linnet bench --workload mnist-cnn --predict` times that). Say what
else the machine does, since both share it."""
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import linnet as ln


def network():
    return ln.sequential((28, 28, 1), [
        ln.Rescale(1 / 255), ln.Conv2d(16, padding="same"), ln.ReLU(), ln.MaxPool2d(), ln.Flatten(),
        ln.Dense(10)])


def epoch_in_python(data, epochs):
    model = ln.Model(network())
    trainer = ln.Trainer(model, optimizer=ln.Adam(4e-3), schedule=ln.CosineDecay())
    history = trainer.fit(data.train, epochs=epochs, batch=64)
    return [report.seconds for report in history.epochs]


def epoch_in_cpp(command, epochs):
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "run")
        subprocess.run([command, "train", "--workload", "mnist-cnn", "--data", "fashion-mnist", "--batch", "64",
                        "--epochs", str(epochs), "--out", log, "--quiet"], check=True, capture_output=True)
        import json
        with open(os.path.join(log, "history.jsonl")) as lines:
            return [json.loads(line)["seconds"] for line in lines]


def microseconds(call, number=20000):
    for _ in range(200):
        call()
    best = []
    for _ in range(7):
        start = time.perf_counter()
        for _ in range(number):
            call()
        best.append((time.perf_counter() - start) / number * 1e6)
    return min(best)


def main(command, rounds="3"):
    print("load", os.getloadavg(), "processors", os.cpu_count())
    data = ln.datasets.fashion_mnist()
    python, cpp = [], []
    for _ in range(int(rounds)):
        python += epoch_in_python(data, 2)
        cpp += epoch_in_cpp(command, 2)
    print(f"epoch of mnist-cnn: Python {statistics.median(python):.3f} s (least {min(python):.3f}), command "
          f"{statistics.median(cpp):.3f} s (least {min(cpp):.3f})")
    tiny = ln.Model(ln.sequential(4, [ln.Dense(2)]), threads=1)
    predictor = ln.Predictor(tiny, batches=[1])
    x, out = np.ones((1, 4), np.float32), np.empty((1, 2), np.float32)
    print(f"a prediction of one sample, 4 features to 2: predict(x, out) {microseconds(lambda: predictor.predict(x, out)):.2f} µs, "
          f"predict(x) {microseconds(lambda: predictor.predict(x)):.2f} µs")


if __name__ == "__main__":
    main(*sys.argv[1:])
