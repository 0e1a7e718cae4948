# SPDX-License-Identifier: Apache-2.0
"""scipy_side.py METHOD SEED ITERATIONS: trains the network by SciPy with exact derivatives, by METHOD lm
(least_squares) or lbfgs (minimize, L-BFGS-B)."""
import json
import sys
import time

import numpy as np
import problem
from scipy.optimize import least_squares, minimize


def main():
    method, seed, iterations = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    x, y = problem.points()
    units, features = problem.UNITS, problem.FEATURES
    cut = np.cumsum([units * features, units, units])

    def split(w):
        w1, b1, w2, b2 = np.split(w, cut)
        return w1.reshape(units, features), b1, w2, b2

    def residuals(w):
        w1, b1, w2, b2 = split(w)
        return np.tanh(x @ w1.T + b1) @ w2 + b2 - y

    def jacobian(w):
        w1, b1, w2, _ = split(w)
        h = np.tanh(x @ w1.T + b1)
        dz = (1 - h * h) * w2
        return np.concatenate([(dz[:, :, None] * x[:, None, :]).reshape(len(x), -1), dz, h,
                               np.ones((len(x), 1))], axis=1)

    def mean_of_squares(w):
        w1, b1, w2, b2 = split(w)
        h = np.tanh(x @ w1.T + b1)
        r = h @ w2 + b2 - y
        dz = (1 - h * h) * w2 * r[:, None]
        slope = np.concatenate([(dz.T @ x).ravel(), dz.sum(axis=0), h.T @ r, [r.sum()]])
        return np.mean(r * r), 2 / len(x) * slope

    first = np.concatenate([w.ravel() for w in problem.weights(seed)])
    start = time.perf_counter()
    if method == "lm":
        found = least_squares(residuals, first, jacobian, method="lm", max_nfev=iterations)
        # MINPACK does not say how often it asked for the Jacobian.
        done = int(found.njev or found.nfev)
    else:
        found = minimize(mean_of_squares, first, jac=True, method="L-BFGS-B",
                         options={"maxiter": iterations, "maxfun": 10 * iterations, "ftol": 0, "gtol": 0})
        done = int(found.nit)
    seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "error": float(np.mean(residuals(found.x) ** 2)), "iterations": done}))


main()
