# SPDX-License-Identifier: Apache-2.0
"""torch_side.py NETWORK [compile]: builds and times it in PyTorch, channels last, with a fused Adam."""
import sys

import torch
from torch import nn

import timing
from networks import ALL
from torch_module import module


def main():
    torch.set_num_threads(2)
    chosen = ALL[sys.argv[1]]
    inputs, targets = (torch.from_numpy(each) for each in chosen.data())
    model = module(chosen.name).to(memory_format=torch.channels_last)
    if inputs.dim() == 4:
        inputs = inputs.permute(0, 3, 1, 2)  # is channels last already
    loss = nn.MSELoss()
    if chosen.loss == "cross_entropy":
        loss, targets = nn.CrossEntropyLoss(), targets.long()
    optimizer = torch.optim.Adam(model.parameters(), 1e-3, fused=True)
    forward = torch.compile(model) if "compile" in sys.argv[2:] else model

    def epoch():
        model.train()
        for i in range(0, len(inputs), chosen.batch):
            optimizer.zero_grad(set_to_none=True)
            loss(forward(inputs[i:i + chosen.batch]), targets[i:i + chosen.batch]).backward()
            optimizer.step()

    def predict(samples):
        with torch.inference_mode():
            return model(samples)

    def predict_batch():
        model.eval()
        return predict(batch)

    batch = inputs[:chosen.batch].clone(memory_format=torch.preserve_format)
    timing.report(len(inputs), chosen.batch, epoch, predict_batch, lambda: predict(batch[:1]))


main()
