#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A peer that computes nothing: it reads the data, sees that they are whole, and prints the JSON
line of one that has learnt, has not (--behaviour flat), or breaks off. For tests of run.py."""
import argparse
import json
import math
import sys
import time
from pathlib import Path

SIZES = {"u8": 1, "i32": 4, "f32": 4}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--behaviour", choices=("learns", "flat", "broken"), default="learns")
    for name in ("--device", "--precision"):
        parser.add_argument(name)
    for name in ("--batch", "--warmup", "--epochs", "--seed", "--threads"):
        parser.add_argument(name, type=int)
    for name in ("--infer", "--test"):
        parser.add_argument(name, action="store_true")
    options = parser.parse_args()
    if options.behaviour == "broken":
        sys.exit("this peer is broken, as it was asked to be")

    start = time.perf_counter()
    about = json.loads((options.data / "data.json").read_text())
    samples = (options.data / "samples.bin").read_bytes()
    targets = (options.data / "targets.bin").read_bytes()
    wanted = about["samples"] * math.prod(about["sample_shape"]) * SIZES[about["sample_dtype"]]
    if len(samples) != wanted or len(targets) % (about["samples"] * SIZES[about["target_dtype"]]):
        sys.exit(f"samples.bin has {len(samples)} bytes instead of {wanted}, targets.bin "
                 f"{len(targets)}")

    count = options.warmup + options.epochs
    falls = options.behaviour == "learns"
    losses = [] if options.infer else [2.3 - 0.1 * epoch * falls for epoch in range(count)]
    seconds = [0.001 * about["samples"] / 1000 * (1 + options.seed)] * options.epochs
    print(json.dumps({
        "framework": "fake", "workload": "mnist-cnn", "batch": options.batch,
        "samples": about["samples"], "parameters": 31530, "warmup": options.warmup,
        "epochs": options.epochs, "samples_per_second": {"median": about["samples"] / seconds[0]},
        "timed_seconds": seconds, "losses": losses, "failed": None,
        "data_seconds": time.perf_counter() - start, "peak_bytes": 1 << 24, "threads": 1,
        "versions": {"python": sys.version.split()[0]}}))


if __name__ == "__main__":
    main()
