# SPDX-License-Identifier: Apache-2.0
"""How much of each workload run.py does, and the rows of work that its options ask for."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Size:
    batch: int
    samples: int  # of an epoch at most; 0: all there are
    warmup: int   # epochs
    epochs: int   # timed ones


# Two cores do five repetitions of these beside PyTorch in about 20 minutes; what compiles takes longer.
REDUCED = {
    "mnist-cnn": Size(128, 10000, 2, 4),
    "rosenbrock-mlp": Size(8000, 32000, 1, 4),
    "rosenbrock-mlp:infer": Size(8000, 32000, 1, 4),
    "flux-cnn": Size(1000, 10000, 1, 3),
    "gru-imdb": Size(64, 2560, 1, 2),
    "vgg-cifar10": Size(64, 1280, 1, 2),
    "resnet50-cifar10": Size(128, 256, 1, 2),
    "resnet50-cifar100": Size(128, 256, 1, 2),
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
