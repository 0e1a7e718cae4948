# SPDX-License-Identifier: Apache-2.0
"""Times one call."""
import time


def least_seconds(call, seconds=1.0):
    """The least of the calls that fit into `seconds`, at least 5, after 3: what others do on the machine adds alone."""
    for _ in range(3):
        call()
    times = []
    end = time.monotonic() + seconds
    while len(times) < 5 or time.monotonic() < end:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)
