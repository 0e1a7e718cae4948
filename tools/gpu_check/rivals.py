# SPDX-License-Identifier: Apache-2.0
"""The rivals' processes. One stays for all of its work, so that imports and compilation are paid
once; one that compiles for long has a process for itself, which starts with the call."""
import os
import sys
import threading
import time

import engines
import processes
import served
from check import Failed

EAGER, CAPTURED = "torch", "torch-graph"
REDUCED, TUNED, JAX = "torch-reduce-overhead", "torch-max-autotune", "jax-epoch"
COMPILED = "torch-compiled-graph"
AT_ONCE = 2   # that compile
PERIOD = 0.1  # seconds between looking whether one is ready
IMPORTS = {"torch": ("numpy", "torch", "torch.nn"), "jax": ("numpy", "jax", "flax", "optax")}


def environment(check):
    """Returns the rivals' environment: caches of their own, and memory taken as it is needed."""
    return {**os.environ, "XLA_PYTHON_CLIENT_PREALLOCATE": "false", "PYTHONDONTWRITEBYTECODE": "1",
            "TORCHINDUCTOR_CACHE_DIR": str(check.work / "inductor"),
            "TRITON_CACHE_DIR": str(check.work / "triton"),
            **(check.rehearsal.rival_environment if check.rehearsal else {})}


def process(check, name):
    imports = () if check.rehearsal else IMPORTS[engines.PEERS[name].folder]
    return served.Served(sys.executable, imports, environment(check), check.log, processes.start)


def start(check, names):
    """Starts their processes, whose imports take seconds, where they are not running."""
    for name in names:
        if name not in check.served or not check.served[name].alive():
            check.served[name] = process(check, name)


def stop(check):
    for each in check.served.values():
        each.close()
    check.served.clear()


def request(check, name, job, folder):
    """Asks for a job's model, compiled and warm."""
    peer = engines.PEERS[name]
    program = check.rehearsal.rival if check.rehearsal else peer.program(job.workload)
    return {"program": str(program), "arguments": engines.peer_command(peer, [], folder, job)}


class Early:
    """Rivals that compile for long: each begins in a process of its own, long before its row is
    measured, a few at a time. `jobs`: [(name, job)] in the order of their rows; `export(job)` returns
    the folder of a job's data."""

    def __init__(self, check, jobs, export):
        self.check, self.export = check, export
        self.waiting, self.begun = list(jobs), {}  # {(name, job): (process, when it began)}
        self.lock, self.closed = threading.Lock(), False
        # It lives as long as this process: what a thread starts ends with it.
        threading.Thread(target=self._begin_all, daemon=True).start()

    def _begin_all(self):
        while self.waiting and not self.closed:
            if self.compiling() < AT_ONCE:
                self._begin(*self.waiting[0])
                self.waiting.pop(0)
            time.sleep(PERIOD)
        while True:
            time.sleep(3600)

    def _begin(self, name, job):
        try:
            folder = self.export(job)
        except Failed as failed:
            self.check.say(f"  {job.name}, {name}: {failed}")
            return
        with self.lock:
            if not self.closed:
                began = process(self.check, name), time.monotonic()
                began[0].begin(request(self.check, name, job, folder))
                self.begun[name, job] = began

    def compiling(self):
        """Returns how many are not ready yet."""
        return sum(not each.answered() for each, _ in list(self.begun.values()))

    def knows(self, name, job):
        return (name, job) in self.begun or (name, job) in self.waiting

    def ready(self, name, job):
        """Returns its process, whose answer is there, and when that began; or None."""
        found = self.begun.get((name, job))
        return found if found and found[0].answered() else None

    def close(self, name, job):
        found = self.begun.pop((name, job), None)
        if found:
            found[0].close()

    def close_all(self):
        with self.lock:
            self.closed = True
        for key in list(self.begun):
            self.close(*key)
