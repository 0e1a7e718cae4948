# SPDX-License-Identifier: Apache-2.0
"""What all sides train: 32 MLPs on one table, each with a learning rate of its own."""
import json
import statistics
import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1]))
from call_seconds import call_seconds  # noqa: E402

MEMBERS, SAMPLES, BATCH = 32, 8192, 256
WIDTHS = [32, 128, 128, 1]
RATES = [float(rate) for rate in np.geomspace(3e-4, 3e-3, MEMBERS)]
# Operations of a training step for a sample: forward, gradients of weights, and of inputs but for the first layer's.
FLOPS = sum(2 * a * b * (2 if i == 0 else 3) for i, (a, b) in enumerate(zip(WIDTHS, WIDTHS[1:])))


def data():
    x = np.random.default_rng(1).normal(size=(SAMPLES, WIDTHS[0])).astype(np.float32)
    return x, np.sin(x[:, :4].sum(axis=1, keepdims=True)).astype(np.float32)


def report(epoch, seconds, **more):
    """Prints samples of members a second; `epoch` trains all members for one epoch."""
    taken = statistics.median(call_seconds(epoch, seconds, untimed=2, least=3))
    print(json.dumps({"train": MEMBERS * SAMPLES / taken, **more}))
