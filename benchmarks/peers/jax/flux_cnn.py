#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In JAX: two 5x5 convolutions of 16 and 8, dense 120, 84, 10 with nothing between them,
as the published network has it; 39,558 parameters."""
from flax import linen as nn

import protocol


class Network(nn.Module):
    @nn.compact
    def __call__(self, images, train):
        x = protocol.pixels(images)
        for channels in (16, 8):
            x = nn.Conv(channels, (5, 5), padding="VALID", kernel_init=protocol.GLOROT)(x)
            x = nn.max_pool(nn.relu(x), (2, 2), (2, 2))
        x = x.reshape(len(x), -1)
        for units in (120, 84, 10):
            x = nn.Dense(units, kernel_init=protocol.GLOROT)(x)
        return x


if __name__ == "__main__":
    protocol.run(__file__, Network(), protocol.cross_entropy,
                 protocol.momentum(0.01))
