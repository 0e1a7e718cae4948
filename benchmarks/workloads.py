# SPDX-License-Identifier: Apache-2.0
"""The workloads of workloads.json, the one table of them; its "about" says what it holds."""
import json
from pathlib import Path

TABLE = Path(__file__).resolve().parent / "workloads.json"


def load(path=TABLE):
    """{name: entry}, in the order of the table."""
    return {entry["name"]: entry for entry in json.loads(path.read_text())["workloads"]}


ALL = load()


def modes():
    """Yields (name, mode, entry): "NAME" trains and "NAME:infer" predicts."""
    for name, entry in ALL.items():
        for mode in entry["sizes"]:
            yield (f"{name}:infer" if mode == "infer" else name), mode, entry


def of_program(path):
    """The entry of a peer's program, which is called like its workload: vgg_x.py is vgg-x."""
    return ALL[Path(path).stem.replace("_", "-")]
