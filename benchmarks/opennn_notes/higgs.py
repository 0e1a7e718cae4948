# SPDX-License-Identifier: Apache-2.0
"""Samples of HIGGS' shape (28 standardised numbers, a binary target), drawn: speed does not depend on what they are."""
import json
import statistics
import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1]))
from call_seconds import call_seconds  # noqa: E402

FEATURES, WIDTH = 28, 1024


def samples(rows):
    draw = np.random.default_rng(0)
    x = draw.standard_normal((rows, FEATURES), dtype=np.float32)
    return x, (x.sum(axis=1, keepdims=True) + draw.standard_normal((rows, 1)) > 0).astype(np.float32)


def report(work, rows, times):
    """Prints samples/s of the median call of `work`, after one that is not counted."""
    seconds = statistics.median(call_seconds(work, 0, untimed=1, least=times))
    print(json.dumps({"samples_per_second": rows / seconds}))
