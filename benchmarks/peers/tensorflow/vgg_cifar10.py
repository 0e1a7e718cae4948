#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In TensorFlow: four 3x3 convolutions of 50, 50, 100, 100, dense 512; 3,441,592
parameters. The ReLU comes after the pooling: the same values, and a quarter of the work."""
import keras
from keras import layers

import protocol


def network():
    return keras.Sequential([
        keras.Input((32, 32, 3), dtype="uint8"), protocol.pixels(),
        layers.Conv2D(50, 3, padding="same", activation="relu"),
        layers.Conv2D(50, 3, padding="same"),
        layers.MaxPool2D(2), layers.ReLU(), layers.Dropout(0.25),
        layers.Conv2D(100, 3, padding="same", activation="relu"),
        layers.Conv2D(100, 3, padding="same"),
        layers.MaxPool2D(2), layers.ReLU(), layers.Dropout(0.25),
        layers.Flatten(), layers.Dense(512, activation="relu"), layers.Dropout(0.5),
        layers.Dense(10)])


if __name__ == "__main__":
    protocol.run(__file__, network, protocol.cross_entropy,
                 lambda: protocol.momentum(0.01))
