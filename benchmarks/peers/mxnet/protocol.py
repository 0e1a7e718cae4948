# SPDX-License-Identifier: Apache-2.0
"""What the MXNet peers share: a Gluon network, hybridized with its memory planned once as MXNet's
guides have it for speed (--mode imperative: operator by operator), on resident data. A peer hands
run() network(), which takes the samples as they are stored, but images as (N, C, H, W) u8; and a
Gluon loss of each sample.
"""
import sys
import time
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1] / "common"))
import peer  # noqa: E402

PRECISIONS = ("auto", "fp32")
import mxnet as mx  # noqa: E402
from mxnet import autograd, gluon, nd  # noqa: E402
from mxnet.gluon import nn  # noqa: E402,F401  peers have it from here

GLOROT = mx.init.Xavier(magnitude=3)  # uniform, of fan in and out: Linnet's first weights


def pixels():
    """u8 to f32 in [0, 1]."""
    return nn.HybridLambda(lambda F, x: F.cast(x, "float32") / 255)


def imagenet_pixels():
    """The same, less ImageNet's mean and divided by its std."""
    found = nn.HybridSequential()
    found.add(pixels(), gluon.data.vision.transforms.Normalize((0.485, 0.456, 0.406),
                                                               (0.229, 0.224, 0.225)))
    return found


def cross_entropy():
    return gluon.loss.SoftmaxCrossEntropyLoss()


def squared_error():
    return gluon.loss.L2Loss(weight=2)  # it halves


class Run:
    """One network on resident data."""

    def __init__(self, options, network, loss, optimizer):
        self.options, self.loss = options, loss
        mx.random.seed(options.seed)
        self.context = mx.gpu() if options.device.startswith("cuda") else mx.cpu()
        data = peer.Data(options.data)
        self.data_seconds = data.seconds
        self.samples, self.targets = self.resident(data.samples), self.resident(data.targets)
        self.epoch_samples = peer.epoch_samples(options, len(data.samples))
        self.shuffle = np.random.default_rng(options.seed)
        self.network = network()
        self.network.initialize(GLOROT, self.context)
        # What fuses its operators on the CPU is for predictions alone.
        fused = options.infer and self.context.device_type == "cpu"
        if options.mode == "hybrid":
            self.network.hybridize(static_alloc=True, static_shape=True,
                                   backend="MKLDNN" if fused else None)
        self.outputs = self.network(self.samples[:1])  # shapes are known from here on
        found = self.network.collect_params()
        self.parameters = sum(each.data().size for each in found.values()
                              if each.grad_req != "null")
        peer.check_parameters(options, self.parameters)
        self.trainer = gluon.Trainer(found, optimizer, kvstore=None)

    def resident(self, array):
        if array.ndim == 4:
            array = array.transpose(0, 3, 1, 2)
        return nd.array(array, self.context, dtype=array.dtype)

    def epoch(self):
        """Seconds of an epoch, and its mean loss; None of predictions."""
        start = time.perf_counter()
        loss = self.predict_all() if self.options.infer else self.train_epoch()
        nd.waitall()
        return time.perf_counter() - start, loss

    def train_epoch(self):
        order = self.shuffle.permutation(len(self.samples)).astype(np.int32)[:self.epoch_samples]
        total = nd.zeros(1, self.context)
        for begin, end in peer.bounds(len(order), self.options.batch):
            index = nd.array(order[begin:end], self.context, dtype=np.int32)
            x, y = nd.take(self.samples, index), nd.take(self.targets, index)
            with autograd.record():
                each = self.loss(self.network(x), y)
            each.backward()
            self.trainer.step(end - begin)
            total += each.sum()
        return total.asscalar().item() / len(order)

    def predict_all(self):
        for begin, end in peer.bounds(self.epoch_samples, self.options.batch):
            self.outputs = self.network(self.samples[begin:end])

    def test(self):
        """Mean loss of the test set, and its accuracy where targets are classes; None without."""
        def evaluate(x, y):
            outputs = self.network(self.resident(x))
            return self.loss(outputs, self.resident(y)).mean().asscalar(), outputs.asnumpy()
        return peer.tested(self.options.data, evaluate)

    def finite(self):
        return bool(np.isfinite(self.outputs.asnumpy()).all())

    def about(self):
        return {"framework": "mxnet", "mode": self.options.mode, "device": str(self.context),
                "parameters": self.parameters, "threads": peer.openmp_threads(),
                "versions": {"mxnet": mx.__version__, "numpy": np.__version__}}


def run(program, network, loss, optimizer=None):
    """Runs the whole program of this path, `__file__`: `network` must have as many parameters as
    workloads.json says."""
    started = time.perf_counter()
    options = peer.parser(program, "MXNet", ("hybrid", "imperative"),
                          precisions=PRECISIONS).parse_args()
    peer.report(Run(options, network, loss, optimizer or mx.optimizer.Adam(1e-3)),
                started)
