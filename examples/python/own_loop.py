# SPDX-License-Identifier: Apache-2.0
"""A custom loop, with a custom layer and loss, and arrays of NumPy."""
import numpy as np

import linnet as ln


def scaled_swish(x: ln.Expression, weights: ln.LayerWeights) -> ln.Expression:
    return x * ln.sigmoid(x * weights.add("scale", x.shape[-1], 1))


def smooth_error(y: ln.Expression, t: ln.Expression) -> ln.Expression:
    return ln.mean(ln.sqrt(1 + ln.square(y - t)) - 1)


random = np.random.default_rng(1)
x = random.random((1000, 2), np.float32)
data = ln.Dataset(x, np.sin(6 * x[:, :1]) * x[:, 1:])  # neither array is copied
training, validation = data.split(0.2, seed=1)

model = ln.Model(ln.sequential(2, [ln.Dense(32), ln.CustomLayer(scaled_swish), ln.Dense(1)]), seed=1)
trainer = ln.Trainer(model, optimizer=ln.Adam(1e-2), loss=smooth_error, seed=1)
for epoch in range(20):
    for batch in trainer.batches(training, size=50):
        step = trainer.step(batch)
print(f"{trainer.steps} steps in {trainer.epochs} epochs")
print("validation loss below 0.05:", trainer.evaluate(validation).loss < 0.05)
print("weights:", ", ".join(model.weights()))

# Prints:
#   320 steps in 20 epochs
#   validation loss below 0.05: True
#   weights: dense_1.weight, dense_1.bias, scaled_swish_1.scale, dense_2.weight, dense_2.bias
