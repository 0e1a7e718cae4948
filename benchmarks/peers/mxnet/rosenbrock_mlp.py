#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In MXNet: dense 1000 -> 1000 tanh -> 1; 1,002,001 parameters."""
import protocol
from protocol import nn


def network():
    found = nn.HybridSequential()
    found.add(nn.Dense(1000, activation="tanh"), nn.Dense(1))
    return found


if __name__ == "__main__":
    protocol.run(__file__, network, protocol.squared_error())
