# SPDX-License-Identifier: Apache-2.0
"""The tables of kernels.py."""
import statistics

from side_table import Table

TITLE = "Kernels by shape"
DOUBTED = "times"
LEAST_SHARE = 0.01  # of a step's time, for a row of its own


def counts(kernel):
    """Whether it has a row of its own: an operator that was measured by itself has, however fast it is."""
    return "of_roof" in kernel or kernel["share"] >= LEAST_SHARE


def seconds_of(kernel):
    """The median; of operators by themselves the best, since other programs only add to it."""
    return min(kernel["seconds"]) if "of_roof" in kernel else statistics.median(kernel["seconds"])


def of_roof(kernel, roof):
    """The larger part of the two ceilings, above 1 where bytes come from a cache; None: unknown."""
    if "of_roof" in kernel:
        return max(kernel["of_roof"])
    seconds = seconds_of(kernel)
    parts = [kernel[work] / seconds / roof[ceiling]
             for work, ceiling in (("flops", "flops_ceiling"), ("bytes", "bytes_ceiling"))
             if seconds > 0 and roof[ceiling] > 0]
    return max(parts, default=None)


def line(kernel, roof):
    seconds = seconds_of(kernel)
    part = of_roof(kernel, roof)
    return (kernel["operator"], kernel["engine"] or "–", kernel["shapes"], kernel["count"], f"{1e6 * seconds:.1f}",
            f"{100 * kernel['share']:.1f}", f"{1e-9 * kernel['flops'] / seconds:.1f}" if seconds else "–",
            f"{1e-9 * kernel['bytes'] / seconds:.1f}" if seconds else "–",
            "–" if part is None else f"{100 * part:.0f}")


def tables(result):
    roof, found = result["roof"], []
    best = any("of_roof" in kernel for kernel in result["kernels"])
    which = "Operators after the layers that they are of, the best" if best else "Medians"
    rows = "" if best else f"; kernels of at least {100 * LEAST_SHARE:.0f} % of the operators' time"
    about = (f"{which} of {result['settings']['repetitions']} processes, {result['settings']['threads']} threads{rows}. Roof: "
             f"{1e-9 * roof['flops_ceiling']:.0f} GFLOP/s in f32 and {1e-9 * roof['bytes_ceiling']:.1f} GB/s from "
             "memory; above 100 %, bytes come from caches, or an engine does fewer products than the definition.")
    for step in result["steps"]:
        rows = [kernel for kernel in result["kernels"]
                if (kernel["workload"], kernel["mode"]) == (step["workload"], step["mode"])
                and counts(kernel)]
        rows.sort(key=lambda kernel: -kernel["share"])
        found.append(Table(
            f"{step['workload']}, {step['mode']}, batch {step['batch']}",
            f"A step takes {1e3 * step['step_seconds']['median']:.3f} ms. {about}".strip(),
            ("operator", "engine", "shapes", "times", "µs each", "% of the time", "GFLOP/s", "GB/s", "% of the roof"),
            [line(kernel, roof) for kernel in rows]))
        about = ""
    return found
