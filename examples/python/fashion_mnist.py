# SPDX-License-Identifier: Apache-2.0
"""The program of the README, in Python: it prints what examples/fashion_mnist.cpp prints."""
import linnet as ln

data = ln.datasets.fashion_mnist("data")
network = ln.sequential((28, 28, 1), [
    ln.Rescale(1 / 255), ln.Conv2d(16, padding="same"), ln.ReLU(), ln.MaxPool2d(), ln.Flatten(), ln.Dense(10)])
model = ln.Model(network)
trainer = ln.Trainer(model, optimizer=ln.Adam(learning_rate=4e-3), schedule=ln.CosineDecay())
trainer.fit(data.train, epochs=10, batch=64)
print(f"test accuracy {100 * trainer.evaluate(data.test).accuracy:.2f} %")
model.save("model.safetensors")

# Prints:
#   test accuracy 90.92 %
