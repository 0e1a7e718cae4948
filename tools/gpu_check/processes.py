# SPDX-License-Identifier: Apache-2.0
"""Commands with a time limit, whose output reaches the log as it comes."""
import contextlib
import ctypes
import os
import selectors
import signal
import subprocess
import time
from dataclasses import dataclass

LOG_BYTES = 12 << 20   # of the whole log; a result file must stay small
KEPT_BYTES = 64 << 20  # of one command's output
GRACE = 2              # seconds between asking a command to end and ending it
PR_SET_PDEATHSIG = 1
ALIVE = set()          # of processes that start() has made; end_all() ends them


LIBC = ctypes.CDLL(None)  # loaded before a fork, which may come from any thread


def _die_with_parent():
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def start(command, **options):
    """subprocess.Popen in a session of its own, which does not outlive this process."""
    options["start_new_session"] = True
    process = subprocess.Popen([str(part) for part in command], preexec_fn=_die_with_parent,
                               **options)
    ALIVE.difference_update([each for each in list(ALIVE) if each.returncode is not None])
    ALIVE.add(process)
    return process


def signal_group(process, number):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def end_all():
    for process in list(ALIVE):
        if process.returncode is None:
            signal_group(process, signal.SIGKILL)
            process.wait()


class Log:
    """A file that takes bytes at once, and at most LOG_BYTES of them."""

    def __init__(self, path):
        self.file = open(path, "ab", buffering=0)
        self.left = LOG_BYTES

    def write(self, data):
        if self.left > 0:
            self.file.write(data[:self.left])
            self.left -= len(data)
            if self.left <= 0:
                self.file.write(b"\n[the log is full]\n")

    def fileno(self):
        return self.file.fileno()


@dataclass
class Ended:
    """A command that has ended: its status is None where its time was over."""
    status: int | None
    out: str
    err: str
    seconds: float

    def reason(self):
        """Why it failed, in a sentence."""
        if self.status is None:
            return f"stopped after {self.seconds:.0f} s"
        if self.status < 0:
            return f"ended by signal {-self.status}"
        last = ((self.err.strip() or self.out.strip()).splitlines() or ["it printed nothing"])[-1]
        return f"exit status {self.status}: {last[:300]}"


def wait_all(running, log, limit, copy=True):
    """Ended of each of several processes, after at most `limit` seconds. What they print goes to
    the log as it comes; their standard output only if `copy`."""
    began = time.monotonic()
    end, stopping = began + limit, False
    kept = [(bytearray(), bytearray()) for _ in running]
    with selectors.DefaultSelector() as selector:
        for process, (out, err) in zip(running, kept):
            selector.register(process.stdout, selectors.EVENT_READ, (out, copy))
            if process.stderr:
                selector.register(process.stderr, selectors.EVENT_READ, (err, True))
        while selector.get_map():
            ready = selector.select(max(end - time.monotonic(), 0))
            for key, _ in ready:
                part = os.read(key.fd, 1 << 16)
                data, shown = key.data
                if not part:
                    selector.unregister(key.fileobj)
                    key.fileobj.close()
                    continue
                if shown:
                    log.write(part)
                if len(data) < KEPT_BYTES:
                    data += part
            if not ready and time.monotonic() >= end:
                if stopping:
                    break
                stopping, end = True, time.monotonic() + GRACE
                for process in running:
                    if process.poll() is None:
                        process.overdue = True
                        signal_group(process, signal.SIGTERM)
    ended = []
    for process, texts in zip(running, kept):
        if stopping:
            signal_group(process, signal.SIGKILL)
        status = None if getattr(process, "overdue", False) else process.wait()
        ended.append(Ended(status, *(bytes(text).decode(errors="replace") for text in texts),
                           time.monotonic() - began))
    return ended


def wait(process, log, limit, copy=True):
    """The same of one process."""
    return wait_all([process], log, limit, copy)[0]


def run(command, log, limit, env=None, cwd=None, copy=True):
    """Runs a command to its end or its limit."""
    log.write(f"$ {' '.join(map(str, command))}\n".encode())
    if limit <= 0:
        return Ended(None, "", "", 0.0)
    try:
        process = start(command, env=env, cwd=cwd, stdin=subprocess.DEVNULL,
                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except OSError as error:
        return Ended(127, "", f"cannot start {command[0]}: {error.strerror}", 0.0)
    ended = wait(process, log, limit, copy)
    if ended.status != 0:
        log.write(f"[{ended.reason()}]\n".encode())
    return ended
