#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In TensorFlow: conv 16 3x3 same, ReLU, max pool 2, dense 10; 31,530 parameters."""
import keras
from keras import layers

import protocol


def network():
    return keras.Sequential([
        keras.Input((28, 28, 1), dtype="uint8"), protocol.pixels(),
        layers.Conv2D(16, 3, padding="same", activation="relu"), layers.MaxPool2D(2),
        layers.Flatten(), layers.Dense(10)])


if __name__ == "__main__":
    protocol.run(__file__, network, protocol.cross_entropy)
