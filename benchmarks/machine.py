# SPDX-License-Identifier: Apache-2.0
"""What a result says of the machine, its load, and the command that was measured."""
import os
import platform
import sys
from pathlib import Path

import engines
import figures

BUSY = 0.1  # processors that others use, from which on a machine is called busy


def about():
    def field(path, key):
        try:
            line = next(line for line in Path(path).read_text().splitlines()
                        if line.startswith(key))
            return line.partition(":")[2].strip()
        except (OSError, StopIteration):
            return ""
    memory = field("/proc/meminfo", "MemTotal")
    return {"processor": field("/proc/cpuinfo", "model name") or platform.machine(),
            "processors": len(os.sched_getaffinity(0)), "system": platform.platform(),
            "memory_bytes": int(memory.split()[0]) * 1024 if memory else 0}


def load_of(at_start, processors, runs):
    """`runs`: records with "others_processors", of engines.observed_process()."""
    others = figures.spread([run.get("others_processors") for run in runs])
    return {"at_start": at_start, "processors": processors, "others_processors": others,
            "busy": bool(others and others["median"] > BUSY) or
                    (others is None and at_start > processors / 4)}


def load_words(load, doubted="figures"):
    """The load of the machine in a sentence."""
    others = load["others_processors"]
    text = f"load average {load['at_start']:.2f} at the start"
    if others:
        text += (f"; other programs used {others['median']:.2f} of {load['processors']} processors "
                 f"(up to {others['max']:.2f})")
    text += "."
    return (f"**The machine was busy, so these {doubted} are not to be relied on:** " + text
            if load["busy"] else text[0].upper() + text[1:])


def linnet_version(linnet):
    """The words of `linnet --version`; ends the program where it can't run."""
    program = Path(sys.argv[0]).name
    status, out, err = engines.start([linnet, "--version"], engines.plain_environment(), 60)
    if status != 0:
        sys.exit(f"{program}: cannot run {linnet}: {engines.reason_of(status, err, 60)}")
    return out.strip().removeprefix("linnet ")
