# SPDX-License-Identifier: Apache-2.0
"""jax_side.py vmap SECONDS: the members stacked by jax.vmap, an epoch in one compiled scan, on two processors."""
import sys

import jax
import jax.numpy as jnp
import numpy as np

from problem import BATCH, MEMBERS, RATES, SAMPLES, WIDTHS, data, report


def forward(layers, x):
    for weight, bias in layers[:-1]:
        x = jax.nn.relu(x @ weight + bias)
    return x @ layers[-1][0] + layers[-1][1]


def loss(layers, x, y):
    return jnp.mean((forward(layers, x) - y) ** 2)


def step(state, rate, x, y):
    layers, first, second, count = state
    count += 1
    gradients = jax.grad(loss)(layers, x, y)
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradients)
    by = rate * jnp.sqrt(1 - 0.999 ** count) / (1 - 0.9 ** count)
    layers = jax.tree.map(lambda w, m, v: w - by * m / (jnp.sqrt(v) + 1e-8), layers, first, second)
    return layers, first, second, count


def main():
    draw = np.random.default_rng(0)
    layers = [(jnp.asarray(draw.uniform(-1, 1, (MEMBERS, a, b)) / a ** 0.5, jnp.float32), jnp.zeros((MEMBERS, b)))
              for a, b in zip(WIDTHS, WIDTHS[1:])]
    zeros = jax.tree.map(jnp.zeros_like, layers)
    state = [layers, zeros, zeros, jnp.zeros(MEMBERS)]
    x, y = (jnp.asarray(each) for each in data())
    rates = jnp.asarray(RATES)
    all_step = jax.vmap(step, in_axes=(0, 0, None, None))

    @jax.jit
    def train(state, order):
        return jax.lax.scan(lambda at, rows: (all_step(at, rates, x[rows], y[rows]), None), state, order)[0]

    def epoch():
        order = draw.permutation(SAMPLES).reshape(-1, BATCH)
        state[:] = jax.block_until_ready(train(tuple(state), order))
    report(epoch, float(sys.argv[2]))


main()
