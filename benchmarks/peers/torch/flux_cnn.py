#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In PyTorch: two 5x5 convolutions of 16 and 8, dense 120, 84, 10 with nothing between
them, as the published network has it; 39,558 parameters."""
from torch import nn
from torch.nn import functional

import protocol


def network():
    return protocol.glorot(nn.Sequential(
        nn.Conv2d(3, 16, 5), nn.ReLU(inplace=True), nn.MaxPool2d(2),
        nn.Conv2d(16, 8, 5), nn.ReLU(inplace=True), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(200, 120), nn.Linear(120, 84), nn.Linear(84, 10)))


def forward(model, images):
    return model(protocol.pixels(images))


if __name__ == "__main__":
    protocol.run(__file__, network, forward, functional.cross_entropy,
                 protocol.momentum(0.01))
