#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In MXNet: four 3x3 convolutions of 50, 50, 100, 100, dense 512; 3,441,592 parameters.
The ReLU comes after the pooling: the same values, and a quarter of the work."""
import mxnet as mx

import protocol
from protocol import nn


def network():
    found = nn.HybridSequential()
    found.add(protocol.pixels())
    for channels in (50, 100):
        found.add(nn.Conv2D(channels, 3, padding=1, activation="relu"),
                  nn.Conv2D(channels, 3, padding=1), nn.MaxPool2D(2), nn.Activation("relu"),
                  nn.Dropout(0.25))
    found.add(nn.Dense(512, activation="relu"), nn.Dropout(0.5), nn.Dense(10))
    return found


if __name__ == "__main__":
    protocol.run(__file__, network, protocol.cross_entropy(),
                 mx.optimizer.SGD(learning_rate=0.01, momentum=0.9))
