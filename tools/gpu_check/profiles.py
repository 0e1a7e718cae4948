# SPDX-License-Identifier: Apache-2.0
"""Where the time of a step goes: Linnet's own profile, and the hottest kernels under ncu."""
import csv
import io
import re

import jobs
import programs
from check import PROFILE, Failed

HOTTEST = 5
LAUNCHES = 150  # of these, that are looked at
WORK = (("resnet50-cifar10", 128), ("mnist-cnn", 128))
REHEARSED = (("mnist-cnn", 8),)
DURATION = "gpu__time_duration.sum"
SECTIONS = ("SpeedOfLight", "MemoryWorkloadAnalysis", "Occupancy", "LaunchStats")


def hottest(table, most=HOTTEST):
    """Reads ncu's CSV with one duration a kernel: [(kernel, its share of all the time)]."""
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
    """Returns a kernel's name as ncu's --kernel-name takes it: no result type, namespace, template
    or arguments."""
    name = kernel.replace("(anonymous namespace)", "")
    for inner in (r"<[^<>]*>", r"\([^()]*\)"):
        while re.search(inner, name):
            name = re.sub(inner, "", name)
    return name.split("::")[-1].split()[-1]


def operators(check, name, batch, precision="tf32"):
    """Records the times of operators inside the captured step. `name`: of a workload, with :infer
    where it predicts."""
    words = ["--inference"] if name.endswith(":infer") else ["--synthetic", "--graph", "epoch"]
    ended = check.linnet("profile", "--workload", name.removesuffix(":infer"), "--device", "cuda",
                         "--batch", batch, "--precision", precision, *words, limit=20, copy=False)
    check.append(PROFILE, f"== linnet profile, {name}, batch {batch}, {precision}\n{ended.out}")
    if ended.status != 0:
        check.problem(f"linnet profile, {name}, {precision}: {ended.reason()}")


def workloads(check):
    """Profiles every workload at the benchmarks' sizes."""
    work = REHEARSED if check.rehearsal else [(name, size.batch)
                                              for name, size in jobs.sizes("gpu").items()]
    for precision in ("tf32", "bf16") if not check.rehearsal else ("tf32",):
        for name, batch in work:
            operators(check, name, batch, precision)


def kernels(check):
    """Profiles a step, and its hottest kernels by ncu; the device's clocks stay as they are."""
    work = REHEARSED if check.rehearsal else WORK
    for workload, batch in work:
        operators(check, workload, batch)
    ncu = programs.tool("ncu")
    if ncu is None:
        raise Failed("there is no ncu")
    common = [ncu, "--clock-control", "none", "--target-processes", "all"]
    for workload, batch in work:
        # One step, with choices that were measured before: trials are not among its kernels.
        step = [check.programs.linnet, "bench", workload, "--device", "cuda", "--graph", "off",
                "--batch", batch, "--samples", batch, "--warmup", 0, "--epochs", 1, "--precision",
                "tf32"]
        step += ["--dataset", "digits"] if workload == "mnist-cnn" else []
        timed = check.run([*common, "--csv", "--metrics", DURATION, *step], copy=False)
        found = hottest(timed.out)
        if not found:
            check.problem(f"ncu, {workload}: {timed.reason()}")
            continue
        for name, share in found:
            line = f"{share:6.1%} {name}"
            check.say(f"  {workload}: {line}")
            check.append(PROFILE, f"== ncu, {workload}, batch {batch}: {line}")
        names = "|".join(sorted({re.escape(base_name(name)) for name, _ in found}))
        sections = [word for section in SECTIONS for word in ("--section", section)]
        ended = check.run([*common, *sections, "--kernel-name", f"regex:^({names})$",
                           "--launch-count", LAUNCHES, *step], copy=False)
        check.append(PROFILE, ended.out)
