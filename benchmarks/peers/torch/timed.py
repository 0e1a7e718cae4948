# SPDX-License-Identifier: Apache-2.0
"""Whole epochs on a clock, for protocol.py: training steps or predictions on data that lie on the
device, and the JSON line about them."""
import contextlib
import json
import resource
import statistics
import sys
import time
from pathlib import Path

import numpy as np
import torch

# (convolutions, products): auto is PyTorch's own default.
TF32 = {"auto": (True, False), "fp32": (False, False), "tf32": (True, True), "bf16": (True, True)}
WARM_STEPS = 3  # before a capture, as PyTorch's documentation wants


def read(folder, part, count, about):
    """Samples (N, ...) as u8, i32 or f32 and targets (N) i64 or (N, ...) f32."""
    dtype = {"u8": np.uint8, "f32": np.float32, "i32": np.int32}
    samples = np.fromfile(folder / f"{part}samples.bin", dtype[about["sample_dtype"]])
    targets = np.fromfile(folder / f"{part}targets.bin", dtype[about["target_dtype"]])
    samples = torch.from_numpy(samples).reshape(count, *about["sample_shape"])
    targets = torch.from_numpy(targets)
    return samples, targets.long() if about["target_dtype"] == "i32" else targets.reshape(count, -1)


def peak_bytes():
    """The most memory that this process has held; ru_maxrss may be a parent's."""
    try:
        status = Path("/proc/self/status").read_text()
        return int(next(line for line in status.splitlines() if "VmHWM" in line).split()[1]) * 1024
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


class Run:
    """One model on resident data. Images reach `forward` as (N, C, H, W); in memory the channels
    lie last, or first if --plain."""

    def __init__(self, options, model, forward, loss, optimizer):
        self.options = options
        convolutions, products = TF32[options.precision]
        torch.backends.cudnn.allow_tf32 = convolutions
        torch.backends.cuda.matmul.allow_tf32 = products
        torch.backends.cudnn.benchmark = True  # plans are chosen by time, as Linnet's are
        self.device = torch.device(options.device)
        self.cuda = self.device.type == "cuda"
        if options.threads:
            torch.set_num_threads(options.threads)
        start = time.perf_counter()
        self.about = json.loads((options.data / "data.json").read_text())
        samples, targets = read(options.data, "", self.about["samples"], self.about)
        self.data_seconds = time.perf_counter() - start
        self.images = len(self.about["sample_shape"]) == 3
        if self.images and options.plain:
            samples = samples.permute(0, 3, 1, 2).contiguous()
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
        self.model = model.to(self.device, memory_format=layout).train(not options.infer)
        self.forward, self.loss = forward, loss
        if options.infer:
            torch._inductor.config.freezing = True
            self.predict = self._compiled(lambda x: forward(self.model, x))
            return
        how = {} if options.plain else {"fused": True}
        if captured:
            how["capturable"] = True
        self.optimizer = optimizer(self.model.parameters(), **how)
        self.step_loss = self._compiled(lambda x, y: loss(forward(self.model, x), y))
        self.total = torch.zeros((), device=self.device)
        self.order = torch.randperm(len(self.samples), device=self.device)
        self.cursor = torch.zeros((), dtype=torch.int64, device=self.device)
        self.range = torch.arange(options.batch, device=self.device)
        self.graph = self._capture() if captured else None

    def _compiled(self, function):
        mode = {"compiled-graph": "max-autotune-no-cudagraphs"}.get(self.options.mode,
                                                                    self.options.mode)
        if mode in ("eager", "graph"):
            return function
        return torch.compile(function, mode=mode, dynamic=False)  # a last batch has its own code

    def _batch(self, samples):
        return samples.permute(0, 3, 1, 2) if self.images and not self.options.plain else samples

    def _autocast(self):
        if self.options.precision != "bf16":
            return contextlib.nullcontext()
        return torch.autocast(self.device.type, torch.bfloat16, cache_enabled=False)

    def _step(self, index):
        if self.options.mode in ("reduce-overhead", "max-autotune"):
            torch.compiler.cudagraph_mark_step_begin()
        self.optimizer.zero_grad(set_to_none=True)
        with self._autocast():
            loss = self.step_loss(self._batch(self.samples[index]), self.targets[index])
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
        """Seconds of an epoch, and its mean loss; None of predictions."""
        self._synchronize()
        start = time.perf_counter()
        loss = self._predict_all() if self.options.infer else self._train_epoch()
        self._synchronize()
        return time.perf_counter() - start, loss

    def _train_epoch(self):
        self.total.zero_()
        torch.randperm(len(self.samples), out=self.order)
        if self.graph is not None:
            self.cursor.zero_()
            for _ in range(self.epoch_samples // self.options.batch):
                self.graph.replay()
        else:
            for begin, end in self._bounds():
                self._step(self.order[begin:end])
        return self.total.item() / self.epoch_samples

    @torch.inference_mode()
    def _predict_all(self):
        with self._autocast():
            for begin, end in self._bounds():
                self.outputs = self.predict(self._batch(self.samples[begin:end]))

    def _bounds(self):
        for begin in range(0, self.epoch_samples, self.options.batch):
            yield begin, min(begin + self.options.batch, self.epoch_samples)

    @torch.no_grad()
    def test(self):
        """Mean loss of the test part, and its accuracy where targets are classes; None without."""
        count = self.about.get("test_samples", 0)
        samples, targets = read(self.options.data, "test_", count, self.about)
        if self.images and self.options.plain:
            samples = samples.permute(0, 3, 1, 2)
        self.model.eval()
        total = right = 0
        for x, y in zip(samples.split(250), targets.split(250)):
            y = y.to(self.device)
            outputs = self.forward(self.model, self._batch(x.to(self.device)))
            total += self.loss(outputs, y).item() * len(x)
            if y.dtype == torch.int64:
                right += (outputs.argmax(1) == y).sum().item()
        self.model.train()
        return total / count, right / count if targets.dtype == torch.int64 else None

    def finite(self):
        return not self.options.infer or bool(self.outputs.isfinite().all())

    def report(self, started):
        """Runs the epochs, and prints the JSON line. `started`: when the program began."""
        options = self.options
        losses, seconds, tests = [], [], []
        startup = time.perf_counter() - started
        for epoch in range(options.warmup + options.epochs):
            took, mean = self.epoch()
            if not options.infer:
                losses.append(mean)
            if options.test and not options.infer and self.about.get("test_samples", 0):
                tests.append(self.test())  # outside the clock
            if epoch == 0 and options.warmup:
                startup = time.perf_counter() - started
            if epoch >= options.warmup:
                seconds.append(took)
            print(f"epoch {epoch + 1}: {took:.3g} s, loss {mean}, test {tests[-1:]}",
                  file=sys.stderr, flush=True)
        rates = [self.epoch_samples / each for each in seconds]
        print(json.dumps({
            "framework": "pytorch",
            "mode": options.mode + (", plain" if options.plain else ""),
            "workload": options.workload,
            "infer": options.infer,
            "device": torch.cuda.get_device_name(self.device) if self.cuda else "cpu",
            "batch": options.batch,
            "precision": options.precision,
            "samples": self.epoch_samples,
            "parameters": parameters_of(self.model),
            "warmup": options.warmup,
            "epochs": options.epochs,
            "samples_per_second": {"median": statistics.median(rates), "min": min(rates),
                                   "max": max(rates)},
            "timed_seconds": seconds,
            "loss": losses[-1] if losses else None,
            "losses": losses,
            "test_losses": [each[0] for each in tests],
            "test_accuracies": [each[1] for each in tests],
            "failed": None if self.finite() else "the outputs are not finite",
            "startup_s": startup,
            "data_seconds": self.data_seconds,
            "peak_bytes": peak_bytes(),
            "threads": torch.get_num_threads(),
            "versions": {"torch": torch.__version__, "cuda": torch.version.cuda,
                         "cudnn": torch.backends.cudnn.version()},
        }), flush=True)


def parameters_of(model):
    return sum(p.numel() for p in model.parameters())
