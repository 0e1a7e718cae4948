# SPDX-License-Identifier: Apache-2.0
"""The tables of ranks.py."""
import math
import statistics

import figures
from side_table import Table

PIECE = 1 << 22  # bytes that are summed at a time
RESNET50 = 4 * 23_528_522  # bytes of its gradients
RANKS = (2, 8, 64, 1024)
TITLE = "Trainings on several ranks beside PyTorch's DDP"
HEADS = {"linnet": "Linnet, Gloo", "linnet-mpi": "Linnet, MPI", "linnet-fast": "Linnet, Gloo, fast", "torch-ddp": "DDP, Gloo"}
CABLE_HEADS = {"linnet-1MiB": "Linnet, buckets of 1 MiB", "linnet": "of 4 MiB", "linnet-16MiB": "of 16 MiB",
               "linnet-afterwards": "Linnet, summed afterwards", "torch-ddp": "DDP"}


def line(row, heads, *first):
    spreads = {name: figures.spread(rates) for name, rates in row["engines"].items()}
    shown = [figures.range_of(spreads[name]) if name in spreads else "–" for name in heads]
    ratio = spreads["linnet"]["median"] / spreads["torch-ddp"]["median"]
    return (row["workload"], row["batch"], *first, *shown, f"{ratio:.2f}")


def model_of(each):
    """(latency in s, seconds of a byte) of T = 2 latency pieces + n byte, two ranks; small sums are one exchange."""
    small, large = (statistics.median(seconds) for seconds in each["seconds"])
    sizes = [4 * floats for floats in each["floats"]]
    return small, (large - 2 * small * -(-sizes[1] // PIECE)) / sizes[1]


def predicted(latency, byte, size, ranks):
    return 2 * math.log2(ranks) * latency * -(-size // PIECE) + 2 * (ranks - 1) / ranks * size * byte


def model_line(each):
    latency, byte = model_of(each)
    return (each["carrier"], each["rate"] or "this machine", f"{1e6 * latency:.0f}", f"{1e-9 / byte:.2f}",
            *(f"{1e3 * predicted(latency, byte, RESNET50, ranks):,.0f}" for ranks in RANKS))


def tables(result):
    about = ("Samples a second of all ranks, median (least to most) of the repetitions, each the median of its timed "
             "epochs; drawn data in memory without augmentation, or files that each rank's loader decodes while it trains, "
             "cropped and flipped. ")
    here = [line(row, HEADS, f"{row['ranks']} x {row['threads']}") for row in result["rows"] if not row["rate"]]
    there = [line(row, CABLE_HEADS, row["rate"]) for row in result["rows"] if row["rate"]]
    return [Table("On one machine", about + "Ranks x threads; four ranks share two processors.",
                  ("workload", "batch", "ranks", *HEADS.values(), "Linnet / DDP"), here),
            Table("Over a cable", about + "Two ranks of one thread in network namespaces, whose cable `tc` (tbf) "
                  "limits to a rate in each direction. Linnet sums gradients while they are found, in buckets "
                  "of a size, or after the backward pass.",
                  ("workload", "batch", "rate", *CABLE_HEADS.values(), "Linnet / DDP"), there),
            Table("Sums of two ranks", "The latency is the median time of a sum of 1 KiB, the speed that of a byte "
                  "in a sum of 64 MiB beyond its latencies, both of two ranks. Then milliseconds of a sum of "
                  "ResNet-50's gradients as a model (docs/notes/2026-11-28-scale.md) predicts them for so many ranks with links of "
                  "that kind: nobody has measured these.",
                  ("engine", "link", "latency, us", "GB/s", *(f"{ranks} ranks" for ranks in RANKS)),
                  [model_line(each) for each in result["sums"]])]
