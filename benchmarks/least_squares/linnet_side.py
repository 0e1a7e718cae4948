# SPDX-License-Identifier: Apache-2.0
"""linnet_side.py COMMAND SEED ITERATIONS THREADS: trains the network by `linnet train`."""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import problem

NETWORK = f"""[network]
layers = [{{ type = "dense", units = {problem.UNITS} }}, {{ type = "tanh" }}, {{ type = "dense", units = 1 }}]

[optimizer]
kind = "levenberg_marquardt"

[training]
patience = 0
"""


def main():
    command, seed, iterations, threads = sys.argv[1:5]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        problem.write_table(folder / "points.csv")
        (folder / "network.toml").write_text(NETWORK)
        work = [command, "train", "network.toml", "--data", "points.csv", "--target", "y", "--validation", "0", "--test",
                "0", "--epochs", iterations, "--batch", "1024", "--seed", seed, "--threads", threads, "--device", "cpu",
                "--out", "run", "--json"]
        ran = subprocess.run(work, cwd=folder, capture_output=True, text=True, check=True)
        summary = json.loads(ran.stdout)
        epochs = [json.loads(line) for line in (folder / "run/history.jsonl").read_text().splitlines()]
    found = epochs[-1]["train_loss"]
    print(json.dumps({"seconds": summary["startup_seconds"] + sum(epoch["seconds"] for epoch in epochs), "error": found,
                      "scaled_error": found * problem.scaled_error(), "iterations": len(epochs)}))


main()
