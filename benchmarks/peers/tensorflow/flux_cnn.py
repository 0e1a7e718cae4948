#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In TensorFlow: two 5x5 convolutions of 16 and 8, dense 120, 84, 10 with nothing between
them, as the published network has it; 39,558 parameters."""
import keras
from keras import layers

import protocol


def network():
    return keras.Sequential([
        keras.Input((32, 32, 3), dtype="uint8"), protocol.pixels(),
        layers.Conv2D(16, 5, activation="relu"), layers.MaxPool2D(2),
        layers.Conv2D(8, 5, activation="relu"), layers.MaxPool2D(2),
        layers.Flatten(), layers.Dense(120), layers.Dense(84), layers.Dense(10)])


if __name__ == "__main__":
    protocol.run(__file__, network, protocol.cross_entropy,
                 lambda: protocol.momentum(0.01))
