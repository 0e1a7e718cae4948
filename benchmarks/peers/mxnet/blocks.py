# SPDX-License-Identifier: Apache-2.0
"""What the networks with batch norm share."""
import mxnet as mx

from protocol import nn

# Linnet's first weights of their convolutions: N(0, 2 / fan in).
HE = mx.init.MSRAPrelu("in", slope=0)


def convolution(channels, kernel, stride=1):
    return nn.Conv2D(channels, kernel, stride, kernel // 2, use_bias=False, weight_initializer=HE)


def norm(silent=False):
    """`silent`: starts with scales of 0."""
    return nn.BatchNorm(gamma_initializer="zeros" if silent else "ones")


def active():
    """Batch norm and ReLU."""
    found = nn.HybridSequential()
    found.add(norm(), nn.Activation("relu"))
    return found


def stem():
    """Convolution 7x7/2 of 64, batch norm, ReLU, max pool 3x3/2."""
    found = nn.HybridSequential()
    found.add(convolution(64, 7, 2), active(), nn.MaxPool2D(3, 2, 1))
    return found
