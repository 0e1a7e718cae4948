#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One rank of ranks.py in PyTorch: trains a workload on drawn data with DDP, whose variables RANK, WORLD_SIZE,
MASTER_ADDR and MASTER_PORT it reads; rank 0 prints the seconds of each epoch as JSON."""
import argparse
import csv
import importlib
import json
import os
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

PEERS = Path(__file__).resolve().parent / "peers"


class Workload(NamedTuple):
    shape: tuple
    classes: int  # findings where labels are many
    samples: int  # of an epoch
    batch: int
    epochs: int = 3  # the first is not counted


XRAY = Workload((224, 224, 3), 14, 16, 8, 2)
WORKLOADS = {"mnist-cnn": Workload((28, 28, 1), 10, 10240, 128),
             "resnet50-cifar10": Workload((32, 32, 3), 10, 384, 128), "densenet121-xray": XRAY}


def drawn(workload):
    of = WORKLOADS[workload]
    random = np.random.default_rng(1)
    x = random.integers(0, 256, (of.samples, *of.shape), np.uint8)
    if of is XRAY:
        return x, random.integers(0, 2, (of.samples, of.classes)).astype(np.float32)
    return x, random.integers(0, of.classes, of.samples).astype(np.int32)


class Images:
    """Radiographs as files, which labels.csv names: decoded when they are read, and resized."""

    def __init__(self, folder):
        with open(Path(folder, "labels.csv"), newline="", encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if row["split"] == "train"]
        self.paths = [Path(folder, row["file"]) for row in rows]
        self.findings = [[float(found) for found in [*row.values()][-XRAY.classes:]] for row in rows]

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        import torch
        from PIL import Image
        with Image.open(self.paths[index]) as image:
            pixels = np.array(image.convert("RGB").resize(XRAY.shape[1::-1], Image.Resampling.BILINEAR))
        return torch.from_numpy(pixels), torch.tensor(self.findings[index])


def batches_of(options, rank, size):
    """A function that yields this rank's (images, targets) of an epoch; the number of samples."""
    import torch
    part = options.batch // size

    def own(order):
        return [order[start + rank * part:start + (rank + 1) * part] for start in range(0, len(order), options.batch)]
    if options.files:
        images = Images(options.files)
        return lambda order: torch.utils.data.DataLoader(images, batch_sampler=own(order.tolist()), num_workers=1,
                                                         prefetch_factor=3), len(images)
    x, y = drawn(options.workload)
    samples, targets = torch.from_numpy(x), torch.from_numpy(y if y.dtype == np.float32 else y.astype(np.int64))
    return lambda order: ((samples[index], targets[index]) for index in own(order)), len(x)


def with_torch(options):
    import torch
    from torch import distributed
    from torch.nn import functional
    from torch.nn.parallel import DistributedDataParallel
    sys.path.append(str(PEERS / "torch"))
    peer = importlib.import_module(options.workload.replace("-", "_"))
    torch.set_num_threads(options.threads)
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    distributed.init_process_group("gloo", rank=rank, world_size=size)
    many = WORKLOADS[options.workload] is XRAY
    model = peer.network().to(memory_format=torch.channels_last)
    model = DistributedDataParallel(model) if size > 1 else model
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    loss_of = functional.binary_cross_entropy_with_logits if many else functional.cross_entropy
    # Drawn data are not cropped.
    plain = many and not options.files
    forward = (lambda model, x: model(peer.protocol.imagenet_pixels(x))) if plain else peer.forward
    batches, samples = batches_of(options, rank, size)
    seconds = []
    for epoch in range(options.epochs):
        order = torch.randperm(samples, generator=torch.Generator().manual_seed(epoch))
        distributed.barrier()
        begin = time.perf_counter()
        for images, targets in batches(order):
            optimizer.zero_grad(set_to_none=True)
            loss_of(forward(model, images.permute(0, 3, 1, 2)), targets).backward()
            optimizer.step()
        seconds.append(time.perf_counter() - begin)
    distributed.destroy_process_group()
    return rank, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("workload", choices=WORKLOADS)
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--epochs", type=int, required=True)
    parser.add_argument("--files", help="a folder of images with labels.csv, instead of drawn data")
    options = parser.parse_args()
    rank, seconds = with_torch(options)
    if rank == 0:
        print(json.dumps({"seconds": seconds}))


if __name__ == "__main__":
    main()
