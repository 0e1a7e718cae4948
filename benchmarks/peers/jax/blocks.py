# SPDX-License-Identifier: Apache-2.0
"""What the networks with batch norm share."""
from flax import linen as nn

import protocol


def convolution(x, channels, kernel, stride=1):
    if kernel == 1:  # as a product: XLA on the CPU takes up to 7 times as long for its gradient
        return nn.Dense(channels, use_bias=False, kernel_init=protocol.HE)(x[:, ::stride, ::stride])
    return nn.Conv(channels, (kernel, kernel), stride, padding=kernel // 2, use_bias=False,
                   kernel_init=protocol.HE)(x)


def norm(x, train, silent=False):
    """`silent`: starts with scales of 0."""
    scale = nn.initializers.zeros if silent else nn.initializers.ones
    return nn.BatchNorm(not train, momentum=0.9, epsilon=1e-5, scale_init=scale)(x)


def stem(x, train):
    """Convolution 7x7/2 of 64, batch norm, ReLU, max pool 3x3/2."""
    x = nn.relu(norm(convolution(x, 64, 7, 2), train))
    return nn.max_pool(x, (3, 3), (2, 2), padding=((1, 1), (1, 1)))
