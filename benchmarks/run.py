#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs workloads on Linnet and, in turn with it, on its peers; options.py says what it takes. Exits
with 1 if Linnet itself fails somewhere. Wants the standard library alone; peers run in Pythons of
their own."""
import dataclasses
import datetime
import json
import os
import platform
import re
import sys
import tempfile
from pathlib import Path

import engines
import jobs
import options as run_options
import peer_python
import result_page
import result_table

ROOT = Path(__file__).resolve().parents[1]


def machine():
    def field(path, key):
        try:
            line = next(line for line in Path(path).read_text().splitlines()
                        if line.startswith(key))
            return line.partition(":")[2].strip()
        except (OSError, StopIteration):
            return ""
    memory = field("/proc/meminfo", "MemTotal")
    return {"processor": field("/proc/cpuinfo", "model name") or platform.machine(),
            "processors": len(os.sched_getaffinity(0)), "system": platform.platform(),
            "memory_bytes": int(memory.split()[0]) * 1024 if memory else 0}


def export_command(job, options, folder):
    return [*engines.linnet_command(options.linnet, job), "--export", str(folder)]


def export(job, options, folder):
    """The data of all engines. Returns (their description, whether they are synthetic)."""
    status, _, err = engines.start(export_command(job, options, folder),
                                   engines.plain_environment(), options.limit)
    if status != 0:
        raise RuntimeError(engines.reason_of(status, err, options.limit))
    return json.loads((folder / "data.json").read_text()), "synthetic data" in err


def engines_of(job, options, folder):
    """{name: (command without its seed, environment, the reason why it cannot run or None)}."""
    test = ["--test"] if job.test else []
    threads = job.threads or machine()["processors"]
    found = {"linnet": ([*engines.linnet_command(options.linnet, job), "--json", "-", *test], {},
                        None)}
    for name in options.peers:
        peer = engines.PEERS[name]
        program = peer.program(job.workload)
        missing = None if program.exists() else f"there is no {program.relative_to(ROOT)}"
        found[name] = (engines.peer_command(peer, options.pythons, folder, job) + test,
                       peer.environment(threads), missing)
    return found


def run_workload(job, options):
    row = {**dataclasses.asdict(job), "data": "", "synthetic": False, "failed": None, "engines": {},
           "export": export_command(job, options, "$DATA"), "ratios": {}, "losses_differ": []}
    with tempfile.TemporaryDirectory(prefix="linnet-bench-") as folder:
        try:
            about, row["synthetic"] = export(job, options, Path(folder))
        except RuntimeError as error:
            row["failed"] = f"linnet bench --export: {error}"
            return row
        job = dataclasses.replace(job, samples=about["samples"])
        row.update(samples=job.samples, data=about["name"])
        who = engines_of(job, options, folder)
        runs = {name: [] for name in who}
        for seed in range(options.repetitions):
            for name, (command, environment, missing) in who.items():
                runs[name].append(attempt(name, seed, [*command, "--seed", str(seed)], environment,
                                          missing, runs[name], job, options))
    for name, (command, environment, _) in who.items():
        row["engines"][name] = {**result_table.summary(runs[name]),
                                "command": [part.replace(folder, "$DATA") for part in command],
                                "environment": environment}
    ours = row["engines"]["linnet"]
    for name in options.peers:
        row["ratios"][name] = result_table.ratio(runs["linnet"], runs[name])
        if result_table.losses_differ(ours["loss"], row["engines"][name]["loss"]):
            row["losses_differ"].append(name)
    return row


def attempt(name, seed, command, environment, missing, before, job, options):
    """A run, or None where an earlier one has shown that it leads nowhere."""
    if any(run is None or run["failed"] for run in before):
        return None
    if missing:
        return {"failed": missing}
    run = engines.run_once(command, environment, options.limit, job)
    parameters = run.get("parameters")
    speed = "failed: " + run["failed"] if run["failed"] else \
        f"{result_table.number(run['samples_per_second'])} samples/s, loss {run['loss']}"
    print(f"{job.name}{job.axes()} {seed + 1}/{options.repetitions} {name}: {speed} "
          f"({run['wall_s']:.1f} s; {parameters} parameters)", file=sys.stderr, flush=True)
    return run


def load_of(at_start, processors, workloads):
    runs = [run for row in workloads for engine in row["engines"].values()
            for run in engine["runs"] if run]
    others = result_table.spread([run.get("others_processors") for run in runs])
    return {"at_start": at_start, "processors": processors, "others_processors": others,
            "busy": bool(others and others["median"] > result_table.BUSY) or
                    (others is None and at_start > processors / 4)}


def place(folder, about):
    """A name for the results that is not taken yet, without its ending."""
    slug = re.sub(r"[^a-z0-9]+", "-", about["processor"].lower()).strip("-")
    name = f"{datetime.date.today()}-{slug}-{about['processors']}"
    number = 1
    while (folder / f"{name}{'' if number == 1 else f'-{number}'}.json").exists():
        number += 1
    return folder / f"{name}{'' if number == 1 else f'-{number}'}"


def linnet_version(linnet):
    status, out, err = engines.start([linnet, "--version"], engines.plain_environment(), 60)
    if status != 0:
        sys.exit(f"run.py: cannot run {linnet}: {engines.reason_of(status, err, 60)}")
    return out.strip().removeprefix("linnet ")


def installed_bytes(options):
    """Of Linnet with all libraries that it loads, and of each peer's framework."""
    found = {"linnet": peer_python.program_bytes(options.linnet)}
    for name in options.peers:
        if not engines.PEERS[name].plain_python:
            found[name] = peer_python.packages_bytes(options.pythons[engines.PEERS[name].folder])
    return found


def main():
    options = run_options.arguments()
    for framework in options.install:
        peer_python.install(framework)
    if not Path(options.linnet).exists():
        sys.exit(f"run.py: there is no {options.linnet}; `./dev bench` builds it, --linnet names "
                 "another")
    about, at_start = machine(), os.getloadavg()[0]
    options.out.mkdir(parents=True, exist_ok=True)
    path = place(options.out, about)
    result = {"format": 1, "date": datetime.datetime.now().isoformat(timespec="seconds"),
              "machine": about, "linnet": linnet_version(options.linnet),
              "settings": {"device": options.device, "precision": options.precision,
                           "threads": options.threads, "protocol": options.protocol,
                           "repetitions": options.repetitions, "peers": options.peers},
              "load": {}, "installed_bytes": installed_bytes(options), "workloads": []}
    for job in jobs.jobs_of(options):
        result["workloads"].append(run_workload(job, options))
        result["load"] = load_of(at_start, about["processors"], result["workloads"])
        # After each, since all of it takes long.
        Path(f"{path}.json").write_text(json.dumps(result, indent=1) + "\n")
        Path(f"{path}.md").write_text(result_table.markdown(result))
        Path(f"{path}.html").write_text(result_page.page(result))
    print(result_table.load_words(result["load"]), file=sys.stderr)
    print(f"{path}.md")
    return int(any(row["failed"] or row["engines"]["linnet"]["failed"]
                   for row in result["workloads"]))


if __name__ == "__main__":
    sys.exit(main())
