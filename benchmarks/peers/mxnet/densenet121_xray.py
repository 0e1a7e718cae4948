#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""DenseNet-121 (Huang et al., 2017) with 14 answers on (224, 224, 3), binary
cross-entropy, Adam 1e-4; 6,968,206 parameters. Training crops and flips at random."""
import mxnet as mx
from mxnet import autograd, nd

import protocol
from blocks import active, convolution, stem
from protocol import gluon, nn

GROWTH = 32


class DenseLayer(gluon.HybridBlock):
    def __init__(self):
        super().__init__()
        self.body = nn.HybridSequential()
        self.body.add(active(), convolution(4 * GROWTH, 1), active(), convolution(GROWTH, 3))

    def hybrid_forward(self, F, x):
        return F.concat(x, self.body(x), dim=1)


def body():
    found, channels = nn.HybridSequential(), 2 * GROWTH
    found.add(stem())
    for block, count in enumerate((6, 12, 24, 16)):
        if block > 0:
            channels //= 2
            found.add(active(), convolution(channels, 1), nn.AvgPool2D(2))
        for _ in range(count):
            found.add(DenseLayer())
        channels += GROWTH * count
    found.add(active(), nn.GlobalAvgPool2D(), nn.Dense(14))
    return found


def resized_crops(x):
    """torchvision's RandomResizedCrop (area 0.08 to 1, ratio 3/4 to 4/3) to the same size, and
    flips, of a square batch (N, C, S, S); the operators' grid of [-1, 1] ends at the middles of the
    outermost pixels."""
    count, size = len(x), x.shape[2]

    def draw(low, high):
        return nd.random.uniform(low, high, count, ctx=x.context)

    def placed(part):
        """Of crops that take `part` of an axis: where their middles may lie."""
        return (1 - part) * draw(-1, 1) * size / (size - 1)
    area, ratio = draw(0.08, 1), nd.exp(draw(-0.2876820724517809, 0.2876820724517809))
    width, height = nd.sqrt(area * ratio).clip(0, 1), nd.sqrt(area / ratio).clip(0, 1)
    flip, zero = nd.sign(draw(-1, 1)), nd.zeros_like(area)
    theta = nd.stack(width * flip, zero, placed(width), zero, height, placed(height), axis=1)
    grid = nd.GridGenerator(theta, "affine", (size, size))
    return nd.BilinearSampler(x, grid.clip(-1, 1))


class Network(gluon.Block):
    """Crops are drawn outside what is hybridized, which is traced once for training and tests."""

    def __init__(self):
        super().__init__()
        self.pixels, self.body = protocol.imagenet_pixels(), body()

    def forward(self, images):
        x = self.pixels(images)
        return self.body(resized_crops(x) if autograd.is_training() else x)


if __name__ == "__main__":
    protocol.run(__file__, Network,
                 gluon.loss.SigmoidBinaryCrossEntropyLoss(), mx.optimizer.Adam(1e-4))
