# SPDX-License-Identifier: Apache-2.0
"""Speed over batch, over steps an epoch and over threads, of workloads that ran with several."""
import figures
from side_table import Table

WORDS = {"batch": "batch", "steps": "steps an epoch", "threads": "threads"}


def groups(result):
    """[(by, what is the same in words, rows that differ in `by` alone, in its order)]."""
    found = {}
    for row in result["workloads"]:
        if row["failed"]:
            continue
        steps = row.get("steps", 0)
        for by in WORDS:
            # A row of steps has the batch that follows from them.
            if not row.get(by) or (by == "batch" and steps):
                continue
            fixed = [f"{WORDS[other]} {row[other]}" for other in WORDS
                     if other != by and row.get(other) and not (other == "batch" and steps)]
            title = ", ".join([f"{row['name']}: samples/s by {WORDS[by]}", *fixed])
            found.setdefault((by, title), []).append(row)
    return [(by, title, sorted(rows, key=lambda row: row[by])) for (by, title), rows in
            found.items() if len({row[by] for row in rows}) > 1]


def points(rows, by, engine):
    """[(x, median samples/s)] of an engine, where it has worked."""
    found = [(row[by], row["engines"].get(engine)) for row in rows]
    return [(x, each["samples_per_second"]["median"]) for x, each in found
            if each and each["samples_per_second"]]


def table(result):
    lines = []
    for by, title, rows in groups(result):
        for name in ["linnet", *result["settings"]["peers"]]:
            found = points(rows, by, name)
            if len(found) > 1:
                first = found[0][1]
                lines.append((title, name, "; ".join(
                    f"{x}: {figures.number(speed)}" + (f" (x {speed / first:.2f})" if i else "")
                    for i, (x, speed) in enumerate(found))))
    return Table("Scaling", "Median samples/s of each, and in brackets over that of the first.",
                 ("workload", "engine", "samples/s"), lines)
