#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times Python beside the command: benchmark.py LINNET [ROUNDS], where LINNET is build/release/bin/linnet.

Prints the seconds of an epoch of mnist-cnn from both, in turns, and what a prediction of one sample costs in
Python beyond one of C++ (`latency_bench` beside the command). Say what else the machine does, since both share
it."""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

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
                        "--epochs", str(epochs), "--out", log], check=True, capture_output=True)
        with open(os.path.join(log, "history.jsonl")) as lines:
            return [json.loads(line)["seconds"] for line in lines]


def median_microseconds(call, calls):
    for _ in range(calls // 10):
        call()
    times, clock = [], time.perf_counter_ns
    for _ in range(calls):
        begin = clock()
        call()
        times.append(clock() - begin)
    return sorted(times)[calls // 2] / 1e3


def python_microseconds(model, calls):
    """Medians of single predictions, into the caller's memory and into new memory, less that of an empty call."""
    predictor = ln.Predictor(model, batches=[1])
    x, out = np.zeros((1, *predictor.input_shape), np.float32), np.empty((1, *predictor.output_shape), np.float32)
    empty = median_microseconds(lambda: None, calls)
    return [median_microseconds(call, calls) - empty
            for call in (lambda: predictor.predict(x, out), lambda: predictor.predict(x))]


def cpp_microseconds(program, folder, calls):
    Path(folder, "samples").write_bytes(b"")
    out = subprocess.run([program, f"{folder}/model.safetensors", f"{folder}/samples", f"{folder}/outputs", str(calls)],
                         check=True, capture_output=True, text=True).stdout
    return json.loads(out)["median_us"]


def epochs(command, data, rounds):
    python, cpp = [], []
    for _ in range(rounds):
        python += epoch_in_python(data, 2)
        cpp += epoch_in_cpp(command, 2)
    print(f"epoch of mnist-cnn: Python median {statistics.median(python):.3f} s, least {min(python):.3f} s; command "
          f"{statistics.median(cpp):.3f} s, least {min(cpp):.3f} s; ratio of the least {min(python) / min(cpp):.3f}")


def predictions(program, rounds, calls=20000):
    for name, made in (("4 features to 2", ln.sequential(4, [ln.Dense(2)])), ("mnist-cnn", network())):
        model = ln.Model(made, threads=1)
        into, new, cpp = [], [], []
        with tempfile.TemporaryDirectory() as folder:
            model.save(f"{folder}/model.safetensors")
            for _ in range(rounds):
                for all_times, one in zip((into, new), python_microseconds(model, calls)):
                    all_times.append(one)
                cpp.append(cpp_microseconds(program, folder, calls))
        print(f"a prediction of one sample, {name}: C++ {min(cpp):.2f} us, Python predict(x, out) {min(into):.2f} us, "
              f"predict(x) {min(new):.2f} us: {min(into) - min(cpp):.2f} and {min(new) - min(cpp):.2f} us more (medians of "
              f"{calls} calls, least of {rounds} rounds)")


def main(command, rounds="5"):
    print("load", os.getloadavg(), "processors", os.cpu_count())
    predictions(str(Path(command).parent / "latency_bench"), int(rounds))
    epochs(command, ln.datasets.fashion_mnist(), int(rounds))


if __name__ == "__main__":
    main(*sys.argv[1:])
