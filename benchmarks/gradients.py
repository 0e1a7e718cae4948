# SPDX-License-Identifier: Apache-2.0
"""Gradients of random small networks beside PyTorch's: `./dev check gradients`.

Each network is drawn from its number: dense, convolutional, recurrent, or with attention; norms, activations, pooling
and losses at random. The gradient of every parameter is computed by Linnet (f32), by PyTorch in f32 and by PyTorch in
f64, from the same weights and batch. A tensor's error is |g - g64| / |g64| by the Euclidean norm, where |g64| is not
zero but for rounding (ZERO). Its ratio is Linnet's error over PyTorch's, which
counts as at least the rounding of the result itself, 2^-24. Where the ratio is above 10, PyTorch computes the gradient in
20 orders of the samples: one number can be right by luck, the largest error of 20 is not."""
import argparse
import json
import math
import platform
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

import linnet as ln

ROUNDING = 2.0**-24
ZERO = 1e-3  # where f32 of PyTorch is further off than this, terms cancel: the true gradient is zero but for rounding
LIMIT = 10.0
ORDERS = 20  # of the samples, whose largest error is compared with where one order's is exceeded by LIMIT


class Drawn:
    """A network of both libraries. Images are (N, H, W, C) and sequences (N, T, C), as Linnet has them."""

    def __init__(self, number):
        self.rng = np.random.default_rng(number)
        self.layers, self.steps, self.words = [], [], []
        self.counts = {}
        self.pick(self.mlp, self.mlp, self.cnn, self.cnn, self.rnn, self.attending, self.convolving)()

    def pick(self, *choices):
        return choices[self.rng.integers(len(choices))]

    def add(self, kind, layer, step, word):
        """step(x, p) computes what the layer does; p("weight") is its parameter."""
        self.counts[kind] = self.counts.get(kind, 0) + 1
        name = f"{kind}_{self.counts[kind]}"
        self.layers.append(layer)
        self.steps.append((name, step))
        self.words.append(word)

    # Layers

    def dense(self, units, bias=None):
        bias = bool(self.rng.integers(4)) if bias is None else bias
        self.add("dense", ln.Dense(units, bias=bias),
                 lambda x, p: F.linear(x, p("weight"), p("bias") if bias else None), f"Dense({units}{'' if bias else ', bias=False'})")

    def activation(self):
        name, layer, step = self.pick(
            ("relu", ln.ReLU(), F.relu), ("tanh", ln.Tanh(), torch.tanh), ("sigmoid", ln.Sigmoid(), torch.sigmoid),
            ("gelu", ln.GELU(), F.gelu), ("gelu", ln.GELU(tanh_form=True), lambda x: F.gelu(x, approximate="tanh")),
            ("leaky_relu", ln.LeakyReLU(0.1), lambda x: F.leaky_relu(x, 0.1)), ("elu", ln.ELU(), F.elu),
            ("selu", ln.SELU(), F.selu), ("silu", ln.SiLU(), F.silu), ("softplus", ln.Softplus(), F.softplus),
            ("hard_swish", ln.HardSwish(), F.hardswish))
        self.add(name, layer, lambda x, p: step(x), type(layer).__name__)

    def batch_norm(self):
        def step(x, p):
            flat = x.reshape(-1, x.shape[-1])
            return F.batch_norm(flat, None, None, p("weight"), p("bias"), training=True).reshape(x.shape)
        self.add("batch_norm", ln.BatchNorm(), step, "BatchNorm")

    def layer_norm(self):
        self.add("layer_norm", ln.LayerNorm(), lambda x, p: F.layer_norm(x, x.shape[-1:], p("weight"), p("bias")), "LayerNorm")

    def group_norm(self, groups):
        def step(x, p):
            return F.group_norm(x.movedim(-1, 1), groups, p("weight"), p("bias")).movedim(1, -1)
        self.add("group_norm", ln.GroupNorm(groups), step, f"GroupNorm({groups})")

    def norm(self, channels):
        kind = self.rng.integers(5)
        if kind == 0:
            self.batch_norm()
        elif kind == 1 and channels > 1:
            self.layer_norm()
        elif kind == 2 and channels > 1 and channels % 2 == 0:
            self.group_norm(int(self.pick(1, 2)))

    def conv2d(self, filters, kernel, groups=1, stride=1):
        bias = bool(self.rng.integers(3))
        pad = kernel // 2

        def step(x, p):
            w = p("weight").permute(0, 3, 1, 2)
            y = F.conv2d(x.permute(0, 3, 1, 2), w, p("bias") if bias else None, stride, pad, 1, groups)
            return y.permute(0, 2, 3, 1)
        self.add("conv2d", ln.Conv2d(filters, kernel=kernel, stride=stride, padding=pad, groups=groups, bias=bias),
                 step, f"Conv2d({filters}, {kernel}, stride={stride}, groups={groups})")

    def conv1d(self, filters, kernel):
        pad = kernel // 2

        def step(x, p):
            w = p("weight")[:, 0].permute(0, 2, 1)
            return F.conv1d(x.movedim(-1, 1), w, p("bias"), padding=pad).movedim(1, -1)
        self.add("conv1d", ln.Conv1d(filters, kernel=kernel, padding=pad), step, f"Conv1d({filters}, {kernel})")

    def pool(self):
        if self.rng.integers(2):
            self.add("max_pool2d", ln.MaxPool2d(),
                     lambda x, p: F.max_pool2d(x.permute(0, 3, 1, 2), 2).permute(0, 2, 3, 1), "MaxPool2d")
        else:
            self.add("avg_pool2d", ln.AvgPool2d(),
                     lambda x, p: F.avg_pool2d(x.permute(0, 3, 1, 2), 2).permute(0, 2, 3, 1), "AvgPool2d")

    def recurrent(self, features, units, sequences):
        lstm = bool(self.rng.integers(2))

        def step(x, p):
            module = (torch.nn.LSTM if lstm else torch.nn.GRU)(features, units, batch_first=True).to(x.dtype)
            names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
            y, _ = torch.func.functional_call(module, {n: p(n) for n in names}, (x,))
            return y if sequences else y[:, -1]
        make = ln.LSTM if lstm else ln.GRU
        self.add("lstm" if lstm else "gru", make(units, return_sequences=sequences), step,
                 f"{make.__name__}({units}{', return_sequences=True' if sequences else ''})")

    def attention(self, features, heads):
        def step(x, p):
            y, _ = F.multi_head_attention_forward(
                x.transpose(0, 1), x.transpose(0, 1), x.transpose(0, 1), features, heads, p("in_proj_weight"),
                p("in_proj_bias"), None, None, False, 0.0, p("out_proj.weight"), p("out_proj.bias"), need_weights=False)
            return y.transpose(0, 1)
        self.add("multi_head_attention", ln.MultiHeadAttention(heads), step, f"MultiHeadAttention({heads})")

    # Networks

    def mlp(self):
        size = int(self.rng.integers(1, 40))
        self.sample = (size,)
        for _ in range(self.rng.integers(1, 5)):
            size = int(self.pick(1, 2, 3, 5, 8, 16, 33, 50))
            self.dense(size)
            self.norm(size)
            self.activation()
        self.end()

    def cnn(self):
        side, channels = int(self.rng.integers(4, 13)), int(self.pick(1, 2, 3, 4, 8))
        self.sample = (side, side, channels)
        for _ in range(self.rng.integers(1, 4)):
            kernel = int(self.pick(1, 3, 3, 5))
            depthwise = channels > 1 and self.rng.integers(6) == 0
            filters = channels if depthwise else int(self.pick(1, 2, 4, 6, 8, 16, 24))
            stride = 2 if side >= 6 and self.rng.integers(5) == 0 else 1
            self.conv2d(filters, kernel, channels if depthwise else 1, stride)
            side, channels = (side + 2 * (kernel // 2) - kernel) // stride + 1, filters
            self.norm(channels)
            self.activation()
            if side >= 4 and self.rng.integers(2):
                self.pool()
                side //= 2
        if self.rng.integers(2):
            self.add("global_avg_pool2d", ln.GlobalAvgPool2d(), lambda x, p: x.mean((1, 2)), "GlobalAvgPool2d")
        else:
            self.add("flatten", ln.Flatten(), lambda x, p: x.flatten(1), "Flatten")
        self.end()

    def sequence(self):
        features = int(self.pick(1, 2, 4, 8, 10))
        self.sample = (int(self.rng.integers(2, 13)), features)
        return features

    def rnn(self):
        features = self.sequence()
        for last in ([True], [False, True])[self.rng.integers(2)]:
            units = int(self.pick(1, 2, 4, 8, 17, 20))
            self.recurrent(features, units, not last)
            if self.rng.integers(3) == 0:
                self.norm(units)
            features = units
        self.end()

    def attending(self):
        features = int(self.pick(2, 4, 8, 10))
        self.sample = (int(self.rng.integers(2, 13)), features)
        for _ in range(self.rng.integers(1, 3)):
            self.attention(features, int(self.pick(1, 2)))
            if self.rng.integers(2):
                self.layer_norm()
            self.dense(features)
            self.activation()
        self.pool_steps()
        self.end()

    def convolving(self):
        features = self.sequence()
        for _ in range(self.rng.integers(1, 3)):
            features = int(self.pick(2, 4, 8, 16))
            self.conv1d(features, int(self.pick(1, 3, 5)))
            self.norm(features)
            self.activation()
        self.pool_steps()
        self.end()

    def pool_steps(self):
        self.add("global_avg_pool1d", ln.GlobalAvgPool1d(), lambda x, p: x.mean(1), "GlobalAvgPool1d")

    def end(self):
        outputs = int(self.pick(1, 2, 3, 10))
        self.dense(outputs, bias=True)
        self.batch = int(self.pick(4, 8, 16, 32, 50))
        rng = self.rng
        self.x = rng.standard_normal((self.batch, *self.sample)).astype(np.float32) * self.pick(0.1, 1, 1, 3) + \
            self.pick(0, 0, 1, 10)
        self.x = self.x.astype(np.float32)
        values = rng.standard_normal((self.batch, outputs)).astype(np.float32)
        labels = rng.integers(0, max(outputs, 2), self.batch).astype(np.int32)
        bits = (values > 0).astype(np.float32)
        losses = [("mse", values, F.mse_loss), ("mae", values, F.l1_loss), ("huber", values, F.huber_loss),
                  ("binary_cross_entropy", bits, F.binary_cross_entropy_with_logits)]
        if outputs > 1:
            losses += [("cross_entropy", labels, lambda y, t: F.cross_entropy(y, t.long()))] * 3
            losses.append(("hinge", labels, lambda y, t: F.multi_margin_loss(y, t.long())))
        self.loss, self.target, self.loss_of = losses[rng.integers(len(losses))]

    def __str__(self):
        return f"{self.sample} -> {', '.join(self.words)}; {self.loss}, batch {self.batch}"

    # Gradients

    def forward(self, weights, x):
        for name, step in self.steps:
            x = step(x, lambda what, name=name: weights[f"{name}.{what}"])
        return x

    def of_torch(self, weights, dtype, order=slice(None)):
        """`order`: of the samples, which changes nothing but roundings."""
        leaves = {name: torch.tensor(w, dtype=dtype, requires_grad=True) for name, w in weights.items()}
        y = self.forward(leaves, torch.tensor(self.x[order], dtype=dtype))
        target = torch.tensor(self.target[order])
        self.loss_of(y, target if target.dtype == torch.int32 else target.to(dtype)).backward()
        return {name: leaf.grad.double().numpy() for name, leaf in leaves.items()}

    def of_linnet(self, weights, threads):
        model = ln.Model(ln.sequential(self.sample, self.layers), device="cpu", threads=threads)
        model.set_weights({**model.weights(), **weights})
        trainer = ln.Trainer(model, loss=self.loss)
        batch = next(iter(trainer.batches(ln.Dataset(self.x, self.target), size=self.batch, shuffle=False)))
        return {name: np.asarray(g, np.float64) for name, g in trainer.gradients(batch).items()}

    def weights(self):
        model = ln.Model(ln.sequential(self.sample, self.layers), device="cpu", threads=1,
                         seed=int(self.rng.integers(1 << 31)))
        made = {}
        for name, w in model.weights().items():
            if "running" in name:
                continue
            noise = self.rng.standard_normal(w.shape).astype(np.float32)
            made[name] = np.asarray(w + 0.2 * noise if w.ndim == 1 else w, np.float32)
        return made


def relative(gradient, true):
    return float(np.linalg.norm(gradient - true) / np.linalg.norm(true))


def worst_of_orders(drawn, weights, true):
    """{parameter: PyTorch's largest error, in f32, over some orders of the samples}."""
    worst = dict.fromkeys(true, 0.0)
    for seed in range(ORDERS):
        order = np.random.default_rng(seed).permutation(drawn.batch)
        for name, gradient in drawn.of_torch(weights, torch.float32, order).items():
            if np.linalg.norm(true[name]) > 0:
                worst[name] = max(worst[name], relative(gradient, true[name]))
    return worst


def compare(number):
    """One row for each parameter of network `number` whose true gradient is not zero."""
    drawn = Drawn(number)
    weights = drawn.weights()
    true, float32 = drawn.of_torch(weights, torch.float64), drawn.of_torch(weights, torch.float32)
    linnet = drawn.of_linnet(weights, 1)
    if set(linnet) != set(true):
        raise SystemExit(f"network {number} has gradients of {sorted(linnet)}; PyTorch of {sorted(true)}")
    rows = []
    for name, exact in true.items():
        ours = linnet[name].reshape(exact.shape)
        if not np.linalg.norm(exact) > 0:
            rows.append({"network": number, "tensor": name, "zero": True})
            continue
        errors = relative(ours, exact), relative(float32[name], exact)
        rows.append({"network": number, "tensor": name, "zero": errors[1] > ZERO, "linnet": errors[0],
                     "torch": errors[1], "ratio": errors[0] / max(errors[1], ROUNDING), "is": str(drawn)})
    far = [row for row in rows if not row["zero"] and row["ratio"] > LIMIT]
    if far:
        worst = worst_of_orders(drawn, weights, true)
        for row in far:
            row["orders"] = row["linnet"] / max(worst[row["tensor"]], ROUNDING)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", type=int, default=2000, help="how many are drawn")
    parser.add_argument("--first", type=int, default=0, help="number of the first one")
    parser.add_argument("--worst", type=int, default=10, help="how many tensors are printed")
    parser.add_argument("--output", type=Path, help="where the summary is written, as JSON")
    given = parser.parse_args()
    torch.set_num_threads(1)
    # Its oneDNN writes past the end of memory in the gradient of a 1x1 convolution at stride 2 (PyTorch 2.15.0, AVX2).
    torch.backends.mkldnn.enabled = False
    rows = []
    for number in range(given.first, given.first + given.networks):
        rows += compare(number)
    counted = sorted((r for r in rows if not r["zero"]), key=lambda r: (-r.get("orders", 0), -r["ratio"]))
    ratios = np.array([r["ratio"] for r in counted])
    summary = {"networks": given.networks, "tensors": len(counted), "zero": len(rows) - len(counted),
               "median": float(np.median(ratios)), "p99": float(np.quantile(ratios, 0.99)),
               "above_10": int((ratios > LIMIT).sum()),
               "above_10_of_orders": sum(r.get("orders", 0) > LIMIT for r in counted), "below_0.1": int((ratios < 1 / LIMIT).sum()),
               "linnet": ln.__version__, "torch": torch.__version__, "processor": platform.machine(),
               "worst": counted[:given.worst]}
    for row in summary["worst"]:
        print(f"{row['ratio']:7.2f} x, of orders {row.get('orders', math.nan):.2f} x  {row['linnet']:.1e} beside {row['torch']:.1e}  {row['tensor']}  "
              f"of network {row['network']}: {row['is']}")
    print(json.dumps({k: v for k, v in summary.items() if k != "worst"}))
    if given.output:
        given.output.write_text(json.dumps(summary, indent=1) + "\n")


if __name__ == "__main__":
    main()
