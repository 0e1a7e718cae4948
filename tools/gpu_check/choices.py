# SPDX-License-Identifier: Apache-2.0
"""Linnet beside itself: what it does by a rule that no clock has judged, and the other ways."""
import dataclasses
import statistics

import engines
import jobs
from check import BENCHMARKS
from measure import SMALL

ROUNDS = 3  # of every way, in turns


@dataclasses.dataclass(frozen=True)
class Way:
    """`words`: further arguments of `linnet bench`."""
    name: str
    words: tuple = ()

    @staticmethod
    def without(*passes):
        return Way("without " + ", ".join(passes),
                   tuple(word for name in passes for word in ("--disable-pass", name)))


DEFAULT = Way("default")
FREE = Way("any order of sums", ("--deterministic", "off"))
ONE_STEP, PLAIN = Way("a graph a step", ("--graph", "1")), Way("no graph", ("--graph", "off"))


@dataclasses.dataclass(frozen=True)
class Choice:
    workload: str
    size: jobs.Size
    ways: tuple
    precision: str = "tf32"
    rehearsed: bool = False


ALL = (
    Choice("resnet50-cifar10", jobs.Size(128, 6400, 1, 2),
           (DEFAULT, Way.without("join_norms"), FREE, ONE_STEP, PLAIN)),
    Choice("mnist-cnn", jobs.Size(128, 9984, 2, 20),
           (DEFAULT, Way.without("fuse_small_cnn"), ONE_STEP, PLAIN), rehearsed=True),
    Choice("densenet121-xray", jobs.Size(64, 256, 1, 2), (DEFAULT, Way.without("join_norms"))),
    Choice("flux-cnn", jobs.Size(1000, 10000, 2, 6), (DEFAULT, ONE_STEP)),
    Choice("vgg-cifar10", jobs.Size(64, 6400, 1, 3), (DEFAULT, FREE)),
)


def measure(check, choice, way, turn):
    """Runs one way once; the samples a second, or None where there are none."""
    size = SMALL if check.rehearsal else choice.size
    job = jobs.Job(name=choice.workload, workload=choice.workload, mode="train", batch=size.batch,
                   samples=size.samples, warmup=size.warmup, epochs=size.epochs, device="cuda",
                   precision=choice.precision, threads=0, test=False,
                   dataset="digits" if choice.workload == "mnist-cnn" else "")
    command = [*engines.linnet_command(str(check.programs.linnet), job), "--json", "-", *way.words]
    row, failed = check.bench(command)
    check.row(BENCHMARKS, {**(row or {}), "about": "choice", "way": way.name, "turn": turn,
                           "name": job.name, "batch": job.batch, "precision": job.precision,
                           "failed": failed})
    if failed:
        check.say(f"  {job.name}, {way.name}: {failed}")
    return row and row["samples_per_second"]


def compare(check):
    """Measures every way of every choice in turns, as far as the time goes."""
    for choice in ALL:
        if check.rehearsal and not choice.rehearsed:
            continue
        speeds = {way.name: [] for way in choice.ways}
        for turn in range(1 if check.rehearsal else ROUNDS):
            for way in choice.ways:
                failed_before = turn > 0 and not speeds[way.name]
                if failed_before or check.left() < 3:
                    continue
                speed = measure(check, choice, way, turn)
                speeds[way.name] += [speed] if speed else []
        found = {name: statistics.median(each) for name, each in speeds.items() if each}
        for name, speed in found.items():
            ratio = f", {speed / found['default']:.3f} of default" if "default" in found else ""
            check.say(f"  {choice.workload}, {name}: {speed:,.0f} samples/s{ratio}")
