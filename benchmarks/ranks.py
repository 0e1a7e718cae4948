#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trainings on several ranks beside PyTorch's DDP (Gloo), on the same processors and drawn data.

  benchmarks/ranks.py --torch-python PYTHON     wants build/release/bin/{linnet,ranks_probe}, and NumPy for itself
  benchmarks/ranks.py --torch-python PYTHON --xray FOLDER      also on radiographs, which PyTorch reads by Pillow

On one machine: 1 rank of 2 threads, 2 ranks of 1 thread, 4 ranks of 1 thread on 2 processors. As root also
on two "machines": network namespaces of this one, joined by a cable whose rate `tc` limits. There Linnet runs
with gradients summed while they are found, in buckets of 1, 4 and 16 MiB, and after the backward pass. The
seconds of sums of small and large arrays give the latency and the time of a byte in a model (docs/notes/2026-11-28-scale.md). With
--xray, a folder of images with labels.csv, densenet121-xray also trains on the first of these, decoded by a loader
beside the training, cropped and flipped.
Writes benchmarks/results/<date>-cpu-<isa>-ranks.json and .md.
"""
import argparse
import contextlib
import csv
import itertools
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import engines
import other_results
import numpy as np
from rank_worker import WORKLOADS, XRAY, drawn

ROOT = Path(__file__).resolve().parents[1]
WORKER = Path(__file__).with_name("rank_worker.py")
FILES = "densenet121-xray, files"
IMAGES = ("--streamed", "--image-size", str(XRAY.shape[0]))  # these are smaller
FORMS = ((1, 2), (2, 1), (4, 1))  # ranks, threads of each
ENGINES = {"linnet": (), "linnet-mpi": (), "linnet-fast": ("--reduce", "fast"),
           "linnet-1MiB": ("--bucket", "1MiB"), "linnet-16MiB": ("--bucket", "16MiB"),  # linnet: 4 MiB
           "linnet-afterwards": ("--disable-pass", "overlap_sums")}  # and torch-ddp
CABLE = {"resnet50-cifar10": ("linnet", "linnet-1MiB", "linnet-16MiB", "linnet-afterwards", "torch-ddp"),
         "mnist-cnn": ("linnet", "torch-ddp")}  # whose gradients are one bucket
SUMS = (256, 1 << 24)  # floats
ports = itertools.count(20000 + os.getpid() % 10000)


def run(*command):
    subprocess.run(command, check=True, capture_output=True)


@contextlib.contextmanager
def cable(rate):
    """Two namespaces, or this machine without a rate; gives the words before each rank's command, and rank 0's
    address."""
    if rate is None:
        yield None, "127.0.0.1"
        return
    names = ("linnet-a", "linnet-b")
    try:
        for name in names:
            run("ip", "netns", "add", name)
            run("ip", "-n", name, "link", "set", "lo", "up")
        run("ip", "link", "add", "linnet0", "netns", names[0], "type", "veth", "peer", "name", "linnet0", "netns",
            names[1])
        for at, name in enumerate(names):
            run("ip", "-n", name, "addr", "add", f"10.99.0.{at + 1}/24", "dev", "linnet0")
            run("ip", "-n", name, "link", "set", "linnet0", "up")
            if rate != "unlimited":
                run("tc", "-n", name, "qdisc", "add", "dev", "linnet0", "root", "tbf", "rate", rate, "burst", "256kb",
                    "latency", "50ms")
        yield [["ip", "netns", "exec", name] for name in names], "10.99.0.1"
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)


def launch(command, ranks, threads, environment, hosts=None, address="127.0.0.1"):
    """What rank 0 prints, of ranks that meet at rank 0's address; each has its processors."""
    common = {**environment, "WORLD_SIZE": str(ranks), "MASTER_ADDR": address, "MASTER_PORT": str(next(ports)),
              "GLOO_SOCKET_IFNAME": "linnet0" if hosts else "lo"}
    processors = sorted(os.sched_getaffinity(0))
    started = []
    for rank in range(ranks):
        own = processors if threads > 1 else [processors[rank % len(processors)]]
        before = (hosts[rank] if hosts else []) + ["taskset", "-c", ",".join(map(str, own))]
        started.append(subprocess.Popen([*before, *command], env={**common, "RANK": str(rank)}, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE))
    return printed(started, command)


def launch_mpi(command, ranks, environment):
    """The same by mpirun, on this machine."""
    started = subprocess.Popen(["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(ranks), *command],
                               env={**environment, "WORLD_SIZE": str(ranks)}, text=True, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    return printed([started], command)


def printed(processes, command):
    outputs = [process.communicate() for process in processes]
    for process, (_, error) in zip(processes, outputs):
        if process.returncode:
            sys.exit(f"ranks.py: {' '.join(command)} failed: {error[-2000:]}")
    return outputs[0][0]


def first_images(xray, folder):
    """A folder with the first images of another and their lines of its labels.csv, all for training."""
    folder.mkdir()
    with open(Path(xray, "labels.csv"), newline="", encoding="utf-8") as file:
        rows = [*itertools.islice((row for row in csv.DictReader(file) if row["split"] == "train"), XRAY.samples)]
    with open(folder / "labels.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    for row in rows:
        shutil.copy(Path(xray, row["file"]), folder)


def data_of(name, options):
    """The folder with what Linnet and the peer read: arrays that the peer draws too, or images."""
    where = Path(options.folder, name)
    if not where.exists() and name == FILES:
        first_images(options.xray, where)
    elif not where.exists():
        where.mkdir()
        for array_name, array in zip("xy", drawn(name)):
            np.save(where / f"{array_name}_train.npy", array)
    return where


def one_run(engine, name, ranks, threads, options, hosts=None, address="127.0.0.1"):
    """Seconds of each timed epoch."""
    workload = name.removesuffix(", files")
    sizes = ["--batch", str(WORKLOADS[workload].batch), "--threads", str(threads), "--epochs",
             str(WORKLOADS[workload].epochs)]
    data = data_of(name, options)
    environment = {**engines.plain_environment(), "OMP_NUM_THREADS": str(threads)}
    if engine == "torch-ddp":
        command = [options.torch_python, "-B", str(WORKER), workload, *sizes,
                   *(["--files", str(data)] if name == FILES else [])]
        environment |= engines.tuned_environment(threads)
        return json.loads(launch(command, ranks, threads, environment, hosts, address))["seconds"][1:]
    with tempfile.TemporaryDirectory(prefix="linnet-bench-") as out:
        command = [options.linnet, "train", "--workload", workload, "--data", str(data), *sizes, "--optimizer", "adam",
                   "--lr", "0.001", "--schedule", "constant", "--rank-deadline", "60", "--out", str(Path(out, "run")),
                   *(IMAGES if name == FILES else ["--augment", "none"]), *ENGINES[engine]]
        if engine == "linnet-mpi":
            launch_mpi(command, ranks, environment)
        else:
            launch(command, ranks, threads, environment, hosts, address)
        lines = Path(out, "run/history.jsonl").read_text().splitlines()
        return [json.loads(line)["seconds"] for line in lines][1:]


def one_run_alone(*run, options):
    """The same, in a process that --under starts."""
    if not options.under:
        return one_run(*run[:4], options, *run[4:])
    command = [*options.under.split(), sys.executable, "-B", __file__, "--linnet", options.linnet, "--torch-python",
               options.torch_python, "--folder", options.folder, "--xray", options.xray, "--one", json.dumps(run)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def sum_of_two(options, carrier, floats, hosts=None, address="127.0.0.1"):
    """Mean seconds of a sum over two ranks."""
    command = [str(Path(options.linnet).with_name("ranks_probe")), carrier, "200" if floats < 1 << 20 else "10",
               str(floats), "0"]
    out = launch_mpi(command, 2, engines.plain_environment()) if carrier == "mpi" else \
        launch(command, 2, 1, engines.plain_environment(), hosts, address)
    return float(re.search(r"in (\S+) s a sum", out)[1])


def sums(options):
    """Seconds of small and large sums, by carrier and cable."""
    found = []
    places = [("gloo", None), ("mpi", None)]
    if os.geteuid() == 0:
        places += [("gloo", rate) for rate in options.rates]
    for carrier, rate in places:
        with cable(rate) as (hosts, address):
            taken = [[sum_of_two(options, carrier, floats, hosts, address) for floats in SUMS]
                     for _ in range(options.repetitions)]
        found.append({"carrier": carrier, "rate": rate, "floats": SUMS, "seconds": [*zip(*taken)]})
        print(carrier, rate or "", *(f"{statistics.median(each):.6f}" for each in found[-1]["seconds"]), flush=True)
    return found


def measure(options, names, workload, ranks, threads, rate=None):
    of = WORKLOADS[workload.removesuffix(", files")]
    found = {"workload": workload, "batch": of.batch, "ranks": ranks, "threads": threads, "rate": rate, "engines": {}}
    with cable(rate) as (hosts, address):
        for _ in range(options.repetitions):  # in turn
            for name in names:
                seconds = one_run_alone(name, workload, ranks, threads, hosts, address, options=options)
                rates = [of.samples / each for each in seconds]
                found["engines"].setdefault(name, []).append(statistics.median(rates))
    print(workload, ranks, threads, rate or "", {name: f"{statistics.median(rates):.1f}"
                                                 for name, rates in found["engines"].items()}, flush=True)
    return found


def form(text):
    """Ranks and threads of each, of RANKSxTHREADS."""
    ranks, threads = text.split("x")
    return int(ranks), int(threads)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--torch-python", default=sys.executable, help="has torch")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--workloads", nargs="*", default=list(WORKLOADS), choices=list(WORKLOADS))
    parser.add_argument("--xray", default="", metavar="FOLDER", help="radiographs with labels.csv")
    parser.add_argument("--forms", nargs="*", type=form, default=FORMS, metavar="RANKSxTHREADS")
    parser.add_argument("--rates", nargs="*", default=["unlimited", "1gbit", "200mbit"],
                        help="of the cable, as tc takes them")
    parser.add_argument("--under", default="", metavar="COMMAND", help="starts each run, e.g. on an idle machine")
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    parser.add_argument("--one", type=json.loads, help=argparse.SUPPRESS)
    options = other_results.parsed(parser, "ranks")
    if options.one:
        print(json.dumps(one_run(*options.one[:4], options, *options.one[4:])))
        return
    at_start = os.getloadavg()[0]
    several = ("linnet", "linnet-mpi", "linnet-fast", "torch-ddp")
    with tempfile.TemporaryDirectory(prefix="linnet-bench-") as options.folder:
        rows = [measure(options, several if ranks > 1 else ("linnet", "torch-ddp"), workload, ranks, threads)
                for workload in [*options.workloads, *([FILES] if options.xray else [])]
                for ranks, threads in options.forms]
        if os.geteuid() == 0:
            rows += [measure(options, names, workload, 2, 1, rate)
                     for workload, names in CABLE.items() if workload in options.workloads for rate in options.rates]
    version = subprocess.run([options.torch_python, "-c", "import torch; print(torch.__version__)"], check=True,
                             capture_output=True, text=True).stdout.strip()
    other_results.save(options, at_start, [], {"torch": {"torch": version}}, {"repetitions": options.repetitions},
                       ["benchmarks/ranks.py --torch-python PYTHON"], rows=rows,
                       sums=sums(options))


if __name__ == "__main__":
    sys.exit(main())
