# SPDX-License-Identifier: Apache-2.0
"""What the PyTorch peers share: the data that `bench_workload --export` wrote, resident on the
device; five ways to run a training step; whole timed epochs; one JSON line on stdout.

Modes: eager; reduce-overhead and max-autotune are torch.compile's of the network with its loss,
with the fused optimizer behind; graph is the whole step (gather, forward, backward, update) captured by
hand in a CUDA graph, compiled-graph the same of the network that torch.compile made.
"""
import argparse
import contextlib
import json
import statistics
import sys
import time
from pathlib import Path

import numpy as np
import torch

MODES = ("eager", "reduce-overhead", "max-autotune", "graph", "compiled-graph")
# (convolutions, products): auto is PyTorch's own default.
TF32 = {"auto": (True, False), "fp32": (False, False), "tf32": (True, True), "bf16": (True, True)}
WARM_STEPS = 3  # before a capture, as PyTorch's documentation wants


def arguments(workload, batch):
    parser = argparse.ArgumentParser(description=f"{workload} in PyTorch; prints one JSON line")
    parser.add_argument("--data", type=Path, required=True,
                        help="folder of bench_workload --export")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--mode", choices=MODES, default="eager")
    parser.add_argument("--precision", choices=sorted(TF32), default="auto")
    parser.add_argument("--batch", type=int, default=batch)
    parser.add_argument("--warmup", type=int, default=2, help="epochs that are not timed")
    parser.add_argument("--epochs", type=int, default=10, help="timed epochs")
    parser.add_argument("--max-steps", type=int, default=0, help="of an epoch, for tries; 0: all")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    options.workload = workload
    if "graph" in options.mode and not options.device.startswith("cuda"):
        sys.exit(f"{workload}: --mode {options.mode} needs a CUDA device; got {options.device}")
    return options


def load(folder, device):
    """Samples (N, ...) as u8 or f32 and targets (N) i64 or (N, 1) f32, on the device."""
    about = json.loads((folder / "data.json").read_text())
    dtype = {"u8": np.uint8, "f32": np.float32, "i32": np.int32}
    samples = np.fromfile(folder / "samples.bin", dtype[about["sample_dtype"]])
    targets = torch.from_numpy(np.fromfile(folder / "targets.bin", dtype[about["target_dtype"]]))
    samples = torch.from_numpy(samples).reshape(about["samples"], *about["sample_shape"])
    labels = about["target_dtype"] == "i32"
    targets = targets.long() if labels else targets.reshape(len(samples), -1)
    return samples.to(device), targets.to(device)


def pixels(x):
    """(N, H, W, C) u8 to (N, C, H, W) f32 in [0, 1]; it lies in memory channels-last."""
    return x.permute(0, 3, 1, 2).float() / 255


class Training:
    """One model on resident data. `loss(model, samples, targets)` is what a step minimises."""

    def __init__(self, options, model, loss):
        self.options = options
        convolutions, products = TF32[options.precision]
        torch.backends.cudnn.allow_tf32 = convolutions
        torch.backends.cuda.matmul.allow_tf32 = products
        torch.backends.cudnn.benchmark = True  # plans are chosen by time, as Linnet's are
        self.device = torch.device(options.device)
        self.cuda = self.device.type == "cuda"
        self.samples, self.targets = load(options.data, self.device)
        self.steps = len(self.samples) // options.batch
        if options.max_steps:
            self.steps = min(self.steps, options.max_steps)
        if self.steps == 0:
            sys.exit(f"{options.workload}: the data hold less than a batch of {options.batch}")
        self.model = model.to(self.device, memory_format=torch.channels_last).train()
        captured = "graph" in options.mode
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3, fused=True,
                                          capturable=captured)
        self.loss = self._compiled(lambda x, y: loss(self.model, x, y))
        self.total = torch.zeros((), device=self.device)
        self.order = torch.randperm(len(self.samples), device=self.device)
        self.cursor = torch.zeros((), dtype=torch.int64, device=self.device)
        self.range = torch.arange(options.batch, device=self.device)
        self.graph = self._capture() if captured else None

    def _compiled(self, loss):
        mode = {"compiled-graph": "max-autotune-no-cudagraphs"}.get(self.options.mode,
                                                                    self.options.mode)
        return loss if mode in ("eager", "graph") else torch.compile(loss, mode=mode)

    def _autocast(self):
        if self.options.precision != "bf16":
            return contextlib.nullcontext()
        return torch.autocast(self.device.type, torch.bfloat16, cache_enabled=False)

    def _step(self, index):
        if self.options.mode in ("reduce-overhead", "max-autotune"):
            torch.compiler.cudagraph_mark_step_begin()
        self.optimizer.zero_grad(set_to_none=True)
        with self._autocast():
            loss = self.loss(self.samples[index], self.targets[index])
        loss.backward()
        self.optimizer.step()
        self.total += loss.detach()

    def _captured_step(self):
        self._step(self.order[self.cursor + self.range])
        self.cursor += self.options.batch

    def _capture(self):
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(WARM_STEPS):
                self.cursor.zero_()
                self._captured_step()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        self.optimizer.zero_grad(set_to_none=True)
        with torch.cuda.graph(graph):
            self._captured_step()
        return graph

    def _synchronize(self):
        if self.cuda:
            torch.cuda.synchronize()

    def epoch(self):
        """Seconds of an epoch over freshly shuffled samples, and its mean loss."""
        self._synchronize()
        start = time.perf_counter()
        self.total.zero_()
        torch.randperm(len(self.samples), out=self.order)
        if self.graph is not None:
            self.cursor.zero_()
            for _ in range(self.steps):
                self.graph.replay()
        else:
            for begin in range(0, self.steps * self.options.batch, self.options.batch):
                self._step(self.order[begin:begin + self.options.batch])
        loss = self.total.item() / self.steps
        self._synchronize()
        return time.perf_counter() - start, loss

    def run(self, started):
        """Trains, and prints the JSON line. `started`: when the program began, for startup_s."""
        options = self.options
        losses = [self.epoch()[1]] if options.warmup else []
        startup = time.perf_counter() - started
        losses += [self.epoch()[1] for _ in range(1, options.warmup)]
        rates = []
        for _ in range(options.epochs):
            seconds, loss = self.epoch()
            rates.append(self.steps * options.batch / seconds)
            losses.append(loss)
        print(json.dumps({
            "framework": "pytorch",
            "mode": options.mode,
            "workload": options.workload,
            "device": torch.cuda.get_device_name(self.device) if self.cuda else "cpu",
            "batch": options.batch,
            "precision": options.precision,
            "samples": self.steps * options.batch,
            "epochs": options.epochs,
            "samples_per_second": {"median": statistics.median(rates), "min": min(rates),
                                   "max": max(rates)},
            "loss": losses[-1],
            "losses": losses,
            "startup_s": startup,
            "versions": {"torch": torch.__version__, "cuda": torch.version.cuda,
                         "cudnn": torch.backends.cudnn.version()},
        }), flush=True)


def train(workload, batch, model, loss):
    """A peer's whole program: `model()` makes the network."""
    started = time.perf_counter()
    options = arguments(workload, batch)
    torch.manual_seed(options.seed)
    Training(options, model(), loss).run(started)
