# SPDX-License-Identifier: Apache-2.0
"""What the programs of Linnet's own Python package share: the arrays that `linnet bench --export` wrote, in
NumPy's memory, and whole timed epochs of Trainer.fit(); one JSON line on stdout. Beside Linnet's command it
shows what Python costs."""
import sys
import time
from pathlib import Path

import linnet as ln
import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1] / "common"))
import peer  # noqa: E402

PRECISIONS = {"auto": "automatic"}


class Run:
    """One model on arrays of NumPy, as peer.Epochs has it."""

    def __init__(self, options, network, optimizer, loss):
        self.options = options
        data = peer.Data(options.data)
        self.data_seconds = data.seconds
        self.epoch_samples = peer.epoch_samples(options, len(data.samples))
        samples, targets = data.samples[:self.epoch_samples], data.targets[:self.epoch_samples]
        self.samples, self.data = samples, ln.Dataset(samples, targets)
        self.model = ln.Model(network, device=options.device, threads=options.threads, seed=options.seed,
                              precision=PRECISIONS.get(options.precision, options.precision))
        self.trainer = ln.Trainer(self.model, optimizer=optimizer, loss=loss, seed=options.seed)
        self.outputs = None

    def epoch(self):
        """Seconds of an epoch, and its mean loss; None of predictions."""
        start, loss = time.perf_counter(), None
        if self.options.infer:
            self.outputs = self.model.predict(self.samples, batch=self.options.batch)
        else:
            history = self.trainer.fit(self.data, epochs=1, batch=self.options.batch)
            loss = history.epochs[0].train.loss
        return time.perf_counter() - start, loss

    def test(self):
        """Mean loss of the test set, and its accuracy where targets are classes; None without."""
        data = peer.Data(self.options.data, "test_")
        if data.samples is None:
            return None
        found = self.trainer.evaluate((data.samples, data.targets))
        return found.loss, found.accuracy if data.classes else None

    def finite(self):
        return self.outputs is None or bool(np.isfinite(self.outputs).all())

    def about(self):
        return {"framework": "linnet-python", "mode": self.options.mode, "device": self.model.device,
                "parameters": self.model.network.parameters, "threads": self.model.threads,
                "versions": {"linnet": ln.__version__, "numpy": np.__version__,
                             "python": sys.version.split()[0]}}


def run(program, network, loss="automatic"):
    """Runs the whole program of this path, `__file__`, with the optimizer that the benchmarks have."""
    started = time.perf_counter()
    options = peer.parser(program, "Linnet for Python", ("fit",)).parse_args()
    peer.check_parameters(options, network.parameters)
    peer.report(Run(options, network, ln.Adam(learning_rate=1e-3), loss), started)
