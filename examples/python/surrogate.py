# SPDX-License-Identifier: Apache-2.0
"""A model as a function for other programs: SciPy minimises it with its exact gradient, and a Runge-Kutta solver
integrates it."""
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize  # type: ignore[import-untyped]

import linnet as ln

Array = npt.NDArray[np.float64]
random = np.random.default_rng(1)


def fitted(x: npt.NDArray[np.float32], y: npt.NDArray[np.float32]) -> ln.Model:
    """A small smooth network, trained to high accuracy by Levenberg-Marquardt."""
    model = ln.Model(ln.Network(x.shape[1], [ln.Dense(20), ln.Tanh(), ln.Dense(y.shape[1])]), device="cpu")
    ln.train(model, (x, y), optimizer=ln.LevenbergMarquardt(), epochs=100)
    return model


# Where is the least value of what 600 points were measured of?
x = random.uniform(-2, 2, (600, 2)).astype(np.float32)
bowl = fitted(x, (x[:, :1] - 1) ** 2 + (x[:, 1:] + 0.5) ** 2 + x[:, :1] * x[:, 1:])


def value(point: Array) -> float:
    return float(bowl.predict(point.astype(np.float32)[None])[0, 0])


def gradient(point: Array) -> Array:
    derivatives = bowl.jacobian(point.astype(np.float32)[None])  # (samples, outputs, inputs)
    return np.asarray(derivatives[0, 0], np.float64)


found = minimize(value, [-1.5, 1.5], jac=gradient, method="L-BFGS-B", options={"ftol": 1e-7})
print(f"least value {found.fun:.2f} at ({found.x[0]:.2f}, {found.x[1]:.2f}); by hand -1.08 at (1.67, -1.33)")

# The motion of a pendulum, (angle, speed)' as a network of both, learned from 1,000 states.
states = random.uniform(-2, 2, (1000, 2)).astype(np.float32)
motion = fitted(states, np.stack([states[:, 1], -np.sin(states[:, 0])], axis=1))


def learned_slope(state: Array) -> Array:
    return np.asarray(motion.predict(state.astype(np.float32)[None])[0], np.float64)


def exact_slope(state: Array) -> Array:
    return np.array([state[1], -np.sin(state[0])])


def runge_kutta(slope: Callable[[Array], Array], seconds: float, step: float = 0.05) -> Array:
    """The states at each step of the classical fourth-order method, from (1, 0) on."""
    path = [np.array([1.0, 0.0])]
    for _ in range(round(seconds / step)):
        now = path[-1]
        a = slope(now)
        b = slope(now + step / 2 * a)
        c = slope(now + step / 2 * b)
        d = slope(now + step * c)
        path.append(now + step / 6 * (a + 2 * b + 2 * c + d))
    return np.stack(path)


learned = runge_kutta(learned_slope, 10)
exact = runge_kutta(exact_slope, 10)
print(f"after 10 seconds the pendulum is at {learned[-1, 0]:.1f} rad; within 0.02 of the exact path all the way: "
      f"{bool(np.abs(learned - exact).max() < 0.02)}")

# Prints:
#   least value -1.08 at (1.67, -1.33); by hand -1.08 at (1.67, -1.33)
#   after 10 seconds the pendulum is at -1.0 rad; within 0.02 of the exact path all the way: True
