#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the rows that tools/gpu_check.sh has recorded.

gpu_report.py numerics FILE...  compares every device's loss curve with the CPU's of the same workload;
                             exits 1 where one is further away than its precision allows.
gpu_report.py table FILE...  prints the speeds of all engines, and ratios beside their targets; rows of
                             two cards are never compared.
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
           "torch-graph": "captured", "torch-compiled-graph": "compiled and captured",
           "jax-epoch": "JAX", "jax": "JAX"}
RIVALS = ("eager", "compile", "captured", "compiled and captured", "JAX")
AIMED = RIVALS[:3]  # those that have targets
# Wanted ratios, by workload and batch (None: any): to eager, compiled and hand-captured PyTorch.
TARGETS = {(f"{name}:infer" if target["mode"] == "infer" else name, target["batch"]): target["over"]
           for name, entry in workloads.ALL.items() for target in entry.get("gpu_targets", ())}
PRECISION = "tf32"  # of the targets
KEPT_AT_50 = 0.98   # of rosenbrock-mlp's speed with one step an epoch, with 50
LOSS_NOISE = 0.1
LEAST_ROUNDS = 3    # of a ratio that may be published
LEAST_SECONDS = 1   # that are timed in a round


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
    """{(name, batch, samples, precision, graph, data, card): {engine: {round: row}}} of those that
    succeeded, and {the same: {engine: why it failed}}."""
    good, bad = {}, {}
    for row in rows:
        if "round" not in row:
            continue
        key = (*(row[part] for part in ("name", "batch", "asked_samples", "precision", "graph")),
               row.get("data_in", "resident"), row.get("card"))
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
    name, batch, _, precision, graph, data, _ = key
    found = TARGETS.get((name, batch)) or TARGETS.get((name, None))
    if found is None or column not in AIMED or precision != PRECISION or graph != "epoch" or \
            data != "resident":
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
    name, batch, samples, precision, graph, data, card = key
    best = {}
    for engine, rounds in engines.items():
        column = COLUMNS.get(engine)
        if column and (column not in best or median(rounds) > median(best[column][1])):
            best[column] = engine, rounds
    failed = {COLUMNS[engine] for engine in failures if engine in COLUMNS} - set(best)
    ours = best.get("Linnet", (None, {}))[1]
    line = [name, f"{batch} of {samples}" + ("" if data == "resident" else f", {data}"),
            precision + ("" if graph == "epoch" else f", {graph}"), card or "–"]
    line.append(spread_words(ours) if ours else "failed" if "Linnet" in failed else "not measured")
    ratios, missed, unknown, few = {}, [], [], []
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
        ratios[column] = ratio["median"], (f"{column} {figures.ratio_words(ratio)}" +
                                           (f", wanted {target:g}" if target else ""))
        missed += [column] if target and ratio["median"] < target else []
        few += [column] if len(ratio["each"]) < LEAST_ROUNDS else []
    verdict = [f"missed: {', '.join(missed)}"] if missed else []
    verdict += [f"not known: {', '.join(unknown)}"] if unknown else []
    if not any(target_of(key, column) for column in RIVALS):
        verdict = ["no target"]
    found = list(verdict) or ["met"]
    found += [f"fewer than {LEAST_ROUNDS} rounds: {', '.join(few)}"] if few else []
    found += [f"{engine} timed for less than {LEAST_SECONDS} s" for engine, rounds in best.values()
              if any(row.get("window_seconds", math.inf) < LEAST_SECONDS
                     for row in rounds.values())]
    strongest = min(ratios.values(), default=(0, "–"))[1]
    words = [strongest] + [words for _, words in ratios.values() if words != strongest]
    return [*line, "; ".join(words), "; ".join(found)]


def spread_of(rows, field):
    values = sorted(row[field] for row in rows if row.get(field) is not None)
    return f"{figures.number(values[0])} to {figures.number(values[-1])}" if values else "not known"


def conditions(good):
    """Lines that say of each engine's rows at what clock and power they were made, and by what
    commit."""
    found = ["", "| workload | batch | precision | engine | rounds | seconds timed in each | SM clock, "
             "MHz | power, W | rivals compiling beside | commit |", "| " + "--- | " * 10]
    for key, engines in good.items():
        for engine, rounds in engines.items():
            rows = list(rounds.values())
            found.append("| " + " | ".join((
                key[0], str(key[1]), key[3], engine, str(len(rows)),
                spread_of(rows, "window_seconds"), spread_of(rows, "sm_mhz"),
                spread_of(rows, "watts"), str(max(row.get("compiling", 0) for row in rows)),
                ", ".join(sorted({row.get("commit") or "not known" for row in rows})))) + " |")
    return found


def table(rows):
    """Lines of Markdown."""
    good, bad = works(rows)
    head = ("workload", "batch of samples", "precision", "card", "Linnet", *RIVALS,
            "Linnet's ratio (95 % interval), the strongest rival's first", "target")
    body = [cells(key, engines, bad.get(key, {})) for key, engines in good.items()]
    found = ["| " + " | ".join(each) + " |" for each in (head, ("---",) * len(head), *body)]
    found += ["", "Samples/s: median (least to most) of the rounds, in which engines take turns."]
    found += conditions(good)
    steps = {key[2] // key[1]: median(engines["linnet"]) for key, engines in good.items()
             if key[0] == "rosenbrock-mlp" and key[1] == 8000 and key[3] == PRECISION and
             "linnet" in engines and key[-1] == next(iter(good))[-1]}
    if {1, 50} <= set(steps):
        kept = steps[50] / steps[1]
        found += ["", f"rosenbrock-mlp with 50 steps an epoch keeps {kept:.1%} of its speed with "
                  f"1; target {KEPT_AT_50:.0%}: {'met' if kept >= KEPT_AT_50 else 'missed'}."]
    largest = [row for row in rows if row.get("about") == "largest batch"]
    for row in largest:
        free = f" within {row['free_bytes'] / 1e9:g} GB" if "free_bytes" in row else ""
        found += ["", f"Largest batch{free}, {row['name']}, {row['engine']}: {row['batch']:,} "
                  f"{'fits' if row['failed'] is None else 'fails: ' + row['failed']}."]
    for key, failures in bad.items():
        found += ["", *(f"{key[0]}, batch {key[1]}, {key[3]}: {engine} failed: {why}"
                        for engine, why in failures.items())]
    return found


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in ("numerics", "table"):
        print(__doc__, file=sys.stderr)
        return 2
    rows = [row for path in sys.argv[2:] for row in lines(path)]
    if sys.argv[1] == "table":
        print("\n".join(table(rows)))
        return 0
    found = list(curves(rows))
    for _, line in found:
        print(line)
    return 0 if found and all(good for good, _ in found) else 1


if __name__ == "__main__":
    sys.exit(main())
