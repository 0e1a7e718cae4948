#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares two results of run.py and reports what changed by more than noise explains.

  benchmarks/check_regression.py BEFORE.json AFTER.json

A quantity changed if the bootstrap interval of after / before, of the medians of the repetitions,
leaves 1 out, and it is further from 1 than its tolerance. Exits with 1 if an engine that is
watched (--engine, Linnet unless told) got worse, fails or has gone, and with 2 if the files can't
be compared.
"""
import argparse
import json
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path

import figures

CONFIDENCE = 0.99  # many are compared at once
SETTINGS = ("device", "precision", "protocol")
WORK = ("samples", "warmup", "epochs", "data")


@dataclass(frozen=True)
class Quantity:
    key: str
    title: str
    tolerance: float  # relative
    more_is_better: bool = False


QUANTITIES = (Quantity("samples_per_second", "samples/s", 0.03, more_is_better=True),
              Quantity("startup_s", "start-up", 0.1), Quantity("peak_bytes", "memory", 0.03),
              Quantity("loss", "loss", 0.03))


@dataclass(frozen=True)
class Change:
    row: str
    engine: str
    words: str
    worse: bool


def values_of(engine, quantity):
    return [run[quantity.key] for run in figures.good(engine["runs"])
            if run.get(quantity.key) is not None]


def change_of(before, after, quantity):
    """(words, whether it is worse) of two lists, or None where nothing has changed."""
    if min(len(before), len(after)) < figures.LEAST_RUNS or statistics.median(before) <= 0:
        return None
    ratio = statistics.median(after) / statistics.median(before)
    if abs(ratio - 1) <= quantity.tolerance:
        return None
    low, high = figures.bootstrap(
        [after, before], lambda a, b: statistics.median(a) / statistics.median(b), CONFIDENCE)
    if low <= 1 <= high:
        return None
    worse = (ratio < 1) == quantity.more_is_better
    return (f"{quantity.title} {figures.number(statistics.median(before))} -> "
            f"{figures.number(statistics.median(after))}, x {ratio:.3f} ({low:.3f} to "
            f"{high:.3f}), {'worse' if worse else 'better'}"), worse


def engine_changes(row, name, before, after):
    """Changes of one engine in a row."""
    if after is None or after["failed"]:
        why = f"fails now: {after['failed']}" if after else "is not there any more"
        known = before["failed"] and after
        return [] if known else [Change(row, name, why, True)]
    if before["failed"]:
        return [Change(row, name, "runs now", False)]
    found = []
    for quantity in QUANTITIES:
        change = change_of(values_of(before, quantity), values_of(after, quantity), quantity)
        if change:
            found.append(Change(row, name, *change))
    return found


def rows_of(result):
    """{(name, batch, threads): row}; a row that failed as a whole has no engines."""
    return {(row["name"], row["batch"], row["threads"]): row for row in result["workloads"]}


def title_of(key):
    name, batch, threads = key
    return f"{name}, batch {batch}" + (f", threads {threads}" if threads else "")


def compare(before, after):
    """(changes, remarks): what changed, and in words what was not judged."""
    changes, remarks = [], []
    new = rows_of(after)
    for key, old_row in rows_of(before).items():
        title, row = title_of(key), new.get(key)
        if row is None:
            remarks.append(f"{title}: only the first file has it")
        elif row["failed"]:
            changes.append(Change(title, "linnet", f"fails now: {row['failed']}", True))
        elif [old_row[part] for part in WORK] != [row[part] for part in WORK] and \
                not old_row["failed"]:
            remarks.append(f"{title}: not the same work: " + ", ".join(
                f"{part} {old_row[part]} and {row[part]}" for part in WORK
                if old_row[part] != row[part]))
        else:
            for name, engine in old_row["engines"].items():
                changes += engine_changes(title, name, engine, row["engines"].get(name))
                now = row["engines"].get(name)
                few = min(len(each["runs"]) for each in (engine, now or engine))
                if few < figures.LEAST_RUNS and not (engine["failed"] or now and now["failed"]):
                    remarks.append(f"{title}, {name}: too few repetitions to judge ({few}, wanted "
                                   f"{figures.LEAST_RUNS})")
    remarks += [f"{title_of(key)}: only the second file has it" for key in new
                if key not in rows_of(before)]
    for which, result in (("first", before), ("second", after)):
        if result["load"]["busy"]:
            remarks.append(f"the machine was busy during the {which}")
    return changes, remarks


def why_not(before, after, any_machine):
    """Why two results have nothing to say about each other, or None."""
    for result in (before, after):
        if result.get("format") != 1:
            return f"expected results of format 1; got {result.get('format')}"
    for part in SETTINGS:
        a, b = before["settings"][part], after["settings"][part]
        if a != b:
            return f"they differ in {part}: {a} and {b}"
    machines = [(result["machine"]["processor"], result["machine"]["processors"])
                for result in (before, after)]
    if machines[0] != machines[1] and not any_machine:
        return "they are of different machines; --any-machine compares them nevertheless"
    return None


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--engine", action="append", help="engine to compare, repeatable; linnet if not given")
    parser.add_argument("--any-machine", action="store_true", help="also compare results of different machines")
    options = parser.parse_args(words)
    results = []
    for path in (options.before, options.after):
        try:
            results.append(json.loads(path.read_text()))
        except (OSError, ValueError) as error:
            print(f"check_regression.py: cannot read {path}: {error}", file=sys.stderr)
            return 2
    reason = why_not(*results, options.any_machine)
    if reason:
        print(f"check_regression.py: {reason}", file=sys.stderr)
        return 2
    changes, remarks = compare(*results)
    watched = options.engine or ["linnet"]
    regressions = 0
    for change in changes:
        bad = change.worse and change.engine in watched
        regressions += bad
        print(f"{'REGRESSION ' if bad else ''}{change.row}, {change.engine}: {change.words}")
    for remark in remarks:
        print(f"note: {remark}")
    others = any(change.engine not in watched for change in changes)
    if others and regressions:
        print("note: engines that are not watched changed too; perhaps the machine did")
    print(f"{len(changes)} changes, {regressions} of them regressions")
    return int(regressions > 0)


if __name__ == "__main__":
    sys.exit(main())
