# SPDX-License-Identifier: Apache-2.0
"""One row of work of run.py: the same data for every engine, and their processes in turn."""
import dataclasses
import sys
import tempfile
from pathlib import Path

import conditions
import energy
import engines
import figures
import footprint
import largest_batch
import prepared


def run(job, options):
    """The row as the result has it."""
    row = {**dataclasses.asdict(job), "data": "", "synthetic": False, "failed": None, "engines": {},
           "export": prepared.export_command(job, options, "$EXPORTED"), "ratios": {},
           "losses_differ": [], **{name: {} for name in conditions.ALL}, "first_step": {},
           "largest_batch": {}}
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
        runs = {name: [] for name in who}
        changed = {each: {name: [] for name in conditions.ALL[each].only or who}
                   for each in options.conditions}
        for seed in range(options.repetitions):
            for name, (command, environment, missing) in who.items():
                if seed >= options.at_most.get(name, options.repetitions):
                    continue
                for each, found in {None: runs, **changed}.items():
                    if name not in found:
                        continue
                    condition = conditions.ALL.get(each, conditions.PLAIN)
                    work = [*command, *condition.arguments, "--seed", str(seed)]
                    with condition.beside() as spent:
                        found[name].append(attempt(
                            name + condition.word, seed, work, environment, missing,
                            [*runs[name], *found[name]], job, options, spent))
    for name, (command, environment, _) in who.items():
        row["engines"][name] = {**figures.summary(runs[name]),
                                "command": [part.replace(folder, "$EXPORTED") for part in command],
                                "environment": environment}
    for each, found in changed.items():
        row[each] = {name: conditions.summary(runs[name], found[name]) for name in found}
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


def attempt(name, seed, command, environment, missing, before, job, options, helpers):
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
