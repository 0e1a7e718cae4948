# SPDX-License-Identifier: Apache-2.0
"""linnet_side.py EQUATION POINTS STEPS SEED: trains a network on the equation in Linnet."""
import math
import sys

import linnet as ln
import numpy as np

import equations
import report


def network(name):
    f = ln.FunctionalNetwork()
    a, b = f.input("a", 1), f.input("b", 1)
    inner = ln.concat([a, b], axis=0)
    for units in equations.EQUATIONS[name]["hidden"]:
        inner = inner | ln.Dense(units) | ln.Tanh()
    inner = inner | ln.Dense(1)
    sine = ln.sin(math.pi * a)
    if name == "burgers":
        u = b * (1 - a * a) * inner - sine
        u_a, u_b = ln.gradient(u, [a, b])
        residual = u_b + u * u_a - equations.NU * ln.gradient(u_a, a)
    elif name == "poisson":
        u = a * (1 - a) * b * (1 - b) * inner
        u_a, u_b = ln.gradient(u, [a, b])
        residual = ln.gradient(u_a, a) + ln.gradient(u_b, b) + 2 * math.pi**2 * sine * ln.sin(math.pi * b)
    else:
        u = sine + b * a * (1 - a) * inner
        u_a, u_b = ln.gradient(u, [a, b])
        u_aa = ln.gradient(u_a, a)
        residual = u_b - (u_aa | ln.Dense(1, bias=False, weight_init=1.0, name="diffusion") if name == "inverse"
                          else equations.DIFFUSION * u_aa)
    return f.build({"residual": residual, "u": u})


def main():
    name, count, steps, seed = sys.argv[1], *map(int, sys.argv[2:5])
    a, b = equations.points(name, count, seed)
    targets = {"residual": np.zeros((count, 1), np.float32)}
    if name == "inverse":
        targets["u"] = equations.solution(name, a, b).astype(np.float32)
    model = ln.Model(network(name), device="cpu", threads=2, seed=seed)
    trainer = ln.Trainer(model, optimizer=ln.Adam(learning_rate=2e-3), schedule=ln.CosineDecay(epochs=steps))
    data = ln.Dataset({"a": a, "b": b}, targets)

    def train(many):
        trainer.fit(data, epochs=many, batch=count, shuffle=False)

    def u_at(x, y):
        return model.predict_all(ln.Dataset({"a": x, "b": y}))["u"]

    report.print_run(name, train, steps, u_at,
                     lambda: float(model.parameter("diffusion.weight")[0, 0]) if name == "inverse" else None)


main()
