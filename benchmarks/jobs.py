# SPDX-License-Identifier: Apache-2.0
"""How much of each workload run.py does, and the rows of work that its options ask for."""
import dataclasses

import workloads


@dataclasses.dataclass(frozen=True)
class Size:
    batch: int
    samples: int  # of an epoch at most; 0: all there are
    warmup: int   # epochs
    epochs: int   # timed ones


def sizes(protocol):
    """{name, with :infer where it predicts: Size} of all that have a size of this protocol."""
    return {name: Size(*entry["sizes"][mode][protocol]) for name, mode, entry in workloads.modes()
            if protocol in entry["sizes"][mode]}


# By the names that --data takes.
DATA = {name: entry["files"] for name, entry in workloads.ALL.items()}


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
    steps: int = 0  # of an epoch, where the batch follows from them

    def axes(self):
        """What tells it from jobs of the same name, in a word."""
        return f"@{self.batch}" + (f"/{self.threads}" if self.threads else "")


def jobs_of(options):
    """A job for each workload, batch and number of threads."""
    for name, size in options.sizes.items():
        workload = name.removesuffix(":infer")
        infer = name.endswith(":infer")
        by_steps = [-(-size.samples // steps) for steps in options.steps_per_epoch or []]
        warmup = 0 if options.accuracy and not infer else size.warmup
        for batch in options.batches or dict.fromkeys(by_steps) or [size.batch]:
            samples = size.samples
            if samples and options.batches:  # at least a batch; predictions need no more than 1000
                samples = max(batch, min(samples, 1000 * batch) if infer else samples)
            for threads in options.threads:
                yield Job(name=name, workload=workload, mode="infer" if infer else "train",
                          batch=batch, samples=samples,
                          steps=-(-samples // batch) if by_steps else 0,
                          warmup=warmup, epochs=options.epochs or size.epochs,
                          device=options.device, precision=options.precision, threads=threads,
                          dataset=options.data.get(DATA[workload], ""),
                          test=options.test and not infer)
