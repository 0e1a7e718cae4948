# SPDX-License-Identifier: Apache-2.0
"""The largest batch with which an engine's process stays below a limit of memory, by bisection:
each trial a fresh process of one step, whose data are one batch."""
import dataclasses
import sys
import tempfile
from pathlib import Path

import engines
import figures
import footprint
import prepared
from side_table import Table, title_of

PRECISION = 32  # it is known to a part in so many


def search(start, available, fits):
    """(the largest batch that fits or 0, whether the data end there). `available`: of a wanted
    batch, as much as there are data for; `fits` says of a batch whether it does."""
    low, high, batch = 0, None, available(start)
    while True:
        if fits(batch):
            low = batch
        else:
            high = batch
        if high is None:
            batch = available(2 * low)
            if batch == low:
                return low, True
        elif high - low <= max(1, low // PRECISION):
            return low, False
        else:
            batch = (low + high) // 2


class Trials:
    """Of one engine at a row's work, with any batch; the data of the last one are kept."""

    def __init__(self, name, job, options, folder):
        self.name, self.job, self.options, self.folder = name, job, options, Path(folder)
        self.exported, self.samples, self.done = None, 0, []

    def job_at(self, batch):
        return footprint.one_step(dataclasses.replace(self.job, batch=batch))

    def available(self, batch):
        """Samples of a batch, fewer where the data end."""
        if batch != self.exported:
            about, _ = prepared.export(self.job_at(batch), self.options, self.folder)
            self.exported, self.samples = batch, about["samples"]
        return self.samples

    def fits(self, batch):
        self.available(batch)
        command, environment, _ = prepared.engines_of(self.job_at(batch), self.options,
                                                      self.folder)[self.name]
        run = engines.run_step([*command, "--seed", "0"], environment, self.options.limit,
                               self.options.memory_limit)
        self.done.append({"batch": batch, "peak_bytes": run.get("peak_bytes"),
                          "failed": run["failed"]})
        print(f"{self.job.name}{self.job.axes()} {self.name}, batch {batch}: "
              f"{run['failed'] or 'fits'}", file=sys.stderr, flush=True)
        return run["failed"] is None


def of(name, job, options):
    """{batch, all_data, trials: [{batch, peak_bytes, failed}]} of an engine."""
    with tempfile.TemporaryDirectory(prefix="linnet-bench-") as folder:
        trials = Trials(name, job, options, folder)
        batch, all_data = search(job.batch, trials.available, trials.fits)
    return {"batch": batch, "all_data": all_data, "trials": trials.done}


def words(found):
    if found["batch"] == 0:
        return "none: " + found["trials"][-1]["failed"]
    return f"{found['batch']:,}" + (" or more: all data there are" if found["all_data"] else "")


def table(result):
    lines, limit = [], result["settings"].get("memory_limit")
    for row in result["workloads"]:
        for name, found in row.get("largest_batch", {}).items():
            peak = next((each["peak_bytes"] for each in found["trials"]
                         if each["batch"] == found["batch"]), None)
            lines.append((title_of(row), name, words(found),
                          figures.number(peak / 2**20) if peak else "–"))
    about = (f"The largest batch whose process stays below {(limit or 0) / 2**20:,.0f} MiB of "
             "resident memory at its peak, data of one batch included; each trial a fresh process "
             f"of one step. Found by bisection, to a part in {PRECISION}, as though a larger batch "
             "never needed less.")
    return Table("Largest batch under a memory limit", about,
                 ("workload", "engine", "batch", "memory, MiB"), lines)
