#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In MXNet: two 5x5 convolutions of 16 and 8, dense 120, 84, 10 with nothing between them,
as the published network has it; 39,558 parameters."""
import mxnet as mx

import protocol
from protocol import nn


def network():
    found = nn.HybridSequential()
    found.add(protocol.pixels())
    for channels in (16, 8):
        found.add(nn.Conv2D(channels, 5, activation="relu"), nn.MaxPool2D(2))
    found.add(nn.Dense(120), nn.Dense(84), nn.Dense(10))
    return found


if __name__ == "__main__":
    protocol.run(__file__, network, protocol.cross_entropy(),
                 mx.optimizer.SGD(learning_rate=0.01, momentum=0.9))
