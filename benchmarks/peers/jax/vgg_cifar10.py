#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In JAX: four 3x3 convolutions of 50, 50, 100, 100, dense 512; 3,441,592 parameters.
The ReLU comes after the pooling: the same values, and a quarter of the work."""
from flax import linen as nn

import protocol


class Network(nn.Module):
    @nn.compact
    def __call__(self, images, train):
        def dropout(x, rate):
            return nn.Dropout(rate, deterministic=not train)(x)
        x = protocol.pixels(images)
        for channels in (50, 100):
            x = nn.relu(nn.Conv(channels, (3, 3), kernel_init=protocol.GLOROT)(x))
            x = nn.Conv(channels, (3, 3), kernel_init=protocol.GLOROT)(x)
            x = dropout(nn.relu(nn.max_pool(x, (2, 2), (2, 2))), 0.25)
        x = nn.relu(nn.Dense(512, kernel_init=protocol.GLOROT)(x.reshape(len(x), -1)))
        return nn.Dense(10, kernel_init=protocol.GLOROT)(dropout(x, 0.5))


if __name__ == "__main__":
    protocol.run(__file__, Network(), protocol.cross_entropy,
                 protocol.momentum(0.01))
