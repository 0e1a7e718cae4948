# SPDX-License-Identifier: Apache-2.0
"""Ten ordinary networks that Linnet was not tuned for: their data, their batch and their loss."""
from collections import namedtuple

import numpy

Network = namedtuple("Network", "name data batch loss")


def _rng():
    return numpy.random.default_rng(0)


def _images(samples, size):
    def data():
        rng = _rng()
        return (rng.random((samples, size, size, 3), numpy.float32),
                rng.integers(0, 10, samples).astype(numpy.int32))
    return data


def _tokens(samples, length):
    def data():
        rng = _rng()
        return (rng.integers(0, 20000, (samples, length)).astype(numpy.int32),
                rng.integers(0, 2, samples).astype(numpy.int32))
    return data


def _table():
    rng = _rng()
    return (rng.standard_normal((2560, 32)).astype(numpy.float32),
            rng.standard_normal((2560, 1)).astype(numpy.float32))


def _signals():
    rng = _rng()
    return (rng.standard_normal((256, 512, 8)).astype(numpy.float32),
            rng.integers(0, 5, 256).astype(numpy.int32))


def _digits():
    pixels = _rng().random((1280, 784), numpy.float32)
    return pixels, pixels


NETWORKS = {each.name: each for each in [
    Network("table-mlp", _table, 64, "mse"),
    Network("keras-cnn", _images(512, 32), 32, "cross_entropy"),
    Network("resnet18", _images(128, 32), 64, "cross_entropy"),
    Network("mobilenet", _images(192, 32), 64, "cross_entropy"),
    Network("lstm", _tokens(256, 200), 64, "cross_entropy"),
    Network("transformer", _tokens(128, 128), 32, "cross_entropy"),
    Network("conv1d", _signals, 64, "cross_entropy"),
    Network("autoencoder", _digits, 128, "mse"),
    Network("convnext", _images(64, 64), 32, "cross_entropy"),
    Network("vit", _images(128, 32), 64, "cross_entropy"),
]}
MOBILENET_STAGES = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1)]
RESNET18_STAGES = [(64, 1), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1)]
