#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In Chainer: four 3x3 convolutions of 50, 50, 100, 100, dense 512; 3,441,592
parameters. The ReLU comes after the pooling: the same values, and a quarter of the work."""
from protocol import GLOROT, chainer, pixels, run

F, L = chainer.functions, chainer.links


def pooled(x):
    return F.dropout(F.relu(F.max_pooling_2d(x, 2)), 0.25)


def network():
    found = chainer.Sequential(pixels)
    for inputs, channels in ((3, 50), (50, 100)):
        found.append(L.Convolution2D(inputs, channels, 3, pad=1, initialW=GLOROT))
        found.append(F.relu)
        found.append(L.Convolution2D(channels, channels, 3, pad=1, initialW=GLOROT))
        found.append(pooled)
    for layer in (L.Linear(6400, 512, initialW=GLOROT), F.relu, F.dropout,
                  L.Linear(512, 10, initialW=GLOROT)):
        found.append(layer)
    return found


if __name__ == "__main__":
    run(__file__, network, F.softmax_cross_entropy,
        chainer.optimizers.MomentumSGD(0.01, 0.9))
