#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs workloads on Linnet and, in turn with it, on its peers, and writes what came of it to
benchmarks/results/<date>-<machine>.json, .md and .html.

  benchmarks/run.py                                  all workloads, reduced, beside PyTorch
  benchmarks/run.py mnist-cnn rosenbrock-mlp:infer   these; :infer predicts instead of training
  benchmarks/run.py --data mnist=DIR --data cifar10=DIR   real data that Linnet does not find

Exits with 1 if Linnet itself fails somewhere. Wants the standard library alone; peers run in
--python.
"""
import argparse
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
import result_page
import result_table

ROOT = Path(__file__).resolve().parents[1]


@dataclasses.dataclass(frozen=True)
class Size:
    batch: int
    samples: int  # of an epoch at most; 0: all there are
    warmup: int   # epochs
    epochs: int   # timed ones


# Two cores and four engines do five repetitions of these in about 40 minutes.
REDUCED = {
    "mnist-cnn": Size(128, 10000, 2, 8),
    "rosenbrock-mlp": Size(8000, 32000, 1, 4),
    "rosenbrock-mlp:infer": Size(8000, 32000, 1, 4),
    "flux-cnn": Size(1000, 20000, 1, 3),
    "gru-imdb": Size(64, 2560, 1, 2),
    "vgg-cifar10": Size(64, 1280, 1, 2),
    "resnet50-cifar10": Size(128, 384, 1, 2),
    "resnet50-cifar100": Size(128, 384, 1, 2),
    "densenet121-xray": Size(16, 32, 1, 1),
    "resnet50-features:infer": Size(32, 64, 1, 2),
}
PUBLISHED = {
    "mnist-cnn": Size(128, 10000, 2, 40),
    "rosenbrock-mlp": Size(8000, 32000, 1, 10),
    "rosenbrock-mlp:infer": Size(8000, 32000, 1, 10),
    "flux-cnn": Size(1000, 0, 1, 3),
    "gru-imdb": Size(64, 0, 1, 3),
    "vgg-cifar10": Size(64, 0, 1, 10),
    "resnet50-cifar10": Size(128, 0, 1, 3),
    "resnet50-cifar100": Size(128, 0, 1, 3),
    "densenet121-xray": Size(64, 0, 1, 5),
    "resnet50-features:infer": Size(32, 1280, 1, 1),
}
QUICK = {
    "mnist-cnn": Size(128, 1280, 1, 2),
    "rosenbrock-mlp": Size(500, 2000, 1, 2),
    "rosenbrock-mlp:infer": Size(500, 2000, 1, 2),
    "flux-cnn": Size(100, 1000, 1, 2),
    "gru-imdb": Size(16, 128, 1, 1),
    "vgg-cifar10": Size(16, 128, 1, 1),
    "resnet50-cifar10": Size(32, 96, 1, 1),
    "resnet50-cifar100": Size(32, 96, 1, 1),
    "densenet121-xray": Size(4, 8, 1, 1),
    "resnet50-features:infer": Size(4, 8, 1, 1),
}
# By the names that --data takes.
DATA = {"mnist-cnn": "mnist", "rosenbrock-mlp": "rosenbrock", "flux-cnn": "cifar10",
        "gru-imdb": "imdb", "vgg-cifar10": "cifar10", "resnet50-cifar10": "cifar10",
        "resnet50-cifar100": "cifar100", "densenet121-xray": "chest-xray",
        "resnet50-features": "images"}


@dataclasses.dataclass(frozen=True)
class Job:
    """One row of work, the same for every engine."""
    name: str
    workload: str
    mode: str
    batch: int
    samples: int
    warmup: int
    epochs: int
    device: str
    precision: str
    threads: int
    dataset: str
    test: bool


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD",
                        help="of " + ", ".join(REDUCED) + "; all if none is given")
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--peers", default="torch,torch-compile,torch-plain",
                        help="of " + ", ".join(engines.PEERS) + "; or none")
    parser.add_argument("--repetitions", type=int, help="5, or 2 if --quick")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="tiny sizes, to see that all works")
    size.add_argument("--full", action="store_true", help="the published protocol; hours on a CPU")
    parser.add_argument("--data", action="append", default=[], metavar="NAME=WHERE",
                        help="where data are, as of `linnet train --data`; names: " +
                        ", ".join(sorted(set(DATA.values()))))
    parser.add_argument("--precision", default="auto", help="auto, fp32, tf32 or bf16")
    parser.add_argument("--threads", type=int, default=0, help="0: all processors")
    parser.add_argument("--test", action="store_true", help="evaluate the test part each epoch")
    parser.add_argument("--limit", type=float, default=900, help="seconds for a process")
    parser.add_argument("--linnet", default=str(ROOT / "build/release/bin/linnet"))
    parser.add_argument("--python", help="the peers'; /opt/torch/bin/python or else python3")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks/results")
    options = parser.parse_args()
    options.protocol = "quick" if options.quick else "full" if options.full else "reduced"
    sizes = {"quick": QUICK, "full": PUBLISHED, "reduced": REDUCED}[options.protocol]
    aliases = {name.removesuffix(":infer"): name for name in reversed(sizes)}
    wanted = [name if name in sizes else aliases.get(name, name)
              for name in options.workloads or sizes]
    unknown = [name for name in wanted if name.removesuffix(":infer") not in DATA]
    if unknown:
        parser.error(f"unknown workload '{unknown[0]}'; expected {', '.join(sizes)}")
    options.sizes = {name: sizes.get(name) or sizes[aliases[name.removesuffix(":infer")]]
                     for name in wanted}
    options.peers = [] if options.peers == "none" else options.peers.split(",")
    for peer in options.peers:
        if peer not in engines.PEERS:
            parser.error(f"unknown peer '{peer}'; expected {', '.join(engines.PEERS)} or none")
    options.data = dict(part.partition("=")[::2] for part in options.data)
    for name in options.data:
        if name not in DATA.values():
            parser.error(f"--data: unknown name '{name}'")
    if options.repetitions is None:
        options.repetitions = 2 if options.quick else 5
    if options.repetitions < 1:
        parser.error("--repetitions: expected at least 1")
    if options.python is None:
        found = Path("/opt/torch/bin/python")
        options.python = str(found) if found.exists() else "python3"
    return options


def job_of(name, options):
    size = options.sizes[name]
    workload = name.removesuffix(":infer")
    infer = name.endswith(":infer")
    return Job(name=name, workload=workload, mode="infer" if infer else "train", batch=size.batch,
               samples=size.samples, warmup=size.warmup, epochs=size.epochs, device=options.device,
               precision=options.precision, threads=options.threads,
               dataset=options.data.get(DATA[workload], ""), test=options.test and not infer)


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
    tuned = engines.tuned_environment(options.threads or machine()["processors"])
    found = {"linnet": ([*engines.linnet_command(options.linnet, job), "--json", "-", *test], {},
                        None)}
    for name in options.peers:
        peer = engines.PEERS[name]
        program = peer.program(job.workload)
        missing = None if program.exists() else f"there is no {program.relative_to(ROOT)}"
        found[name] = (engines.peer_command(peer, options.python, folder, job) + test,
                       tuned if peer.tuned else {}, missing)
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
    print(f"{job.name} {seed + 1}/{options.repetitions} {name}: {speed} ({run['wall_s']:.1f} s; "
          f"{parameters} parameters)", file=sys.stderr, flush=True)
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


def main():
    options = arguments()
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
              "load": {}, "workloads": []}
    for name in options.sizes:
        result["workloads"].append(run_workload(job_of(name, options), options))
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
