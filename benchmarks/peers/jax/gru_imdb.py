#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In JAX: embedding 30,000 x 125, GRU 100, the last output to dense 2; 3,818,302
parameters. The GRU is written out, since Flax's cell has fewer biases than cuDNN's form: the
inputs' share of all steps is one product, and jax.lax.scan goes over the steps."""
import jax
from flax import linen as nn

import protocol

UNITS = 100


def uniform(key, shape, dtype):
    """PyTorch's first weights of a GRU, which are Linnet's."""
    return jax.random.uniform(key, shape, dtype, -UNITS ** -0.5, UNITS ** -0.5)


class Gru(nn.Module):
    """The last output (N, UNITS) for (N, T, C); reset after the product, gates r, z, n."""

    @nn.compact
    def __call__(self, x):
        recurrent = self.param("recurrent", uniform, (UNITS, 3 * UNITS), x.dtype)
        bias = self.param("bias", uniform, (3 * UNITS,), x.dtype)
        shares = nn.Dense(3 * UNITS, kernel_init=uniform, bias_init=uniform)(x)

        def step(hidden, share):
            own = hidden @ recurrent + bias
            reset, update = jax.numpy.split(
                nn.sigmoid(share[:, :2 * UNITS] + own[:, :2 * UNITS]), 2, axis=1)
            new = nn.tanh(share[:, 2 * UNITS:] + reset * own[:, 2 * UNITS:])
            return (1 - update) * new + update * hidden, None
        first = jax.numpy.zeros((len(x), UNITS), x.dtype)
        return jax.lax.scan(step, first, shares.swapaxes(0, 1))[0]


class Network(nn.Module):
    @nn.compact
    def __call__(self, words, train):
        x = nn.Embed(30000, 125, embedding_init=nn.initializers.normal(1.0))(words)
        return nn.Dense(2, kernel_init=protocol.GLOROT)(Gru()(x))


if __name__ == "__main__":
    protocol.run(__file__, Network(), protocol.cross_entropy)
