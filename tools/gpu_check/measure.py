# SPDX-License-Identifier: Apache-2.0
"""Benchmarks: Linnet and its rivals in turns, one at a time on the device. Every round of every
engine starts from first weights and is timed for a second or longer."""
import dataclasses
import math
import shutil
import time

import engines
import jobs
import processes
import rivals
import workloads
from check import BENCHMARKS, Failed
from gpu_report import LEAST_ROUNDS, LEAST_SECONDS
from rivals import CAPTURED, EAGER, REDUCED

PREPARE_LEAST = 4  # seconds, below which a rival is not begun
EXPORT_MOST = 20   # seconds of writing a job's data
SHARE = 0.6       # of the time that is left, for a rival with others after it
SMALL = jobs.Size(8, 16, 1, 2)  # of a rehearsal
RIVAL_EPOCHS = 2  # at least: so many show whether the loss falls
REHEARSED_SECONDS = 0.02  # instead of LEAST_SECONDS
REHEARSED_ROUNDS = 2      # instead of LEAST_ROUNDS


@dataclasses.dataclass(frozen=True)
class Work:
    """One row: a workload of workloads.json, its size and its rivals, quick ones first."""
    name: str
    size: jobs.Size
    rivals: tuple = (EAGER, CAPTURED, REDUCED)
    precision: str = "tf32"  # the one that all frameworks have alike
    rounds: int = LEAST_ROUNDS
    graph: str = "epoch"
    data: str = "resident"
    early: tuple = ()        # of the rivals: those whose compilation begins with the call
    rehearsed: bool = False  # on the simulated device, which is too slow for most

    def images(self):
        return workloads.ALL[self.name.removesuffix(":infer")]["network"].get("image") is not None

    def job(self, check):
        size = SMALL if check.rehearsal else self.size
        workload, infer = self.name.removesuffix(":infer"), self.name.endswith(":infer")
        return jobs.Job(name=self.name, workload=workload, mode="infer" if infer else "train",
                        batch=size.batch, samples=size.samples, warmup=size.warmup,
                        epochs=size.epochs, device="cuda", precision=self.precision, threads=0,
                        dataset="digits" if workload == "mnist-cnn" else "", test=False)


def exported(check, job):
    """Returns the folder of a job's data for all engines; written once."""
    folder = check.work / f"data-{job.name.replace(':', '-')}-{job.batch}-{job.samples}"
    with check.exporting:
        if not (folder / "data.json").exists():
            shutil.rmtree(folder, ignore_errors=True)
            command = [*engines.linnet_data(str(check.programs.linnet), job), "--export", folder]
            ended = processes.run(command, check.log, EXPORT_MOST, check.environment(), copy=False)
            if ended.status != 0:
                raise Failed(f"linnet bench --export: {ended.reason()}")
    return folder


def start_early(check, works):
    """Begins the compilations that take longest, each in a process of its own."""
    wanted = [(name, work.job(check)) for work in works if work.rehearsed or not check.rehearsal
              for name in work.early]
    check.early = rivals.Early(check, dict.fromkeys(wanted), lambda job: exported(check, job))


class Turns:
    """A piece of work, on every engine that there is time for."""

    def __init__(self, check, work):
        self.check, self.work, self.job = check, work, work.job(check)
        self.least = REHEARSED_SECONDS if check.rehearsal else LEAST_SECONDS
        self.rounds = REHEARSED_ROUNDS if check.rehearsal else work.rounds
        self.ready = {}  # name of a rival: its process
        self.done, self.lasted, self.epochs = {}, {}, {}

    def say(self, engine, words):
        self.check.say(f"  {self.job.name} batch {self.job.batch} {self.job.precision}, {engine}: "
                       f"{words}")

    def record(self, engine, row, failed):
        """Writes a row of the result."""
        turn = self.done.setdefault(engine, 0)
        self.done[engine] += 1
        about = {"engine": engine, "name": self.job.name, "batch": self.job.batch,
                 "precision": self.job.precision, "asked_samples": self.job.samples, "round": turn,
                 "graph": self.work.graph, "data_in": self.work.data}
        if self.check.early:
            about["compiling"] = self.check.early.compiling()
        if row:
            window = sum(row["timed_seconds"])
            about.update(window_seconds=window, **self.check.clocks.last(window))
        self.check.row(BENCHMARKS, {**(row or {}), **about, "failed": failed})
        if failed:
            self.say(engine, f"failed: {failed}")
        else:
            speed = row["samples_per_second"]
            speed = speed["median"] if isinstance(speed, dict) else speed
            self.say(engine, f"{speed:,.0f} samples/s")

    def export(self):
        self.folder = exported(self.check, self.job)

    def bench(self):
        job = dataclasses.replace(self.job, epochs=self.epochs.get("linnet", self.job.epochs))
        command = [*engines.linnet_command(str(self.check.programs.linnet), job), "--json",
                   "-", "--seed", str(self.done.get("linnet", 0)), "--data", self.work.data]
        command += ["--graph", self.work.graph] if job.mode == "train" else []
        return self.check.bench(command)

    def run_linnet(self):
        row, failed = self.bench()
        seconds = sum(row["timed_seconds"]) if row and not failed else self.least
        if seconds < self.least:  # once: the next rounds know how many epochs a window takes
            self.epochs["linnet"] = math.ceil(1.2 * len(row["timed_seconds"]) * self.least /
                                              max(seconds, 1e-6))
            row, failed = self.bench()
        if row and not failed:
            failed = engines.failure_of(row, self.job)
        self.record("linnet", row, failed)
        if failed:
            self.check.problem(f"{self.job.name} batch {self.job.batch}: {failed}")
        return failed is None

    def prepare(self, name):
        """Makes a rival ready: its model, compiled and warm."""
        if self.check.early and self.check.early.knows(name, self.job):
            return self.take_early(name)
        reserve = 2 + 2 * sum(self.lasted.values())  # for two rounds after it
        limit = self.check.left() - reserve
        if name in self.work.rivals[:-1]:
            limit *= SHARE
        if limit < (0.5 if self.check.rehearsal else PREPARE_LEAST):
            return self.say(name, "no time was left for it")
        rivals.start(self.check, [name])
        process, began = self.check.served[name], time.monotonic()
        return self.take(name, process, began, process.ask(
            rivals.request(self.check, name, self.job, self.folder), limit))

    def take_early(self, name):
        """Takes a rival that began to compile with the call; one that still compiles is measured at
        the call's end."""
        found = self.check.early.ready(name, self.job)
        if found is None:
            self.check.late.append((self.work, name))
            return self.say(name, "still compiling")
        process, began = found
        return self.take(name, process, began, process.answer(0))

    def take(self, name, process, began, answer):
        if answer.get("failed"):
            return self.record(name, None, answer["failed"])
        self.say(name, f"ready after {time.monotonic() - began:.1f} s")
        self.ready[name] = process
        return None

    def run_rival(self, name):
        answer = self.ready[name].ask({"epochs": RIVAL_EPOCHS, "seconds": self.least},
                                      max(self.check.left(), 1))
        failed = answer.get("failed") or engines.failure_of(answer, self.job)
        self.record(name, None if answer.get("failed") else answer, failed)
        if failed:
            del self.ready[name]

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
        return any(self.done.get(name, 0) < self.rounds for name in ["linnet", *self.ready])

    def forget(self):
        """Frees what rivals hold on the device."""
        for name in self.work.rivals:
            if (self.work, name) in self.check.late:
                continue
            if self.check.early and self.check.early.knows(name, self.job):
                self.check.early.close(name, self.job)
            elif name in self.check.served and self.check.served[name].alive():
                self.check.served[name].ask({"forget": True}, 5)
        self.ready.clear()

    def run(self):
        if self.work.rivals:
            self.export()
        early = self.check.early
        quick = [name for name in self.work.rivals
                 if name in (EAGER, CAPTURED) or early and early.ready(name, self.job)]
        for name in quick:
            self.prepare(name)
        going = self.round()
        for name in self.work.rivals:
            if going and name not in quick:
                self.prepare(name)
        while going and self.lacking():
            going = self.round()
        self.forget()


def rows(*works):
    """Makes a phase that measures these one after the other, each with its share of the time."""
    def phase(check):
        wanted = [work for work in works if work.rehearsed or not check.rehearsal]
        end = check.end
        for index, work in enumerate(wanted):
            check.end = check.end_of_share(end, len(wanted) - index)
            Turns(check, work).run()
        check.end = end
        if not wanted:
            check.say("  too slow on the simulated device: left out of the rehearsal")
    return phase


def tune(check, work):
    """Measures Linnet's choices for a training; each is kept at once, so a limit loses little."""
    if check.rehearsal:
        check.say("  the simulated device has no choices")
        return
    job = dataclasses.replace(work.job(check), samples=work.job(check).batch, warmup=0, epochs=1)
    check.run([*engines.linnet_command(str(check.programs.linnet), job), "--json", "-"], copy=False)


def late(check):
    """Measures the rivals that were not ready for their rows, beside Linnet."""
    waiting, check.late = check.late, []
    end = check.end
    for index, (work, name) in enumerate(waiting):
        check.end = check.end_of_share(end, len(waiting) - index)
        while not check.early.ready(name, work.job(check)) and check.left() > 2:
            time.sleep(rivals.PERIOD)
        Turns(check, dataclasses.replace(work, rivals=(name,))).run()
    check.end = end
    check.late.clear()
