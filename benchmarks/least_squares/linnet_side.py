# SPDX-License-Identifier: Apache-2.0
"""linnet_side.py METHOD SEED ITERATIONS THREADS: trains the network by Linnet, by METHOD lm or lbfgs."""
import json
import sys
import time

import linnet as ln
import numpy as np
import problem


def main():
    method, (seed, iterations, threads) = sys.argv[1], map(int, sys.argv[2:5])
    x, y = (values.astype(np.float32) for values in problem.points())
    data = (x, y[:, None])
    start = time.perf_counter()
    network = ln.sequential(problem.FEATURES, [ln.Dense(problem.UNITS), ln.Tanh(), ln.Dense(1)])
    model = ln.Model(network, device="cpu", threads=threads)
    w1, b1, w2, b2 = (values.astype(np.float32) for values in problem.weights(seed))
    for name, values in (("dense_1.weight", w1), ("dense_1.bias", b1), ("dense_2.weight", w2[None]), ("dense_2.bias", b2)):
        model.set_parameter(name, values)
    if method == "lm":
        trainer = ln.Trainer(model, optimizer=ln.LevenbergMarquardt())
        done = len(trainer.fit(data, epochs=iterations, batch=1024).epochs)
    else:
        done = len(ln.Trainer(model).minimize(data, ln.LBFGS(iterations=iterations)).losses) - 1
    seconds = time.perf_counter() - start
    error = float(np.mean((model.predict(x)[:, 0].astype(float) - y) ** 2))
    print(json.dumps({"seconds": seconds, "error": error, "iterations": done}))


main()
