#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the command for ARM64 under QEMU's emulation: check_command.py PROGRAM [--beside COMMAND].

Trains on a table, images of MNIST's form, images by class and texts with a GRU, each with 1, 2 and 4 threads, whose model
files must have the same bytes; predicts and answers a request by HTTP. --beside: a command for this machine, from whose
losses those of ARM64 may be off by a part in 1,000. Prints a line for each; exits with 1 if something is wrong."""
import argparse
import json
import random
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "packaging/static"), str(Path(__file__).resolve().parent)]
from check_static import ASK, TRAININGS, Place, Wrong, digest, predictions, run_checks, serve  # noqa: E402
from run_tests import emulated  # noqa: E402

TEXTS = """[data]
path = "reviews"
[network]
input = [150]
layers = [{type = "embedding", vocabulary = 30000, features = 16}, {type = "gru", units = 24}, {type = "dense", units = 2}]
[training]
epochs = 6
batch = 16
[optimizer]
learning_rate = 0.02
"""
ALL = {name: TRAININGS[name] for name in ("a table", "MNIST's form", "images")} | {"texts, a GRU": ("texts.toml",)}
TOLERANCE = 1e-3


def write_texts(folder):
    """Writes reviews of two kinds, drawn of words that tell them apart and of others."""
    generator = random.Random(5)
    words = (("poor", "dull", "awful"), ("fine", "great", "lovely"))
    (folder / "reviews").mkdir()
    for part, count in (("train", 96), ("test", 32)):
        lines = [f"{i % 2}\t" + " ".join(generator.choice(words[i % 2] if generator.random() < 0.6 else ("film", "plot", "the"))
                                         for _ in range(generator.randrange(4, 9))) for i in range(count)]
        (folder / f"reviews/{part}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "texts.toml").write_text(TEXTS, encoding="utf-8")


def train(place, name, run, threads):
    """Trains, and returns the losses of the epochs and the accuracy of the test set."""
    out, _ = place.run("train", *ALL[name], "--out", run, "--threads", threads, *ASK)
    history = (place.folder / run / "history.jsonl").read_text(encoding="utf-8").splitlines()
    return [epoch["train_loss"] for epoch in map(json.loads, history)], json.loads(out)["test_accuracy"]


def distance(ours, theirs):
    return max(abs(a - b) / abs(b) for a, b in zip(ours, theirs, strict=True))


def checks(program, beside, work):
    """Yields name and result of each check; raises Wrong."""
    place = Place(work / "arm64", emulated(program))
    ordinary = Place(work / "beside", [beside]) if beside else None
    for each in filter(None, (place, ordinary)):
        write_texts(each.folder)
    yield "linnet --version", place.run("--version")[0].strip()
    for name in ALL:
        run = "run_" + name.translate(str.maketrans(" ',", "___"))
        losses, accuracy = train(place, name, run, 1)
        if not accuracy > 0.8:
            raise Wrong(f"training on {name}: accuracy {accuracy}")
        for threads in (2, 4):
            train(place, name, f"{run}_{threads}", threads)
            if digest(place, f"{run}_{threads}") != digest(place, run):
                raise Wrong(f"training on {name}: {threads} threads give other bits than one")
        said = f"accuracy {accuracy:.3f}, SHA-256 {digest(place, run)[:16]} with 1, 2 and 4 threads"
        if ordinary:
            off = distance(losses, train(ordinary, name, run, 1)[0])
            if not off < TOLERANCE:
                raise Wrong(f"training on {name}: losses are off by {off:.1e} from those of {beside}")
            said += f", losses off by at most {off:.1e}"
        yield f"train on {name}", said
    rows = predictions(place, "run_a_table", "penguins.csv")
    if ordinary and [row["class"] for row in rows] != [row["class"] for row in predictions(ordinary, "run_a_table", "penguins.csv")]:
        raise Wrong("classes that are predicted differ")
    yield "predict", f"{len(rows)} rows, the first is {rows[0]['class']}"
    row = dict(zip(*(line.split(",") for line in (place.folder / "penguins.csv").read_text().splitlines()[:2])))
    answer = serve(place, "run_a_table", json.dumps({"rows": [row]}))
    if answer.get("predictions", [{}])[0].get("class") != rows[0]["class"]:
        raise Wrong(f"linnet serve answered {answer}; expected class {rows[0]['class']}")
    yield "serve", f"one request: {answer['predictions'][0]['class']}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=Path)
    parser.add_argument("--beside", type=Path)
    arguments = parser.parse_args()
    beside = arguments.beside and arguments.beside.resolve()
    return run_checks(lambda work: checks(arguments.program.resolve(), beside, work), "arm64")


if __name__ == "__main__":
    sys.exit(main())
