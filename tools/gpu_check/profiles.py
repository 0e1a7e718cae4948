# SPDX-License-Identifier: Apache-2.0
"""Where the time of a step goes: Linnet's own profile, and Nsight Compute on the hottest kernels."""
import csv
import io
import re

import programs
from check import PROFILE, Failed

HOTTEST = 5
WORK = (("resnet50-cifar10", 128, 256), ("mnist-cnn", 128, 256))
REHEARSED = (("mnist-cnn", 8, 16),)
DURATION = "gpu__time_duration.sum"
SECTIONS = ("SpeedOfLight", "MemoryWorkloadAnalysis", "Occupancy", "LaunchStats")


def hottest(table, most=HOTTEST):
    """Of ncu's CSV with one duration a kernel: [(kernel, its share of all the time)]."""
    lines = [line for line in table.splitlines() if line.startswith('"')]
    total = {}
    for row in csv.DictReader(io.StringIO("\n".join(lines))):
        if row.get("Metric Name") == DURATION:
            value = float(row["Metric Value"].replace(",", ""))
            total[row["Kernel Name"]] = total.get(row["Kernel Name"], 0.0) + value
    whole = sum(total.values())
    order = sorted(total, key=total.get, reverse=True)[:most]
    return [(name, total[name] / whole) for name in order] if whole else []


def base_name(kernel):
    """Of a kernel's function, as ncu's --kernel-name takes it: no result, namespace, template or
    arguments."""
    name = kernel.replace("(anonymous namespace)", "")
    for inner in (r"<[^<>]*>", r"\([^()]*\)"):
        while re.search(inner, name):
            name = re.sub(inner, "", name)
    return name.split("::")[-1].split()[-1]


def operators(check):
    """Times of operators inside the captured step."""
    for workload, batch, _ in REHEARSED if check.rehearsal else WORK:
        ended = check.linnet("profile", "--workload", workload, "--device", "cuda", "--batch", batch,
                             limit=20)
        check.append(PROFILE, f"== linnet profile, {workload}, batch {batch}\n{ended.out}")
        if ended.status != 0:
            check.problem(f"linnet profile, {workload}: {ended.reason()}")


def kernels(check):
    """The hottest kernels of a step under ncu, with the device's clocks as they are."""
    operators(check)
    ncu = programs.tool("ncu")
    if ncu is None:
        raise Failed("there is no ncu")
    for workload, batch, samples in REHEARSED if check.rehearsal else WORK:
        step = [check.programs.linnet, "bench", workload, "--device", "cuda", "--graph", "off",
                "--batch", batch, "--samples", samples, "--warmup", 0, "--epochs", 1]
        step += ["--dataset", "digits"] if workload == "mnist-cnn" else []
        common = [ncu, "--clock-control", "none", "--target-processes", "all"]
        timed = check.run([*common, "--csv", "--metrics", DURATION, *step], copy=False)
        found = hottest(timed.out)
        if not found:
            check.problem(f"ncu, {workload}: {timed.reason()}")
            continue
        for name, share in found:
            line = f"{share:6.1%} {name}"
            check.say(f"  {workload}: {line}")
            check.append(PROFILE, f"== ncu, {workload}, batch {batch}: {line}")
            if check.left() < 3:
                continue
            sections = [word for section in SECTIONS for word in ("--section", section)]
            ended = check.run([*common, *sections, "--kernel-name",
                               f"regex:^{re.escape(base_name(name))}$", "--launch-count", 1, *step],
                              copy=False)
            check.append(PROFILE, ended.out)
