#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains mnist-cnn in Linnet and in PyTorch from the same weights on the same batches, and compares
the loss of every step; docs/notes/2026-11-21-loss-curves.md describes it. Run by compare.sh.

Exits 1 if a loss of Linnet's is further than 1e-4 (relative) from PyTorch's in float32, and 2 if
they could not be compared.
"""
import argparse
import gzip
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

TOLERANCE = 1e-4  # relative, of a step's loss
# Only the numbers that Linnet's side gives too; all else is the default of either.
OPTIMIZERS = {
    "adam": lambda weights: torch.optim.Adam(weights),
    "momentum": lambda weights: torch.optim.SGD(weights, lr=0.01, momentum=0.9),
    "nesterov": lambda weights: torch.optim.SGD(weights, lr=0.01, momentum=0.9, nesterov=True),
    "adamw": lambda weights: torch.optim.AdamW(weights),
    "rmsprop": lambda weights: torch.optim.RMSprop(weights),
}
DENSE_INPUT = (14, 14, 16)  # (H, W, C) of what the dense layer reads


def fail(message):
    print(f"compare_loss_curve.py: {message}", file=sys.stderr)
    sys.exit(2)


def read_idx(path):
    """An IDX file of bytes: 0, 0, type 8, rank, the dimensions as big-endian u32, the elements."""
    with gzip.open(path) as file:
        data = file.read()
    if data[:3] != b"\0\0\x08":
        fail(f"{path}: expected an IDX file of bytes")
    shape = np.frombuffer(data, ">u4", count=data[3], offset=4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(shape)


def read_safetensors(path):
    """The float32 tensors of a file by name: 8 bytes of header length, JSON, the data."""
    data = Path(path).read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    tensors = {}
    for name, entry in json.loads(data[8:start]).items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        assert entry["dtype"] == "F32", f"{name} is {entry['dtype']}"
        elements = np.frombuffer(data[start + begin:start + end], "<f4")
        tensors[name] = elements.reshape(entry["shape"])
    return tensors


def torch_weights(tensors, dtype):
    """Linnet's weights as PyTorch wants them: convolutions (O, H, W, I) -> (O, I, H, W)."""
    weights = {}
    for name, value in tensors.items():
        value = value.transpose(0, 3, 1, 2) if value.ndim == 4 else value
        weights[name] = torch.tensor(np.ascontiguousarray(value), dtype=dtype, requires_grad=True)
    return weights


def network(weights, pixels, flips=()):
    """Logits (N, 10) of workloads::mnist_cnn() on pixels (N, 28, 28) u8. The ReLU inputs that `flips`
    names by (sample, channel, y, x) change their sign."""
    x = (pixels.to(weights["dense_1.weight"].dtype) / 255).unsqueeze(1)  # (N, 1, H, W)
    x = functional.conv2d(x, weights["conv2d_1.weight"], weights["conv2d_1.bias"], padding=1)
    for unit in flips:
        sign = torch.zeros_like(x)
        sign[unit] = 2
        x = x - sign * x.detach()
    x = functional.max_pool2d(functional.relu(x), 2)
    x = x.permute(0, 2, 3, 1)  # Linnet flattens (H, W, C)
    assert tuple(x.shape[1:]) == DENSE_INPUT
    return functional.linear(x.flatten(1), weights["dense_1.weight"], weights["dense_1.bias"])


def train_torch(name, tensors, images, labels, batches, dtype, flips=()):
    """The loss of every step, and the weights after the last one in Linnet's layout. `flips` holds
    (step from 1, sample, channel, y, x)."""
    weights = torch_weights(tensors, dtype)
    optimizer = OPTIMIZERS[name](list(weights.values()))
    losses = []
    for step, batch in enumerate(batches, 1):
        units = [tuple(flip[1:]) for flip in flips if flip[0] == step]
        loss = functional.cross_entropy(network(weights, images[batch], units), labels[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    trained = {name: value.detach().double().numpy() for name, value in weights.items()}
    return np.array(losses), {
        name: value.transpose(0, 2, 3, 1) if value.ndim == 4 else value
        for name, value in trained.items()}


class Linnet:
    """Linnet's half: the program linnet_step_losses."""

    def __init__(self, options, scratch):
        self.command = [options.program, "--data", options.data, "--seed", str(options.seed)]
        self.steps = ["--steps", str(options.steps), "--batch", str(options.batch)]
        self.scratch = Path(scratch)

    def _numbers(self, arguments, dtype):
        done = subprocess.run(self.command + arguments, stdout=subprocess.PIPE, text=True,
                              check=False)
        if done.returncode != 0:
            fail(f"{self.command[0]} exited with {done.returncode}")
        return np.array(done.stdout.split(), dtype)

    def order(self):
        return self._numbers(["--order"], np.int64)

    def train(self, name):
        """The losses, and the weights before and after."""
        initial, trained = (str(self.scratch / f"{name}.{part}") for part in ("initial", "trained"))
        losses = self._numbers([*self.steps, "--optimizer", name, "--initial", initial,
                                "--trained", trained], np.float64)
        return losses, read_safetensors(initial), read_safetensors(trained)


def largest(ours, theirs):
    """The largest relative difference of two curves, and the step it is at (from 1)."""
    difference = np.abs(ours - theirs) / np.abs(theirs)
    return difference.max(), int(difference.argmax()) + 1


def weight_difference(ours, theirs):
    """Over the tensors, the largest of max |a - b| / max |b|."""
    return max(np.abs(ours[name] - theirs[name]).max() / np.abs(theirs[name]).max()
               for name in theirs)


def compare(name, linnet, images, labels, batches, flips):
    """Prints a rule's curves; returns its line of the summary and whether it passed."""
    losses, initial, trained = linnet.train(name)
    single, single_weights = train_torch(name, initial, images, labels, batches, torch.float32)
    double, double_weights = train_torch(name, initial, images, labels, batches, torch.float64,
                                         flips)
    if losses.shape != single.shape:
        fail(f"{name}: expected {len(single)} losses of Linnet; got {len(losses)}")
    print(f"\n{name}\n  step       Linnet      PyTorch  difference  PyTorch f64")
    for step in sorted({1, len(losses), *range(10, len(losses), 10)}):
        difference = abs(losses[step - 1] - single[step - 1]) / single[step - 1]
        print(f"  {step:4d}  {losses[step - 1]:11.8f}  {single[step - 1]:11.8f}  {difference:10.1e}"
              f"  {double[step - 1]:11.8f}")
    worst, at = largest(losses, single)
    passed = bool(np.isfinite(losses).all()) and bool(worst <= TOLERANCE)
    cells = [name, f"{worst:.1e} (step {at})",
             *(f"{x:.1e}" for x in (largest(losses, double)[0], largest(single, double)[0],
                                    weight_difference(trained, single_weights),
                                    weight_difference(trained, double_weights),
                                    weight_difference(single_weights, double_weights))),
             "equal" if passed else "NOT EQUAL"]
    line = f"| {' | '.join(cells)} |"
    return line, passed


def arguments():
    parser = argparse.ArgumentParser(description="Compares Linnet's loss curves with PyTorch's.")
    parser.add_argument("--program", required=True, help="the program linnet_step_losses")
    parser.add_argument("--data", required=True, help="folder with the four MNIST files (.gz)")
    parser.add_argument("--optimizer", action="append", choices=OPTIMIZERS, help="optimizer to compare, repeatable; default: all")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--seed", type=int, default=0, help="seed of weights and shuffling")
    parser.add_argument("--flip", action="append", default=[], metavar="STEP,SAMPLE,CHANNEL,Y,X",
                        type=lambda text: [int(number) for number in text.split(",")],
                        help="a ReLU input whose sign changes in PyTorch's float64 run alone")
    return parser.parse_args()


def main():
    options = arguments()
    images = torch.from_numpy(read_idx(Path(options.data) / "train-images-idx3-ubyte.gz").copy())
    labels = torch.from_numpy(
        read_idx(Path(options.data) / "train-labels-idx1-ubyte.gz").astype(np.int64))
    if len(options.flip) > 0 and {len(flip) for flip in options.flip} != {5}:
        fail("--flip needs five numbers: STEP,SAMPLE,CHANNEL,Y,X")
    if options.batch < 1 or not 1 <= options.steps <= -(-len(images) // options.batch):
        fail(f"expected from 1 step to an epoch; got --steps {options.steps} "
             f"--batch {options.batch} of {len(images)} samples")
    lines, failed = [], []
    with tempfile.TemporaryDirectory() as scratch:
        linnet = Linnet(options, scratch)
        order = linnet.order()
        if not np.array_equal(np.sort(order), np.arange(len(images))):
            fail("Linnet's order of the epoch is not a permutation of the records")
        batches = [torch.from_numpy(order[i * options.batch:(i + 1) * options.batch])
                   for i in range(options.steps)]
        print(f"mnist-cnn, {options.steps} steps of {options.batch}, seed {options.seed}; "
              f"PyTorch {torch.__version__} on {torch.get_num_threads()} CPU threads")
        for name in options.optimizer or OPTIMIZERS:
            line, passed = compare(name, linnet, images, labels, batches, options.flip)
            lines.append(line)
            failed += [] if passed else [name]
    print("\nLargest relative differences (P32, P64: PyTorch in float32, float64)\n")
    print("| rule | loss: Linnet, P32 | Linnet, P64 | P32, P64 "
          "| weights: Linnet, P32 | Linnet, P64 | P32, P64 | to 1e-4 |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    print("\n".join(lines))
    if failed:
        print(f"\nFAILED: {', '.join(failed)} differ by more than {TOLERANCE:.0e}")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (AssertionError, KeyError, OSError, RuntimeError, ValueError) as error:
        fail(f"{type(error).__name__}: {error}")
