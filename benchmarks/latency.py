# SPDX-License-Identifier: Apache-2.0
"""Milliseconds from a sample to its prediction, of rows that predict at batch 1."""
from figures import number
from side_table import Table, title_of


def table(result):
    found = [(title_of(row), name, 1000 / engine["samples_per_second"]["median"])
             for row in result["workloads"] if row["mode"] == "infer" and row["batch"] == 1
             for name, engine in row["engines"].items() if engine["samples_per_second"]]
    bars = {}
    for title, name, ms in found:
        bars.setdefault(title, []).append((name, ms))
    return Table("Latency at batch 1", "Milliseconds from a sample to its prediction, one after "
                 "another: median of the repetitions' means.",
                 ("workload", "engine", "ms a prediction"),
                 [(title, name, number(ms)) for title, name, ms in found], bars, "ms")
