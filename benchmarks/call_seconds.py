# SPDX-License-Identifier: Apache-2.0
"""Times a call again and again."""
import time


def call_seconds(call, seconds, untimed, least):
    """The times of the calls that fit into `seconds`, at least `least`, after `untimed` ones."""
    for _ in range(untimed):
        call()
    times = []
    end = time.monotonic() + seconds
    while len(times) < least or time.monotonic() < end:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return times
