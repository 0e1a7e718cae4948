# SPDX-License-Identifier: Apache-2.0
"""What tools/gpu_check stands on: commands with limits, rivals that stay, the plan of phases."""
import json
import os
import shlex
import signal
import sys
import tarfile
import tempfile
import time
import types
import unittest
import unittest.mock
from pathlib import Path

import tools_path
import check
import phases
import processes
import profiles
import programs
import served

SLEEPER = "import sys, time; print('begun', flush=True); time.sleep(60)"


class Processes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name, "log.txt")
        self.log = processes.Log(self.path)
        self.addCleanup(self.log.file.close)

    def run_python(self, code, limit=30, **options):
        return processes.run([sys.executable, "-c", code], self.log, limit, **options)

    def test_output_and_status(self):
        ended = self.run_python("import sys; print('out'); print('err', file=sys.stderr); "
                                "sys.exit(5)")
        self.assertEqual((ended.status, ended.out, ended.err), (5, "out\n", "err\n"))
        self.assertEqual(ended.reason(), "exit status 5: err")
        self.assertIn("out\n", self.path.read_text())

    def test_a_command_is_ended_at_its_limit_with_its_children(self):
        code = "import signal, subprocess, sys\n" \
               f"child = subprocess.Popen([sys.executable, '-c', {SLEEPER!r}])\n" \
               "print(child.pid, flush=True)\n" \
               "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + SLEEPER
        ended = self.run_python(code, 3)
        self.assertIsNone(ended.status)
        self.assertIn("stopped after", ended.reason())
        child = int(ended.out.split()[0])
        for _ in range(100):  # until the system has cleared it away
            try:
                state = Path(f"/proc/{child}/stat").read_text().rsplit(")", 1)[1].split()[0]
            except FileNotFoundError:
                return
            if state == "Z":
                return
            time.sleep(0.05)
        self.fail("the child is still running")

    def test_output_reaches_the_log_before_the_command_ends(self):
        code = f"from pathlib import Path\nprint('early', flush=True)\n" \
               f"import time\nfor _ in range(400):\n" \
               f"    if 'early' in Path({str(self.path)!r}).read_text()[-20:]: break\n" \
               f"    time.sleep(0.05)\nelse:\n    raise SystemExit(1)"
        self.assertEqual(self.run_python(code).status, 0)

    def test_a_killed_command_is_told_from_one_that_failed(self):
        ended = self.run_python("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
        self.assertEqual(ended.reason(), f"ended by signal {int(signal.SIGKILL)}")

    def test_a_missing_program(self):
        ended = processes.run(["/none/at/all"], self.log, 5)
        self.assertEqual((ended.status, ended.reason()),
                         (127, "exit status 127: cannot start /none/at/all: No such file or "
                               "directory"))

    def test_the_log_stays_small(self):
        self.log.left = 10
        self.log.write(b"0123456789abcdef")
        self.log.write(b"more")
        self.assertEqual(self.path.read_bytes(), b"0123456789\n[the log is full]\n")


class Linnet(unittest.TestCase):
    """Check.bench() of a command that prints what the test wants, and the tuning it takes along."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.check = self.make("out")

    def make(self, out):
        where = types.SimpleNamespace(work=self.folder / f"work-{out}")
        made = check.Check(self.folder / out, where)
        made.programs = programs.Programs("sh", {}, "a test", dict(os.environ))
        made.end = time.monotonic() + 60
        self.addCleanup(made.log.file.close)
        return made

    def bench(self, row, status=0):
        return self.check.bench(["sh", "-c", f"echo {shlex.quote(json.dumps(row))}; exit {status}"])

    def test_a_row(self):
        self.assertEqual(self.bench({"notes": ["16 processors"], "failed": None}),
                         ({"notes": ["16 processors"], "failed": None}, None))
        self.assertEqual(self.bench({"failed": "the loss does not fall"}, 3)[1],
                         "the loss does not fall")

    def test_a_step_that_was_not_captured_is_a_failure(self):
        for note in ("the device cannot loop over steps (why): 16 steps a launch instead",
                     "steps cannot be captured in a graph (why): kernels are launched one by one"):
            self.assertEqual(self.bench({"notes": [note], "failed": None})[1], note)
            backend = Path(__file__).parents[2] / "src/backend/cuda/cuda_program.cpp"
            self.assertIn(note[:note.index(" (why)")], backend.read_text())

    def test_a_command_without_a_row_is_a_failure(self):
        self.assertEqual(self.check.bench(["sh", "-c", "echo no device >&2; exit 1"]),
                         (None, "exit status 1: no device"))
        self.assertEqual(self.check.bench(["sh", "-c", "kill -9 $$"]),
                         (None, "ended by signal 9"))

    def test_a_damaged_bundle_is_built_instead(self):
        whole = self.folder / "whole.tar.xz"
        with tarfile.open(whole, "w:xz") as tar:
            tar.add(__file__, "linnet-gpu/bin/linnet")
        content, damaged = whole.read_bytes(), self.folder / "damaged.tar.xz"
        built = programs.Programs("built", {}, "a test")
        for bad in (b"", b"nothing of the kind", content[:len(content) // 2]):
            damaged.write_bytes(bad)
            with unittest.mock.patch.multiple(programs, ROOT=self.folder, ARCHIVE=damaged,
                                              build=lambda check: built):
                self.check.rehearsal = None
                programs.get(self.check)
            self.assertIs(self.check.programs, built)
            self.assertIn("the bundle can't be unpacked", (self.check.out / check.LOG).read_text())

    def test_programs_that_do_not_start_are_built_instead(self):
        built = programs.Programs("built", {}, "a test")
        for why, word in (("libcudnn.so.9: cannot open shared object file", "built"),
                          ("no NVIDIA driver is installed", "bundle")):
            command = self.folder / "bin/linnet"
            command.parent.mkdir(exist_ok=True)
            command.write_text(f"#!/bin/sh\necho '{json.dumps({'cuda': {'unusable': why}})}'\n")
            command.chmod(0o755)
            with unittest.mock.patch.multiple(programs, ROOT=self.folder,
                                              build=lambda check: built):
                self.check.rehearsal = None
                programs.get(self.check)
            self.assertEqual(self.check.programs is built, word == "built", why)

    def test_measured_choices_are_a_result_and_go_along(self):
        kept = self.folder / "kept.json"
        kept.write_text("{}")
        with unittest.mock.patch.object(check, "KEPT_TUNING", kept):
            again = self.make("again")
        tuning = again.cache / "linnet" / check.TUNING
        self.assertEqual(tuning.read_text(), "{}")
        tuning.write_text('{"a": "b"}')
        again.keep_tuning()
        self.assertEqual((again.out / check.TUNING).read_text(), '{"a": "b"}')


class Rivals(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        Path(self.folder.name, "data.json").write_text('{"samples": 100}')
        null = open(os.devnull, "wb")
        self.addCleanup(null.close)
        environment = {**os.environ, "PYTHONPATH": str(tools_path.FAKES / "modules")}
        self.rival = served.Served(sys.executable, (), environment, null)
        self.addCleanup(self.rival.close)

    def prepare(self, *arguments, program=tools_path.FAKES / "rival.py"):
        return self.rival.ask({"program": str(program), "arguments": [
            "--data", self.folder.name, "--warmup", "1", *arguments]}, 60)

    def test_one_process_does_several_pieces_of_work(self):
        self.assertEqual(self.prepare("--mode", "graph"), {"ready": True})
        first = self.rival.ask({"epochs": 2}, 60)
        self.assertEqual((first["mode"], first["epochs"], len(first["losses"])), ("graph", 2, 3))
        again = self.rival.ask({"epochs": 3}, 60)  # from the first weights
        self.assertEqual((again["epochs"], again["losses"][:3]), (3, first["losses"]))
        longer = self.rival.ask({"epochs": 1, "seconds": 5 * first["timed_seconds"][0]}, 60)
        self.assertEqual(longer["epochs"], 5)
        self.assertEqual(self.prepare("--mode", "eager"), {"ready": True})
        self.assertEqual(self.rival.ask({"epochs": 1}, 60)["mode"], "eager")

    def test_a_failure_is_an_answer_and_the_process_goes_on(self):
        failed = self.prepare("--mode", "epoch", "--infer")["failed"]
        self.assertEqual(failed, "SystemExit: this rival can't predict, as it was asked not to")
        self.assertIn("FileNotFoundError", self.prepare(program="/none.py")["failed"])
        self.assertEqual(self.prepare(), {"ready": True})

    def test_one_may_be_begun_and_asked_later(self):
        self.rival.begin({"program": "/none.py", "arguments": []})
        for _ in range(200):
            if self.rival.answered():
                break
            time.sleep(0.05)
        self.assertIn("FileNotFoundError", self.rival.answer(0)["failed"])

    def test_one_that_takes_too_long_is_ended(self):
        answer = self.rival.ask({"program": "-", "arguments": []}, 0)
        self.assertEqual(answer, {"failed": "took longer than 0 s"})
        self.assertFalse(self.rival.alive())
        self.assertIn("failed", self.rival.ask({"epochs": 1}, 5))

    def test_one_that_dies_is_an_answer(self):
        os.killpg(self.rival.process.pid, signal.SIGKILL)
        self.assertIn("status -9", self.prepare()["failed"])


class Plan(unittest.TestCase):
    def test_the_phases_fit_into_their_call(self):
        self.assertEqual(phases.SECONDS, {1: 330, 2: 320})
        for number, of_it in phases.CALLS.items():
            self.assertLessEqual(sum(phase.seconds for phase in of_it if not phase.spare),
                                 phases.SECONDS[number])
        names = [phase.name for phase in phases.ALL]
        self.assertEqual(len(names), len(set(names)))

    def test_results_are_few_files(self):
        self.assertLessEqual(len(check.FILES), 8)
        for name in check.FILES:
            self.assertRegex(name, r"^[A-Za-z0-9._-]+$")

    def test_hottest_kernels(self):
        table = '==PROF== x\n"Kernel Name","Metric Name","Metric Value"\n' + "".join(
            f'"{name}","gpu__time_duration.sum","{value}"\n'
            for name, value in (("a(int)", "1,000"), ("b<(int)2>(int)", "6000"),
                                ("a(int)", "1000")))
        self.assertEqual(profiles.hottest(table, 1), [("b<(int)2>(int)", 0.75)])
        self.assertEqual(profiles.hottest("nothing"), [])

    def test_a_kernels_base_name(self):
        for kernel, base in (
                ("void linnet::cuda::<unnamed>::forward<float, (int)2>(Args)", "forward"),
                ("linnet::cuda::(anonymous namespace)::step(linnet::LoopState *)", "step"),
                ("sm90_xmma_fprop_tf32_kernel__5x_cudnn", "sm90_xmma_fprop_tf32_kernel__5x_cudnn")):
            self.assertEqual(profiles.base_name(kernel), base)


if __name__ == "__main__":
    unittest.main(buffer=True)
