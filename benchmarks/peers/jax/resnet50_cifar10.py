#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ResNet-50 v1.5 (He et al., 2016; the stride in the 3x3) on (32, 32, 3); 23,528,522 parameters."""
from typing import Callable

from flax import linen as nn

import protocol
from blocks import convolution, norm, stem


class Bottleneck(nn.Module):
    width: int
    stride: int

    @nn.compact
    def __call__(self, x, train):
        outputs, shortcut = 4 * self.width, x
        if self.stride != 1 or x.shape[-1] != outputs:
            shortcut = norm(convolution(x, outputs, 1, self.stride), train)
        x = nn.relu(norm(convolution(x, self.width, 1), train))
        x = nn.relu(norm(convolution(x, self.width, 3, self.stride), train))
        x = norm(convolution(x, outputs, 1), train, silent=True)  # Linnet's first weights
        return nn.relu(x + shortcut)


class Network(nn.Module):
    """Ends in 2,048 features if there are no classes."""
    classes: int = 10
    pixels: Callable = protocol.pixels

    @nn.compact
    def __call__(self, images, train):
        x = stem(self.pixels(images), train)
        for stage, blocks in enumerate((3, 4, 6, 3)):
            for block in range(blocks):
                x = Bottleneck(64 << stage, 2 if stage > 0 and block == 0 else 1)(x, train)
        x = x.mean((1, 2))
        if self.classes:
            x = nn.Dense(self.classes, kernel_init=nn.initializers.normal(0.01))(x)
        return x


if __name__ == "__main__":
    protocol.run(__file__, Network(), protocol.cross_entropy)
