#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In JAX: dense 1000 -> 1000 tanh -> 1; 1,002,001 parameters."""
from flax import linen as nn

import protocol


class Network(nn.Module):
    @nn.compact
    def __call__(self, samples, train):
        x = nn.tanh(nn.Dense(1000, kernel_init=protocol.GLOROT)(samples))
        return nn.Dense(1, kernel_init=protocol.GLOROT)(x)


if __name__ == "__main__":
    protocol.run(__file__, Network(), protocol.squared_error)
