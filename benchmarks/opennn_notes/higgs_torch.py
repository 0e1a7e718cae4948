# SPDX-License-Identifier: Apache-2.0
"""higgs_torch.py train|infer ROWS BATCH THREADS: the same in PyTorch; samples/s."""
import sys

import higgs
import torch
from torch import nn


def main():
    mode, (rows, batch, threads) = sys.argv[1], map(int, sys.argv[2:5])
    torch.set_num_threads(threads)
    x, y = map(torch.from_numpy, higgs.samples(rows))
    model = nn.Sequential(nn.Linear(higgs.FEATURES, higgs.WIDTH), nn.ReLU(), nn.Linear(higgs.WIDTH, higgs.WIDTH), nn.ReLU(),
                          nn.Linear(higgs.WIDTH, 1))
    if mode == "infer":
        with torch.inference_mode():
            higgs.report(lambda: [model(x[i:i + batch]) for i in range(0, rows, batch)], rows, 5)
    else:
        optimizer = torch.optim.Adam(model.parameters())
        loss = nn.BCEWithLogitsLoss()

        def epoch():
            order = torch.randperm(rows)
            for i in range(0, rows, batch):
                chosen = order[i:i + batch]
                optimizer.zero_grad(set_to_none=True)
                loss(model(x[chosen]), y[chosen]).backward()
                optimizer.step()

        higgs.report(epoch, rows, 1)


main()
