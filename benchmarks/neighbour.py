# SPDX-License-Identifier: Apache-2.0
"""A busy program on one of the machine's processors, to run engines beside."""
import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

TARGET = 0.4  # of its undisturbed speed, which Linnet should keep
# It watches its parent, which may be killed without a chance to tidy up.
PROGRAM = """
import os, sys
parent, processor = map(int, sys.argv[1:])
os.sched_setaffinity(0, {processor})
print("spins", flush=True)
while os.getppid() == parent:
    for _ in range(1000000):
        pass
"""


def processor():
    """The one that is disturbed: the last of those that this process may use."""
    return max(os.sched_getaffinity(0))


@contextlib.contextmanager
def spinning():
    """A process that keeps processor() busy. Gives a function: the processor seconds that it has
    used so far."""
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, str(os.getpid()), str(processor())],
                               stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        if process.stdout.readline() != "spins\n":
            raise RuntimeError("the busy neighbour did not start")
        yield lambda: used_seconds(process.pid)
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()


def used_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
