#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Uses an installed wheel: try_wheel.py, by the interpreter that it is installed for.

Imports it, trains on a table and on images (oneDNN's convolutions), predicts, and runs the command on a CSV file; prints
a line for each, and exits with 1 if something is wrong. tools/chroot.sh runs it on older systems."""
import os
import platform
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import numpy as np

import linnet as ln


def check(name, good, seen):
    print(f"{name}: {seen}" + ("" if good else "  WRONG"))
    if not good:
        sys.exit(1)


def table_rows(count=600):
    generator = np.random.default_rng(1)
    x = generator.normal(size=count)
    colour = generator.choice(["red", "green", "blue"], size=count)
    return {"x": x, "y": generator.normal(size=count), "colour": colour,
            "kind": np.where((x > 0) ^ (colour == "red"), "a", "b")}


def main():
    print(f"{platform.platform()}, glibc {platform.libc_ver()[1]}, Python {platform.python_version()}")
    print(f"linnet of {Path(ln.__file__).parent}, NumPy {np.__version__}")
    rows = table_rows()
    task = ln.table_task(rows, "kind")
    model = task.model()
    ln.train(model, task.data, task.training)
    first = {name: column[:50] for name, column in rows.items() if name != "kind"}
    shares = model.predict_probabilities(task.transform.inputs(first))
    check("table", shares.shape == (50, 2) and np.allclose(shares.sum(1), 1, atol=1e-4), shares[0].round(3).tolist())

    generator = np.random.default_rng(2)
    labels = generator.integers(0, 2, 256)
    images = (generator.normal(size=(256, 12, 12, 3)) + labels[:, None, None, None]).astype(np.float32)
    network = ln.sequential((12, 12, 3), [ln.Conv2d(16, padding="same"), ln.ReLU(), ln.MaxPool2d(), ln.Conv2d(32),
                                          ln.ReLU(), ln.Flatten(), ln.Dense(512), ln.ReLU(), ln.Dense(2)])
    trainer = ln.Trainer(ln.Model(network), optimizer=ln.Adam())
    trainer.fit((images, labels.astype(np.int32)), epochs=3, batch=64)
    accuracy = trainer.evaluate((images, labels.astype(np.int32))).accuracy
    check("images", accuracy > 0.9, f"accuracy {accuracy:.3f}")

    command = str(Path(sysconfig.get_path("scripts"), "linnet"))
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "table.csv")
        lines = [",".join(map(str, row)) for row in zip(*rows.values())]
        table.write_text("\n".join([",".join(rows), *lines]) + "\n", encoding="utf-8")
        for arguments in (["--version"], ["train", "--data", str(table), "--target", "kind", "--epochs", "3",
                                          "--out", f"{folder}/run"]):
            done = subprocess.run([command, *arguments], check=False, text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, env={**os.environ, "NO_COLOR": "1"})
            last = done.stdout.strip().splitlines()[-1:]
            check(f"linnet {arguments[0]}", done.returncode == 0, last or done.returncode)
    print("All is right.")


if __name__ == "__main__":
    main()
