#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In PyTorch: conv 16 3x3 same, ReLU, max pool 2, dense 10; 31,530 parameters."""
from torch import nn
from torch.nn import functional

import protocol


def network():
    return protocol.glorot(nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(),
                                         nn.MaxPool2d(2), nn.Flatten(),
                                         nn.Linear(14 * 14 * 16, 10)))


def forward(model, images):
    return model(protocol.pixels(images))


if __name__ == "__main__":
    protocol.run(__file__, network, forward, functional.cross_entropy)
