# SPDX-License-Identifier: Apache-2.0
"""The tables and the drawing of memory.py."""
import statistics

import figures
import plots
from side_table import Table

TITLE = "Memory: planned, measured, and beside PyTorch"
DOUBTED = "seconds of a step"
CONSTANT = 24 << 20  # of the process beside the plan
HEADS = {"linnet": "Linnet", "torch": "PyTorch"}
STYLE = """<style>
svg { background: #fff; } text { font: 13px sans-serif; fill: #1c2126; } .muted { fill: #5c6670; }
.grid { stroke: #dfe3e8; } .one { stroke: #5c6670; } .stroke { fill: none; stroke: var(--c); stroke-width: 2; }
.fill { fill: var(--c); } .e0 { --c: #0b6bcb; } .e1 { --c: #c8501e; }
</style>"""


def mebibytes(count):
    return f"{count / 2**20:,.1f}" if count else "–"


def is_as_planned(each):
    """Whether the difference is within 2 % and a constant: code, stacks, what libraries and malloc keep."""
    return abs(each["measured_bytes"] - each["planned_bytes"]) <= 0.02 * each["planned_bytes"] + CONSTANT


def planned_line(each):
    over = each["measured_bytes"] - each["planned_bytes"]
    return (each["workload"], each["mode"], f"{each['batch']:,}", mebibytes(each["planned_bytes"]),
            mebibytes(each["measured_bytes"]), f"{over / 2**20:+.1f}",
            f"{100 * over / each['planned_bytes']:+.1f} %", "yes" if is_as_planned(each) else "no")


def largest_line(row):
    batches = {name: each["batch"] for name, each in row["engines"].items()}
    shown = [f"{batches[name]:,}" + (" or more" if row["engines"][name]["all_data"] else "") for name in HEADS]
    ratio = f"{batches['linnet'] / batches['torch']:.2f}" if batches["torch"] else "–"
    return row["workload"], row["mode"], f"{row['limit'] / 2**30:g} GiB", *shown, ratio


def decade_line(row):
    cells = []
    for name in HEADS:
        each = row["engines"][name]
        steps = each["step_seconds"]
        cells += [mebibytes(each["peak_bytes"]),
                  figures.number(1e3 * statistics.median(steps)) if steps else "–"]
    return f"{row['batch']:,}", *cells


def tables(result):
    found = []
    if "planned" in result:
        found.append(Table("Planned and measured", "The largest batch within the limit by planning, and by how much a "
                           "fresh process grew over one step of it (`linnet max-batch --verify`).",
                           ("workload", "mode", "batch", "planned, MiB", "measured, MiB", "difference, MiB", "of planned",
                            f"within 2 % + {CONSTANT >> 20} MiB"),
                           [planned_line(each) for each in result["planned"]]))
    if "largest" in result:
        loaded = [f"{HEADS[name]} {mebibytes(count)} MiB" for name, count in result["largest"]["loaded"].items()]
        found.append(Table("Largest batches beside PyTorch", "The largest batch whose whole process stays below the "
                           "limit of resident memory over "
                           "one step, its data and the libraries' code included; found by bisection in fresh "
                           "processes, to a part in 32. A process that has only loaded its libraries takes: " +
                           ", ".join(loaded) + ".",
                           ("workload", "mode", "limit", *HEADS.values(), "Linnet / PyTorch"),
                           [largest_line(row) for row in result["largest"]["rows"]]))
    if "decades" in result:
        of = result["decades"]
        found.append(Table(f"By batch: {of['workload']}", "Peak of a process of one training step, and the median "
                           "time of a step in later processes of 3 epochs of up to 8 steps.",
                           ("batch", *(f"{name}, {what}" for name in HEADS.values() for what in ("MiB", "ms"))),
                           [decade_line(row) for row in of["batches"]]))
    return found


def drawing(decades):
    """Two plots, one below the other, as an image of its own."""
    def curves(what, title, unit):
        return plots.curves([(at, [(row["batch"], what(row["engines"][name])) for row in decades["batches"]], False)
                             for at, name in enumerate(HEADS)], title, "batch", unit, True)
    memory = curves(lambda each: (each["peak_bytes"] or 0) / 2**20, "peak of the process", "MiB")
    time = curves(lambda each: 1e3 * statistics.median(each["step_seconds"] or [0]), "time of a step", "ms")
    keys = [plots.text(100 + 120 * at, 20, f"■ {name}", kind=f"fill e{at}") for at, name in enumerate(HEADS.values())]
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {plots.WIDTH} 640">', STYLE,
                      plots.text(plots.WIDTH - 20, 20, f"{decades['workload']}, training", "end"), *keys,
                      '<svg y="30" height="300">', memory, "</svg>", '<svg y="335" height="300">', time, "</svg>",
                      "</svg>"]) + "\n"
