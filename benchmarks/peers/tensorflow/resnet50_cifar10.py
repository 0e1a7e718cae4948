#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ResNet-50 v1.5 (He et al., 2016; the stride in the 3x3) on (32, 32, 3); 23,528,522 parameters."""
import keras
from keras import layers

import protocol
from blocks import active, convolution, norm, stem


def bottleneck(x, width, stride):
    outputs, shortcut = 4 * width, x
    if stride != 1 or x.shape[-1] != outputs:
        shortcut = norm(convolution(x, outputs, 1, stride))
    x = active(convolution(x, width, 1))
    x = active(convolution(x, width, 3, stride))
    x = norm(convolution(x, outputs, 1), silent=True)  # Linnet's first weights, as the last layer's
    return layers.ReLU()(layers.Add()([x, shortcut]))


def network(classes=10, size=32, pixels=protocol.pixels):
    """Ends in 2,048 features if there are no classes."""
    images = keras.Input((size, size, 3), dtype="uint8")
    x = stem(pixels()(images))
    for stage, blocks in enumerate((3, 4, 6, 3)):
        for block in range(blocks):
            x = bottleneck(x, 64 << stage, 2 if stage > 0 and block == 0 else 1)
    x = layers.GlobalAveragePooling2D()(x)
    if classes:
        small = keras.initializers.RandomNormal(stddev=0.01)
        x = layers.Dense(classes, kernel_initializer=small)(x)
    return keras.Model(images, x)


if __name__ == "__main__":
    protocol.run(__file__, network, protocol.cross_entropy)
