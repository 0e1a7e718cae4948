# SPDX-License-Identifier: Apache-2.0
"""What the networks with batch norm share."""
from keras import layers

import protocol


def convolution(x, channels, kernel, stride=1):
    """Padded alike on all sides, where Keras' "same" pads a stride of 2 on one side alone."""
    if stride > 1 and kernel > 1:
        x = layers.ZeroPadding2D(kernel // 2)(x)
    return layers.Conv2D(channels, kernel, stride, padding="valid" if stride > 1 else "same",
                         use_bias=False, kernel_initializer=protocol.he())(x)


def norm(x, silent=False):
    """`silent`: starts with scales of 0."""
    return layers.BatchNormalization(momentum=0.9, epsilon=1e-5,
                                     gamma_initializer="zeros" if silent else "ones")(x)


def active(x):
    return layers.ReLU()(norm(x))


def stem(x):
    """Convolution 7x7/2 of 64, batch norm, ReLU, max pool 3x3/2."""
    x = layers.ZeroPadding2D(1)(active(convolution(x, 64, 7, 2)))  # nothing is below 0
    return layers.MaxPool2D(3, 2)(x)
