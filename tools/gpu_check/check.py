# SPDX-License-Identifier: Apache-2.0
"""What all phases share: the folder of results, the log, the programs and the time that is left."""
import json
import os
import shutil
import threading
import time
from pathlib import Path

import engines
import processes

ROOT = Path(__file__).resolve().parents[2]
# Eight at most, since that is what some ways of bringing results back allow.
LOG, PHASES, REPORT = "log.txt", "phases.jsonl", "report.md"
TESTS, NUMERICS, BENCHMARKS = "tests.txt", "numerics.jsonl", "benchmarks.jsonl"
PROFILE, TUNING = "profile.txt", "cuda-tuning-2.json"  # its name is libraries.h's
FILES = (LOG, PHASES, REPORT, TESTS, NUMERICS, BENCHMARKS, PROFILE, TUNING)
# The choices that the last committed run measured.
KEPT_TUNING = ROOT / "benchmarks/results/gpu" / TUNING


def lost_graph(note):
    """Whether a note of a run says that its steps were not captured as asked."""
    return "cannot loop over steps" in note or "cannot be captured in a graph" in note


class Failed(Exception):
    """A phase that did not succeed, in a sentence."""


class LeftOut(Failed):
    """A phase that nothing is wrong with, but that cannot run here."""


class NoDevice(Failed):
    """There is no device to go on with."""


class Check:
    """`out`: the folder of results. `rehearsal`: None, or how the device is simulated."""

    def __init__(self, out, rehearsal=None):
        self.out, self.rehearsal = Path(out), rehearsal
        self.out.mkdir(parents=True, exist_ok=True)
        self.log = processes.Log(self.out / LOG)
        self.work = (rehearsal.work if rehearsal else ROOT / "build/gpu-check")
        self.work.mkdir(parents=True, exist_ok=True)
        self.programs = None   # programs.Programs, once they are there
        self.end = 0.0         # of the current phase, on time.monotonic()
        self.problems = []     # of the current phase
        self.served = {}       # name of a rival: its process
        self.early = None      # rivals.Early, while a call compiles rivals in advance
        self.late = []         # (work, name of a rival) that was not ready for its row
        self.exporting = threading.Lock()
        self.clocks = None     # clocks.Clocks, once there is a device
        self.origin = {}       # of a row: the card, the commit that runs
        self.cache = self.work / "cache"
        tuning = self.cache / "linnet" / TUNING
        if not tuning.exists():
            tuning.parent.mkdir(parents=True, exist_ok=True)
            if KEPT_TUNING.exists():
                shutil.copy(KEPT_TUNING, tuning)

    def left(self):
        """Returns the seconds that are left of this phase."""
        return self.end - time.monotonic()

    def end_of_share(self, end, shares):
        """Returns when the next of so many pieces of work ends that go on until `end`."""
        return time.monotonic() + (end - time.monotonic()) / shares

    def say(self, text):
        print(text, flush=True)
        self.log.write(f"{text}\n".encode())

    def problem(self, text):
        """Reports that something of Linnet's is wrong; the phase goes on, and has failed."""
        self.problems.append(text)
        self.say(f"  FAILED: {text}")

    def append(self, name, text):
        with open(self.out / name, "a") as file:
            file.write(text if text.endswith("\n") else text + "\n")

    def row(self, name, row):
        self.append(name, json.dumps({**row, **self.origin} if name != PHASES else row))

    def environment(self, **more):
        """Returns the environment of Linnet's programs."""
        return {**self.programs.environment, "XDG_CACHE_HOME": str(self.cache),
                **{key: str(value) for key, value in more.items()}}

    def run(self, command, limit=None, env=None, **options):
        """Runs a command, no longer than the phase."""
        limit = self.left() if limit is None else min(limit, self.left())
        return processes.run(command, self.log, limit, env or self.environment(), **options)

    def linnet(self, *arguments, **options):
        """Runs `linnet ...`."""
        return self.run([self.programs.linnet, *arguments], **options)

    def bench(self, command, limit=None):
        """Runs a `linnet bench` whose steps must be captured: (its JSON or None, why it failed or
        None)."""
        ended = self.run(command, limit=limit, copy=False)
        # 3: the loss does not fall, which the row says.
        row = engines.json_line(ended.out) if ended.status in (0, 3) else None
        if row is None:
            return None, ended.reason()
        self.log.write(f"{ended.out.strip()}\n".encode())
        lost = [note for note in row.get("notes") or [] if lost_graph(note)]
        return row, "; ".join(lost) or row.get("failed")

    def keep_tuning(self):
        """Copies the choices measured so far into the results."""
        source = self.cache / "linnet" / TUNING
        if source.exists():
            new = self.out / (TUNING + ".new")
            shutil.copy(source, new)
            os.replace(new, self.out / TUNING)
