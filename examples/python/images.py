# SPDX-License-Identifier: Apache-2.0
"""Images in folders, a folder for each class: photos/cat/1.jpg, photos/dog/7.png. Needs the path of such a
folder. The sizes of the images, the network, its augmentation and the split are chosen for them."""
import sys
from pathlib import Path

import linnet as ln

if len(sys.argv) != 2:
    sys.exit("usage: images.py FOLDER")
task = ln.image_task(sys.argv[1], seed=1)
for note in task.notes:
    print(note)

model = ln.Model(task.network, seed=1)
history = ln.train(model, task.data, task.training, epochs=10)

report = ln.evaluate_metrics(model, task.data.test)
print(f"test accuracy {100 * report.accuracy:.1f} % of {report.samples} images")

# The saved model reads image files of any size, as the training did.
model.save("images.safetensors")
loaded = ln.Model.load("images.safetensors")
files = sorted(path for path in Path(sys.argv[1]).rglob("*") if path.suffix in (".png", ".jpg", ".jpeg"))[:3]
for file, guess in zip(files, loaded.predict_probabilities(ln.load_images(list(files), loaded))):
    print(f"{file.relative_to(sys.argv[1])}: {loaded.class_names[guess.argmax()]}, {100 * guess.max():.0f} %")
