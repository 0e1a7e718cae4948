#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How well `linnet train --within` keeps and uses its time: runs on a table, on images and on texts, in turn, with times
from --shortest to --longest. Prints a line for each run: the time from start to end, and the time in training steps (the
epochs' seconds in history.jsonl; the rehearsal's are not among them), both as shares of what was given.

  ./dev check within                                builds build/release/bin/linnet before
  benchmarks/within.py --runs 6 --longest 8
"""
import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

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


def kinds(folder):
    """{kind: what `linnet train` is given}"""
    write_table(folder / "table.csv")
    write_texts(folder / "texts.tsv")
    return {"table": ["table.csv", "--target", "y"], "texts": ["texts.tsv"],
            "images": ["--workload", "mnist-cnn", "--data", "digits", "--schedule", "cosine"]}


def run(linnet, folder, arguments, seconds, number):
    out = f"run{number}"
    begin = time.monotonic()
    subprocess.run([linnet, "train", *arguments, "--within", f"{seconds:.1f}s", "--seed", str(number), "--quiet",
                    "--out", out], cwd=folder, check=True)
    took = time.monotonic() - begin
    history = (folder / out / "history.jsonl").read_text().splitlines()
    return took, sum(json.loads(line)["seconds"] for line in history)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--linnet", type=Path, default=ROOT / "build/release/bin/linnet")
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--shortest", type=float, default=5, help="seconds")
    parser.add_argument("--longest", type=float, default=20, help="seconds")
    o = parser.parse_args()
    late = enough = 0
    with tempfile.TemporaryDirectory(prefix="linnet-within-") as name:
        folder = Path(name)
        of = kinds(folder)
        for number in range(o.runs):
            kind = list(of)[number % len(of)]
            seconds = o.shortest + (o.longest - o.shortest) * number / max(1, o.runs - 1)
            took, steps = run(o.linnet.resolve(), folder, of[kind], seconds, number)
            late += took > LATEST * seconds
            enough += steps >= ENOUGH * seconds
            print(f"{kind:<7} {seconds:5.1f} s given: took {100 * took / seconds:5.1f} %, "
                  f"steps {100 * steps / seconds:5.1f} %", flush=True)
    print(f"{o.runs} runs: {late} took more than {100 * LATEST:.0f} % of the time, "
          f"{enough} spent {100 * ENOUGH:.0f} % in training steps")
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
