#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ResNet-50 v1.5 (He et al., 2016; the stride in the 3x3) on (32, 32, 3); 23,528,522 parameters."""
import mxnet as mx

import protocol
from blocks import active, convolution, norm, stem
from protocol import gluon, nn


class Bottleneck(gluon.HybridBlock):
    def __init__(self, inputs, width, stride):
        super().__init__()
        outputs = 4 * width
        self.body, self.shortcut = nn.HybridSequential(), None
        self.body.add(convolution(width, 1), active(), convolution(width, 3, stride), active(),
                      convolution(outputs, 1), norm(silent=True))  # Linnet's first weights
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.HybridSequential()
            self.shortcut.add(convolution(outputs, 1, stride), norm())

    def hybrid_forward(self, F, x):
        return F.relu(self.body(x) + (self.shortcut(x) if self.shortcut else x))


def network(classes=10, pixels=protocol.pixels):
    """Ends in 2,048 features if there are no classes."""
    found, inputs = nn.HybridSequential(), 64
    found.add(pixels(), stem())
    for stage, blocks in enumerate((3, 4, 6, 3)):
        for block in range(blocks):
            found.add(Bottleneck(inputs, 64 << stage, 2 if stage > 0 and block == 0 else 1))
            inputs = 256 << stage
    found.add(nn.GlobalAvgPool2D(), nn.Flatten())
    if classes:
        found.add(nn.Dense(classes, weight_initializer=mx.init.Normal(0.01)))
    return found


if __name__ == "__main__":
    protocol.run(__file__, network, protocol.cross_entropy())
