#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In PyTorch: embedding 30,000 x 125, GRU 100, the last output to dense 2; 3,818,302
parameters. Linnet's first weights of the embedding and the GRU are PyTorch's own."""
from torch import nn
from torch.nn import functional

import protocol


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(30000, 125)
        self.gru = nn.GRU(125, 100, batch_first=True)
        self.dense = nn.Linear(100, 2)

    def forward(self, words):
        return self.dense(self.gru(self.embedding(words))[0][:, -1])


def network():
    return protocol.glorot(Network())


def forward(model, samples):
    return model(samples)


if __name__ == "__main__":
    protocol.run(__file__, network, forward, functional.cross_entropy)
