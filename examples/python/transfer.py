# SPDX-License-Identifier: Apache-2.0
"""Transfer learning: another head on a trained body, which is frozen."""
import linnet as ln

digits = ln.datasets.digits(2000, 500, 1)
network = ln.sequential((28, 28, 1), [
    ln.Rescale(1 / 255), ln.Conv2d(8, padding="same"), ln.ReLU(), ln.MaxPool2d(), ln.Flatten(), ln.Dense(32),
    ln.ReLU(), ln.Dense(10, name="head")])
model = ln.Model(network)
ln.Trainer(model, optimizer=ln.Adam(4e-3)).fit(digits.train, epochs=3, batch=50)

# Is the digit even? Only the head learns it.
even = ln.Dataset(digits.train.column("image"), 1 - digits.train.column("label") % 2, classes=["odd", "even"])
body = model.with_head("head", ln.Dense(2))
trainer = ln.Trainer(body, trains=["head.*"], optimizer=ln.SGD(0.1, momentum=0.9))
trainer.fit(even, epochs=5, batch=50)

before, after = model.weights(), body.weights()
changed = [name for name in before if before[name].shape != after[name].shape or (before[name] != after[name]).any()]
print("changed:", ", ".join(changed))
print("better than a coin:", trainer.evaluate(even).accuracy > 0.8)
print("classes:", body.class_names)

# Prints:
#   changed: head.weight, head.bias
#   better than a coin: True
#   classes: ['odd', 'even']
