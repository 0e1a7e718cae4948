#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In Linnet for Python: dense 1000 -> 1000 tanh -> 1; 1,002,001 parameters."""
import linnet as ln

import protocol

if __name__ == "__main__":
    protocol.run(__file__, ln.sequential(1000, [ln.Dense(1000), ln.Tanh(), ln.Dense(1)]), loss="mse")
