#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In PyTorch: dense 1000 -> 1000 tanh -> 1; 1,002,001 parameters."""
from torch import nn
from torch.nn import functional

import protocol


def network():
    return protocol.glorot(nn.Sequential(nn.Linear(1000, 1000), nn.Tanh(), nn.Linear(1000, 1)))


def forward(model, samples):
    return model(samples)


if __name__ == "__main__":
    protocol.run(__file__, network, forward, functional.mse_loss)
