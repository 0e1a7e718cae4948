#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures every kernel of the workloads at the shapes that they run it with: seconds, GFLOP/s and the
fraction of the roof, by `linnet profile --synthetic`, one process for each workload, mode and
repetition. Writes a result whose kernels check_regression.py compares with another's.

  benchmarks/kernels.py --operators

measures the networks of operators.py instead: every operator of layers by itself."""
import argparse
import os
import shlex
import statistics
import sys
import tempfile
from pathlib import Path

import engines
import figures
import operators
import other_results
import workloads


def profile(job, mode, batch, options):
    """One process: what engines.observed_process() gives, with the profile. `job`: a workload or a file."""
    command = [*shlex.split(options.under), options.linnet, "profile", job, "--synthetic", "--batch", str(batch),
               "--steps", str(options.steps), "--device", "cpu", "--json"]
    command += ["--inference"] if mode == "infer" else []
    command += ["--threads", str(options.threads)] if options.threads else []
    return engines.observed_process(command, {}, options.limit)


def alone(network, record):
    """The operators of a network's own layers as kernels of a profile, each called after its layer: by kinds and
    shapes alone tanh and sigmoid are the same kernel."""
    return [{**row, "operator": f"{row['operator']} {row['layer']}", "count": 1}
            for row in record["operators"] if network.holds(row["layer"])]


def kernels_of(name, mode, batch, profiles, network=None):
    """The rows of one workload and mode, with the seconds of each repetition; of a network of operators.py also with
    its part of the roof, which was measured right after it."""
    found = {}
    for record in profiles:
        for kernel in alone(network, record) if network else record["kernels"]:
            key = tuple(kernel[part] for part in ("operator", "engine", "shapes", "flops", "bytes"))
            row = found.setdefault(key, {
                "workload": name, "mode": mode, "batch": batch,
                **{part: kernel[part] for part in ("operator", "engine", "shapes", "count", "flops", "bytes")},
                "seconds": [], "shares": []})
            row["seconds"].append(kernel["seconds"])
            row["shares"].append(kernel["share"])
            if network:
                row.setdefault("of_roof", []).append(kernel["of_ceiling"])
    for row in found.values():
        row["share"] = statistics.median(row.pop("shares"))
    return list(found.values())


def roof_of(profiles):
    """The best that was measured: what processors can do does not depend on the workload."""
    return {part: max(record[part] for record in profiles) for part in ("flops_ceiling", "bytes_ceiling")}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help="NAME, or NAME:infer; all if not given")
    parser.add_argument("--operators", action="store_true", help="the networks of operators.py instead of workloads")
    parser.add_argument("--repetitions", type=int, default=3, help="processes of each workload and mode")
    parser.add_argument("--steps", type=int, default=5, help="steps that a process times")
    parser.add_argument("--batch", type=int, help="samples of a batch; each workload's own if not given")
    parser.add_argument("--threads", type=int, default=0, help="0: all processors")
    parser.add_argument("--limit", type=float, default=600, help="seconds for a process")
    parser.add_argument("--under", default="", help="command that starts each process, e.g. 'taskset -c 0,1'")
    options = other_results.parsed(parser, "kernels")
    if options.operators:
        known = {network.name: (network.name, "train", network) for network in operators.NETWORKS}
    else:
        known = {name: (name.removesuffix(":infer"), mode, entry) for name, mode, entry in workloads.modes()}
    for name in options.workloads:
        if name not in known:
            parser.error(f"unknown workload '{name}'; expected one of {', '.join(known)}")
    if options.repetitions < 1 or options.steps < 1:
        parser.error("--repetitions, --steps: expected at least 1")
    options.known = known
    options.workloads = options.workloads or list(known)
    options.what = "operators" if options.operators else "kernels"
    if len(options.workloads) < len(known):
        options.what += f"-{options.workloads[0].replace(':', '-')}" if len(options.workloads) == 1 else \
            f"-{len(options.workloads)}-workloads"
    return options


def job_of(name, options, folder):
    """(a workload or a file, its mode, its batch) of a name."""
    of, mode, entry = options.known[name]
    if not options.operators:
        return of, mode, options.batch or entry["sizes"][mode]["reduced"][0]
    path = Path(folder, f"{name}.toml")
    path.write_text(entry.toml())
    return str(path), mode, options.batch or entry.batch


def measured(options, folder):
    """(runs, {name: profiles}) of all repetitions, the names in turn."""
    runs, records = [], {name: [] for name in options.workloads}
    for _ in range(options.repetitions):
        for name in options.workloads:
            run, record = profile(*job_of(name, options, folder), options)
            if run["failed"]:
                sys.exit(f"kernels.py: {name}: {run['failed']}")
            runs.append(run)
            records[name].append(record)
            print(f"{name}: {1e3 * record['step_seconds']:.2f} ms a step", file=sys.stderr, flush=True)
    return runs, records


def main():
    options = arguments()
    at_start = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        runs, records = measured(options, folder)
    profiles = [record for each in records.values() for record in each]
    kernels = []
    for name, each in records.items():
        of, mode, entry = options.known[name]
        kernels += kernels_of(of, mode, each[0]["batch"], each, entry if options.operators else None)
    steps = [{"workload": options.known[name][0], "mode": options.known[name][1], "batch": each[0]["batch"],
              "step_seconds": figures.spread([record["step_seconds"] for record in each])}
             for name, each in records.items()]
    other_results.save(
        options, at_start, runs, {},
        {"precision": "fp32", "protocol": "kernels", "threads": profiles[0]["threads"], "steps": options.steps,
         "repetitions": options.repetitions},
        [f"benchmarks/kernels.py {'--operators ' if options.operators else ''}--repetitions {options.repetitions} "
         f"--steps {options.steps}" + (f" --threads {options.threads}" if options.threads else "")],
        roof=roof_of(profiles), steps=steps, kernels=kernels)


if __name__ == "__main__":
    main()
