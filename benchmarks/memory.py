#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory: planned against measured bytes, the largest batches beside PyTorch, and both by batch.

  benchmarks/memory.py --torch-python PYTHON                  all of it; half an hour
  benchmarks/memory.py --parts planned                        planned against measured, every workload; 3 minutes
  benchmarks/memory.py --torch-python PYTHON --parts largest --limits 1G

planned: `linnet max-batch --verify` for every workload, training and predicting, under each limit of --planned.
largest: the largest batch whose whole process stays below a limit, of three workloads, Linnet and PyTorch in
fresh processes of one step each. decades: peak bytes of processes and seconds of a step over three decades of
batch. Writes benchmarks/results/<date>-cpu-<isa>-memory.json and .md, and what decades found as docs/images/memory-by-batch.svg.
"""
import argparse
import contextlib
import dataclasses
import io
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import engines
import footprint
import jobs
import largest_batch
import memory_tables
import options as run_options
import other_results
import prepared
import workloads

ROOT = Path(__file__).resolve().parents[1]
LARGEST = ("rosenbrock-mlp", "mnist-cnn", "gru-imdb")
BY_BATCH = "mnist-cnn"
BATCHES = (16, 50, 160, 500, 1600, 5000, 16000)
STEPS = 8  # of an epoch, if the data set has so many samples
SAMPLES = 60000
NAMES = ("linnet", "torch")
PARTS = ("planned", "largest", "decades")


def planned(options):
    """[{workload, mode, limit, batch, planned_bytes, measured_bytes}] of all workloads."""
    found = []
    for workload in options.workloads or workloads.ALL:
        for mode in ("train", "infer"):
            for limit in options.planned:
                command = [options.linnet, "max-batch", "--workload", workload, "--mode", mode, "--memory-limit",
                           str(limit), "--verify", "--json"]
                out = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
                found.append({"workload": workload, "mode": mode, "limit": limit,
                              **{key: out[key] for key in ("batch", "planned_bytes", "measured_bytes")}})
                print(workload, mode, limit, *(f"{out[key] / 2**20:.1f}" for key in
                                               ("planned_bytes", "measured_bytes")), file=sys.stderr, flush=True)
    return found


def job_of(workload, mode, batch, samples=0):
    return jobs.Job(name=workload, workload=workload, mode=mode, batch=batch, samples=samples or batch, warmup=0,
                    epochs=1, device="cpu", precision="fp32", threads=0, dataset="", test=False)


def loaded_bytes(command):
    """Peak of a process that has its libraries and nothing to do."""
    script = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); " \
             "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    out = subprocess.run([sys.executable, "-c", script, *command], check=True, capture_output=True, text=True).stdout
    return 1024 * int(out)


def largest(options):
    """{loaded: {name: bytes}, rows: [{workload, mode, limit, engines: {name: {batch, peak_bytes}}}]}; each limit's
    search begins at what it would be in proportion to the last one's."""
    loaded = {"linnet": loaded_bytes([options.linnet, "--version"]),
              "torch": loaded_bytes([options.torch_python, "-c", "import torch"])}
    found = []
    for workload in options.workloads or LARGEST:
        for mode in ("train", "infer"):
            starts = dict.fromkeys(NAMES, 256)
            for limit in options.limits:
                options.memory_limit, row = limit, {"workload": workload, "mode": mode, "limit": limit, "engines": {}}
                for name in NAMES:
                    with contextlib.redirect_stderr(io.StringIO()):
                        result = largest_batch.of(name, job_of(workload, mode, starts[name]), options)
                    peak = next((each["peak_bytes"] for each in result["trials"]
                                 if each["batch"] == result["batch"]), None)
                    row["engines"][name] = {"batch": result["batch"], "all_data": result["all_data"],
                                            "peak_bytes": peak,
                                            "failed": None if result["batch"] else result["trials"][-1]["failed"]}
                    starts[name] = max(2 * result["batch"], 64)
                found.append(row)
                print(workload, mode, limit, {name: each["batch"] for name, each in row["engines"].items()},
                      file=sys.stderr, flush=True)
    return {"loaded": loaded, "rows": found}


def decades(options):
    """{workload, batches: [{batch, engines: {name: [{peak_bytes, step_seconds}]}}]}: a process of one step, and the
    fastest epoch of a few steps."""
    rows = []
    for batch in BATCHES:
        job = job_of(BY_BATCH, "train", batch, min(STEPS, SAMPLES // batch) * batch)
        job = dataclasses.replace(job, epochs=3, warmup=1)
        row = {"batch": batch, "engines": {}}
        for name in NAMES:
            with tempfile.TemporaryDirectory(prefix="linnet-bench-") as folder:
                small = footprint.one_step(job)
                prepared.export(small, options, Path(folder))
                command, environment, _ = prepared.engines_of(small, options, Path(folder))[name]
                run = engines.run_step([*command, "--seed", "0"], environment, options.limit)
            with tempfile.TemporaryDirectory(prefix="linnet-bench-") as folder:
                prepared.export(job, options, Path(folder))
                command, environment, _ = prepared.engines_of(job, options, Path(folder))[name]
                timed = [engines.run_once([*options.under.split(), *command, "--seed", "0"], environment,
                                          options.limit, job)
                         for _ in range(options.repetitions)]
            speeds = [each["samples_per_second"] for each in timed if not each["failed"]]
            failed = [each["failed"] for each in [run, *timed] if each["failed"]]
            row["engines"][name] = {"peak_bytes": run.get("peak_bytes"),
                                    "step_seconds": [batch / speed for speed in speeds], "failed": failed}
            for reason in failed:
                print(batch, name, reason, file=sys.stderr, flush=True)
        rows.append(row)
        print(batch, {name: (f"{(each['peak_bytes'] or 0) / 2**20:.0f} MiB",
                             f"{1e3 * min(each['step_seconds'], default=0):.2f} ms")
                      for name, each in row["engines"].items()}, file=sys.stderr, flush=True)
    return {"workload": BY_BATCH, "batches": rows}


def command_of(options):
    """What measures these parts again."""
    python = "" if options.parts == ["planned"] else " --torch-python PYTHON"
    parts = "" if options.parts == list(PARTS) else f" --parts {' '.join(options.parts)}"
    return f"benchmarks/memory.py{python}{parts}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--torch-python", default=sys.executable, help="has torch")
    parser.add_argument("--parts", nargs="*", default=list(PARTS), choices=PARTS)
    parser.add_argument("--limits", nargs="*", type=run_options.memory, default=[2**30, 2**31, 2**32])
    parser.add_argument("--planned", nargs="*", type=run_options.memory, default=[2**30],
                        help="limits of the plans that are compared with a run")
    parser.add_argument("--workloads", nargs="*", choices=list(workloads.ALL),
                        help="all for planned, three for largest")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--limit", type=float, default=900, help="time limit of a process in seconds")
    parser.add_argument("--under", default="", metavar="COMMAND",
                        help="starts each timed process, e.g. on an idle machine")
    options = other_results.parsed(parser, "memory")
    options.peers, options.pythons, options.not_installed = ["torch"], {"torch": options.torch_python}, {}
    at_start = os.getloadavg()[0]
    found = {part: globals()[part](options) for part in options.parts}
    version = {} if options.parts == ["planned"] else {"torch": {"torch": subprocess.run(
        [options.torch_python, "-c", "import torch; print(torch.__version__)"], check=True, capture_output=True,
        text=True).stdout.strip()}}
    other_results.save(options, at_start, [], version, {"repetitions": options.repetitions},
                       [command_of(options)], **found)
    if "decades" in found:
        (ROOT / "docs/images/memory-by-batch.svg").write_text(memory_tables.drawing(found["decades"]))


if __name__ == "__main__":
    sys.exit(main())
