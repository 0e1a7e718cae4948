# SPDX-License-Identifier: Apache-2.0
"""What peers of every framework share: their options, the data that `linnet bench --export` wrote,
and the JSON line about whole timed epochs."""
import argparse
import json
import os
import resource
import statistics
import sys
import time
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[2]))
import workloads  # noqa: E402

PRECISIONS = ("auto", "bf16", "fp32", "tf32")
DTYPES = {"u8": np.uint8, "f32": np.float32, "i32": np.int32}


def parser(program, framework, modes, device="cpu", precisions=PRECISIONS):
    """The options that run.py gives to the program of this path; the first of `modes` is the
    default."""
    entry = workloads.of_program(program)
    sizes = next(iter(entry["sizes"].values()))
    found = argparse.ArgumentParser(
        description=f"{entry['name']} in {framework}; prints one JSON line")
    found.add_argument("--data", type=Path, required=True, help="folder of linnet bench --export")
    found.add_argument("--device", default=device)
    found.add_argument("--mode", choices=modes, default=modes[0])
    found.add_argument("--precision", choices=precisions, default="auto")
    found.add_argument("--infer", action="store_true", help="predict instead of training")
    found.add_argument("--test", action="store_true", help="evaluate the test set each epoch")
    found.add_argument("--threads", type=int, default=0,
                       help="threads on the CPU; 0: the framework's choice")
    found.add_argument("--batch", type=int, default=sizes["published"][0])
    found.add_argument("--warmup", type=int, default=2, help="epochs that are not timed")
    found.add_argument("--epochs", type=int, default=10, help="timed epochs")
    found.add_argument("--max-steps", type=int, default=0, help="steps of an epoch, for tests; 0: all")
    found.add_argument("--seed", type=int, default=0)
    found.set_defaults(workload=entry["name"], parameters=entry["parameters"])
    return found


class Data:
    """A part of the exported data: samples (N, ...) u8, i32 or f32, targets (N) i32 or (N, ...) f32
    as numpy arrays, and the seconds that reading them took."""

    def __init__(self, folder, part=""):
        """`part`: "" for training, "test_" for the test set, which may be missing (N = 0)."""
        start = time.perf_counter()
        self.about = json.loads((folder / "data.json").read_text())
        count = self.about.get(f"{part}samples", 0)
        self.images = len(self.about["sample_shape"]) == 3
        self.classes = self.about["target_dtype"] == "i32"
        self.samples = self.targets = None
        if count:
            samples = np.fromfile(folder / f"{part}samples.bin", DTYPES[self.about["sample_dtype"]])
            targets = np.fromfile(folder / f"{part}targets.bin", DTYPES[self.about["target_dtype"]])
            self.samples = samples.reshape(count, *self.about["sample_shape"])
            self.targets = targets if self.classes else targets.reshape(count, -1)
        self.seconds = time.perf_counter() - start


def tested(folder, evaluate):
    """Mean loss of the test set, and its accuracy where targets are classes; None without one.
    evaluate(samples, targets) -> (mean loss, outputs), numpy arrays all."""
    data = Data(folder, "test_")
    if data.samples is None:
        return None
    total = right = 0
    for begin, end in bounds(len(data.samples), 250):
        y = data.targets[begin:end]
        loss, outputs = evaluate(data.samples[begin:end], y)
        total += float(loss) * len(y)
        right += int((outputs.argmax(1) == y).sum()) if data.classes else 0
    return total / len(data.samples), right / len(data.samples) if data.classes else None


def check_parameters(options, found):
    if found != options.parameters:
        sys.exit(f"{options.workload} has {options.parameters} parameters; this model has {found}")


def bounds(samples, batch):
    """First and last + 1 of each batch; the last may be incomplete."""
    for begin in range(0, samples, batch):
        yield begin, min(begin + batch, samples)


def epoch_samples(options, count):
    """Samples of an epoch, where --max-steps may cut it short."""
    found = min(count, options.max_steps * options.batch) if options.max_steps else count
    if found == 0:
        sys.exit(f"{options.workload}: the data hold less than a batch of {options.batch}")
    return found


def openmp_threads():
    """Of a framework that has no way to ask it but takes what run.py puts in its environment."""
    return int(os.environ.get("OMP_NUM_THREADS", 0)) or len(os.sched_getaffinity(0))


def peak_bytes():
    """The most memory that this process has held; ru_maxrss may be a parent's."""
    try:
        status = Path("/proc/self/status").read_text()
        return int(next(line for line in status.splitlines() if "VmHWM" in line).split()[1]) * 1024
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


class Epochs:
    """The epochs of a run. `run` has options, epoch_samples, data_seconds, epoch() -> (seconds,
    mean loss or None), test() -> (loss, accuracy or None) or None, finite() and about() with framework,
    mode, device, parameters, threads and versions; for serve.py also restart(), back to the first
    weights. `started`: when the program began."""

    def __init__(self, run, started):
        self.run, self.started = run, started
        self.startup = time.perf_counter() - started
        self.losses, self.tests = [], []

    def go(self, count, least=0.0):
        """Runs so many epochs more, and then more until they took `least` seconds together; returns
        the seconds of each."""
        seconds, options = [], self.run.options
        while len(seconds) < count or sum(seconds) < least:
            took, mean = self.run.epoch()
            seconds.append(took)
            tested = None
            if not options.infer:
                self.losses.append(mean)
                tested = self.run.test() if options.test else None  # outside the clock
            self.tests += [tested] if tested else []
            print(f"epoch of {took:.3g} s, loss {mean}, test {tested}", file=sys.stderr, flush=True)
        return seconds

    def warm_up(self):
        """The epochs that are not timed; the first of them counts as start-up."""
        if self.run.options.warmup:
            self.go(1)
            self.startup = time.perf_counter() - self.started
            self.go(self.run.options.warmup - 1)

    def again(self, count, least):
        """Starts from the first weights: warm-up, then as go(), like a new process."""
        self.run.restart()
        self.losses, self.tests = [], []
        self.go(self.run.options.warmup)
        return self.go(count, least)

    def record(self, seconds):
        """What a peer prints, with the timed epochs that took so many seconds each."""
        options = self.run.options
        rates = [self.run.epoch_samples / each for each in seconds]
        return {
            **self.run.about(),
            "workload": options.workload,
            "infer": options.infer,
            "batch": options.batch,
            "precision": options.precision,
            "samples": self.run.epoch_samples,
            "warmup": options.warmup,
            "epochs": len(seconds),
            "samples_per_second": {"median": statistics.median(rates), "min": min(rates),
                                   "max": max(rates)},
            "timed_seconds": seconds,
            "loss": self.losses[-1] if self.losses else None,
            "losses": self.losses,
            "test_losses": [each[0] for each in self.tests],
            "test_accuracies": [each[1] for each in self.tests],
            "failed": None if self.run.finite() else "the outputs are not finite",
            "startup_s": self.startup,
            "data_seconds": self.run.data_seconds,
            "peak_bytes": peak_bytes(),
        }


def report(run, started):
    """Runs the epochs that the options ask for, and prints the JSON line; `run` and `started` as of
    Epochs. serve.py puts its own function here."""
    epochs = Epochs(run, started)
    epochs.warm_up()
    print(json.dumps(epochs.record(epochs.go(run.options.epochs))), flush=True)
