# SPDX-License-Identifier: Apache-2.0
"""Times the steps of one engine and prints what it found as one line of JSON."""
import json
import time

import equations

WARM = 20  # steps before the clock starts; they count as steps of the training


def print_run(name, train, steps, u_at, coefficient):
    """train(many) does that number of steps."""
    begin = time.perf_counter()
    train(WARM)
    warm = time.perf_counter() - begin
    begin = time.perf_counter()
    train(steps - WARM)
    seconds = time.perf_counter() - begin
    print(json.dumps({"warm": warm, "steps_per_second": (steps - WARM) / seconds, "seconds": warm + seconds,
                      "error": equations.error(name, u_at), "coefficient": coefficient()}))
