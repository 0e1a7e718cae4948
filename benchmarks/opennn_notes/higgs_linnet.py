# SPDX-License-Identifier: Apache-2.0
"""higgs_linnet.py train|infer ROWS BATCH THREADS: the dense network of OpenNN's HIGGS notes in Linnet; samples/s."""
import sys

import higgs
import linnet as ln


def main():
    mode, (rows, batch, threads) = sys.argv[1], map(int, sys.argv[2:5])
    x, y = higgs.samples(rows)
    layers = [ln.Dense(higgs.WIDTH), ln.ReLU(), ln.Dense(higgs.WIDTH), ln.ReLU(), ln.Dense(1)]
    model = ln.Model(ln.sequential(higgs.FEATURES, layers), device="cpu", threads=threads)
    if mode == "infer":
        predictor = ln.Predictor(model)
        higgs.report(lambda: [predictor.predict(x[i:i + batch]) for i in range(0, rows, batch)], rows, 5)
    else:
        trainer = ln.Trainer(model, loss="binary_cross_entropy")
        data = ln.Dataset(x, y)
        higgs.report(lambda: trainer.fit(data, epochs=1, batch=batch), rows, 1)


main()
