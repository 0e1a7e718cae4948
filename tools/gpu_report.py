#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the JSON lines of `linnet bench` and of benchmarks/peers for tools/gpu_check.sh.

gpu_report.py numerics FILE  compares every device's loss curve with the CPU's of the same workload;
                             exits 1 where one is further away than its precision allows.
gpu_report.py table FILE     prints a table of speeds, with ratios to PyTorch's modes.
"""
import json
import math
import sys
from pathlib import Path

# Of an epoch's mean loss, relative to the CPU's or to FLOOR, whichever is larger.
ALLOWED = {"fp32": 2e-3, "auto": 3e-2, "tf32": 3e-2, "bf16": 1e-1}
FLOOR = 0.05


def number(value):
    """A NaN is null in JSON, and so is the loss of a prediction."""
    return math.nan if value is None else value


def in_peers_words(row):
    """A line of `linnet bench` with the keys that the peers use."""
    if "framework" in row:
        return row
    modes = {"off": "kernel by kernel", "epoch": "epoch graph", None: "steps"}
    mode = modes.get(row["graph"], f"graph of {row['graph']} steps")
    mode += ", own convolutions" if row["conv_engine"] == "legacy" else ""
    mode += ", streamed" if row["streamed"] else ""
    ends = {"median": "", "min": "_min", "max": "_max"}
    return {**row, "framework": "linnet", "mode": mode,
            "loss": number(row["train_loss"]), "losses": [number(x) for x in row["losses"]],
            "samples_per_second": {key: row["samples_per_second" + end]
                                   for key, end in ends.items()}}


def lines(path):
    rows = []
    for line in Path(path).read_text().splitlines():
        try:
            rows.append(in_peers_words(json.loads(line)))
        except ValueError:
            print(f"{path}: not JSON: {line[:80]}", file=sys.stderr)
    return rows


def work(row):
    return row["workload"], row["batch"]


def numerics(rows):
    """Prints a line a curve; returns whether all were close enough, and at least one was there."""
    expected = {work(row): row["losses"] for row in rows if row["device"] == "cpu"}
    good = []
    for row in rows:
        if row["device"] == "cpu":
            continue
        curve = expected.get(work(row))
        if curve is None or len(curve) != len(row["losses"]):
            print(f"curve {row['workload']} {row['precision']}: there is no curve of the CPU's")
            good.append(False)
            continue
        differences = [abs(a - b) / max(abs(b), FLOOR) if math.isfinite(a) else math.inf
                       for a, b in zip(row["losses"], curve)]
        worst = max(differences)
        good.append(worst <= ALLOWED[row["precision"]])
        print(f"curve {row['workload']} {row['precision']}: {worst:.1e} at epoch "
              f"{differences.index(worst) + 1} of {len(curve)}, allowed "
              f"{ALLOWED[row['precision']]:.0e}: {'ok' if good[-1] else 'TOO FAR'}; loss "
              f"{curve[0]:.4f} to {row['losses'][-1]:.4f} (CPU {curve[-1]:.4f})")
    return bool(good) and all(good)


def table(rows):
    peers = {(work(row), row["precision"], row["mode"]): row["samples_per_second"]["median"]
             for row in rows if row["framework"] == "pytorch"}
    head = ("workload", "batch", "precision", "engine", "samples/s", "min", "max", "loss",
            "x eager", "x compile", "x graph")
    body = []
    for row in sorted(rows, key=lambda r: (*work(r), r["precision"], r["framework"], r["mode"])):
        rate = row["samples_per_second"]
        ratios = []
        for modes in (("eager",), ("max-autotune", "reduce-overhead"), ("graph", "compiled-graph")):
            keys = [(work(row), row["precision"], mode) for mode in modes]
            found = [peers[key] for key in keys if key in peers]
            ratios.append(f"{rate['median'] / max(found):.2f}" if found else "-")
        body.append((row["workload"], row["batch"], row["precision"],
                     f"{row['framework']} {row['mode']}", f"{rate['median']:.0f}",
                     f"{rate['min']:.0f}", f"{rate['max']:.0f}", f"{row['loss']:.4f}", *ratios))
    for cells in (head, ("---",) * len(head), *body):
        print("| " + " | ".join(str(cell) for cell in cells) + " |")


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("numerics", "table"):
        print(__doc__, file=sys.stderr)
        return 2
    rows = lines(sys.argv[2])
    if sys.argv[1] == "table":
        table(rows)
        return 0
    return 0 if numerics(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
