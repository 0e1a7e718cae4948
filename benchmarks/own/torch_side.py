# SPDX-License-Identifier: Apache-2.0
"""torch_side.py FILE.toml DATA BATCH: builds the file's network in PyTorch, channels last, with a fused optimizer, and
times it on what `linnet bench --export` wrote. Prints one line of JSON."""
import json
import os
import statistics
import sys
import time
import tomllib
from pathlib import Path

import torch
from torch import nn

import torch_layers

sys.path.append(str(Path(__file__).resolve().parents[1] / "peers/common"))
import peer  # noqa: E402

EPOCHS = 3  # as many as `linnet bench` times, after one


def loss_of(name, labels):
    """loss(outputs, targets), by the name in a configuration file."""
    if name in ("automatic", "cross_entropy") and labels:
        def cross_entropy(y, t):
            return nn.functional.cross_entropy(y if y.dim() in (2, 4) else y.flatten(0, -2),
                                               t if y.dim() in (2, 4) else t.flatten())
        return cross_entropy
    values = {"automatic": nn.MSELoss(), "mse": nn.MSELoss(), "mae": nn.L1Loss(), "huber": nn.HuberLoss(),
              "binary_cross_entropy": nn.BCEWithLogitsLoss()}
    if labels or name not in values:
        sys.exit(f"torch_side.py: the loss {name} has no counterpart here")
    return lambda y, t: values[name](y, t.reshape(y.shape))


def optimizer_of(settings, parameters):
    """The optimizer of [optimizer], fused."""
    kind, rate = settings.get("kind", "adam"), settings.get("learning_rate", 1e-3)
    known = {"sgd": ("momentum", "nesterov")}.get(kind, ("beta1", "beta2", "epsilon", "weight_decay"))
    others = sorted(set(settings) - {"kind", "learning_rate", *known})
    if others:
        sys.exit(f"torch_side.py: {others[0]} of the optimizer has no counterpart here")
    if kind == "sgd":
        return torch.optim.SGD(parameters, rate, settings.get("momentum", 0.0), nesterov=settings.get("nesterov", False),
                               fused=True)
    if kind in ("adam", "adamw"):
        make = torch.optim.Adam if kind == "adam" else torch.optim.AdamW
        return make(parameters, rate, weight_decay=settings.get("weight_decay", 0.0), fused=True)
    return sys.exit(f"torch_side.py: the optimizer {kind} has no counterpart here; expected sgd, adam or adamw")


def exported(folder):
    """Samples and targets as tensors, images as (N, C, H, W), and whether targets are labels."""
    data = peer.Data(folder)
    samples, targets = torch.from_numpy(data.samples), torch.from_numpy(data.targets)
    if data.classes and targets.numel() > len(samples):  # of every step, or of every pixel
        steps = samples.shape[1:3] if data.images and targets.numel() == samples[..., 0].numel() else (-1,)
        targets = targets.reshape(len(samples), *steps)
    if data.images:
        samples = samples.permute(0, 3, 1, 2)  # is channels last already
    return samples, targets.long() if data.classes else targets, data.classes


def numbers(x):
    """A batch as the network takes it: pixels become numbers, ids stay."""
    return x.float() if x.dtype == torch.uint8 else x


def main():
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    path, folder, batch = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    file = tomllib.loads(path.read_text())
    samples, targets, labels = exported(folder)
    try:
        model = torch_layers.module(file["network"]["layers"], numbers(samples[:2]))
    except torch_layers.Refused as refused:
        sys.exit(f"torch_side.py: {refused} has no counterpart here")
    model = model.to(memory_format=torch.channels_last)
    loss = loss_of(file.get("training", {}).get("loss", "automatic"), labels)
    optimizer = optimizer_of(file.get("optimizer", {}), model.parameters())
    bounds = [(begin, begin + batch) for begin in range(0, len(samples), batch)]

    def train():
        model.train()
        order = torch.randperm(len(samples))
        for begin, end in bounds:
            chosen = order[begin:end]
            optimizer.zero_grad(set_to_none=True)
            loss(model(numbers(samples[chosen])), targets[chosen]).backward()
            optimizer.step()

    def predict():
        model.eval()
        with torch.inference_mode():
            for begin, end in bounds:
                model(numbers(samples[begin:end]))

    speeds = {}
    for name, epoch in (("train", train), ("infer", predict)):
        seconds = []
        for _ in range(EPOCHS + 1):
            start = time.perf_counter()
            epoch()
            seconds.append(time.perf_counter() - start)
        speeds[name] = len(samples) / statistics.median(seconds[1:])
    print(json.dumps({**speeds, "parameters": sum(p.numel() for p in model.parameters()),
                      "torch": torch.__version__}))


if __name__ == "__main__":
    main()
