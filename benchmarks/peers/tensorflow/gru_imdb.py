#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In TensorFlow: embedding 30,000 x 125, GRU 100, the last output to dense 2; 3,818,302
parameters. First weights of the embedding and the GRU are PyTorch's, which are Linnet's."""
import keras
from keras import layers

import protocol


def network():
    def uniform():
        return keras.initializers.RandomUniform(-0.1, 0.1)  # 1 / sqrt(100)
    return keras.Sequential([
        keras.Input((150,), dtype="int32"),
        layers.Embedding(30000, 125,
                         embeddings_initializer=keras.initializers.RandomNormal(stddev=1.0)),
        layers.GRU(100, kernel_initializer=uniform(), recurrent_initializer=uniform(),
                   bias_initializer=uniform()),
        layers.Dense(2)])


if __name__ == "__main__":
    protocol.run(__file__, network, protocol.cross_entropy)
