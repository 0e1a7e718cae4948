#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of docs/cuda-counts.md: what a training step and a prediction of each workload launch on
a GPU, by `linnet plan --target`. No GPU is needed.

    tools/cuda_counts.py            compares: fails where a count of a workload is not the table's
    tools/cuda_counts.py --write    writes the table anew

The command is build/release/bin/linnet, or LINNET_COMMAND. Its plug-in is the one of the simulated
device, or LINNET_CUDA_LIBRARY: either plans the same.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/cuda-counts.md"
TARGET = "sm_90"
PRECISIONS = ("auto", "bf16")
# Batches of predictions beside the benchmark's: what one user's requests are.
SMALLER = {"rosenbrock-mlp": [512], "resnet50-features": [1]}
AGAIN = "tools/cuda_counts.py --write"
TABLE = re.compile(r"^\| workload \|.*\n(?:\|.*\n)*", re.MULTILINE)  # the page has others
# Title of a column, and the number in it.
COUNTS = {
    "batch": lambda c: c["batch"],
    "nodes": lambda c: c["nodes_per_step"],
    "own kernels": lambda c: c["own_kernels"],
    "library calls": lambda c: sum(c["library_calls"].values()),
    "on the critical path": lambda c: c["critical_path"],
    "by data alone": lambda c: c["data_path"],
    "MB": lambda c: c["bytes"] / 1e6,
    "GFLOP": lambda c: c["flops"] / 1e9,
    "MiB planned": lambda c: c["planned_memory"] / 2**20,
}


def steps():
    """(name, mode, batch, precision) of all workloads, at the batch of the benchmarks on a GPU."""
    table = json.loads((ROOT / "benchmarks/workloads.json").read_text())
    for mode in "train", "infer":
        for precision in PRECISIONS:
            for workload in table["workloads"]:
                sizes = workload["sizes"].get(mode)
                if sizes:
                    batches = [sizes.get("gpu", sizes["published"])[0]]
                    if mode == "infer":
                        batches += SMALLER.get(workload["name"], [])
                    for batch in batches:
                        yield workload["name"], mode, batch, precision


def counts(name, mode, batch, precision):
    build = ROOT / "build/release"
    command = os.environ.get("LINNET_COMMAND", build / "bin/linnet")
    library = os.environ.get("LINNET_CUDA_LIBRARY", build / "tests/liblinnet_cuda_simulated.so")
    result = subprocess.run(
        [command, "plan", "--workload", name, "--mode", mode, "--batch", str(batch),
         "--device", "cuda", "--target", TARGET, "--precision", precision, "--json"],
        env={**os.environ, "LINNET_CUDA_LIBRARY": str(library)}, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{name}: {result.stderr.strip()}")
    return json.loads(result.stdout)


def row_name(workload, mode, batch, precision):
    predicts = f", predicting {batch:,}" if mode == "infer" else ""
    return workload + predicts + ("" if precision == "auto" else f", {precision}")


def text_of(number):
    return f"{number:,.0f}" if isinstance(number, int) or number >= 100 else f"{number:.1f}"


def rows(measure=counts):
    """{workload: {title: text}}"""
    return {row_name(*step): {title: text_of(of(found)) for title, of in COUNTS.items()}
            for step in steps() for found in [measure(*step)]}


def table(found):
    lines = ["| workload | " + " | ".join(COUNTS) + " |",
             "| --- |" + " ---: |" * len(COUNTS)]
    lines += [f"| {name} | " + " | ".join(row[title] for title in COUNTS) + " |"
              for name, row in found.items()]
    return "\n".join(lines) + "\n"


def read(page):
    """The rows of the page's table of workloads, as rows() gives them."""
    found = TABLE.search(page)
    if not found:
        sys.exit(f"{PAGE}: expected a table that begins with '| workload |'")
    lines = [[cell.strip() for cell in line.strip("|").split("|")]
             for line in found.group().splitlines()]
    titles = lines[0][1:]
    return {line[0]: dict(zip(titles, line[1:])) for line in lines[2:]}


def differences(expected, found):
    """Sentences about counts that are not the table's."""
    for name in sorted(expected.keys() - found.keys()):
        yield f"{name}: the table has it, but no workload"
    for name, row in found.items():
        for title in COUNTS:
            old, new = expected.get(name, {}).get(title), row[title]
            if old is None:
                yield f"{name}: the table lacks '{title}'"
            elif old != new:
                grew = float(new.replace(",", "")) > float(old.replace(",", ""))
                yield f"{name}: '{title}' {'grew' if grew else 'fell'} from {old} to {new}"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the table anew")
    options = parser.parse_args(arguments)
    page = PAGE.read_text()
    found = rows()
    if options.write:
        PAGE.write_text(TABLE.sub(lambda _: table(found), page, count=1))
        return 0
    problems = list(differences(read(page), found))
    for problem in problems:
        print(problem)
    if problems:
        print(f"What is meant is written into {PAGE.relative_to(ROOT)} by `{AGAIN}`.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
