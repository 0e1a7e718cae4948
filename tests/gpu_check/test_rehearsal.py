# SPDX-License-Identifier: Apache-2.0
"""tools/gpu_check.sh --rehearse: whole, without a device, and killed in the middle."""
import json
import os
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import tools_path
import check
import measure
import phases

MARK = "GPU_CHECK_TEST"  # in the environment of every process of a rehearsal
SCRIPT = tools_path.ROOT / "tools/gpu_check.sh"


class Rehearsal(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="linnet-rehearsal-")
        self.addCleanup(folder.cleanup)
        self.out = Path(folder.name, "out")

    def start(self, *arguments, **environment):
        return subprocess.Popen([SCRIPT, "--rehearse", "--out", self.out, *arguments],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                env={**os.environ, MARK: str(self.out), **environment})

    def rows(self, name):
        """Reads a file of JSON lines, each of which must be whole."""
        return [json.loads(line) for line in (self.out / name).read_text().splitlines()]

    def call(self, number):
        """Runs a call to its end; what it printed."""
        began = time.monotonic()
        process = self.start("--call", str(number))
        out, _ = process.communicate(timeout=phases.SECONDS[number] + 60)
        self.assertEqual(process.returncode, 0, out)
        self.assertLess(time.monotonic() - began, phases.SECONDS[number])
        self.assertLessEqual({path.name for path in self.out.iterdir()}, set(check.FILES))
        lines = self.rows(check.PHASES)
        self.assertEqual([line["phase"] for line in lines],
                         [phase.name for phase in phases.CALLS[number]])
        self.assertEqual({line["phase"] for line in lines if line["result"] != "ok"},
                         {"wheels"} if number == 1 else set(), out)
        return out

    def test_the_first_call(self):
        out = self.call(1)
        numerics = self.rows(check.NUMERICS)
        self.assertEqual({row["precision"] for row in numerics if row["device"] == "cuda"},
                         {"fp32", "tf32", "bf16", "fp16"})
        rows = [row for row in self.rows(check.BENCHMARKS) if row["name"] == "mnist-cnn"]
        order = [row["engine"] for row in rows if row.get("round") == 1 and not row["failed"]]
        self.assertEqual(sorted(set(order)), ["jax-epoch", "linnet", "torch",
                                              "torch-compiled-graph", "torch-graph"])
        for row in rows:
            if "round" in row:
                self.assertEqual((row["sm_mhz"], row["watts"]), (1980, 512.5), row)
                self.assertGreaterEqual(row["window_seconds"], measure.REHEARSED_SECONDS)
            self.assertRegex(row["commit"], "^([0-9a-f]{12}(, changed)?|unknown)$")
        # Rivals start anew in each round, as Linnet does.
        losses = {tuple(row["losses"][:3]) for row in rows if row.get("engine") == "torch"}
        self.assertEqual(len(losses), 1, losses)
        self.assertIn("cases passed, 0 failed", out)
        self.assertRegex(out, "node cost: [0-9.]+ us")
        report = (self.out / check.REPORT).read_text()
        self.assertIn("**A rehearsal on the simulated device", report)
        self.assertIn("| mnist-cnn | 8 of 16 | tf32 |", report)
        self.assertIn("curve flux-cnn fp32", report)

    def test_the_second_call(self):
        self.call(2)
        self.assertIn("Largest batch within 6 GB, mnist-cnn, linnet",
                      (self.out / check.REPORT).read_text())

    def test_phases_by_name(self):
        process = self.start("kernels", "sanitizer")
        out, _ = process.communicate(timeout=400)
        self.assertEqual(process.returncode, 0, out)
        self.assertIn("93.8% void linnet::cuda", (self.out / check.PROFILE).read_text())

    def test_without_a_device_the_first_phase_says_so(self):
        process = self.start("--call", "1", LINNET_SIMULATED_PLUGIN=__file__)
        out, _ = process.communicate(timeout=400)
        self.assertEqual(process.returncode, 3, out)
        self.assertIn("Nothing more can run: linnet devices: CUDA is not usable", out)
        self.assertEqual([line["result"] for line in self.rows(check.PHASES)], ["ok", "failed"])

    def test_a_killed_command_fails_its_phase_alone(self):
        broken = self.out.parent / "linnet"
        broken.write_text('#!/bin/sh\n[ "$1" = profile ] && kill -9 $$\n'
                          f'exec {os.environ["LINNET_COMMAND"]} "$@"\n')
        broken.chmod(0o755)
        process = self.start("kernels", "mnist-128", LINNET_COMMAND=str(broken))
        out, _ = process.communicate(timeout=400)
        self.assertEqual(process.returncode, 1, out)
        found = {line["phase"]: line for line in self.rows(check.PHASES)}
        self.assertEqual(found["kernels"]["problems"],
                         ["linnet profile, mnist-cnn, tf32: ended by signal 9"])
        self.assertEqual(found["mnist-128"]["result"], "ok")
        # Once more, alone, since time was left.
        self.assertEqual([line["phase"] for line in self.rows(check.PHASES)][-1], "kernels")
        self.assertIn("forward<float>", (self.out / check.PROFILE).read_text())

    def stop_in_the_middle(self, number):
        """Ends the script by a signal while engines take turns; returns its exit status."""
        process = self.start("numerics", "mnist-128")
        for line in process.stdout:
            if "torch: " in line and "samples/s" in line:
                process.send_signal(number)
                break
        else:
            self.fail("it never got so far")
        process.communicate(timeout=200)
        return process.returncode

    def assert_usable(self):
        self.assertEqual([line["phase"] for line in self.rows(check.PHASES)][:3],
                         ["programs", "smoke", "numerics"])
        rows = self.rows(check.BENCHMARKS)
        self.assertEqual([row["engine"] for row in rows[:2]], ["linnet", "torch"])
        report = (self.out / check.REPORT).read_text()
        self.assertIn("| numerics | ok |", report)
        self.assertIn("curve mnist-cnn fp32", report)
        return report

    def test_a_terminated_run_is_usable(self):
        self.assertEqual(self.stop_in_the_middle(signal.SIGTERM), 143)
        self.assertIn("| mnist-cnn | 8 of 16 |", self.assert_usable())

    def test_a_killed_run_is_usable_and_leaves_no_process(self):
        self.assertEqual(self.stop_in_the_middle(signal.SIGKILL), -signal.SIGKILL)
        self.assert_usable()
        for _ in range(100):
            if not self.left_over():
                return
            time.sleep(0.1)
        self.fail(f"still running: {self.left_over()}")

    def left_over(self):
        """Processes that outlived the script."""
        found = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            try:
                if f"{MARK}={self.out}".encode() in path.read_bytes():
                    found.append(path.parent.name)
            except OSError:
                continue
        return found


if __name__ == "__main__":
    unittest.main()
