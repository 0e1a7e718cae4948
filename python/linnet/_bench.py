# SPDX-License-Identifier: Apache-2.0
"""How fast a network trains or predicts."""
from __future__ import annotations

import dataclasses
import statistics
import time
from typing import Any

from ._linnet import Dataset, Model, Network, TrainingOptions, datasets, train
from ._spelling import spelled

_BATCHES = 64


@dataclasses.dataclass(frozen=True)
class BenchResult:
    """Holds what bench() measured.

    Fields:
      mode: "train" or "predict"
      samples: samples of an epoch
      batch: samples of a batch
      seconds: seconds of each timed epoch
      startup_seconds: compiling and allocating, before the first step; of predictions, with the first batch
      losses: mean loss of each epoch, the warm-up included; none of predictions
      parameters: number of trained numbers
      device: where it ran"""

    mode: str
    samples: int
    batch: int
    seconds: tuple[float, ...]
    startup_seconds: float
    losses: tuple[float, ...]
    parameters: int
    device: str

    @property
    def samples_per_second(self) -> float:
        """The median over the epochs."""
        return self.samples / statistics.median(self.seconds)

    def __str__(self) -> str:
        least, most = self.samples / max(self.seconds), self.samples / min(self.seconds)
        return (f"{self.mode}, batch {self.batch}, {self.parameters:,} parameters, on {self.device}: "
                f"{self.samples_per_second:,.0f} samples/s ({least:,.0f} to {most:,.0f}, {len(self.seconds)} epochs of "
                f"{self.samples} samples), start-up {self.startup_seconds:.3f} s")


def _predicting(model: Model, data: Dataset, batch: int, passes: int) -> tuple[float, list[float]]:
    """Seconds of the first batch, with compiling, and of each pass."""
    begin = time.perf_counter()
    model.predict(data.take(range(min(batch, len(data)))), batch=batch)
    startup = time.perf_counter() - begin
    seconds = []
    for _ in range(passes):
        begin = time.perf_counter()
        model.predict(data, batch=batch)
        seconds.append(time.perf_counter() - begin)
    return startup, seconds


@spelled
def bench(network: Network, data: Dataset | None = None, *, mode: str = "train", batch: int = 32, epochs: int = 3,
          warmup: int = 1, seed: int = 0, device: str = "auto", threads: int = 0, precision: Any = "automatic",
          loss: Any = None, optimizer: Any = None, training: TrainingOptions | None = None) -> BenchResult:
    """Measures how fast a network trains or predicts on this machine: whole epochs, in median.

        print(ln.bench(network, batch=64))
        print(ln.bench(network, mode="predict", threads=1))

    `linnet bench FILE.toml` is the command's way; `./dev bench FILE.toml` compares it with PyTorch.

    Arguments:
      network: what is measured, with its first weights
      data: samples; without them synthetic ones in the shape that the network takes, 64 batches
      mode: "train" or "predict"
      batch: samples of a batch, at least 1
      epochs: timed passes over the data, at least 1
      warmup: passes before these, not timed, at least 0
      seed: random seed of weights, shuffling, dropout and synthetic data
      device: "auto", "cpu" or "cuda", as Model takes it
      threads: number of processors to use; 0: all
      precision: arithmetic, as Model takes it
      loss: of the training, as train() takes it
      optimizer: of the training; Adam if not given
      training: all other options of the training"""
    if mode not in ("train", "predict"):
        raise ValueError(f"mode: expected 'train' or 'predict'; got {mode!r}")
    if epochs < 1 or warmup < 0 or batch < 1:
        raise ValueError(f"expected epochs and batch of at least 1 and warmup of at least 0; got epochs={epochs}, "
                         f"batch={batch}, warmup={warmup}")
    if mode == "predict" and (optimizer is not None or training is not None):
        raise TypeError("bench: optimizer and training are for mode='train'; mode='predict' only predicts")
    model = Model(network, device=device, threads=threads, precision=precision, seed=seed)
    if data is None:
        learned: Any = loss or (training.loss if training else "automatic")
        if callable(learned):
            raise TypeError("bench: a custom loss needs data; synthetic samples have the targets of losses by name")
        data = datasets.synthetic(network, samples=_BATCHES * batch, loss=learned, seed=seed)
    losses: tuple[float, ...] = ()
    if mode == "train":
        given = {name: value for name, value in (("loss", loss), ("optimizer", optimizer)) if value is not None}
        history = train(model, data, training, epochs=warmup + epochs, batch=batch, seed=seed, patience=0, **given)
        startup = history.startup_seconds
        seconds = [epoch.seconds for epoch in history.epochs[warmup:]]
        losses = tuple(float(epoch.train.loss) for epoch in history.epochs)
    else:
        startup, seconds = _predicting(model, data, batch, warmup + epochs)
        seconds = seconds[warmup:]
    return BenchResult(mode, len(data), batch, tuple(seconds), startup, losses, network.parameters, model.device)
