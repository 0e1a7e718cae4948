# SPDX-License-Identifier: Apache-2.0
"""What the networks with batch norm share."""
from protocol import chainer

F, L = chainer.functions, chainer.links
# Linnet's first weights of their convolutions: N(0, 2 / fan in).
HE = chainer.initializers.HeNormal()


def convolution(inputs, outputs, kernel, stride=1):
    return L.Convolution2D(inputs, outputs, kernel, stride, kernel // 2, nobias=True, initialW=HE)


def norm(channels, silent=False):
    """`silent`: starts with scales of 0."""
    return L.BatchNormalization(channels, decay=0.9, eps=1e-5, initial_gamma=0 if silent else 1)


def active(channels):
    """Batch norm and ReLU."""
    return chainer.Sequential(norm(channels), F.relu)


def stem():
    """Convolution 7x7/2 of 64, batch norm, ReLU, max pool 3x3/2."""
    return chainer.Sequential(convolution(3, 64, 7, 2), active(64),
                              lambda x: F.max_pooling_2d(x, 3, 2, 1, cover_all=False))


def pooled(x):
    """The mean of each channel, (N, C)."""
    return F.mean(x, (2, 3))
