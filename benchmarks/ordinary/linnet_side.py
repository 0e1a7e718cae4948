# SPDX-License-Identifier: Apache-2.0
"""linnet_side.py NETWORK: builds and times it in Linnet."""
import sys

import linnet as ln

import linnet_further
import linnet_networks
import timing
from networks import ALL, NETWORKS


def share_of_roof(profile):
    """The time that the machine's measured peak of arithmetic or of memory would need, by the time that was taken."""
    seconds = sum(each.seconds for each in profile.operators)
    return sum(each.seconds * min(each.of_ceiling, 1) for each in profile.operators) / seconds


def main():
    chosen = ALL[sys.argv[1]]
    builders = linnet_networks if chosen.name in NETWORKS else linnet_further
    inputs, targets = chosen.data()
    model = ln.Model(getattr(builders, chosen.name.replace("-", "_"))(), threads=2)
    trainer = ln.Trainer(model, optimizer=ln.Adam(1e-3), loss=chosen.loss)
    data = ln.Dataset(inputs, targets)
    batch, one = inputs[:chosen.batch].copy(), inputs[:1].copy()
    predictor = ln.Predictor(model)
    timing.report(len(inputs), chosen.batch, lambda: trainer.fit(data, epochs=1, batch=chosen.batch),
                  lambda: model.predict(batch), lambda: predictor.predict(one),
                  lambda: {"train_roof": share_of_roof(ln.profile_training(model, data, chosen.batch)),
                           "batch_roof": share_of_roof(ln.profile_prediction(model, chosen.batch))})


main()
