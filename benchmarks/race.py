#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A race to an accuracy (`linnet bench FILE --to-accuracy A`), once with each of several seeds.

    race.py FILE --accuracy A [--linnet COMMAND] [--dataset DATA] [--seeds N] [--threads N] [--out NAME]

Prints and writes a table, NAME.json and NAME.md: for each seed the accuracy after the first epoch that reached A (or
after the last one), the epochs, and the seconds that the command and the processors took, its start included. Ends
with 1 where a seed missed it. Choose a recipe on validation data: this reads the test set."""
import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

import engines
import in_turn


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path, help="a configuration, e.g. examples/mnist_99.toml")
    parser.add_argument("--accuracy", type=float, required=True, metavar="A", help="of the test set, from 0 to 1")
    parser.add_argument("--linnet", default="linnet", metavar="COMMAND")
    parser.add_argument("--dataset", metavar="DATA", help="a folder or a name, instead of that of the file")
    parser.add_argument("--seeds", type=int, default=5, metavar="N")
    parser.add_argument("--threads", type=int, default=0, metavar="N", help="0: all processors")
    parser.add_argument("--out", type=Path, metavar="NAME", help="write NAME.json and NAME.md")
    options = parser.parse_args()
    if options.seeds < 1:
        parser.error(f"--seeds: expected at least 1; got {options.seeds}")
    return options


def run(options, seed):
    """The record of a race, with the seconds that it took from outside."""
    command = [options.linnet, "bench", str(options.file), "--to-accuracy", str(options.accuracy), "--seed", str(seed),
               "--threads", str(options.threads), "--json", "-"]
    command += ["--dataset", options.dataset] if options.dataset else []
    begin, used = time.perf_counter(), engines.child_seconds()
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode not in (0, 3):  # 3: the accuracy was not reached, which the record says too
        sys.exit(f"race.py: {' '.join(command)}: {ran.stderr.strip()}")
    record = json.loads(ran.stdout)
    return {"seed": seed, "wall_seconds": time.perf_counter() - begin,
            "processor_seconds": engines.child_seconds() - used, "record": record}


def rows(races):
    for race in races:
        found = race["record"]["to_accuracy"]
        yield (race["seed"], f"{100 * found['accuracy']:.2f} %", found["epochs"], f"{race['wall_seconds']:.1f}",
               f"{race['processor_seconds']:.1f}")


def summary(races):
    def spread(values, form):
        return f"{form(statistics.mean(values))} ({form(min(values))} to {form(max(values))})"

    found = [race["record"]["to_accuracy"] for race in races]
    return ("mean (least to most)", spread([100 * each["accuracy"] for each in found], "{:.2f} %".format),
            spread([each["epochs"] for each in found], "{:.1f}".format),
            spread([race["wall_seconds"] for race in races], "{:.1f}".format),
            spread([race["processor_seconds"] for race in races], "{:.1f}".format))


def main():
    options = arguments()
    result = in_turn.begun(file=options.file.name, accuracy=options.accuracy)
    races = [run(options, seed) for seed in range(1, options.seeds + 1)]
    missed = [race["seed"] for race in races if not race["record"]["to_accuracy"]["reached"]]
    table = "\n".join(["| seed | test accuracy | epochs | seconds, start included | seconds of processors |",
                       "| --- | ---: | ---: | ---: | ---: |",
                       *(f"| {' | '.join(map(str, row))} |" for row in [*rows(races), summary(races)])])
    print(table)
    result.update(missed=missed, races=races)
    if options.out:
        version = races[0]["record"]["version"]
        threads = f"{options.threads} thread{'' if options.threads == 1 else 's'}" if options.threads else "all processors"
        in_turn.write(options.out, result, "race.py", f"{options.file.name} to {100 * options.accuracy:g} %",
                      f"{threads}; Linnet {version}; load average {result['load']:.2f} at the start. "
                      f"{len(missed)} of {len(races)} seeds missed it.", table)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
