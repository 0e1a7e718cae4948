# SPDX-License-Identifier: Apache-2.0
"""scipy_side.py METHOD SEED ITERATIONS: trains the network by scipy.optimize.least_squares with its exact Jacobian."""
import json
import sys
import time

import numpy as np
from scipy.optimize import least_squares

import problem


def main():
    method, seed, iterations = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    x, y = map(problem.standardised, problem.points())
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

    start = np.concatenate([w.ravel() for w in problem.weights(seed)])
    begin = time.perf_counter()
    found = least_squares(residuals, start, jacobian, method=method, max_nfev=iterations)
    seconds = time.perf_counter() - begin
    error = float(np.mean(found.fun**2))
    # MINPACK does not say how often it asked for the Jacobian.
    print(json.dumps({"seconds": seconds, "error": error, "scaled_error": error * problem.scaled_error(),
                      "iterations": int(found.njev or found.nfev)}))


main()
