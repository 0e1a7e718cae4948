# SPDX-License-Identifier: Apache-2.0
"""torch_side.py alone|func SECONDS: the members one after the other, or stacked by torch.func, on two threads."""
import sys

import torch
from torch import nn
from torch.func import functional_call, grad, stack_module_state, vmap

from problem import BATCH, RATES, SAMPLES, WIDTHS, data, report


def mlp():
    return nn.Sequential(nn.Linear(WIDTHS[0], WIDTHS[1]), nn.ReLU(), nn.Linear(WIDTHS[1], WIDTHS[2]), nn.ReLU(),
                         nn.Linear(WIDTHS[2], WIDTHS[3]))


def one_after_the_other(x, y):
    models = [mlp() for _ in RATES]
    optimizers = [torch.optim.Adam(model.parameters(), rate, fused=True) for model, rate in zip(models, RATES)]
    loss = nn.MSELoss()

    def epoch():
        for model, optimizer in zip(models, optimizers):
            order = torch.randperm(SAMPLES)
            for i in range(0, SAMPLES, BATCH):
                rows = order[i:i + BATCH]
                optimizer.zero_grad(set_to_none=True)
                loss(model(x[rows]), y[rows]).backward()
                optimizer.step()
    return epoch


def stacked(x, y):
    """Adam by hand, since torch.optim has one learning rate for a stacked tensor."""
    weights, _ = stack_module_state([mlp() for _ in RATES])
    weights = {name: value.detach() for name, value in weights.items()}
    base = mlp()
    rates = torch.tensor(RATES)
    first = {name: torch.zeros_like(value) for name, value in weights.items()}
    second = {name: torch.zeros_like(value) for name, value in weights.items()}
    steps = [0]

    def loss(of, inputs, targets):
        return nn.functional.mse_loss(functional_call(base, of, (inputs,)), targets)
    gradients_of = vmap(grad(loss), in_dims=(0, None, None))

    @torch.no_grad()
    def update(gradients):
        steps[0] += 1
        scale = rates * (1 - 0.999 ** steps[0]) ** 0.5 / (1 - 0.9 ** steps[0])
        for name, gradient in gradients.items():
            first[name].lerp_(gradient, 0.1)
            second[name].mul_(0.999).addcmul_(gradient, gradient, value=0.001)
            by = scale.reshape(-1, *(1,) * (gradient.dim() - 1))
            weights[name].sub_(by * first[name] / (second[name].sqrt() + 1e-8))

    def epoch():
        order = torch.randperm(SAMPLES)
        for i in range(0, SAMPLES, BATCH):
            rows = order[i:i + BATCH]
            update(gradients_of(weights, x[rows], y[rows]))
    return epoch


def main():
    torch.set_num_threads(2)
    torch.manual_seed(0)
    x, y = (torch.from_numpy(each) for each in data())
    report({"alone": one_after_the_other, "func": stacked}[sys.argv[1]](x, y), float(sys.argv[2]))


main()
