# SPDX-License-Identifier: Apache-2.0
"""Ranks that are processes: sums by Gloo and MPI, and ranks that are killed, stopped or never come."""
import os
import random
import re
import signal
import socket
import subprocess
import tempfile
import time
import unittest

PROBE = os.environ["RANKS_PROBE"]
# The sanitizers report what MPI itself does.
MPIEXEC = "" if os.environ.get("LINNET_SANITIZED") else os.environ.get("MPIEXEC", "")
HANGS = 120  # seconds after which a test that hangs ends; no assertion is about time
# Seconds after which a silent rank is lost: on a busy machine a rank may not be on a processor for 2,
# and four ranks of MPI, which spin while they wait, answer late on two processors.
DEADLINE = "5"


def free_port():
    """Below those that the system gives to connections, which could take it before rank 0 listens."""
    while True:
        port = random.randrange(20000, 32000)
        with socket.socket() as listener:
            try:
                listener.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


class Job:
    """The ranks of one job, whose output lies in files."""

    def __init__(self, engine, size, *arguments, port=None, ranks=None, world=None,
                 address="127.0.0.1", inside=()):
        self.folder = tempfile.TemporaryDirectory()
        self.port = port or free_port()
        self.processes = {}
        if engine.startswith("mpi"):
            command = [MPIEXEC, "--allow-run-as-root", "--oversubscribe", "-n", str(size)]
            self._start(0, command + [PROBE, engine, *arguments], {})
            return
        for rank in range(size) if ranks is None else ranks:
            self._start(rank, [*inside, PROBE, engine, *arguments],
                        {"RANK": str(rank), "WORLD_SIZE": str(world or size),
                         "MASTER_ADDR": address, "MASTER_PORT": str(self.port)})

    def _start(self, rank, command, variables):
        with open(self._file(rank), "wb") as out:
            self.processes[rank] = subprocess.Popen(
                command, stdout=out, stderr=subprocess.STDOUT, env={**os.environ, **variables})

    def _file(self, rank):
        return os.path.join(self.folder.name, f"rank-{rank}")

    def output(self, rank=0):
        with open(self._file(rank), encoding="utf-8") as file:
            return file.read()

    def all_output(self):
        return "".join(self.output(rank) for rank in self.processes)

    def wait_for(self, text):
        end = time.monotonic() + HANGS
        while text not in self.all_output():
            if time.monotonic() > end:
                raise AssertionError(f"no '{text}' in: {self.all_output()}")
            time.sleep(0.02)

    def process_of(self, rank):
        self.wait_for(f"rank {rank} of ")
        return int(re.search(rf"rank {rank} of .*: process (\d+)", self.all_output())[1])

    def wait(self, rank=0):
        return self.processes[rank].wait(timeout=HANGS)

    def close(self):
        for rank, process in self.processes.items():
            if process.poll() is None:
                process.kill()
                process.wait()
        self.folder.cleanup()


class Ranks(unittest.TestCase):
    def job(self, *arguments, **named):
        job = Job(*arguments, **named)
        self.addCleanup(job.close)
        return job

    def test_all_ranks_have_the_sum(self):
        for size in (1, 2, 4):
            job = self.job("gloo", size, "3", "100000", "0")
            totals = set()
            for rank in range(size):
                self.assertEqual(job.wait(rank), 0, job.output(rank))
                totals.add(re.search(r"total (\S+)", job.output(rank))[1])
            self.assertEqual(len(totals), 1)

    @unittest.skipUnless(MPIEXEC, "MPI is not installed")
    def test_mpi_and_gloo_have_the_same_sum(self):
        totals = set()
        for engine in ("mpi", "gloo"):
            job = self.job(engine, 4, "3", "100000", "0")
            for rank in job.processes:
                self.assertEqual(job.wait(rank), 0, job.output(rank))
            found = re.findall(r"total (\S+)", job.all_output())
            self.assertEqual(len(found), 4)
            totals.update(found)
        self.assertEqual(len(totals), 1)

    def test_the_engines_own_sums(self):
        for engine in ("gloo-fast", "mpi-fast") if MPIEXEC else ("gloo-fast",):
            job = self.job(engine, 4, "3", "100000", "0")
            for rank in job.processes:
                self.assertEqual(job.wait(rank), 0, job.output(rank))
            found = re.findall(r"total (\S+)", job.all_output())
            # Of 1 to 4 and 4 times i % 7: whole numbers, which every order adds alike.
            self.assertEqual(found, [f"{3 * sum(10 + 4 * (i % 7) for i in range(100000))}"] * 4)

    def lose(self, engine, sent, lost):
        """A rank of four gets a signal; returns what expect_named() needs."""
        job = self.job(engine, 4, "1000000", "10000", "1", DEADLINE)
        process = job.process_of(lost)
        job.wait_for("step 5")
        os.kill(process, sent)
        return job, engine, lost, process

    def expect_named(self, how, job, engine, lost, process):
        """The others must name the lost rank, and none of them its partner."""
        expected = rf"lost rank: rank {lost} {how} in the sum of gradients at step \d+\n"
        try:
            if engine.startswith("mpi"):
                self.assertNotEqual(job.wait(), 0)
                self.assertRegex(job.output(), expected)
                self.assertEqual(set(re.findall(r"lost rank: rank (\d)", job.output())), {str(lost)})
                return
            for rank in range(4):
                if rank != lost:
                    self.assertEqual(job.wait(rank), 4, job.output(rank))
                    self.assertRegex(job.output(rank), expected)
        finally:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def test_a_killed_rank_is_named(self):
        for engine, lost in (("gloo", 0), ("gloo", 2), ("gloo-fast", 2)):
            self.expect_named("ended", *self.lose(engine, signal.SIGKILL, lost))

    def test_a_stopped_rank_is_named(self):
        # Three jobs that wait, at the same time.
        jobs = [self.lose(engine, signal.SIGSTOP, lost)
                for engine, lost in (("gloo", 0), ("gloo", 2), ("gloo-fast", 2))]
        for job in jobs:
            self.expect_named(r"did not answer for \d+ s", *job)

    @unittest.skipUnless(MPIEXEC, "MPI is not installed")
    def test_a_stopped_rank_of_mpi_is_named(self):
        for engine in ("mpi", "mpi-fast"):
            self.expect_named(r"did not answer for \d+ s", *self.lose(engine, signal.SIGSTOP, 2))

    def test_ranks_that_are_cut_off_are_named(self):
        """Two hosts, the second one a network namespace, and a cable between them."""
        host, here, there = (f"ln{os.getpid()}{end}" for end in ("", "a", "b"))
        subnet = f"10.{os.getpid() % 200 + 20}.99"

        def ip(*words, check=True):
            return subprocess.run(["ip", *words], check=check, capture_output=True).returncode

        try:
            ip("netns", "add", host)
        except (OSError, subprocess.CalledProcessError):
            self.skipTest("this user may not make network namespaces")
        self.addCleanup(ip, "netns", "del", host, check=False)
        ip("link", "add", here, "type", "veth", "peer", "name", there)
        self.addCleanup(ip, "link", "del", here, check=False)
        ip("link", "set", there, "netns", host)
        ip("addr", "add", f"{subnet}.1/24", "dev", here)
        ip("link", "set", here, "up")
        for words in (("addr", "add", f"{subnet}.2/24", "dev", there), ("link", "set", there, "up"),
                      ("link", "set", "lo", "up")):
            ip("netns", "exec", host, "ip", *words)
        steps = ("1000000", "10000", "1", DEADLINE)
        first = self.job("gloo", 4, *steps, ranks=(0, 1), address=f"{subnet}.1")
        second = self.job("gloo", 4, *steps, ranks=(2, 3), address=f"{subnet}.1", port=first.port,
                          inside=("ip", "netns", "exec", host))
        first.wait_for("step 5")
        ip("link", "set", here, "down")
        how = r"did not answer for \d+ s in the sum of gradients at step \d+\n"
        for job, rank, named in ((first, 0, "[23]"), (first, 1, "[23]"), (second, 2, "0"),
                                 (second, 3, "0")):
            self.assertEqual(job.wait(rank), 4, job.output(rank))
            self.assertRegex(job.output(rank), f"lost rank: rank {named} {how}")

    def test_a_rank_that_does_not_come_is_named(self):
        job = self.job("gloo", 4, "1", "10", "0", "1", "5", ranks=(0, 1, 3))
        for rank in (0, 1, 3):
            self.assertEqual(job.wait(rank), 4)
            self.assertIn("expected 4 ranks; these did not come in 5 s: 2\n", job.output(rank))

    def test_two_processes_of_one_number_are_refused(self):
        job = self.job("gloo", 2, "1", "10", "0", DEADLINE, "60", ranks=(0,))
        second = Job("gloo", 4, "1", "10", "0", DEADLINE, "60", port=job.port, ranks=(1,), world=4)
        self.addCleanup(second.close)
        self.assertEqual(second.wait(1), 4)
        self.assertIn("rank 1 does not belong to this job of 2 ranks", second.output(1))
        third = Job("gloo", 2, "1", "10", "0", port=job.port, ranks=(1,))
        self.addCleanup(third.close)
        self.assertEqual(third.wait(1), 0, third.output(1))
        self.assertEqual(job.wait(0), 0, job.output(0))

    def test_strangers_at_the_port_do_no_harm(self):
        job = self.job("gloo", 2, "1", "10", "0", ranks=(0,))
        for sent in (b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 4096, b"\x05\0\0\0J0:abc", b""):
            end = time.monotonic() + HANGS
            while True:
                try:
                    stranger = socket.create_connection(("127.0.0.1", job.port))
                    break
                except ConnectionRefusedError:
                    self.assertLess(time.monotonic(), end)
                    time.sleep(0.02)
            self.addCleanup(stranger.close)
            stranger.sendall(sent)
        other = Job("gloo", 2, "1", "10", "0", port=job.port, ranks=(1,))
        self.addCleanup(other.close)
        self.assertEqual(other.wait(1), 0, other.output(1))
        self.assertEqual(job.wait(0), 0, job.output(0))

    def test_three_ranks_are_refused(self):
        job = self.job("gloo", 3, "1", "10", "0", ranks=(0,))
        self.assertEqual(job.wait(0), 2)
        self.assertIn("expected a power of two as the number of ranks; got 3", job.output(0))


if __name__ == "__main__":
    unittest.main()
