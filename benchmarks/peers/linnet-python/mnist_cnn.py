#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In Linnet for Python: conv 16 3x3 same, ReLU, max pool 2, dense 10; 31,530 parameters."""
import linnet as ln

import protocol

if __name__ == "__main__":
    protocol.run(__file__, ln.sequential((28, 28, 1), [
        ln.Rescale(1 / 255), ln.Conv2d(16, padding="same"), ln.ReLU(), ln.MaxPool2d(), ln.Flatten(), ln.Dense(10)]))
