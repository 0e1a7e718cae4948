# SPDX-License-Identifier: Apache-2.0
"""Ordinary networks that Linnet was not tuned for, ten and eighteen further ones: their data, their batch and their
loss."""
from collections import namedtuple

import numpy

Network = namedtuple("Network", "name data batch loss")


def _rng():
    return numpy.random.default_rng(0)


def _images(samples, size, channels=3):
    def data():
        rng = _rng()
        return (rng.random((samples, size, size, channels), numpy.float32),
                rng.integers(0, 10, samples).astype(numpy.int32))
    return data


def _tokens(samples, length):
    def data():
        rng = _rng()
        return (rng.integers(0, 20000, (samples, length)).astype(numpy.int32),
                rng.integers(0, 2, samples).astype(numpy.int32))
    return data


def _texts(samples, length, words=96):
    """Each word's target is a word."""
    def data():
        rng = _rng()
        return (rng.integers(0, words, (samples, length)).astype(numpy.int32),
                rng.integers(0, words, (samples, length)).astype(numpy.int32))
    return data


def _table(rows=2560, columns=32, targets=1):
    def data():
        rng = _rng()
        return (rng.standard_normal((rows, columns)).astype(numpy.float32),
                rng.standard_normal((rows, targets)).astype(numpy.float32))
    return data


def _signals(samples, steps, channels):
    def data():
        rng = _rng()
        return (rng.standard_normal((samples, steps, channels)).astype(numpy.float32),
                rng.integers(0, 5, samples).astype(numpy.int32))
    return data


def _masks(samples, size):
    def data():
        rng = _rng()
        return (rng.random((samples, size, size, 3), numpy.float32),
                rng.random((samples, size, size, 1), numpy.float32))
    return data


def _drawn():
    rng = _rng()
    return (rng.standard_normal((256, 100)).astype(numpy.float32), rng.random((256, 32, 32, 3), numpy.float32))


def _digits():
    pixels = _rng().random((1280, 784), numpy.float32)
    return pixels, pixels


def _by_name(*networks):
    return {each.name: each for each in networks}


NETWORKS = _by_name(
    Network("table-mlp", _table(), 64, "mse"),
    Network("keras-cnn", _images(512, 32), 32, "cross_entropy"),
    Network("resnet18", _images(128, 32), 64, "cross_entropy"),
    Network("mobilenet", _images(192, 32), 64, "cross_entropy"),
    Network("lstm", _tokens(256, 200), 64, "cross_entropy"),
    Network("transformer", _tokens(128, 128), 32, "cross_entropy"),
    Network("conv1d", _signals(256, 512, 8), 64, "cross_entropy"),
    Network("autoencoder", _digits, 128, "mse"),
    Network("convnext", _images(64, 64), 32, "cross_entropy"),
    Network("vit", _images(128, 32), 64, "cross_entropy"))
FURTHER = _by_name(
    Network("lenet", _images(1280, 28, 1), 128, "cross_entropy"),
    Network("vgg11", _images(128, 32), 64, "cross_entropy"),
    Network("densenet", _images(128, 32), 64, "cross_entropy"),
    Network("resnext", _images(128, 32), 32, "cross_entropy"),
    Network("inverted-residuals", _images(64, 56), 32, "cross_entropy"),
    Network("mixer", _images(128, 32), 64, "cross_entropy"),
    Network("unet", _masks(32, 64), 16, "mse"),
    Network("conv-autoencoder", _masks(64, 64), 32, "mse"),
    Network("generator", _drawn, 64, "mse"),
    Network("bidirectional-gru", _signals(256, 100, 32), 64, "cross_entropy"),
    Network("two-lstms", _signals(128, 64, 64), 32, "cross_entropy"),
    Network("simple-rnn", _signals(256, 100, 32), 64, "cross_entropy"),
    Network("wavenet", _signals(32, 1024, 1), 16, "cross_entropy"),
    Network("text-cnn", _tokens(320, 200), 64, "cross_entropy"),
    Network("character-model", _texts(32, 256), 16, "cross_entropy"),
    Network("long-attention", _texts(8, 1024), 4, "cross_entropy"),
    Network("deep-mlp", _table(2560, 100, 10), 128, "mse"),
    Network("batches-of-eight", _table(512, 16, 4), 8, "mse"))
ALL = NETWORKS | FURTHER
MOBILENET_STAGES = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1)]
RESNET18_STAGES = [(64, 1), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1)]
VGG11_FILTERS = [64, "pool", 128, "pool", 256, 256, "pool", 512, 512, "pool", 512, 512, "pool"]
RESNEXT_STAGES = [(128, 1), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1)]
DILATIONS = [1, 2, 4, 8, 16, 32]
