# SPDX-License-Identifier: Apache-2.0
"""A peer's framework in a process that stays: the other end of peers/common/serve.py."""
import contextlib
import json
import os
import selectors
import signal
import subprocess
import time

import engines

SERVE = engines.HERE / "peers/common/serve.py"


class Served:
    """One process of a framework. `start` starts it, as subprocess.Popen does; `log` takes what the
    framework prints."""

    def __init__(self, python, imports, environment, log, start=subprocess.Popen):
        self.process = start([python, "-B", str(SERVE), *imports], env=environment,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                             start_new_session=True)
        self.rest = b""

    def ask(self, request, limit):
        """The answer, a dict, within `limit` seconds; without one the process is ended."""
        self.begin(request)
        return self.answer(limit)

    def begin(self, request):
        """Asks without waiting; answer() must follow."""
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
        except (OSError, ValueError):  # it has ended, or was closed, as answer() finds
            pass

    def answer(self, limit):
        """The answer to begin(), as ask() gives it."""
        if self.process.stdout.closed:
            return {"failed": "the process has ended before"}
        try:
            answer = self._line(time.monotonic() + limit)
        except OSError:
            answer = None
        if answer is not None:
            return json.loads(answer)
        status = self.process.poll()
        self.close()
        return {"failed": f"took longer than {limit:.0f} s" if status is None else
                f"the process ended with status {status}"}

    def _line(self, end):
        """The next line of its output; None at its end or after the time `end`."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while b"\n" not in self.rest:
                if not selector.select(max(end - time.monotonic(), 0)):
                    return None
                part = os.read(self.process.stdout.fileno(), 1 << 16)
                if not part:
                    self.process.wait()
                    return None
                self.rest += part
        line, _, self.rest = self.rest.partition(b"\n")
        return line

    def answered(self):
        """Says, without waiting, whether answer() need not wait."""
        if b"\n" not in self.rest and not self.process.stdout.closed:
            with selectors.DefaultSelector() as selector:
                selector.register(self.process.stdout, selectors.EVENT_READ)
                while selector.select(0):
                    part = os.read(self.process.stdout.fileno(), 1 << 16)
                    if not part:
                        return True
                    self.rest += part
        return b"\n" in self.rest or self.process.stdout.closed

    def alive(self):
        return self.process.poll() is None

    def close(self):
        if self.alive():
            os.killpg(self.process.pid, signal.SIGKILL)  # with the workers that a compiler started
        self.process.wait()
        with contextlib.suppress(BrokenPipeError):  # of a request that nobody has read
            self.process.stdin.close()
        self.process.stdout.close()
