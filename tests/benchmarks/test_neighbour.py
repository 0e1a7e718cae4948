# SPDX-License-Identifier: Apache-2.0
"""benchmarks/neighbour.py: the process that keeps a processor busy, and what is made of runs beside
it."""
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest
import unittest.mock

BENCHMARKS = pathlib.Path(__file__).resolve().parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))
import conditions  # noqa: E402
import engines  # noqa: E402
import figures  # noqa: E402
import neighbour  # noqa: E402


def alive(pid):
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def becomes(condition):
    """Whether it does within a time that no machine should need."""
    end = time.monotonic() + 20
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def runs(*speeds):
    return [{"failed": None, "samples_per_second": speed} for speed in speeds]


class Spinning(unittest.TestCase):
    def test_it_spins_on_one_processor_and_is_gone_afterwards(self):
        real, started = subprocess.Popen, []

        def popen(*arguments, **keywords):
            started.append(real(*arguments, **keywords))
            return started[-1]
        with unittest.mock.patch.object(subprocess, "Popen", popen), \
                self.assertRaises(KeyboardInterrupt):
            with neighbour.spinning() as spent:
                process, = started
                self.assertEqual(os.sched_getaffinity(process.pid), {neighbour.processor()})
                self.assertTrue(becomes(lambda: spent() > 0.05))
                raise KeyboardInterrupt
        self.assertEqual(process.returncode, -signal.SIGKILL)

    def test_it_does_not_outlive_a_parent_that_is_killed(self):
        parent = subprocess.Popen(
            [sys.executable, "-B", "-c", "import neighbour, subprocess, time\n"
             "real = subprocess.Popen\n"
             "def popen(*a, **k):\n p = real(*a, **k); print(p.pid, flush=True); return p\n"
             "subprocess.Popen = popen\n"
             "with neighbour.spinning():\n print('in', flush=True); time.sleep(600)"],
            cwd=BENCHMARKS, stdout=subprocess.PIPE, text=True)
        pid = int(parent.stdout.readline())
        self.assertEqual(parent.stdout.readline(), "in\n")
        self.assertTrue(alive(pid))
        parent.kill()
        parent.communicate()
        gone = becomes(lambda: not alive(pid))
        if not gone:
            os.kill(pid, signal.SIGKILL)
        self.assertTrue(gone)

    def test_our_neighbour_is_none_of_the_others(self):
        class Job:
            samples, mode, test = 1, "infer", False
        with unittest.mock.patch.object(engines, "busy_seconds", side_effect=[100.0, 110.0]), \
                unittest.mock.patch.object(engines, "child_seconds", side_effect=[1.0, 3.0]), \
                unittest.mock.patch.object(engines, "start", return_value=(1, "", "no")):
            run = engines.run_once(["x"], {}, 1, Job, unittest.mock.Mock(side_effect=[0.5, 7.5]))
        self.assertAlmostEqual(run["others_processors"] * run["wall_s"], 10 - 2 - 7)


class Kept(unittest.TestCase):
    def row(self, alone, disturbed):
        return {"name": "mnist-cnn", "threads": 2, "batch": 128,
                "engines": {"linnet": figures.summary(alone)},
                "neighbour": {"linnet": conditions.summary(alone, disturbed)}}

    def test_pairs(self):
        row = self.row(runs(100, 200, 100), runs(50, 80, 70))
        self.assertEqual(row["neighbour"]["linnet"]["kept"]["each"], [0.5, 0.4, 0.7])
        line, = conditions.table("neighbour", {"workloads": [row]}).rows
        self.assertEqual(line, ("mnist-cnn, 2 threads, batch 128", "linnet", "100 (100 to 200)",
                                "70 (50 to 80)", "0.50 (0.40 to 0.70)"))

    def test_failures(self):
        broken = [{"failed": "exit status 1: a|b"}]
        table = conditions.table("neighbour", {"workloads": [self.row(runs(100), broken)]})
        self.assertEqual(table.rows[0][-1], "failed: exit status 1: a|b")
        self.assertIn("| failed: exit status 1: a/b |", table.markdown()[-1])

    def test_results_without_it(self):
        self.assertEqual(conditions.table("neighbour", {"workloads": [{"engines": {}}]}).rows, [])


if __name__ == "__main__":
    unittest.main()
