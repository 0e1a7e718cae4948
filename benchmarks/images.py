#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `linnet train FOLDER` with a small PyTorch network and with HOG and an SVM on six folders of images.

    benchmarks/images.py --data ../shared/data      wants build/release/bin/linnet

Needs torch, scikit-learn, scikit-image and Pillow (PyPI) in the Python that runs it. Each folder has a
training set and a test set of fixed images; Linnet splits a tenth of the training images off for its
choice of the epoch, the others learn from all of them. Linnet and PyTorch learn on one thread, once for
each seed. The PyTorch network is four 3x3 convolutions of 32, 64, 128 and 128 filters with batch norms and
pooling, trained by Adam with a cosine decay for 40 epochs, with random crops and, in colour, flips.
`--also NAME=PATH` measures another build of Linnet on the same folders. Seconds are the processor's (user
and system), with the start of the command for Linnet. `--runs FILE` keeps each training as it ends and
repeats none that is there; `--measure` takes some of the contestants, and then writes nothing but that file.
`--kept` measures nothing further: what the file lacks stays empty. With all sets it writes
benchmarks/results/images/<date>-cpu-<isa>-images.json and .md.
"""
import argparse
import gzip
import json
import os
import pathlib
import resource
import subprocess
import sys
import tarfile
import tempfile

import numpy as np
import skimage
import sklearn
import torch
from PIL import Image
from skimage.feature import hog
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import other_results

EPOCHS, BATCH = 40, 64
CIFAR_NAMES = "airplane automobile bird cat deer dog frog horse ship truck".split()
PHOTOS = ("airplane", "automobile", "cat", "deer", "horse", "ship")


class Images:
    """Images (uint8), the names of their classes, and the side at which the others see them."""

    def __init__(self, train, test, side, cell, ending="png"):
        self.train, self.test, self.side, self.cell, self.ending = train, test, side, cell, ending

    def write(self, folder):
        for part in ("train", "test"):
            for number, (image, name) in enumerate(getattr(self, part)):
                path = folder / part / name
                path.mkdir(parents=True, exist_ok=True)
                Image.fromarray(image).save(path / f"{number:05}.{self.ending}", quality=90)

    def arrays(self, part):
        """Images of (side, side, channels) in [0, 1], and their classes by number."""
        pairs = getattr(self, part)
        names = sorted({name for _, name in self.train})
        size = (self.side, self.side)
        x = np.stack([np.asarray(Image.fromarray(image).resize(size, Image.BILINEAR)) for image, _ in pairs])
        x = x[..., None] if x.ndim == 3 else x
        return x.astype(np.float32) / 255, np.array([names.index(name) for _, name in pairs])


def first_of_each(images, names, count):
    """The first `count` images of each class, in order."""
    seen, taken = {}, []
    for image, name in zip(images, names):
        seen[name] = seen.get(name, 0) + 1
        if seen[name] <= count:
            taken.append((image, name))
    return taken


def cifar(folder):
    with tarfile.open(folder / "cifar10/cifar-10-binary-rebuilt.tar.xz") as archive:
        files = {pathlib.Path(m.name).name: np.frombuffer(archive.extractfile(m).read(), np.uint8)
                 for m in archive if m.name.endswith(".bin")}
    for part in ([f"data_batch_{i}.bin" for i in range(1, 6)], ["test_batch.bin"]):
        rows = np.concatenate([files[name] for name in part]).reshape(-1, 3073)
        yield (rows[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), [CIFAR_NAMES[i] for i in rows[:, 0]])


def cifar_of(count):
    """The set of the first `count` images of each class, and 200 of each to test."""
    def images(folder):
        train, test = cifar(folder)
        return Images(first_of_each(*train, count), first_of_each(*test, 200), 32, 4)
    return images


def photos_600(folder):
    """Enlarged images of six classes, of as many sizes as photos have, as JPEG."""
    random = np.random.default_rng(0)

    def enlarged(images):
        return [(np.asarray(Image.fromarray(image).resize(tuple(map(int, random.integers(96, 161, 2))), Image.BICUBIC)),
                 name) for image, name in images if name in PHOTOS]

    train, test = cifar(folder)
    return Images(enlarged(first_of_each(*train, 100)), enlarged(first_of_each(*test, 200)), 64, 8, "jpg")


def mnist_1000(folder):
    def read(name, start):
        return np.frombuffer(gzip.decompress((folder / "mnist" / name).read_bytes()), np.uint8, offset=start)

    def part(name, count):
        digits = [str(label) for label in read(f"{name}-labels-idx1-ubyte.gz", 8)]
        return first_of_each(read(f"{name}-images-idx3-ubyte.gz", 16).reshape(-1, 28, 28), digits, count)

    return Images(part("train", 100), part("t10k", 200), 28, 4)


def digits(folder):
    found = load_digits()
    images = list(zip((found.images * 15.9375).astype(np.uint8), map(str, found.target)))
    return Images(images[:1437], images[1437:], 8, 2)


def xrays(folder):
    """X-rays with a finding and without one; parts of different patients, as the file has them."""
    with tarfile.open(folder / "chest-xray/nih64.tar") as archive:
        files = {pathlib.Path(m.name).name: archive.extractfile(m).read() for m in archive if m.isfile()}
    header, *rows = [line.split(",") for line in files["labels.csv"].decode().split()]
    parts = {"train": [], "test": []}
    with tempfile.TemporaryDirectory() as temporary:
        for row in rows:
            path = pathlib.Path(temporary) / row[0]
            path.write_bytes(files[row[0]])
            name = "finding" if "1" in row[6:] else "none"
            parts["test" if row[1] == "test" else "train"].append((np.asarray(Image.open(path).convert("L")), name))
    return Images(parts["train"], parts["test"], 64, 8)


SETS = {"cifar10-4000": cifar_of(400), "cifar10-500": cifar_of(50), "mnist-1000": mnist_1000, "digits": digits, "chest-xray": xrays,
        "photos-600": photos_600}


def used(who):
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def run_linnet(linnet, folder, seed, arguments):
    with tempfile.TemporaryDirectory() as temporary:
        before = used(resource.RUSAGE_CHILDREN)
        out = subprocess.run(
            [linnet, "train", folder, "--seed", str(seed), "--device", "cpu", "--threads", "1", "--out",
             f"{temporary}/run", "--json", *arguments], check=True, capture_output=True, text=True).stdout
        seconds = used(resource.RUSAGE_CHILDREN) - before
    summary = json.loads(out.splitlines()[-1])
    run = {"accuracy": summary["test_accuracy"], "seconds": seconds, "epochs": summary["epochs"]}
    alone = summary.get("test_accuracy_of_one_view")
    return run if alone is None else {**run, "accuracy_of_one_view": alone}


def small_network(channels, classes):
    layers = []
    for filters, pools in ((32, True), (64, True), (128, False), (128, True)):
        layers += [torch.nn.Conv2d(channels, filters, 3, padding=1, bias=False), torch.nn.BatchNorm2d(filters),
                   torch.nn.ReLU()] + [torch.nn.MaxPool2d(2)] * pools
        channels = filters
    return torch.nn.Sequential(*layers, torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(),
                               torch.nn.Linear(channels, classes))


def moved(x, colour):
    """Random crops of padded images, each mirrored or not."""
    pad, side = max(1, x.shape[2] // 8), x.shape[2]
    padded = torch.nn.functional.pad(x, (pad,) * 4, mode="reflect")
    crops = []
    for image in padded:
        y, z = torch.randint(0, 2 * pad + 1, (2,)).tolist()
        crop = image[:, y:y + side, z:z + side]
        crops.append(crop.flip(2) if colour and torch.rand(()) < 0.5 else crop)
    return torch.stack(crops)


def run_torch(images, seed):
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    (x, y), (x_test, y_test) = ((torch.tensor(a).permute(0, 3, 1, 2), torch.tensor(b))
                                for a, b in map(images.arrays, ("train", "test")))
    before = used(resource.RUSAGE_SELF)
    mean, std = x.mean((0, 2, 3), keepdim=True), x.std((0, 2, 3), keepdim=True)
    model = small_network(x.shape[1], int(y.max()) + 1)
    optimizer = torch.optim.Adam(model.parameters(), 2e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS * -(-len(x) // BATCH))
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(x)).split(BATCH):
            if len(rows) < 2:
                continue
            loss = torch.nn.functional.cross_entropy(model((moved(x[rows], x.shape[1] == 3) - mean) / std), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    seconds = used(resource.RUSAGE_SELF) - before
    model.eval()
    with torch.no_grad():
        right = sum((model((a - mean) / std).argmax(1) == b).sum().item()
                    for a, b in zip(x_test.split(256), y_test.split(256)))
    return {"accuracy": right / len(y_test), "seconds": seconds, "epochs": EPOCHS}


def run_hog(images):
    def features(x):
        return np.stack([hog(image, pixels_per_cell=(images.cell,) * 2, cells_per_block=(2, 2), channel_axis=-1)
                         for image in x])

    before = used(resource.RUSAGE_SELF)
    x, y = images.arrays("train")
    model = make_pipeline(StandardScaler(), SVC(C=10)).fit(features(x), y)
    seconds = used(resource.RUSAGE_SELF) - before
    x, y = images.arrays("test")
    return {"accuracy": float((model.predict(features(x)) == y).mean()), "seconds": seconds}


class Runs:
    """Trainings that have ended, a line of JSON each in a file."""

    def __init__(self, path, kept):
        self.path, self.kept = path, kept
        lines = path.read_text().splitlines() if path and path.exists() else []
        self.all = {tuple(key): run for key, run in map(json.loads, lines)}

    def get(self, key, measure):
        """Returns the training of the key; None where it was not measured and --kept forbids it."""
        if key not in self.all and self.kept:
            return None
        if key not in self.all:
            self.all[key] = measure()
            if self.path:
                with self.path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps([key, self.all[key]]) + "\n")
        run = self.all[key]
        print(f"{key[0]:14} {key[1]:10} {run['accuracy']:.4f}  {run['seconds']:7.1f} s  {run.get('epochs', '')}",
              flush=True)
        return run


def compare(name, options, runs):
    images = SETS[name](options.folder)
    scores = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary) / name
        images.write(folder)
        contestants = {what: lambda seed, path=path: run_linnet(path, folder, seed, options.arguments)
                       for what, path in options.builds.items()}
        contestants |= {"torch": lambda seed: run_torch(images, seed), "hog-svm": lambda seed: run_hog(images)}
        for what, measure in contestants.items():
            for seed in range(1 if what == "hog-svm" else options.seeds):
                if what in options.measure:
                    run = runs.get((name, what, seed), lambda: measure(seed))
                    scores.setdefault(what, []).extend([run] if run else [])
    return {"images": name, "train": len(images.train), "test": len(images.test),
            "classes": len({n for _, n in images.train}), "scores": scores}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", dest="folder", type=pathlib.Path, required=True,
                        help="folder of cifar10/, mnist/ and chest-xray/")
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=list(SETS))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--also", nargs="*", default=[], metavar="NAME=PATH", help="other builds of linnet")
    parser.add_argument("--measure", nargs="*", metavar="NAME", help="linnet, torch, hog-svm, or a name of --also")
    parser.add_argument("--runs", type=pathlib.Path, help="file that keeps the trainings that have ended")
    parser.add_argument("--kept", action="store_true", help="write the results of what --runs has")
    parser.add_argument("--arguments", nargs=argparse.REMAINDER, default=[], help="for linnet train; comes last")
    options = other_results.parsed(parser, "images")
    options.builds = {"linnet": options.linnet} | dict(pair.split("=", 1) for pair in options.also)
    everything = [*options.builds, "torch", "hog-svm"]
    whole = options.measure is None and options.sets == list(SETS)
    options.measure = everything if options.measure is None else options.measure
    at_start = os.getloadavg()[0]
    runs = Runs(options.runs, options.kept)
    results = [compare(name, options, runs) for name in options.sets]
    results = [each for each in results if any(each["scores"].values())]
    if not whole:
        return
    other_results.save(
        options, at_start, [],
        {"PyTorch": {"torch": torch.__version__, "numpy": np.__version__},
         "scikit-learn": {"scikit-learn": sklearn.__version__, "scikit-image": skimage.__version__}},
        {"repetitions": options.seeds}, ["benchmarks/images.py --data ../shared/data"], images=results)


if __name__ == "__main__":
    sys.exit(main())
