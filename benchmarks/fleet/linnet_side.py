# SPDX-License-Identifier: Apache-2.0
"""linnet_side.py fleet|alone SECONDS: the members as a fleet, or one after the other, on two threads."""
import sys

import linnet as ln
from problem import BATCH, FLOPS, RATES, WIDTHS, data, report


def peak():
    """The measured peak of two threads in f32, operations a second, by which a profile's shares are computed."""
    model = ln.Model(ln.Network(1024, [ln.Dense(1024)]), device="cpu", threads=2)
    return max(each.flops / each.seconds / each.of_ceiling for each in ln.profile_prediction(model, 1024).operators
               if each.flops > 0 and each.of_ceiling > 0)


def main():
    network = ln.Network(WIDTHS[0], [ln.Dense(WIDTHS[1]), ln.ReLU(), ln.Dense(WIDTHS[2]), ln.ReLU(), ln.Dense(WIDTHS[3])])
    samples = ln.Dataset(*data())
    roof = peak()
    optimizers = [ln.Adam(rate) for rate in RATES]
    if sys.argv[1] == "fleet":
        fleet = ln.Fleet(network, len(RATES), optimizers=optimizers, loss="mse", threads=2)

        def epoch():
            fleet.fit(samples, epochs=1, batch=BATCH)
    else:
        trainers = [ln.Trainer(ln.Model(network, device="cpu", threads=2, seed=k), optimizer=optimizer, loss="mse", seed=k)
                    for k, optimizer in enumerate(optimizers)]

        def epoch():
            for trainer in trainers:
                trainer.fit(samples, epochs=1, batch=BATCH)
    report(epoch, float(sys.argv[2]), flops=FLOPS, roof=roof)


main()
