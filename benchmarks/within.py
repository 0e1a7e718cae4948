#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How well `--within` keeps and uses its time: `linnet train` on a table, on images and on texts, `linnet search` (at
random and by halving) and `linnet importance`, in turn, with times from --shortest to --longest. Prints a line for each run:
the time from start to end, the time in training steps (the epochs' seconds in history.jsonl; a rehearsal's are not among
them; of a search those of its trials, over the processors; of importance those of its permutations), and the processor time,
over the processors, all as shares of what was given.

  ./dev check within                                builds build/release/bin/linnet before
  benchmarks/within.py --runs 6 --longest 8 --kinds search,halving,importance
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import engines

ROOT = Path(__file__).resolve().parent.parent
LATEST = 1.02  # of the time given: a run that takes longer fails
ENOUGH = 0.9   # of it in training steps


def write_table(path):
    draw = random.Random(1)
    rows = ([draw.gauss(0, 1) for _ in range(8)] for _ in range(5000))
    path.write_text("a,b,c,d,e,f,g,h,y\n" + "".join(
        ",".join(f"{x:.4f}" for x in [*row, row[0] * row[1] + row[2]]) + "\n" for row in rows))


def write_texts(path):
    draw = random.Random(2)
    words = [f"word{i}" for i in range(2000)]
    lines = []
    for i in range(3000):
        label = i % 2
        text = draw.choices(words[label * 200:], k=80)
        lines.append(f"{label}\t{' '.join(text)}\n")
    path.write_text("".join(lines))


SEARCH = """[data]
file = "table.csv"
target = "y"
[network]
layers = [{type = "dense", units = {search = {from = 16, to = 64, log = true}}}, {type = "relu"}, {type = "dense", units = 1}]
[optimizer]
kind = "adam"
learning_rate = {search = {from = 1e-4, to = 1e-2, log = true}}
[training]
epochs = 9
[search]
method = "%s"
"""
PROCESSORS = len(os.sched_getaffinity(0))


def kinds(linnet, folder):
    """{kind: the command, but for its time}"""
    write_table(folder / "table.csv")
    write_texts(folder / "texts.tsv")
    for method in ("random", "halving"):
        (folder / f"{method}.toml").write_text(SEARCH % method)
    subprocess.run([linnet, "train", "table.csv", "--target", "y", "--epochs", "3", "--quiet", "--out", "model"],
                   cwd=folder, check=True)
    train = ["--quiet", "--out", "{out}", "--seed", "{number}"]
    return {"table": ["train", "table.csv", "--target", "y", *train], "texts": ["train", "texts.tsv", *train],
            "images": ["train", "--workload", "mnist-cnn", "--data", "digits", "--schedule", "cosine", *train],
            "search": ["search", "random.toml", "--out", "{out}", "--json"],
            "halving": ["search", "halving.toml", "--out", "{out}", "--json"],
            "importance": ["importance", "model", "table.csv", "--seed", "{number}"]}


def steps_of(kind, out, done):
    """Seconds in training steps, or permutations."""
    if kind == "importance":
        return float(done.stderr.split(" % of ")[0].split()[-1]) / 100 * float(done.args[-1][:-1])
    histories = out.glob("run-*/history.jsonl") if kind in ("search", "halving") else [out / "history.jsonl"]
    seconds = sum(json.loads(line)["seconds"] for history in histories for line in history.read_text().splitlines())
    return seconds / (PROCESSORS if kind in ("search", "halving") else 1)


def run(linnet, folder, kind, arguments, seconds, number):
    """Seconds from start to end, in steps, and of processors."""
    arguments = [word.format(out=f"run{number}", number=number) for word in arguments]
    begin, used = time.monotonic(), engines.child_seconds()
    done = subprocess.run([linnet, *arguments, "--within", f"{seconds:.1f}s"], cwd=folder, check=True,
                          capture_output=True, text=True)
    took, used = time.monotonic() - begin, engines.child_seconds() - used
    return took, steps_of(kind, folder / f"run{number}", done), used / PROCESSORS


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--linnet", type=Path, default=ROOT / "build/release/bin/linnet")
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--shortest", type=float, default=5, help="seconds")
    parser.add_argument("--longest", type=float, default=20, help="seconds")
    parser.add_argument("--kinds", help="some of table, texts, images, search, halving, importance; all if not given")
    o = parser.parse_args()
    late = enough = 0
    with tempfile.TemporaryDirectory(prefix="linnet-within-") as name:
        folder = Path(name)
        of = kinds(o.linnet.resolve(), folder)
        if o.kinds:
            of = {kind: of[kind] for kind in o.kinds.split(",")}
        for number in range(o.runs):
            kind = list(of)[number % len(of)]
            seconds = o.shortest + (o.longest - o.shortest) * number / max(1, o.runs - 1)
            took, steps, used = run(o.linnet.resolve(), folder, kind, of[kind], seconds, number)
            late += took > LATEST * seconds
            enough += steps >= ENOUGH * seconds
            print(f"{kind:<10} {seconds:5.1f} s given: took {100 * took / seconds:5.1f} %, "
                  f"steps {100 * steps / seconds:5.1f} %, processors {100 * used / seconds:5.1f} %", flush=True)
    print(f"{o.runs} runs: {late} took more than {100 * LATEST:.0f} % of the time, "
          f"{enough} spent {100 * ENOUGH:.0f} % in training steps")
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
