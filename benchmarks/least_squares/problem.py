# SPDX-License-Identifier: Apache-2.0
"""OpenNN's precision task: Rosenbrock's function of 10 inputs on 10,000 points, by a network of 10 tanh units.

Data and first weights follow the rules of OpenNN's benchmark (docs/benchmarks/quality/precision of its repository,
July 2026): Python's `random` of seed 1234, inputs in [-1, 1], every column standardised by its population's mean and
std, all weights and biases in [-1, 1]."""
import random

import numpy as np

FEATURES, UNITS, ROWS, SEED = 10, 10, 10_000, 1234


def standardised(values):
    return (values - values.mean(axis=0)) / values.std(axis=0)


def points():
    """x (ROWS, FEATURES) and y (ROWS), both standardised."""
    draw = random.Random(SEED)
    x = np.array([[draw.uniform(-1, 1) for _ in range(FEATURES)] for _ in range(ROWS)])
    y = np.sum(100 * (x[:, 1:] - x[:, :-1] ** 2) ** 2 + (1 - x[:, :-1]) ** 2, axis=1)
    return standardised(x), standardised(y)


def weights(seed):
    """w1 (UNITS, FEATURES), b1 (UNITS), w2 (UNITS), b2 (1), the first ones of every engine."""
    draw = np.random.default_rng(seed)
    return tuple(draw.uniform(-1, 1, shape) for shape in ((UNITS, FEATURES), UNITS, UNITS, 1))
