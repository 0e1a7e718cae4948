# SPDX-License-Identifier: Apache-2.0
"""Linnet beside itself: what it does by a rule that no clock has judged, and the other ways."""
import statistics

import correctness
import engines
import jobs
import workloads
from check import BENCHMARKS
from correctness import REHEARSED_WORK
from measure import Work

ROUNDS = 3  # of every way, in turns
NODES = "*NodeCost*"  # the test that measures what a node costs
DEFAULT = "default"
WITHOUT = "without "  # and the name of a pass
# Further arguments of `linnet bench` of the other ways.
WAYS = {DEFAULT: (), "any order of sums": ("--deterministic", "off"),
        "a graph a step": ("--graph", "1"), "no graph": ("--graph", "off")}
PRECISION = "tf32"


def words_of(way):
    """The arguments of `linnet bench` for a way that workloads.json names."""
    if way.startswith(WITHOUT):
        return ("--disable-pass", way.removeprefix(WITHOUT))
    return WAYS[way]


def measure(check, name, size, way, turn):
    """Runs one way once; the samples a second, or None where there are none."""
    job = Work(name, size, precision=PRECISION).job(check)
    command = [*engines.linnet_command(str(check.programs.linnet), job), "--json", "-",
               *words_of(way)]
    row, failed = check.bench(command)
    check.row(BENCHMARKS, {**(row or {}), "about": "choice", "way": way, "turn": turn,
                           "name": name, "batch": job.batch, "precision": PRECISION,
                           "failed": failed})
    if failed:
        check.say(f"  {name}, {way}: {failed}")
    return row and row["samples_per_second"]


def compare(check):
    """Measures a node's cost, then every way of every choice in turns, as far as the time goes."""
    correctness.sharded(check, "cuda_backend_test_cuda", arguments=[f"--gtest_filter={NODES}"])
    for name, entry in workloads.ALL.items():
        choice = entry.get("gpu_choices")
        if choice is None or (check.rehearsal and name != REHEARSED_WORK[0][0]):
            continue
        speeds = {way: [] for way in (DEFAULT, *choice["ways"])}
        for turn in range(1 if check.rehearsal else ROUNDS):
            for way, found in speeds.items():
                failed_before = turn > 0 and not found
                if failed_before or check.left() < 3:
                    continue
                speed = measure(check, name, jobs.Size(*choice["size"]), way, turn)
                found += [speed] if speed else []
        medians = {way: statistics.median(each) for way, each in speeds.items() if each}
        for way, speed in medians.items():
            ratio = f", {speed / medians[DEFAULT]:.3f} of default" if DEFAULT in medians else ""
            check.say(f"  {name}, {way}: {speed:,.0f} samples/s{ratio}")
