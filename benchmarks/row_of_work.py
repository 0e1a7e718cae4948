# SPDX-License-Identifier: Apache-2.0
"""One row of work of run.py: the same data for every engine, and their processes in turn."""
import dataclasses
import sys
import tempfile
from pathlib import Path

import energy
import engines
import figures
import footprint
import largest_batch
import neighbour
import prepared


def run(job, options):
    """The row as the result has it."""
    row = {**dataclasses.asdict(job), "data": "", "synthetic": False, "failed": None, "engines": {},
           "export": prepared.export_command(job, options, "$DATA"), "ratios": {},
           "losses_differ": [],
           "neighbour": {}, "first_step": {}, "largest_batch": {}}
    with tempfile.TemporaryDirectory(prefix="linnet-bench-") as folder:
        try:
            about, row["synthetic"] = prepared.export(job, options, Path(folder))
        except RuntimeError as error:
            row["failed"] = f"linnet bench --export: {error}"
            return row
        steps = -(-about["samples"] // job.batch) if job.steps else 0  # of the data that there are
        job = dataclasses.replace(job, samples=about["samples"], steps=steps)
        row.update(samples=job.samples, data=about["name"], steps=steps)
        who = prepared.engines_of(job, options, folder)
        runs, disturbed = {name: [] for name in who}, {name: [] for name in who}
        for seed in range(options.repetitions):
            for name, (command, environment, missing) in who.items():
                if seed >= options.at_most.get(name, options.repetitions):
                    continue
                work = ([*command, "--seed", str(seed)], environment, missing)
                runs[name].append(attempt(name, seed, *work, runs[name], job, options))
                if options.neighbour:
                    before = [*runs[name], *disturbed[name]]
                    with neighbour.spinning() as spent:
                        disturbed[name].append(attempt(f"{name}, disturbed", seed, *work, before,
                                                       job, options, spent))
    for name, (command, environment, _) in who.items():
        row["engines"][name] = {**figures.summary(runs[name]),
                                "command": [part.replace(folder, "$DATA") for part in command],
                                "environment": environment}
        if options.neighbour:
            row["neighbour"][name] = neighbour.summary(runs[name], disturbed[name])
    working = [name for name in who if not row["engines"][name]["failed"]]
    if options.footprint and job.mode == "train":
        row["first_step"] = first_steps(job, options, working)
    if options.memory_limit:
        row["largest_batch"] = {name: largest_batch.of(name, job, options) for name in working}
    ours = row["engines"]["linnet"]
    for name in options.peers:
        row["ratios"][name] = figures.ratio(runs["linnet"], runs[name])
        if figures.losses_differ(ours["loss"], row["engines"][name]["loss"]):
            row["losses_differ"].append(name)
    return row


def first_steps(job, options, wanted):
    """{name: runs} of processes of one step, in turn, of the engines that are wanted."""
    job, runs = footprint.one_step(job), {name: [] for name in wanted}
    with tempfile.TemporaryDirectory(prefix="linnet-bench-") as folder:
        prepared.export(job, options, Path(folder))
        who = prepared.engines_of(job, options, folder)
        for seed in range(options.repetitions):
            for name in wanted:
                command, environment, _ = who[name]
                runs[name].append(footprint.first_step([*command, "--seed", str(seed)],
                                                       environment, options.limit))
    return runs


def attempt(name, seed, command, environment, missing, before, job, options,
            helpers=lambda: 0.0):
    """A run, or None where an earlier one has shown that it leads nowhere."""
    if any(run is None or run["failed"] for run in before):
        return None
    if missing:
        return {"failed": missing}
    charge = options.meter.read()
    run = engines.run_once(command, environment, options.limit, job, helpers)
    run["joules"] = energy.spent(charge, options.meter.read())
    parameters = run.get("parameters")
    speed = "failed: " + run["failed"] if run["failed"] else \
        f"{figures.number(run['samples_per_second'])} samples/s, loss {run['loss']}"
    print(f"{job.name}{job.axes()} {seed + 1}/{options.repetitions} {name}: {speed} "
          f"({run['wall_s']:.1f} s; {parameters} parameters)", file=sys.stderr, flush=True)
    return run
