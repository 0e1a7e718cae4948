# SPDX-License-Identifier: Apache-2.0
"""The largest batch of a training on a card of which only some memory is free."""
import contextlib
import dataclasses
import re
import subprocess
import sys

import engines
import jobs
import processes
import rivals
from check import BENCHMARKS, Failed
from correctness import REHEARSED_WORK
from measure import Turns, Work
from rivals import EAGER

FREE = 6_000_000_000  # bytes
FIRST_BATCH = 1 << 23  # that is tried
# Of Linnet's largest batch, which rivals try; as the targets have them.
PARTS = (1, 1 / 1.3, 1 / 2, 1 / 4)
HOLDER = f"""import torch
free, _ = torch.cuda.mem_get_info()
held = torch.empty(max(free - {FREE}, 0), dtype=torch.uint8, device="cuda")
print("held", flush=True)
input()"""


@contextlib.contextmanager
def little_memory(check):
    """Holds all of the card's memory but FREE bytes meanwhile."""
    if check.rehearsal:
        yield
        return
    holder = processes.start([sys.executable, "-c", HOLDER], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=check.log,
                             env=rivals.environment(check))
    try:
        if holder.stdout.readline() != b"held\n":
            raise Failed("the card's other memory could not be held")
        yield
    finally:
        holder.kill()
        holder.wait()


def tried(check, engine, job, failed):
    """Records a batch that was tried."""
    check.row(BENCHMARKS, {"about": "largest batch", "engine": engine, "name": job.name,
                           "batch": job.batch, "precision": job.precision, "free_bytes": FREE,
                           "failed": failed})
    check.say(f"  {job.name}, {engine}, batch {job.batch:,}: {failed or 'fits'}")


def of(check, work):
    """Finds the largest batch by trying: Linnet's error says which batch to try next; PyTorch tries
    Linnet's batch and parts of it."""
    job, batch, failed = work.job(check), FIRST_BATCH if not check.rehearsal else 32, ""
    while failed is not None:
        job = dataclasses.replace(job, batch=batch, samples=batch, warmup=0, epochs=1)
        command = [*engines.linnet_command(str(check.programs.linnet), job), "--json", "-",
                   "--graph", "epoch"]
        ended = check.run(command, copy=False)
        failed = None if ended.status in (0, 3) else ended.reason()
        tried(check, "linnet", job, failed)
        smaller = re.search(r"\(--batch (\d+)\)", ended.err)
        if failed and (not smaller or int(smaller[1]) >= batch):
            raise Failed(failed)
        batch = int(smaller[1]) if smaller else batch
    rivals.start(check, [EAGER])
    turns = Turns(check, work)
    for part in PARTS:
        batch = int(job.batch * part)
        turns.job = dataclasses.replace(job, batch=batch, samples=batch)
        turns.export()
        turns.prepare(EAGER)
        failed = None if turns.ready else "it does not fit, or there was no time"
        if turns.ready:
            failed = turns.ready[EAGER].ask({"epochs": 1}, max(check.left(), 1)).get("failed")
        tried(check, EAGER, turns.job, failed)
        turns.forget()
        if failed is None or check.left() < 3:
            break
    rivals.stop(check)


def largest(*names):
    """Makes a phase of these workloads, each with its share of the time."""
    def phase(check):
        rivals.stop(check)  # frameworks keep memory of the device
        end = check.end
        with little_memory(check):
            wanted = names if not check.rehearsal else (REHEARSED_WORK[0][0],)
            for index, name in enumerate(wanted):
                check.end = check.end_of_share(end, len(wanted) - index)
                of(check, Work(name, jobs.Size(1, 1, 0, 1), (EAGER,), rehearsed=True))
        check.end = end
    return phase
