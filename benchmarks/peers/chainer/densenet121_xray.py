#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""DenseNet-121 (Huang et al., 2017) with 14 answers on (224, 224, 3), binary
cross-entropy, Adam 1e-4; 6,968,206 parameters. Training crops and flips at random."""
import numpy as np

from blocks import active, convolution, pooled, stem
from protocol import GLOROT, chainer, imagenet_pixels, run

F, L = chainer.functions, chainer.links
GROWTH = 32


class DenseLayer(chainer.Chain):
    def __init__(self, inputs):
        super().__init__()
        with self.init_scope():
            self.body = chainer.Sequential(active(inputs), convolution(inputs, 4 * GROWTH, 1),
                                           active(4 * GROWTH), convolution(4 * GROWTH, GROWTH, 3))

    def forward(self, x):
        return F.concat((x, self.body(x)))


def halved(x):
    return F.average_pooling_2d(x, 2)


def network():
    found, channels = chainer.Sequential(imagenet_pixels, resized_crops, stem()), 2 * GROWTH
    for block, count in enumerate((6, 12, 24, 16)):
        if block > 0:
            for layer in (active(channels), convolution(channels, channels // 2, 1), halved):
                found.append(layer)
            channels //= 2
        for _ in range(count):
            found.append(DenseLayer(channels))
            channels += GROWTH
    for layer in (active(channels), pooled, L.Linear(channels, 14, initialW=GLOROT)):
        found.append(layer)
    return found


def resized_crops(x):
    """At training torchvision's RandomResizedCrop (area 0.08 to 1, ratio 3/4 to 4/3) to the same
    size, and flips, of a square batch (N, C, S, S); the functions' grid of [-1, 1] ends at the
    middles of the outermost pixels."""
    if not chainer.config.train:
        return x
    size = x.shape[2]

    def draw(low, high):
        return np.random.uniform(low, high, len(x))

    def placed(part):
        """Of crops that take `part` of an axis: where their middles may lie."""
        return (1 - part) * draw(-1, 1) * size / (size - 1)
    area, ratio = draw(0.08, 1), np.exp(draw(-0.2876820724517809, 0.2876820724517809))
    width, height = np.sqrt(area * ratio).clip(max=1), np.sqrt(area / ratio).clip(max=1)
    flip, zero = np.sign(draw(-1, 1)), np.zeros(len(x))
    theta = np.stack((width * flip, zero, placed(width), zero, height, placed(height)), 1)
    grid = F.spatial_transformer_grid(theta.reshape(-1, 2, 3).astype(np.float32), (size, size))
    return F.spatial_transformer_sampler(x, grid.array.clip(-1, 1)).array  # nothing to go back to


def loss(outputs, targets):
    return F.sigmoid_cross_entropy(outputs, targets.astype(np.int32))


if __name__ == "__main__":
    run(__file__, network, loss, chainer.optimizers.Adam(1e-4))
