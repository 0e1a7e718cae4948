# SPDX-License-Identifier: Apache-2.0
"""Whole epochs on a clock, for protocol.py: training steps or predictions on data that lie on the
device."""
import contextlib
import time

import torch

import peer

# (convolutions, products): auto is PyTorch's own default.
TF32 = {"auto": (True, False), "fp32": (False, False), "tf32": (True, True), "bf16": (True, True)}
WARM_STEPS = 3  # before a capture, as PyTorch's documentation wants


def tensors(data):
    """Samples (N, ...) and targets (N) i64 or (N, ...) f32 of a peer.Data."""
    targets = torch.from_numpy(data.targets)
    return torch.from_numpy(data.samples), targets.long() if data.classes else targets


class Run:
    """One model on resident data. Images reach `forward` as (N, C, H, W); in memory the channels
    lie last, or first if --plain."""

    def __init__(self, options, model, forward, loss, optimizer):
        self.options = options
        convolutions, products = TF32[options.precision]
        torch.backends.cudnn.allow_tf32 = convolutions
        torch.backends.cuda.matmul.allow_tf32 = products
        torch.backends.cudnn.benchmark = True  # plans are chosen by time, as Linnet's are
        torch.backends.cudnn.benchmark_limit = 0  # of all of them, not of the first ten
        self.device = torch.device(options.device)
        self.cuda = self.device.type == "cuda"
        if options.threads:
            torch.set_num_threads(options.threads)
        data = peer.Data(options.data)
        self.data_seconds, self.images = data.seconds, data.images
        samples, targets = tensors(data)
        if self.images and options.plain:
            samples = samples.permute(0, 3, 1, 2).contiguous()
        self.samples, self.targets = samples.to(self.device), targets.to(self.device)
        captured = "graph" in options.mode
        count = len(self.samples)
        if captured:  # a graph has one batch size
            count -= count % options.batch
        self.epoch_samples = peer.epoch_samples(options, count)
        layout = torch.contiguous_format if options.plain else torch.channels_last
        self.model = model.to(self.device, memory_format=layout).train(not options.infer)
        self.forward, self.loss = forward, loss
        if options.infer:
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
        self.first = {name: each.clone() for name, each in self.model.state_dict().items()}
        self.graph = self._capture() if captured else None
        self.restart()  # a capture trains

    def _compiled(self, function):
        mode = "default" if self.options.mode == "compiled-graph" else self.options.mode
        if mode in ("eager", "graph"):
            return function
        torch._inductor.config.freezing = self.options.infer
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

    @torch.no_grad()
    def restart(self):
        """Goes back to the first weights and to moments of zero, in the memory that captured graphs
        know; what was compiled stays."""
        if self.options.infer:
            return
        for name, each in self.model.state_dict().items():
            each.copy_(self.first[name])
        for state in self.optimizer.state.values():
            for each in state.values():
                if isinstance(each, torch.Tensor):
                    each.zero_()

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
            for begin, end in peer.bounds(self.epoch_samples, self.options.batch):
                self._step(self.order[begin:end])
        return self.total.item() / self.epoch_samples

    @torch.inference_mode()
    def _predict_all(self):
        with self._autocast():
            for begin, end in peer.bounds(self.epoch_samples, self.options.batch):
                self.outputs = self.predict(self._batch(self.samples[begin:end]))

    @torch.no_grad()
    def test(self):
        """Mean loss of the test set, and its accuracy where targets are classes; None without."""
        data = peer.Data(self.options.data, "test_")
        if data.samples is None:
            return None
        samples, targets = tensors(data)
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
        return total / len(samples), right / len(samples) if data.classes else None

    def finite(self):
        return not self.options.infer or bool(self.outputs.isfinite().all())

    def about(self):
        return {"framework": "pytorch",
                "mode": self.options.mode + (", plain" if self.options.plain else ""),
                "device": torch.cuda.get_device_name(self.device) if self.cuda else "cpu",
                "parameters": parameters_of(self.model), "threads": torch.get_num_threads(),
                "versions": {"torch": torch.__version__, "cuda": torch.version.cuda,
                             "cudnn": torch.backends.cudnn.version()}}


def parameters_of(model):
    return sum(p.numel() for p in model.parameters())
