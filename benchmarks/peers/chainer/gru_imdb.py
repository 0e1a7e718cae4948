#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In Chainer: embedding 30,000 x 125, GRU 100, the last output to dense 2; 3,818,302
parameters. First weights of the embedding and the GRU are PyTorch's, which are Linnet's."""
from protocol import GLOROT, chainer, run

F, L = chainer.functions, chainer.links


class Network(chainer.Chain):
    def __init__(self):
        super().__init__()
        uniform = chainer.initializers.Uniform(0.1)  # 1 / sqrt(100)
        with self.init_scope():
            self.embedding = L.EmbedID(30000, 125)  # N(0, 1)
            self.gru = L.NStepGRU(1, 125, 100, 0, initialW=uniform, initial_bias=uniform)
            self.dense = L.Linear(100, 2, initialW=GLOROT)

    def forward(self, words):
        last, _ = self.gru(None, F.separate(self.embedding(words)))
        return self.dense(last[0])


if __name__ == "__main__":
    run(__file__, Network, F.softmax_cross_entropy)
