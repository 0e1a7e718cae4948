# SPDX-License-Identifier: Apache-2.0
"""The card's SM clock and power while rows are measured, as nvidia-smi samples them."""
import contextlib
import statistics
import subprocess
import threading
import time

import processes

PERIOD_MS = 100
QUERY = ("nvidia-smi", "-i", "0", "--query-gpu=clocks.sm,power.draw", "--format=csv,noheader,nounits",
         "-lms", str(PERIOD_MS))


class Clocks:
    """Samples from now on; without nvidia-smi there are no samples."""

    def __init__(self):
        self.samples = []  # (time.monotonic(), MHz, W)
        with contextlib.suppress(OSError):
            process = processes.start(QUERY, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                      stderr=subprocess.DEVNULL, text=True)
            threading.Thread(target=self._read, args=(process.stdout,), daemon=True).start()

    def _read(self, lines):
        for line in lines:
            with contextlib.suppress(ValueError):  # "[N/A]"
                clock, power = map(float, line.split(","))
                self.samples.append((time.monotonic(), clock, power))

    def last(self, seconds):
        """Returns the medians of the last `seconds`: {"sm_mhz", "watts"}, null without a sample."""
        least = time.monotonic() - max(seconds, 3e-3 * PERIOD_MS)
        found = [(clock, power) for when, clock, power in list(self.samples) if when >= least]
        clocks, powers = zip(*found) if found else ((), ())
        return {"sm_mhz": statistics.median(clocks) if clocks else None,
                "watts": statistics.median(powers) if powers else None}
