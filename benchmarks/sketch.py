#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains mnist-cnn beside a program of one file that was written for it alone: a sketch of what its
kernels can reach on a machine. The file is C++ and lies anywhere; it is compiled with -O3 -march=native
-fopenmp into a temporary folder. Its program takes the batch and the number of threads, and the last line
that it prints has "-> NUMBER samples/s". Both run in turn, a fresh process each time."""
import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import engines
import figures
import other_results
import options as run_options

WORKLOAD = "mnist-cnn"
SPEED = re.compile(r"-> *([\d.]+) samples/s")
FLAGS = ("-O3", "-march=native", "-fopenmp")


def compiled(source, compiler, folder):
    """The program of a source; ends this one with the compiler's words where it has errors."""
    program = Path(folder, "sketch")
    command = [compiler, *FLAGS, str(source), "-o", str(program)]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except OSError as error:
        sys.exit(f"sketch.py: cannot start {compiler}: {error.strerror}")
    except subprocess.CalledProcessError as error:
        lines = [line for line in error.stderr.splitlines() if "error" in line] or ["it says nothing"]
        sys.exit(f"sketch.py: {compiler} cannot compile {source}: {lines[0]}")
    return program


def sketch_run(program, batch, threads, options):
    """Its samples a second, or why there are none."""
    command = [*shlex.split(options.under), str(program), str(batch), str(threads)]
    environment = {**engines.plain_environment(), "OMP_PROC_BIND": "close", "OMP_WAIT_POLICY": "ACTIVE"}
    status, out, err = engines.start(command, environment, options.limit)
    found = SPEED.findall(out)
    if status != 0 or not found:
        return {"failed": engines.reason_of(status, err or out, options.limit)}
    return {"failed": None, "samples_per_second": float(found[-1]), "words": out.strip().splitlines()}


def linnet_command(batch, threads, options):
    return [options.linnet, "bench", WORKLOAD, "--batch", str(batch), "--threads", str(threads), "--device", "cpu",
            "--samples", str(options.samples), "--warmup", "1", "--epochs", str(options.epochs), "--json", "-"]


def linnet_run(batch, threads, options):
    command = [*shlex.split(options.under), *linnet_command(batch, threads, options)]
    run, record = engines.observed_process(command, {}, options.limit)
    if record is not None:
        run["samples_per_second"] = record["samples_per_second"]
    return run


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path, help="C++ source of the sketch")
    parser.add_argument("--compiler", default=os.environ.get("CXX", "c++"))
    parser.add_argument("--batches", type=run_options.numbers, default=[128], metavar="N,N,...")
    parser.add_argument("--threads", type=run_options.numbers, default=[1, 2], metavar="N,N,...")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--samples", type=int, default=2560, help="of an epoch of Linnet")
    parser.add_argument("--epochs", type=int, default=300, help="timed epochs of Linnet, whose median counts")
    parser.add_argument("--limit", type=float, default=600, help="seconds for a process")
    parser.add_argument("--under", default="", help="command that starts each process, e.g. 'taskset -c 0,1'")
    options = other_results.parsed(parser, "sketch")
    if not options.source.exists():
        parser.error(f"there is no {options.source}")
    if min(*options.batches, *options.threads, options.repetitions, options.epochs, options.samples) < 1:
        parser.error("expected numbers from 1 on")
    return options


def main():
    options, at_start, rows, ours = arguments(), os.getloadavg()[0], [], []
    with tempfile.TemporaryDirectory(prefix="linnet-bench-") as folder:
        program = compiled(options.source, options.compiler, folder)
        for batch in options.batches:
            for threads in options.threads:
                runs = {"linnet": [], "sketch": []}
                for _ in range(options.repetitions):
                    runs["linnet"].append(linnet_run(batch, threads, options))
                    runs["sketch"].append(sketch_run(program, batch, threads, options))
                failed = next(filter(None, map(figures.failure, runs.values())), None)
                if failed:
                    sys.exit(f"sketch.py: batch {batch}, {threads} threads: {failed}")
                ours += runs["linnet"]
                rows.append({"batch": batch, "threads": threads, "runs": runs,
                             "ratio": figures.ratio(runs["linnet"], runs["sketch"])})
                print(f"batch {batch}, {threads} threads: {figures.ratio_words(rows[-1]['ratio'])}",
                      file=sys.stderr, flush=True)
    other_results.save(
        options, at_start, ours, {},
        {"repetitions": options.repetitions, "samples": options.samples, "epochs": options.epochs},
        [" ".join([options.compiler, *FLAGS, options.source.name, "-o sketch"]),
         *(" ".join(command) for row in rows for command in (
             linnet_command(row["batch"], row["threads"], options),
             ["./sketch", str(row["batch"]), str(row["threads"])]))],
        sketch=options.source.name, rows=rows)


if __name__ == "__main__":
    main()
