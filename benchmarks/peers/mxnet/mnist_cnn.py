#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In MXNet: conv 16 3x3 same, ReLU, max pool 2, dense 10; 31,530 parameters."""
import protocol
from protocol import nn


def network():
    found = nn.HybridSequential()
    found.add(protocol.pixels(), nn.Conv2D(16, 3, padding=1, activation="relu"), nn.MaxPool2D(2),
              nn.Dense(10))
    return found


if __name__ == "__main__":
    protocol.run(__file__, network, protocol.cross_entropy())
