# SPDX-License-Identifier: Apache-2.0
"""torch_side.py EQUATION POINTS STEPS SEED: trains the same network on the equation in PyTorch."""
import math
import sys

import numpy as np
import torch

import equations
import report

torch.set_num_threads(2)


def layers(hidden):
    made, width = [], 2
    for units in [*hidden, 1]:
        layer = torch.nn.Linear(width, units)
        torch.nn.init.xavier_uniform_(layer.weight)
        torch.nn.init.zeros_(layer.bias)
        made += [layer, torch.nn.Tanh()]
        width = units
    return torch.nn.Sequential(*made[:-1])


def gradient(y, *x):
    return torch.autograd.grad(y, x, torch.ones_like(y), create_graph=True)


def main():
    name, count, steps, seed = sys.argv[1], *map(int, sys.argv[2:5])
    torch.manual_seed(seed)
    inner = layers(equations.EQUATIONS[name]["hidden"])
    diffusion = torch.nn.Parameter(torch.ones(()) if name == "inverse" else torch.tensor(equations.DIFFUSION),
                                   requires_grad=name == "inverse")
    weights = [*inner.parameters(), *([diffusion] if name == "inverse" else [])]
    optimizer = torch.optim.Adam(weights, lr=2e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    a, b = (torch.from_numpy(each).requires_grad_() for each in equations.points(name, count, seed))
    known = torch.from_numpy(equations.solution(name, a.detach(), b.detach()).astype(np.float32))

    def u_of(x, y):
        z = inner(torch.cat([x, y], 1))
        sine = torch.sin(math.pi * x)
        if name == "burgers":
            return y * (1 - x * x) * z - sine
        if name == "poisson":
            return x * (1 - x) * y * (1 - y) * z
        return sine + y * x * (1 - x) * z

    def step():
        optimizer.zero_grad(set_to_none=True)
        u = u_of(a, b)
        u_a, u_b = gradient(u, a, b)
        u_aa, = gradient(u_a, a)
        if name == "burgers":
            residual = u_b + u * u_a - equations.NU * u_aa
        elif name == "poisson":
            residual = u_aa + gradient(u_b, b)[0] + 2 * math.pi**2 * torch.sin(math.pi * a) * torch.sin(math.pi * b)
        else:
            residual = u_b - diffusion * u_aa
        loss = residual.square().mean()
        if name == "inverse":
            loss = loss + (u - known).square().mean()
        loss.backward()
        optimizer.step()
        schedule.step()

    def train(many):
        for _ in range(many):
            step()

    def u_at(x, y):
        with torch.no_grad():
            return u_of(torch.from_numpy(x), torch.from_numpy(y)).numpy()

    report.print_run(name, train, steps, u_at, lambda: diffusion.item() if name == "inverse" else None)


main()
