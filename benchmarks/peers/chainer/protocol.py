# SPDX-License-Identifier: Apache-2.0
"""What the Chainer peers share: a Chain on NumPy and its own training loop, on resident data. Its
faster backend for the CPU, iDeep, has no package for today's Python. A peer hands run() network(),
a Chain that takes the samples as they are stored, but images as (N, C, H, W) u8.
"""
import sys
import time
import warnings
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1] / "common"))
import peer  # noqa: E402

warnings.filterwarnings("ignore")  # of setuptools, about how Chainer looks for packages
import chainer  # noqa: E402

chainer.config.type_check = False  # of each function's inputs; its guides turn it off for speed
PRECISIONS = ("auto", "fp32")
GLOROT = chainer.initializers.GlorotUniform()  # Linnet's first weights; biases start at 0


def pixels(x):
    """u8 to f32 in [0, 1]."""
    return x.astype(np.float32) / np.float32(255)


def imagenet_pixels(x):
    """The same, less ImageNet's mean and divided by its std."""
    mean, std = (np.float32(values).reshape(3, 1, 1)
                       for values in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)))
    return (pixels(x) - mean) / std


class Run:
    """One network on resident data."""

    def __init__(self, options, network, loss, optimizer):
        if options.device != "cpu":
            sys.exit(f"this peer runs on the CPU; got --device {options.device}")
        self.options, self.loss = options, loss
        np.random.seed(options.seed)
        data = peer.Data(options.data)
        self.data_seconds = data.seconds
        self.samples, self.targets = self.resident(data.samples), data.targets
        self.epoch_samples = peer.epoch_samples(options, len(data.samples))
        self.shuffle = np.random.default_rng(options.seed)
        self.network = network()
        self.outputs = self.predict(self.samples[:1])  # shapes are known from here on
        self.parameters = sum(each.size for each in self.network.params())
        peer.check_parameters(options, self.parameters)
        self.optimizer = optimizer.setup(self.network)

    @staticmethod
    def resident(array):
        return np.ascontiguousarray(array.transpose(0, 3, 1, 2)) if array.ndim == 4 else array

    def predict(self, x):
        with chainer.using_config("train", False), chainer.no_backprop_mode():
            return self.network(x).array

    def epoch(self):
        """Seconds of an epoch, and its mean loss; None of predictions."""
        start = time.perf_counter()
        loss = self.predict_all() if self.options.infer else self.train_epoch()
        return time.perf_counter() - start, loss

    def train_epoch(self):
        order, total = self.shuffle.permutation(len(self.samples))[:self.epoch_samples], 0.0
        for begin, end in peer.bounds(len(order), self.options.batch):
            index = order[begin:end]
            loss = self.loss(self.network(self.samples[index]), self.targets[index])
            self.network.cleargrads()
            loss.backward()
            self.optimizer.update()
            total += float(loss.array) * len(index)
        return total / len(order)

    def predict_all(self):
        for begin, end in peer.bounds(self.epoch_samples, self.options.batch):
            self.outputs = self.predict(self.samples[begin:end])

    def test(self):
        """Mean loss of the test set, and its accuracy where targets are classes; None without."""
        def evaluate(x, y):
            outputs = self.predict(self.resident(x))
            return self.loss(outputs, y).array, outputs
        return peer.tested(self.options.data, evaluate)

    def finite(self):
        return bool(np.isfinite(self.outputs).all())

    def about(self):
        return {"framework": "chainer", "mode": self.options.mode, "device": "cpu",
                "parameters": self.parameters, "threads": peer.openmp_threads(),
                "versions": {"chainer": chainer.__version__, "numpy": np.__version__}}


def run(program, network, loss, optimizer=None):
    """Runs the whole program of this path, `__file__`: `network` must have as many parameters as
    workloads.json says."""
    started = time.perf_counter()
    options = peer.parser(program, "Chainer", ("numpy",),
                          precisions=PRECISIONS).parse_args()
    peer.report(Run(options, network, loss, optimizer or chainer.optimizers.Adam()),
                started)
