# SPDX-License-Identifier: Apache-2.0
"""Differential equations with known solutions, for networks that are trained on what is left over of them.

Each has two coordinates in `low` to `high`, a network of tanh layers, and a form of the solution that has the
boundary values by itself, so that the residual is the only loss.

burgers: u_t + u u_x = nu u_xx, nu = 0.01 / pi, u(x, 0) = -sin(pi x), u(-1, t) = u(1, t) = 0, and the network of
Raissi, Perdikaris, Karniadakis, "Physics-informed neural networks", J. Comput. Phys. 378, 2019.
poisson: -(u_xx + u_yy) = 2 pi^2 sin(pi x) sin(pi y) on the unit square, 0 at its border.
heat: u_t = 0.4 u_xx, u(x, 0) = sin(pi x), u(0, t) = u(1, t) = 0 (DeepXDE's example).
inverse: the same, where 0.4 is unknown and u is known at the points."""
import math

import numpy as np

NU = 0.01 / math.pi
DIFFUSION = 0.4
EQUATIONS = {"burgers": {"low": (-1, 0), "high": (1, 1), "hidden": [20] * 8},
             "poisson": {"low": (0, 0), "high": (1, 1), "hidden": [32] * 3},
             "heat": {"low": (0, 0), "high": (1, 1), "hidden": [20] * 3},
             "inverse": {"low": (0, 0), "high": (1, 1), "hidden": [20] * 3}}


def points(name, count, seed):
    """Random coordinates (count, 1) each, f32."""
    equation = EQUATIONS[name]
    drawn = np.random.default_rng(seed).random((count, 2))
    scaled = np.array(equation["low"]) + drawn * (np.array(equation["high"]) - np.array(equation["low"]))
    return scaled[:, :1].astype(np.float32), scaled[:, 1:].astype(np.float32)


def solution(name, a, b):
    """u at coordinates of any shape, in double precision."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    if name == "poisson":
        return np.sin(math.pi * a) * np.sin(math.pi * b)
    if name != "burgers":
        return np.exp(-DIFFUSION * math.pi**2 * b) * np.sin(math.pi * a)
    # Cole and Hopf: u = -2 nu phi_x / phi, phi the heat kernel's integral over exp(-cos(pi y) / (2 pi nu)).
    nodes, weights = np.polynomial.hermite.hermgauss(100)
    moved = a[..., None] - np.sqrt(4 * NU * b)[..., None] * nodes
    exponent = -np.cos(math.pi * moved) / (2 * math.pi * NU)
    kernel = weights * np.exp(exponent - exponent.max(axis=-1, keepdims=True))
    return -(kernel * np.sin(math.pi * moved)).sum(-1) / kernel.sum(-1)


def error(name, u_at):
    """The relative L2 error of u_at(a, b), of arrays (N, 1), on a grid of 101 x 101."""
    equation = EQUATIONS[name]
    a, b = np.meshgrid(*(np.linspace(low, high, 101) for low, high in zip(equation["low"], equation["high"])))
    exact = solution(name, a, b).reshape(-1, 1)
    found = u_at(a.reshape(-1, 1).astype(np.float32), b.reshape(-1, 1).astype(np.float32))
    return float(np.linalg.norm(found - exact) / np.linalg.norm(exact))
