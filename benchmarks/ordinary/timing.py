# SPDX-License-Identifier: Apache-2.0
"""Times one engine's training, batches and single samples, and prints them as one line of JSON."""
import json
import resource
import statistics
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
from call_seconds import call_seconds  # noqa: E402


def median_seconds(run, seconds):
    """The median of the runs that fit into `seconds`, at least 3, after 2 that do not count."""
    return statistics.median(call_seconds(run, seconds, untimed=2, least=3))


def predictions(batch, predict_batch, predict_one):
    """Samples a second in batches and one by one; each function has no arguments."""
    return {"batch": batch / median_seconds(predict_batch, 1.5), "one": 1 / median_seconds(predict_one, 1.0),
            "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def report_predictions(batch, predict_batch, predict_one):
    print(json.dumps(predictions(batch, predict_batch, predict_one)))


def report(samples, batch, epoch, predict_batch, predict_one, more=dict):
    """Each of the three is a function without arguments; the first epoch is the start-up. `more` is called after all
    of them and returns what else is printed."""
    start = time.monotonic()
    epoch()
    first = time.monotonic() - start
    timed = {"first_epoch": first, "train": samples / median_seconds(epoch, 2.5),
             **predictions(batch, predict_batch, predict_one)}
    print(json.dumps(timed | more()))
