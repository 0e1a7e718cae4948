# SPDX-License-Identifier: Apache-2.0
"""Two programs that print what they measured, run in turn, and the ratios of their numbers."""
import datetime
import json
import os
import statistics
import subprocess
import sys

import machine

# Settings that make PyTorch faster on two cores: bound, spinning threads, and memory that is kept.
TUNED = {"OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "active", "OMP_PROC_BIND": "close",
         "MALLOC_MMAP_THRESHOLD_": "4000000000", "MALLOC_TRIM_THRESHOLD_": "8000000000",
         "MALLOC_TOP_PAD_": "100000000"}


def measured(command, environment):
    """The object of the last line that a fresh process prints; None where it fails."""
    ran = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, check=False)
    if ran.returncode != 0:
        print(f"{' '.join(command[1:])} failed: {ran.stderr[-600:]}", file=sys.stderr)
        return None
    return json.loads(ran.stdout.strip().splitlines()[-1])


def repeated(engines, repetitions):
    """{engine: its results}; engines: {name: (command, environment)}, each once in every repetition."""
    found = {engine: [] for engine in engines}
    for _ in range(repetitions):
        for engine, (command, environment) in engines.items():
            found[engine].append(measured(command, environment))
    return found


def begun(**more):
    """What a result begins with: the date, the machine and its load now, then `more`."""
    return {"date": datetime.datetime.now().isoformat(timespec="seconds"), "machine": machine.about(),
            "load": os.getloadavg()[0], **more}


def write(out, result, script, title, conditions, table):
    """Writes the result as OUT.json, and as OUT.md the table with what it was measured by; conditions: those that
    stand after the processor."""
    out.with_suffix(".json").write_text(json.dumps(result, indent=1) + "\n")
    page = [f"# {title}, {result['date']}", "", f"{result['machine']['processor']}, {conditions}", "",
            f"Made by `benchmarks/{script}`.", "", table, ""]
    out.with_suffix(".md").write_text("\n".join(page))


def ratios(found, peer, measure):
    """Linnet's measure by the peer's, of each repetition that both finished."""
    return [ours[measure] / theirs[measure] for ours, theirs in zip(found["linnet"], found[peer]) if ours and theirs]


def cell(values, unit=" ×"):
    """The median, and the least and the most."""
    if not values:
        return "–"
    return f"{statistics.median(values):.2f}{unit} ({min(values):.2f} to {max(values):.2f})"
