#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the rows that tools/gpu_check.sh has recorded.

gpu_report.py numerics FILE  compares every device's loss curve with the CPU's of the same workload;
                             exits 1 where one is further away than its precision allows.
gpu_report.py table FILE     prints the speeds of all engines, and ratios beside their targets.
"""
import json
import math
import statistics
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "benchmarks"))
import figures  # noqa: E402
import workloads  # noqa: E402

# Of an epoch's mean loss, relative to the CPU's or to FLOOR, whichever is larger.
ALLOWED = {"fp32": 2e-3, "auto": 3e-2, "tf32": 3e-2, "bf16": 1e-1, "fp16": 1e-1}
FLOOR = 0.05
# The column of each engine. Of several engines of one column, the faster one counts.
COLUMNS = {"linnet": "Linnet", "torch": "eager", "torch-compile": "compile",
           "torch-reduce-overhead": "compile", "torch-max-autotune": "compile",
           "torch-graph": "captured", "jax-epoch": "JAX", "jax": "JAX"}
RIVALS = ("eager", "compile", "captured", "JAX")
# Wanted ratios, by workload and batch (None: any): to eager, compiled and hand-captured PyTorch.
TARGETS = {(f"{name}:infer" if target["mode"] == "infer" else name, target["batch"]): target["over"]
           for name, entry in workloads.ALL.items() for target in entry.get("gpu_targets", ())}
PRECISION = "tf32"  # of the targets
KEPT_AT_50 = 0.98   # of rosenbrock-mlp's speed with one step an epoch, with 50
LOSS_NOISE = 0.1


def lines(path):
    rows = []
    for line in Path(path).read_text().splitlines():
        try:
            rows.append(json.loads(line))
        except ValueError:  # the last one of a run that was killed
            print(f"{path}: not JSON: {line[:80]}", file=sys.stderr)
    return rows


def numbers(values):
    """A NaN is null in JSON."""
    return [math.nan if value is None else value for value in values]


def work(row):
    return row["workload"], row["batch"], row["train_samples"]


def curves(rows):
    """(whether it is close enough, a line) of each curve that is not the CPU's."""
    expected = {work(row): numbers(row["losses"]) for row in rows if row["device"] == "cpu"}
    for row in rows:
        if row["device"] == "cpu" or row.get("about") == "graph modes":
            continue
        name, curve = f"curve {row['workload']} {row['precision']}", expected.get(work(row))
        losses = numbers(row["losses"])
        if curve is None or len(curve) != len(losses):
            yield False, f"{name}: there is no curve of the CPU's"
            continue
        differences = [abs(a - b) / max(abs(b), FLOOR) if math.isfinite(a) else math.inf
                       for a, b in zip(losses, curve)]
        worst, allowed = max(differences), ALLOWED[row["precision"]]
        yield worst <= allowed, (
            f"{name}: {worst:.1e} at epoch {differences.index(worst) + 1} of {len(curve)}, allowed "
            f"{allowed:.0e}: {'ok' if worst <= allowed else 'TOO FAR'}; loss {curve[0]:.4f} to "
            f"{losses[-1]:.4f} (CPU {curve[-1]:.4f})")


def speed_of(row):
    found = row["samples_per_second"]
    return found["median"] if isinstance(found, dict) else found


def works(rows):
    """{(name, batch, samples, precision, graph): {engine: {round: row}}} of those that succeeded,
    and {the same: {engine: why it failed}}."""
    good, bad = {}, {}
    for row in rows:
        if "round" not in row:
            continue
        key = tuple(row[part] for part in ("name", "batch", "asked_samples", "precision", "graph"))
        good.setdefault(key, {})
        if row["failed"]:
            bad.setdefault(key, {}).setdefault(row["engine"], row["failed"])
        else:
            good[key].setdefault(row["engine"], {})[row["round"]] = row
    return good, bad


def median(rounds):
    return statistics.median(map(speed_of, rounds.values()))


def paired(ours, theirs):
    """figures.ratio() of the rounds; ours is measured from the first on, theirs once it is ready,
    so the last rounds of both are those in turn."""
    count = min(len(ours), len(theirs))
    last = [[{"failed": None, "samples_per_second": speed_of(rounds[turn])}
             for turn in sorted(rounds)[-count:]] for rounds in (ours, theirs)]
    return figures.ratio(*last) if count else None


def target_of(key, column):
    name, batch, _, precision, graph = key
    found = TARGETS.get((name, batch)) or TARGETS.get((name, None))
    if found is None or column == "JAX" or precision != PRECISION or graph != "epoch":
        return None
    return found[RIVALS.index(column)]


def losses_differ(ours, theirs):
    """Whether losses after equally many epochs are further apart than seeds explain."""
    a, b = (numbers(rounds[min(rounds)].get("losses") or []) for rounds in (ours, theirs))
    count = min(len(a), len(b))
    return bool(count) and not abs(a[count - 1] - b[count - 1]) <= \
        LOSS_NOISE * max(abs(a[count - 1]), abs(b[count - 1]), FLOOR)


def spread_words(rounds):
    speeds = [speed_of(row) for row in rounds.values()]
    return figures.range_of({"median": statistics.median(speeds), "min": min(speeds),
                             "max": max(speeds)})


def cells(key, engines, failures):
    """The line of a piece of work in the table of ratios."""
    name, batch, samples, precision, graph = key
    best = {}
    for engine, rounds in engines.items():
        column = COLUMNS.get(engine)
        if column and (column not in best or median(rounds) > median(best[column][1])):
            best[column] = engine, rounds
    failed = {COLUMNS[engine] for engine in failures if engine in COLUMNS} - set(best)
    ours = best.get("Linnet", (None, {}))[1]
    line = [name, f"{batch} of {samples}", precision + ("" if graph == "epoch" else f", {graph}")]
    line.append(spread_words(ours) if ours else "failed" if "Linnet" in failed else "not measured")
    ratios, missed, unknown = [], [], []
    for column in RIVALS:
        target = target_of(key, column)
        if column not in best or not ours:
            line.append("failed" if column in failed else "not measured")
            unknown += [column] if target else []
            continue
        engine, rounds = best[column]
        line.append(spread_words(rounds) +
                    (f", {engine.removeprefix('torch-')}" if column == "compile" else "") +
                    (", other loss" if losses_differ(ours, rounds) else ""))
        ratio = paired(ours, rounds)
        ratios.append(f"{column} {figures.ratio_words(ratio)}" +
                      (f", wanted {target:g}" if target else ""))
        missed += [column] if target and ratio["median"] < target else []
    verdict = [f"missed: {', '.join(missed)}"] if missed else []
    verdict += [f"not known: {', '.join(unknown)}"] if unknown else []
    if not any(target_of(key, column) for column in RIVALS):
        verdict = ["no target"]
    return [*line, "; ".join(ratios) or "–", "; ".join(verdict) or "met"]


def table(rows):
    """Lines of Markdown."""
    good, bad = works(rows)
    head = ("workload", "batch of samples", "precision", "Linnet", *RIVALS,
            "Linnet's ratio (95 % interval), target", "target")
    body = [cells(key, engines, bad.get(key, {})) for key, engines in good.items()]
    found = ["| " + " | ".join(each) + " |" for each in (head, ("---",) * len(head), *body)]
    found += ["", "Samples/s: median (least to most) of the rounds, in which engines take turns."]
    steps = {key[2] // key[1]: median(engines["linnet"]) for key, engines in good.items()
             if key[0] == "rosenbrock-mlp" and key[1] == 8000 and key[3] == PRECISION and
             "linnet" in engines}
    if {1, 50} <= set(steps):
        kept = steps[50] / steps[1]
        found += ["", f"rosenbrock-mlp with 50 steps an epoch keeps {kept:.1%} of its speed with "
                  f"1; target {KEPT_AT_50:.0%}: {'met' if kept >= KEPT_AT_50 else 'missed'}."]
    largest = [row for row in rows if row.get("about") == "largest batch"]
    for row in largest:
        found += ["", f"Largest batch, {row['name']}, {row['engine']}: {row['batch']:,} "
                  f"{'fits' if row['failed'] is None else 'fails: ' + row['failed']}."]
    for key, failures in bad.items():
        found += ["", *(f"{key[0]}, batch {key[1]}, {key[3]}: {engine} failed: {why}"
                        for engine, why in failures.items())]
    return found


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("numerics", "table"):
        print(__doc__, file=sys.stderr)
        return 2
    rows = lines(sys.argv[2])
    if sys.argv[1] == "table":
        print("\n".join(table(rows)))
        return 0
    found = list(curves(rows))
    for _, line in found:
        print(line)
    return 0 if found and all(good for good, _ in found) else 1


if __name__ == "__main__":
    sys.exit(main())
