#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares two results of run.py, or two of kernels.py, and reports what changed by more than noise
explains.

  benchmarks/check_regression.py BEFORE.json AFTER.json

A quantity changed if the bootstrap interval of after / before, of the medians of the repetitions,
leaves 1 out, and it is further from 1 than its tolerance. Exits with 1 if an engine that is
watched (--engine, Linnet unless told) got worse, fails or has gone, or a kernel of at least 1 % of
its step got slower, and with 2 if the files can't be compared.
"""
import argparse
import json
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path

import figures
import kernel_tables

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
KERNEL = Quantity("seconds", "seconds", 0.05)


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
    return changes, remarks + busy_remarks(before, after)


def kernels_by_shape(result):
    """{what is computed: kernel}; its engine may be another one. The same shapes twice, as with
    other strides, are told apart by their FLOPs and bytes."""
    return {tuple(kernel[part] for part in ("workload", "mode", "batch", "operator", "shapes", "flops", "bytes")): kernel
            for kernel in result["kernels"]}


def compare_kernels(before, after):
    """As compare(), of two results of kernels.py."""
    changes, remarks = [], []
    old, new = kernels_by_shape(before), kernels_by_shape(after)
    for key, was in old.items():
        row = f"{key[0]}, {key[1]}, batch {key[2]}: {key[3]} {key[4]}"
        now = new.get(key)
        if now is None or not (kernel_tables.counts(was) or kernel_tables.counts(now)):
            continue
        engine = now["engine"] or "-"
        if was["engine"] != now["engine"]:
            engine = f"{was['engine'] or '-'} -> {engine}"
        change = change_of(was["seconds"], now["seconds"], KERNEL)
        if change:
            words, worse = change
            changes.append(Change(f"{row}, {engine}", "linnet", words, worse))
    for which, some, others in (("first", old, new), ("second", new, old)):
        gone = sum(key not in others and kernel_tables.counts(kernel) for key, kernel in some.items())
        remarks += [f"{gone} kernels of at least 1 % of a step are in the {which} file alone"] if gone else []
    fewest = min((len(kernel["seconds"]) for kernel in [*old.values(), *new.values()]), default=0)
    if fewest < figures.LEAST_RUNS:
        remarks.append(f"too few repetitions to judge ({fewest}, wanted {figures.LEAST_RUNS})")
    return changes, remarks + busy_remarks(before, after)


def busy_remarks(before, after):
    return [f"the machine was busy during the {which}"
            for which, result in (("first", before), ("second", after)) if result["load"]["busy"]]


def why_not(before, after, any_machine):
    """Why two results have nothing to say about each other, or None."""
    for result in (before, after):
        if result.get("format") != 1:
            return f"expected results of format 1; got {result.get('format')}"
        if result.get("kind", "kernels") != "kernels":
            return f"expected results of run.py or of kernels.py; got {result['kind']}"
    if before.get("kind") != after.get("kind"):
        return "one is of run.py and one of kernels.py"
    for part in (*SETTINGS, "threads") if before.get("kind") else SETTINGS:
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
    changes, remarks = (compare_kernels if results[0].get("kind") else compare)(*results)
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
