# SPDX-License-Identifier: Apache-2.0
"""What the PyTorch peers share: the data that `linnet bench --export` wrote, resident on the
device; the ways to run a training step; whole timed epochs; one JSON line on stdout.

Modes: eager; default, reduce-overhead and max-autotune are torch.compile's of the network with its
loss, with the fused optimizer behind; graph is the whole step (gather, forward, backward, update)
captured by hand in a CUDA graph, compiled-graph the same of the network that torch.compile made.
--plain takes none of the tuning that PyTorch's documentation advises: images lie channels first and
the optimizer is not fused.
"""
import argparse
import contextlib
import json
import resource
import statistics
import sys
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn

MODES = ("eager", "default", "reduce-overhead", "max-autotune", "graph", "compiled-graph")
# (convolutions, products): auto is PyTorch's own default.
TF32 = {"auto": (True, False), "fp32": (False, False), "tf32": (True, True), "bf16": (True, True)}
WARM_STEPS = 3  # before a capture, as PyTorch's documentation wants


def arguments(workload, batch):
    parser = argparse.ArgumentParser(description=f"{workload} in PyTorch; prints one JSON line")
    parser.add_argument("--data", type=Path, required=True,
                        help="folder of linnet bench --export")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--mode", choices=MODES, default="eager")
    parser.add_argument("--precision", choices=sorted(TF32), default="auto")
    parser.add_argument("--plain", action="store_true", help="PyTorch's defaults, untuned")
    parser.add_argument("--threads", type=int, default=0, help="on the CPU; 0: PyTorch's choice")
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


def read(folder, part, count, about):
    """Samples (N, ...) as u8, i32 or f32 and targets (N) i64 or (N, ...) f32."""
    dtype = {"u8": np.uint8, "f32": np.float32, "i32": np.int32}
    samples = np.fromfile(folder / f"{part}samples.bin", dtype[about["sample_dtype"]])
    targets = np.fromfile(folder / f"{part}targets.bin", dtype[about["target_dtype"]])
    samples = torch.from_numpy(samples).reshape(count, *about["sample_shape"])
    targets = torch.from_numpy(targets)
    return samples, targets.long() if about["target_dtype"] == "i32" else targets.reshape(count, -1)


def glorot(model):
    """Linnet's first weights, where a workload says nothing else: Glorot uniform, biases 0."""
    for layer in model.modules():
        if isinstance(layer, (nn.Conv2d, nn.Linear)):
            nn.init.xavier_uniform_(layer.weight)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)
    return model


def adam(rate):
    return lambda parameters, **how: torch.optim.Adam(parameters, lr=rate, **how)


def momentum(rate):
    """SGD with momentum 0.9."""
    def make(parameters, capturable=False, **how):
        return torch.optim.SGD(parameters, lr=rate, momentum=0.9, **how)
    return make


def pixels(x):
    """(N, H, W, C) u8 to (N, C, H, W) f32 in [0, 1]; it lies in memory channels-last."""
    return x.permute(0, 3, 1, 2).float() / 255


class Training:
    """One model on resident data. `loss(model, samples, targets)` is what a step minimises."""

    def __init__(self, options, model, loss, optimizer):
        self.options = options
        convolutions, products = TF32[options.precision]
        torch.backends.cudnn.allow_tf32 = convolutions
        torch.backends.cuda.matmul.allow_tf32 = products
        torch.backends.cudnn.benchmark = True  # plans are chosen by time, as Linnet's are
        self.device = torch.device(options.device)
        self.cuda = self.device.type == "cuda"
        if options.threads:
            torch.set_num_threads(options.threads)
        self.about = json.loads((options.data / "data.json").read_text())
        samples, targets = read(options.data, "", self.about["samples"], self.about)
        self.samples, self.targets = samples.to(self.device), targets.to(self.device)
        captured = "graph" in options.mode
        self.epoch_samples = len(self.samples)
        if captured:  # a graph has one batch size
            self.epoch_samples -= self.epoch_samples % options.batch
        if options.max_steps:
            self.epoch_samples = min(self.epoch_samples, options.max_steps * options.batch)
        if self.epoch_samples == 0:
            sys.exit(f"{options.workload}: the data hold less than a batch of {options.batch}")
        layout = torch.contiguous_format if options.plain else torch.channels_last
        self.model = model.to(self.device, memory_format=layout).train()
        how = {} if options.plain else {"fused": True}
        if captured:
            how["capturable"] = True
        self.optimizer = optimizer(self.model.parameters(), **how)
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
        self.total += loss.detach() * len(index)

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
            for _ in range(self.epoch_samples // self.options.batch):
                self.graph.replay()
        else:
            for begin in range(0, self.epoch_samples, self.options.batch):
                end = min(begin + self.options.batch, self.epoch_samples)
                self._step(self.order[begin:end])
        loss = self.total.item() / self.epoch_samples
        self._synchronize()
        return time.perf_counter() - start, loss

    @torch.no_grad()
    def test(self, loss):
        """Mean loss of the test part, and its accuracy where targets are classes; None without."""
        count = self.about.get("test_samples", 0)
        if count == 0:
            return None, None
        samples, targets = read(self.options.data, "test_", count, self.about)
        self.model.eval()
        total = right = 0
        for x, y in zip(samples.split(250), targets.split(250)):
            x, y = x.to(self.device), y.to(self.device)
            kept = []  # the network's outputs, of which the loss is a function
            hook = self.model.register_forward_hook(lambda _, __, out: kept.append(out))
            total += loss(self.model, x, y).item() * len(x)
            hook.remove()
            if y.dtype == torch.int64:
                right += (kept[0].argmax(1) == y).sum().item()
        self.model.train()
        return total / count, right / count if targets.dtype == torch.int64 else None

    def run(self, started, loss):
        """Trains, and prints the JSON line. `started`: when the program began, for startup_s."""
        options = self.options
        losses, rates, tests = [], [], []
        startup = time.perf_counter() - started
        for epoch in range(options.warmup + options.epochs):
            seconds, mean = self.epoch()
            losses.append(mean)
            tests.append(self.test(loss))  # outside the clock
            if epoch == 0 and options.warmup:
                startup = time.perf_counter() - started
            if epoch >= options.warmup:
                rates.append(self.epoch_samples / seconds)
            print(f"epoch {epoch + 1}: {seconds:.1f} s, loss {mean:.4f}, test {tests[-1]}",
                  file=sys.stderr, flush=True)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        print(json.dumps({
            "framework": "pytorch",
            "mode": options.mode + (", plain" if options.plain else ""),
            "workload": options.workload,
            "device": torch.cuda.get_device_name(self.device) if self.cuda else "cpu",
            "batch": options.batch,
            "precision": options.precision,
            "samples": self.epoch_samples,
            "parameters": sum(p.numel() for p in self.model.parameters()),
            "epochs": options.epochs,
            "samples_per_second": {"median": statistics.median(rates), "min": min(rates),
                                   "max": max(rates)},
            "loss": losses[-1],
            "losses": losses,
            "test_losses": [each[0] for each in tests],
            "test_accuracies": [each[1] for each in tests],
            "startup_s": startup,
            "peak_bytes": peak,
            "threads": torch.get_num_threads(),
            "versions": {"torch": torch.__version__, "cuda": torch.version.cuda,
                         "cudnn": torch.backends.cudnn.version()},
        }), flush=True)


def train(workload, batch, model, loss, optimizer=adam(1e-3)):
    """A peer's whole program: `model()` makes the network, `optimizer(parameters, ...)` its rule."""
    started = time.perf_counter()
    options = arguments(workload, batch)
    torch.manual_seed(options.seed)
    Training(options, model(), loss, optimizer).run(started, loss)
