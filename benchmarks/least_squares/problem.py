# SPDX-License-Identifier: Apache-2.0
"""OpenNN's precision task: Rosenbrock's function of 10 inputs on 10,000 points, by a network of 10 tanh units."""
import numpy as np

FEATURES, UNITS, ROWS = 10, 10, 10_000


def points():
    """x (ROWS, FEATURES) in [-1, 1), and y (ROWS)."""
    x = np.random.default_rng(0).uniform(-1, 1, (ROWS, FEATURES))
    return x, np.sum(100 * (x[:, 1:] - x[:, :-1] ** 2) ** 2 + (1 - x[:, :-1]) ** 2, axis=1)


def standardised(values):
    return (values - values.mean(axis=0)) / values.std(axis=0)


def scaled_error():
    """The factor that makes the mean squared error of a standardised y that of targets in [-1, 1]."""
    y = standardised(points()[1])
    return float((2 / (y.max() - y.min())) ** 2)


def write_table(path):
    x, y = points()
    names = [f"x{i}" for i in range(FEATURES)] + ["y"]
    np.savetxt(path, np.column_stack([x, y]), fmt="%.9g", delimiter=",", header=",".join(names), comments="")


def weights(seed):
    """w1 (UNITS, FEATURES), b1, w2 (UNITS), b2: Glorot's uniform distribution and zeros."""
    draw = np.random.default_rng(seed)
    most = np.sqrt(6 / (UNITS + FEATURES)), np.sqrt(6 / (UNITS + 1))
    return (draw.uniform(-most[0], most[0], (UNITS, FEATURES)), np.zeros(UNITS),
            draw.uniform(-most[1], most[1], UNITS), np.zeros(1))
