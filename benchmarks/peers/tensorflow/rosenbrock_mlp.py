#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In TensorFlow: dense 1000 -> 1000 tanh -> 1; 1,002,001 parameters."""
import keras
from keras import layers

import protocol


def network():
    return keras.Sequential([keras.Input((1000,)), layers.Dense(1000, activation="tanh"),
                             layers.Dense(1)])


if __name__ == "__main__":
    protocol.run(__file__, network, keras.losses.MeanSquaredError)
