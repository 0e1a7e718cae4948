#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One rank of ranks.py in PyTorch: trains a workload on drawn data with DDP, whose variables RANK, WORLD_SIZE,
MASTER_ADDR and MASTER_PORT it reads; rank 0 prints the seconds of each epoch as JSON."""
import argparse
import importlib
import json
import os
import sys
import time
from pathlib import Path

import numpy as np

PEERS = Path(__file__).resolve().parent / "peers"
# Shape of a sample, number of classes (of findings where labels are many), samples of an epoch.
WORKLOADS = {"mnist-cnn": ((28, 28, 1), 10, 10240), "resnet50-cifar10": ((32, 32, 3), 10, 384),
             "densenet121-xray": ((224, 224, 3), 14, 32)}


def drawn(workload, samples):
    shape, classes, _ = WORKLOADS[workload]
    random = np.random.default_rng(1)
    x = random.integers(0, 256, (samples, *shape), np.uint8)
    if workload == "densenet121-xray":
        return x, random.integers(0, 2, (samples, classes)).astype(np.float32)
    return x, random.integers(0, classes, samples).astype(np.int32)


def with_torch(options, x, y):
    import torch
    from torch import distributed
    from torch.nn import functional
    from torch.nn.parallel import DistributedDataParallel
    sys.path.append(str(PEERS / "torch"))
    peer = importlib.import_module(options.workload.replace("-", "_"))
    torch.set_num_threads(options.threads)
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    distributed.init_process_group("gloo", rank=rank, world_size=size)
    many = y.dtype == np.float32
    model = peer.network().to(memory_format=torch.channels_last)
    model = DistributedDataParallel(model) if size > 1 else model
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    loss_of = functional.binary_cross_entropy_with_logits if many else functional.cross_entropy
    samples, targets = torch.from_numpy(x), torch.from_numpy(y if many else y.astype(np.int64))
    # Without the crops of its program: the data are drawn.
    forward = (lambda model, x: model(peer.protocol.imagenet_pixels(x))) if many else peer.forward
    part = options.batch // size
    seconds = []
    for epoch in range(options.epochs):
        order = torch.randperm(len(x), generator=torch.Generator().manual_seed(epoch))
        distributed.barrier()
        begin = time.perf_counter()
        for start in range(0, len(x), options.batch):
            index = order[start + rank * part:start + (rank + 1) * part]
            optimizer.zero_grad(set_to_none=True)
            images = samples[index].permute(0, 3, 1, 2)
            loss_of(forward(model, images), targets[index]).backward()
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
    options = parser.parse_args()
    rank, seconds = with_torch(options, *drawn(options.workload, WORKLOADS[options.workload][2]))
    if rank == 0:
        print(json.dumps({"seconds": seconds}))


if __name__ == "__main__":
    main()
