#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In Chainer: conv 16 3x3 same, ReLU, max pool 2, dense 10; 31,530 parameters."""
from protocol import GLOROT, chainer, pixels, run

F, L = chainer.functions, chainer.links


class Network(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv = L.Convolution2D(1, 16, 3, pad=1, initialW=GLOROT)
            self.dense = L.Linear(14 * 14 * 16, 10, initialW=GLOROT)

    def forward(self, images):
        return self.dense(F.max_pooling_2d(F.relu(self.conv(pixels(images))), 2))


if __name__ == "__main__":
    run(__file__, Network, F.softmax_cross_entropy)
