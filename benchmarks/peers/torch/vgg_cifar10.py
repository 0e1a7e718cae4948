#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In PyTorch: four 3x3 convolutions of 50, 50, 100, 100, dense 512; 3,441,592 parameters.
The ReLU comes after the pooling: the same values, and a quarter of the work."""
from torch import nn
from torch.nn import functional

import protocol


def network():
    return protocol.glorot(nn.Sequential(
        nn.Conv2d(3, 50, 3, padding=1), nn.ReLU(inplace=True), nn.Conv2d(50, 50, 3, padding=1),
        nn.MaxPool2d(2), nn.ReLU(inplace=True), nn.Dropout(0.25),
        nn.Conv2d(50, 100, 3, padding=1), nn.ReLU(inplace=True), nn.Conv2d(100, 100, 3, padding=1),
        nn.MaxPool2d(2), nn.ReLU(inplace=True), nn.Dropout(0.25),
        nn.Flatten(), nn.Linear(6400, 512), nn.ReLU(inplace=True), nn.Dropout(0.5),
        nn.Linear(512, 10)))


def forward(model, images):
    return model(protocol.pixels(images))


if __name__ == "__main__":
    protocol.run(__file__, network, forward, functional.cross_entropy,
                 protocol.momentum(0.01))
