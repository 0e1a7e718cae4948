#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In Chainer: dense 1000 -> 1000 tanh -> 1; 1,002,001 parameters."""
from protocol import GLOROT, chainer, run

F, L = chainer.functions, chainer.links


def network():
    return chainer.Sequential(L.Linear(1000, 1000, initialW=GLOROT), F.tanh,
                              L.Linear(1000, 1, initialW=GLOROT))


if __name__ == "__main__":
    run(__file__, network, F.mean_squared_error)
