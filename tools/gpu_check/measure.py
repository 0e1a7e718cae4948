# SPDX-License-Identifier: Apache-2.0
"""Benchmarks: Linnet and its rivals in turns, one at a time on the device. A rival's process stays
for all of its work, so that imports and compilation are paid once."""
import dataclasses
import os
import re
import shutil
import sys
import time

import engines
import jobs
import processes
import served
from check import BENCHMARKS, Failed

ROUNDS = 3        # of every engine that is ready
PREPARE_LEAST = 4  # seconds, below which a rival is not begun
SHARE = 0.6       # of the time that is left, for a rival with others after it
EAGER, CAPTURED = "torch", "torch-graph"
REDUCED, TUNED, JAX = "torch-reduce-overhead", "torch-max-autotune", "jax-epoch"
IMPORTS = {"torch": ("numpy", "torch", "torch.nn"), "jax": ("numpy", "jax", "flax", "optax")}
FIRST_BATCH = 1 << 17  # of the largest that is tried
# Of Linnet's largest batch, which rivals try; as the targets have them.
PARTS = (1, 1 / 1.3, 1 / 2, 1 / 4)
SMALL = jobs.Size(8, 16, 1, 2)  # of a rehearsal


@dataclasses.dataclass(frozen=True)
class Work:
    """One row: a workload of workloads.json, its size and its rivals, quick ones first."""
    name: str
    size: jobs.Size
    rivals: tuple = (EAGER, CAPTURED, REDUCED, JAX)
    precision: str = "tf32"  # the one that all frameworks have alike
    rounds: int = ROUNDS
    graph: str = "epoch"
    rehearsed: bool = False  # on the simulated device, which is too slow for most

    def job(self, check):
        size = SMALL if check.rehearsal else self.size
        workload, infer = self.name.removesuffix(":infer"), self.name.endswith(":infer")
        return jobs.Job(name=self.name, workload=workload, mode="infer" if infer else "train",
                        batch=size.batch, samples=size.samples, warmup=size.warmup,
                        epochs=size.epochs, device="cuda", precision=self.precision, threads=0,
                        dataset="digits" if workload == "mnist-cnn" else "", test=False)


def rival_environment(check):
    """Returns the rivals' environment: caches of their own, and memory taken as it is needed."""
    return {**os.environ, "XLA_PYTHON_CLIENT_PREALLOCATE": "false", "PYTHONDONTWRITEBYTECODE": "1",
            "TORCHINDUCTOR_CACHE_DIR": str(check.work / "inductor"),
            "TRITON_CACHE_DIR": str(check.work / "triton"),
            **(check.rehearsal.rival_environment if check.rehearsal else {})}


def start_rivals(check, names=(EAGER, CAPTURED, REDUCED, TUNED, JAX)):
    """Starts their processes, whose imports take seconds, where they are not running."""
    for name in names:
        if name in check.served and check.served[name].alive():
            continue
        folder = engines.PEERS[name].folder
        imports = () if check.rehearsal else IMPORTS[folder]
        check.served[name] = served.Served(sys.executable, imports, rival_environment(check),
                                           check.log, processes.start)


def stop_rivals(check):
    for each in check.served.values():
        each.close()
    check.served.clear()


class Turns:
    """A piece of work, on every engine that there is time for."""

    def __init__(self, check, work):
        self.check, self.work, self.job = check, work, work.job(check)
        self.folder = check.work / "data"
        self.ready, self.done, self.lasted = [], {}, {}

    def say(self, engine, words):
        self.check.say(f"  {self.job.name} batch {self.job.batch} {self.job.precision}, {engine}: "
                       f"{words}")

    def record(self, engine, row, failed):
        """Writes a row of the result."""
        turn = self.done.setdefault(engine, 0)
        self.done[engine] += 1
        about = {"engine": engine, "name": self.job.name, "batch": self.job.batch,
                 "precision": self.job.precision, "asked_samples": self.job.samples, "round": turn,
                 "graph": self.work.graph}
        self.check.row(BENCHMARKS, {**(row or {}), **about, "failed": failed})
        if failed:
            self.say(engine, f"failed: {failed}")
        else:
            speed = row["samples_per_second"]
            speed = speed["median"] if isinstance(speed, dict) else speed
            self.say(engine, f"{speed:,.0f} samples/s")

    def export(self):
        """Writes the data of all engines."""
        shutil.rmtree(self.folder, ignore_errors=True)
        ended = self.check.run([*engines.linnet_command(str(self.check.programs.linnet), self.job),
                                "--export", self.folder], copy=False)
        if ended.status != 0:
            raise Failed(f"linnet bench --export: {ended.reason()}")

    def run_linnet(self):
        command = [*engines.linnet_command(str(self.check.programs.linnet), self.job), "--json",
                   "-", "--seed", str(self.done.get("linnet", 0))]
        command += ["--graph", self.work.graph] if self.job.mode == "train" else []
        row, failed = self.check.bench(command)
        if row and not failed:
            failed = engines.failure_of(row, self.job)
        self.record("linnet", row, failed)
        if failed:
            self.check.problem(f"{self.job.name} batch {self.job.batch}: {failed}")
        return failed is None

    def prepare(self, name):
        """Makes a rival ready: its model, compiled and warm."""
        reserve = 2 + 2 * sum(self.lasted.values())  # for two rounds after it
        limit = self.check.left() - reserve
        if name in self.work.rivals[:-1]:
            limit *= SHARE
        if limit < (0.5 if self.check.rehearsal else PREPARE_LEAST):
            return self.say(name, "no time was left for it")
        start_rivals(self.check, [name])
        peer = engines.PEERS[name]
        program = self.check.rehearsal.rival if self.check.rehearsal else \
            peer.program(self.job.workload)
        words = engines.peer_command(peer, [], self.folder, self.job)
        began = time.monotonic()
        answer = self.check.served[name].ask({"program": str(program), "arguments": words}, limit)
        if answer.get("failed"):
            return self.record(name, None, answer["failed"])
        self.say(name, f"ready after {time.monotonic() - began:.1f} s")
        return self.ready.append(name)

    def run_rival(self, name):
        answer = self.check.served[name].ask({"epochs": self.job.epochs}, max(self.check.left(), 1))
        failed = answer.get("failed") or engines.failure_of(answer, self.job)
        self.record(name, answer, failed)
        if failed:
            self.ready.remove(name)

    def round(self):
        """Runs Linnet, then each rival that is ready; False where the time or Linnet ends it."""
        if self.check.left() < 1 + sum(self.lasted.values()):
            return False
        for name in ["linnet", *self.ready]:
            began = time.monotonic()
            good = self.run_linnet() if name == "linnet" else self.run_rival(name) is None
            self.lasted[name] = time.monotonic() - began
            if not good:
                return False
        return True

    def lacking(self):
        """Says whether an engine that is ready has had too few rounds."""
        return any(self.done.get(name, 0) < self.work.rounds for name in ["linnet", *self.ready])

    def run(self):
        if self.work.rivals:
            self.export()
        quick = [name for name in self.work.rivals if name in (EAGER, CAPTURED)]
        for name in quick:
            self.prepare(name)
        going = self.round()
        for name in self.work.rivals:
            if going and name not in quick:
                self.prepare(name)
        while going and self.lacking():
            going = self.round()
        for name in self.work.rivals:
            if name in self.check.served and self.check.served[name].alive():
                self.check.served[name].ask({"forget": True}, 5)


def rows(*works):
    """Makes a phase that measures these one after the other, each with its share of the time."""
    def phase(check):
        wanted = [work for work in works if work.rehearsed or not check.rehearsal]
        end = check.end
        for index, work in enumerate(wanted):
            check.end = time.monotonic() + (end - time.monotonic()) / (len(wanted) - index)
            Turns(check, work).run()
        check.end = end
        if not wanted:
            check.say("  too slow on the simulated device: left out of the rehearsal")
    return phase


def tried(check, engine, job, failed):
    """Records a batch that was tried."""
    check.row(BENCHMARKS, {"about": "largest batch", "engine": engine, "name": job.name,
                           "batch": job.batch, "precision": job.precision, "failed": failed})
    check.say(f"  {job.name}, {engine}, batch {job.batch:,}: {failed or 'fits'}")


def largest_batch(check):
    """Finds the largest batch of a training by trying: Linnet's error says which batch to try next;
    PyTorch tries Linnet's batch and parts of it."""
    stop_rivals(check)  # frameworks keep memory of the device
    work = Work("mnist-cnn" if check.rehearsal else "resnet50-cifar10", jobs.Size(1, 1, 0, 1))
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
    start_rivals(check, [EAGER])
    turns = Turns(check, work)
    for part in PARTS:
        turns.job = dataclasses.replace(job, batch=int(job.batch * part), samples=job.batch)
        turns.job = dataclasses.replace(turns.job, samples=turns.job.batch)
        turns.export()
        turns.prepare(EAGER)
        failed = None if turns.ready else "it does not fit, or there was no time"
        if turns.ready:
            answer = check.served[EAGER].ask({"epochs": 1}, max(check.left(), 1))
            failed = answer.get("failed")
        tried(check, EAGER, turns.job, failed)
        if failed is None or check.left() < 3:
            return
        turns.ready.clear()
