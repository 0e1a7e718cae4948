#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mnist-cnn in PyTorch: conv 16 3x3 same, ReLU, max pool 2, dense 10; 31,530 parameters."""
from torch import nn
from torch.nn import functional

import protocol


def network():
    return protocol.glorot(nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(),
                                         nn.MaxPool2d(2), nn.Flatten(),
                                         nn.Linear(14 * 14 * 16, 10)))


def loss(model, samples, labels):
    return functional.cross_entropy(model(protocol.pixels(samples)), labels)


if __name__ == "__main__":
    protocol.train("mnist-cnn", 128, network, loss)
