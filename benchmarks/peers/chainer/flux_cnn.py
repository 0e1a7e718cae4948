#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In Chainer: two 5x5 convolutions of 16 and 8, dense 120, 84, 10 with nothing between
them, as the published network has it; 39,558 parameters."""
from protocol import GLOROT, chainer, pixels, run

F, L = chainer.functions, chainer.links


def pooled(x):
    return F.max_pooling_2d(F.relu(x), 2)


def network():
    found = chainer.Sequential(pixels)
    for inputs, channels in ((3, 16), (16, 8)):
        found.append(L.Convolution2D(inputs, channels, 5, initialW=GLOROT))
        found.append(pooled)
    for inputs, units in ((200, 120), (120, 84), (84, 10)):
        found.append(L.Linear(inputs, units, initialW=GLOROT))
    return found


if __name__ == "__main__":
    run(__file__, network, F.softmax_cross_entropy,
        chainer.optimizers.MomentumSGD(0.01, 0.9))
