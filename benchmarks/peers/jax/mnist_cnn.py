#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In JAX: conv 16 3x3 same, ReLU, max pool 2, dense 10; 31,530 parameters."""
from flax import linen as nn

import protocol


class Network(nn.Module):
    @nn.compact
    def __call__(self, images, train):
        x = nn.relu(nn.Conv(16, (3, 3), kernel_init=protocol.GLOROT)(protocol.pixels(images)))
        x = nn.max_pool(x, (2, 2), (2, 2))
        return nn.Dense(10, kernel_init=protocol.GLOROT)(x.reshape(len(x), -1))


if __name__ == "__main__":
    protocol.run(__file__, Network(), protocol.cross_entropy)
