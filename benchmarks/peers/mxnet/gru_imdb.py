#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In MXNet: embedding 30,000 x 125, GRU 100, the last output to dense 2; 3,818,302
parameters. First weights of the embedding and the GRU are PyTorch's, which are Linnet's."""
import mxnet as mx
from mxnet.gluon import rnn

import protocol
from protocol import nn


def last(F, outputs):
    """(N, T, C) to (N, 1, C); MXNet's SequenceLast crashes on the CPU without lengths."""
    return F.slice_axis(outputs, axis=1, begin=-1, end=None)


def network():
    parts = ("i2h_weight", "h2h_weight", "i2h_bias", "h2h_bias")
    uniform = {f"{part}_initializer": mx.init.Uniform(0.1) for part in parts}  # 1 / sqrt(100)
    found = nn.HybridSequential()
    found.add(nn.Embedding(30000, 125, weight_initializer=mx.init.Normal(1)),
              rnn.GRU(100, layout="NTC", **uniform), nn.HybridLambda(last), nn.Dense(2))
    return found


if __name__ == "__main__":
    protocol.run(__file__, network, protocol.cross_entropy())
