# SPDX-License-Identifier: Apache-2.0
"""Medians, ratios with their intervals and verdicts, of runs of run.py; and numbers in words."""
import random
import statistics

RESAMPLES = 10000
LOSS_NOISE = 0.1    # relative; seeds alone make this much on short runs
LEAST_RUNS = 3      # fewer have no interval worth the name


def bootstrap(groups, statistic=statistics.median, confidence=0.95, seed=0):
    """Percentile interval of `statistic` of `groups`, each drawn anew with replacement."""
    rng = random.Random(seed)
    found = sorted(statistic(*(rng.choices(group, k=len(group)) for group in groups))
                   for _ in range(RESAMPLES))
    outside = (1 - confidence) / 2
    return found[int(outside * RESAMPLES)], found[int((1 - outside) * RESAMPLES) - 1]


def interval(values):
    """Bootstrap 95 % interval of the median."""
    return bootstrap([values])


def spread(values):
    values = [value for value in values if value is not None]
    if not values:
        return None
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def good(runs):
    return [run for run in runs if run and run["failed"] is None]


def failure(runs):
    """Why one of the runs failed, or None."""
    return next((run["failed"] for run in runs if run and run["failed"]), None)


def summary(runs):
    """Of an engine's repetitions."""
    keys = ("samples_per_second", "loss", "startup_s", "peak_bytes")
    return {"failed": failure(runs),
            **{key: spread([run.get(key) for run in good(runs)]) for key in keys},
            "runs": runs}


def ratio(above, below, key="samples_per_second"):
    """One's speed over the other's, or another figure's, paired by repetition; None without a
    pair."""
    each = [a[key] / b[key] for a, b in zip(above, below)
            if good([a]) and good([b]) and a.get(key) is not None and b.get(key)]
    if not each:
        return None
    low, high = interval(each)
    return {"median": statistics.median(each), "low": low, "high": high, "each": each}


def verdict(ratio_to_linnet):
    """What a ratio says of Linnet, no kinder than its interval."""
    if ratio_to_linnet is None:
        return "failed"
    if len(ratio_to_linnet["each"]) < LEAST_RUNS:
        return "too few repetitions"
    if ratio_to_linnet["low"] > 1:
        return "faster"
    return "slower" if ratio_to_linnet["high"] < 1 else "no difference shown"


def ratio_words(found, to=" to "):
    """Of a ratio: its interval, or of how few pairs it is."""
    if not found:
        return "–"
    few = len(found["each"])
    return f"{found['median']:.2f} (" + (
        f"{found['low']:.2f}{to}{found['high']:.2f})" if few >= LEAST_RUNS else
        f"{few} pair{'s' if few > 1 else ''})")


def losses_differ(linnet, peer):
    """Whether final losses are further apart than repetitions of either, and seeds, explain."""
    if not linnet or not peer:
        return False
    width = max(each["max"] - each["min"] for each in (linnet, peer))
    scale = max(abs(linnet["median"]), abs(peer["median"]))
    return abs(linnet["median"] - peer["median"]) > max(width, LOSS_NOISE * scale)


def number(value):
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def range_of(values, scale=1.0):
    if values is None:
        return "–"
    ends = f"{number(values['min'] / scale)} to {number(values['max'] / scale)}"
    return f"{number(values['median'] / scale)} ({ends})"
