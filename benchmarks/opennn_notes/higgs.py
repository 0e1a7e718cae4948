# SPDX-License-Identifier: Apache-2.0
"""Samples of HIGGS' shape (28 standardised numbers, a binary target), drawn: speed does not depend on what they are."""
import time

import numpy as np

FEATURES, WIDTH = 28, 1024


def samples(rows):
    draw = np.random.default_rng(0)
    x = draw.standard_normal((rows, FEATURES), dtype=np.float32)
    return x, (x.sum(axis=1, keepdims=True) + draw.standard_normal((rows, 1)) > 0).astype(np.float32)


def median_seconds(work, times=5):
    """Seconds of the median call after one that is not counted."""
    seconds = []
    for _ in range(times + 1):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return sorted(seconds[1:])[times // 2]
