# SPDX-License-Identifier: Apache-2.0
"""The tables of ranks.py."""
import figures
from side_table import Table

TITLE = "Trainings on several ranks beside PyTorch's DDP"
HEADS = {"linnet": "Linnet, Gloo", "linnet-mpi": "Linnet, MPI", "torch-ddp": "DDP, Gloo"}
CABLE_HEADS = {"linnet": "Linnet", "linnet-afterwards": "Linnet, summed afterwards", "torch-ddp": "DDP"}


def line(row, heads, *first):
    spreads = {name: figures.spread(rates) for name, rates in row["engines"].items()}
    shown = [figures.range_of(spreads[name]) if name in spreads else "–" for name in heads]
    ratio = spreads["linnet"]["median"] / spreads["torch-ddp"]["median"]
    return (row["workload"], row["batch"], *first, *shown, f"{ratio:.2f}")


def tables(result):
    about = ("Samples a second of all ranks, median (least to most) of the repetitions, each the median of its timed "
             "epochs; drawn data in memory, no augmentation. ")
    here = [line(row, HEADS, f"{row['ranks']} x {row['threads']}") for row in result["rows"] if not row["rate"]]
    there = [line(row, CABLE_HEADS, row["rate"]) for row in result["rows"] if row["rate"]]
    return [Table("On one machine", about + "Ranks x threads; four ranks share two processors.",
                  ("workload", "batch", "ranks", *HEADS.values(), "Linnet / DDP"), here),
            Table("Over a cable", about + "Two ranks of one thread in network namespaces, whose cable `tc` (tbf) limits to "
                  "a rate in each direction. Linnet sums gradients while they are found, or after the backward pass.",
                  ("workload", "batch", "rate", *CABLE_HEADS.values(), "Linnet / DDP"), there)]
