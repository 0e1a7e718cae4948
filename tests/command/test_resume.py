# SPDX-License-Identifier: Apache-2.0
"""A training that was killed, whenever, and continued ends as one that never was.

LINNET_RESUME_KILLS=200 kills more often than the 30 times of continuous integration."""
import concurrent.futures
import json
import os
import pathlib
import pty
import random
import signal
import tempfile
import time
import unittest

import command

KILLS = int(os.environ.get("LINNET_RESUME_KILLS", "30"))
SHIM = os.environ.get("LINNET_FAULT_SHIM", "")
SANITIZED = os.environ.get("LINNET_SANITIZED", "")

# All that a training keeps: running statistics, dropout, augmentation, moments, what the schedule
# and early stopping remember.
KEEPS = """[network]
input = [28, 28, 1]
layers = [
  {type = "rescale"},
  {type = "conv2d", filters = 4}, {type = "batch_norm"}, {type = "relu"},
  {type = "max_pool2d", size = 3}, {type = "flatten"}, {type = "dropout", rate = 0.2},
  {type = "dense", units = 10},
]
[data]
path = "patterns"
validation = 0.2
[optimizer]
kind = "adam"
learning_rate = 0.003
[schedule]
kind = "plateau"
patience = 0
threshold = 0.3
[augment]
flip = 0.5
mixup = 0.2
[training]
epochs = %d
batch = 8
patience = 50
seed = 5
checkpoint_every = "3steps"
device = "cpu"
"""

TIMES = ("seconds", "samples_per_second")


class Resume(command.CommandTest):
    def setUp(self):
        super().setUp()
        # In memory, where fsync costs nothing: hundreds of trainings write thousands of files.
        if os.access("/dev/shm", os.W_OK):
            memory = tempfile.TemporaryDirectory(prefix="linnet-command-", dir="/dev/shm")
            self.addCleanup(memory.cleanup)
            self.folder = pathlib.Path(memory.name)

    def prepare(self, epochs=6, train=400):
        command.write_mnist(self.folder / "patterns", train=train)
        (self.folder / "net.toml").write_text(KEEPS % epochs)

    def prepare_points(self):
        command.write_points(self.folder / "points")
        (self.folder / "net.toml").write_text(
            command.POINTS % '{type = "dropout", rate = 0.2}, ' +
            '[training]\nepochs = 3\nbatch = 16\ncheckpoint_every = "3steps"\ndevice = "cpu"\n')

    def outcome(self, run):
        """What is the same for every run: the model's bytes, the metrics, and the history but for
        times."""
        folder = self.folder / run
        history = self.history(folder)
        for epoch in history:
            for key in TIMES:
                epoch.pop(key)
        return ((folder / "model.safetensors").read_bytes(), (folder / "metrics.json").read_text(),
                history)

    def reference(self):
        begin = time.monotonic()
        self.run_linnet("train", "net.toml", "--out", "whole", "--threads", 1)
        return self.outcome("whole"), time.monotonic() - begin

    def assert_same(self, run, whole, message=None):
        for got, expected in zip(self.outcome(run), whole):
            self.assertTrue(got == expected, (run, message))
        left = [path.name for path in (self.folder / run).rglob(".linnet-*")]
        self.assertEqual(left, [], "nothing is left over")

    def kill_and_continue(self, number, seconds):
        """Kills a training at random instants, then lets it end; returns whether it was killed after
        its first checkpoint."""
        rng = random.Random(number)
        run = f"run{number}"
        train = ("train", "net.toml", "--resume", run, "--threads", 1 + number % 2)
        within = False
        for _ in range(rng.choice((1, 1, 2))):
            process = self.start(*train)
            try:
                process.wait(timeout=rng.uniform(0.01, 1.3 * seconds))
            except command.subprocess.TimeoutExpired:
                process.kill()
            process.communicate()
            folder = self.folder / run
            within = within or (any(folder.glob("checkpoints/*.safetensors")) and
                                not (folder / "summary.json").exists())
        self.run_linnet(*train)
        return within

    def test_killed_at_any_instant(self):
        self.prepare(epochs=20)
        whole, seconds = self.reference()
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            within = list(pool.map(lambda n: self.kill_and_continue(n, seconds), range(KILLS)))
        for number in range(KILLS):
            self.assert_same(f"run{number}", whole)
        self.assertGreater(sum(within), KILLS // 3)

    def run_with_fault(self, run, at, kind, *arguments):
        """A training of which call `at` on its folder fails; its status, errors and calls."""
        log = self.folder / f"{run}.log"
        environment = {**os.environ, "LD_PRELOAD": SHIM, "LINNET_FAULT_AT": str(at),
                       "LINNET_FAULT_KIND": kind, "LINNET_FAULT_LOG": str(log),
                       "LINNET_FAULT_FOLDER": str((self.folder / run).resolve())}
        process = self.start("train", "net.toml", "--resume", run, "--threads", 1, *arguments,
                             env=environment)
        _, err = process.communicate(timeout=60)
        calls = [line.split(" ", 2)[1:] for line in log.read_text().splitlines()]
        return process.returncode, err, calls

    def chosen_calls(self, calls):
        """All calls but of the writes to one file the first, the middle and the last."""
        chosen, writes = [], []
        for number, (kind, _) in enumerate(calls, 1):
            if kind == "write":
                writes.append(number)
                continue
            chosen += sorted({writes[0], writes[len(writes) // 2], writes[-1]}) if writes else []
            writes = []
            chosen.append(number)
        return chosen

    @unittest.skipIf(not SHIM or SANITIZED, "a sanitizer comes first among preloaded libraries")
    def test_each_call_fails_in_turn(self):
        self.prepare_points()
        whole, _ = self.reference()
        status, _, calls = self.run_with_fault("all", 0, "fail")
        self.assertEqual(status, 0)
        self.assert_same("all", whole)
        chosen = self.chosen_calls(calls)
        for kind in ("open", "write", "fsync", "rename", "mkdir", "remove"):
            self.assertTrue([number for number in chosen if calls[number - 1][0] == kind], kind)

        def stopped(at):
            """A training that ends where it can't save, and goes on from what it has saved."""
            run = f"stop{at}"
            status, err, _ = self.run_with_fault(run, at, "fail")
            call, name = calls[at - 1]
            # Some calls only clean up, or make what is not a checkpoint more durable.
            harmless = (call == "remove" or name == ".linnet-lock" or
                        (call == "fsync" and name == "."))
            if not harmless:
                self.assertEqual(status, 2, (at, calls[at - 1], err))
                self.assertRegex(err.splitlines()[-1], r"^linnet: error: .*cannot [^\n]*: No space")
            self.run_linnet("train", "net.toml", "--resume", run)
            self.assert_same(run, whole, (at, calls[at - 1]))

        def proceeded(at):
            """One that goes on all the same, unless what it can't write is its result."""
            run = f"on{at}"
            status, err, _ = self.run_with_fault(run, at, "fail", "--on-failed-save", "continue")
            call, name = calls[at - 1]
            if status == 0:
                reported = (call == "remove" or name in (".", ".linnet-lock") or
                            "No space left" in err)
                self.assertTrue(reported, (at, calls[at - 1], err))
            else:
                self.assertNotIn("checkpoints", name, err)
                self.run_linnet("train", "net.toml", "--resume", run)
            # A line of the history may be missing: it could not be written.
            self.assertTrue(self.outcome(run)[0] == whole[0], (at, calls[at - 1]))

        def killed(at):
            """One that is killed in the middle of a call."""
            run = f"kill{at}"
            status, err, _ = self.run_with_fault(run, at, "kill")
            self.assertEqual(status, -signal.SIGKILL, err)
            self.run_linnet("train", "net.toml", "--resume", run)
            self.assert_same(run, whole, (at, calls[at - 1]))

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for test in (stopped, proceeded, killed):
                list(pool.map(test, chosen))

    @unittest.skipIf(not SHIM or SANITIZED, "a sanitizer comes first among preloaded libraries")
    def test_a_power_cut_finds_a_checkpoint(self):
        self.prepare_points()
        _, _, calls = self.run_with_fault("run", 0, "fail")
        durable = 0  # checkpoints that a power cut leaves
        removed = 0
        for number, (kind, name) in enumerate(calls):
            if kind == "rename" and name.startswith("checkpoints/"):
                # All was written and brought to the disk; then the new name.
                self.assertEqual(calls[number - 1][0], "fsync")
                self.assertRegex(calls[number - 1][1], r"^checkpoints/\.linnet-.*\.tmp$")
                self.assertEqual(calls[number + 1], ["fsync", "checkpoints"])
                durable += 1
            if kind == "remove" and name.startswith("checkpoints/"):
                removed += 1
                self.assertGreaterEqual(durable - removed, 2)
        self.assertGreater(removed, 0)
        made = calls.index(["mkdir", "checkpoints"])
        self.assertEqual(calls[made + 1], ["fsync", "."])

    def test_a_signal_saves_within_two_seconds(self):
        self.prepare(epochs=40)
        whole, _ = self.reference()
        train = ("train", "net.toml", "--resume", "run")
        checkpoints = self.folder / "run/checkpoints"

        def newest():
            return max((path.name for path in checkpoints.glob("*.safetensors")), default="")
        for _ in range(3):
            before = newest()
            process = self.start(*train)
            while newest() == before:  # checkpoints are numbered by steps, of which 1,600 are to come
                self.assertIsNone(process.poll())
                time.sleep(0.001)
            process.send_signal(signal.SIGTERM)
            begin = time.monotonic()
            saved = None
            for line in process.stderr:
                if "the model is saved" in line or "as it was" in line or "nothing is" in line:
                    saved = saved or time.monotonic() - begin
            process.communicate()
            self.assertEqual(process.returncode, 130)
            self.assertLess(saved, 2)
        _, err = self.run_linnet(*train)
        self.assertRegex(err, r"linnet: continuing from 'run/checkpoints/checkpoint-\d{12}\."
                              r"safetensors', epoch \d+ after step \d+\n")
        self.assert_same("run", whole)

    def test_a_signal_in_the_evaluation_after_a_patience_end(self):
        command.write_mnist(self.folder / "patterns", train=100, test=10)
        count = 60000  # test images: they take a second
        for name, dims, data in (("images", (count, 28, 28), bytes(784 * count)),
                                 ("labels", (count,), bytes(i % 10 for i in range(count)))):
            (self.folder / f"patterns/t10k-{name}-idx{len(dims)}-ubyte").write_bytes(
                command.idx(dims, data))
        (self.folder / "net.toml").write_text(
            KEEPS.replace("patience = 50", "patience = 1").replace("0.003", "0.2") % 50)
        whole, _ = self.reference()
        self.assertLess(len(whole[2]), 50, "the patience has ended")
        master, slave = pty.openpty()  # where progress is drawn ten times a second
        self.addCleanup(os.close, master)
        process = command.subprocess.Popen(
            [command.LINNET, "train", "net.toml", "--resume", "run", "--threads", "1"],
            cwd=self.folder, stdout=command.subprocess.DEVNULL, stderr=slave,
            env={**os.environ, "TERM": "xterm"})
        os.close(slave)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        shown = b""

        def read():
            try:
                return os.read(master, 4096)
            except OSError:  # the process has ended
                return b""
        while f"/{count} samples".encode() not in shown:
            shown += (more := read())
            self.assertTrue(more, shown)
        process.send_signal(signal.SIGTERM)
        while more := read():
            shown += more
        self.assertEqual(process.wait(timeout=60), 130)
        self.assertIn(b"the model is saved in 'run/model.safetensors'; evaluating it", shown)
        self.run_linnet("train", "net.toml", "--resume", "run", "--threads", 2)
        self.assert_same("run", whole)

    def test_a_damaged_checkpoint_is_named(self):
        self.prepare(epochs=20)
        whole, _ = self.reference()
        status, _ = self.run_stopped("run")
        self.assertEqual(status, -signal.SIGKILL)
        newest = sorted((self.folder / "run/checkpoints").glob("*.safetensors"))[-1]
        data = bytearray(newest.read_bytes())
        data[len(data) // 3] ^= 16
        newest.write_bytes(data)
        _, err = self.run_linnet("train", "--resume", "run")
        self.assertIn(f"linnet: cannot read 'run/checkpoints/{newest.name}': it is damaged: its bytes do not match its checksum\n", err)
        self.assert_same("run", whole)

    def run_stopped(self, run):
        """A training that was killed after it wrote some checkpoints."""
        process = self.start("train", "net.toml", "--out", run)
        checkpoints = self.folder / run / "checkpoints"
        while process.poll() is None and len(list(checkpoints.glob("*.safetensors"))) < 2:
            time.sleep(0.001)
        process.kill()
        process.communicate()
        return process.returncode, checkpoints

    def test_what_differs_is_named(self):
        self.prepare(epochs=20)
        status, checkpoints = self.run_stopped("run")
        self.assertEqual(status, -signal.SIGKILL)
        newest = max(path.name for path in checkpoints.glob("*.safetensors"))
        begin = f"the checkpoint 'run/checkpoints/{newest}' was written by a fit with "
        resume = ("train", "--resume", "run")
        self.assert_error(begin + "batch 8; this one has 16", *resume, "--batch", 16)
        self.assert_error(begin + "epochs 20; this one has 4", *resume, "--epochs", 4)
        self.assert_error(begin + "seed 5; this one has 6", *resume, "--seed", 6)
        self.assert_error(begin + "optimizer learning_rate 0.003; this one has 0.1", *resume,
                          "--lr", 0.1)
        self.assert_error("--out excludes --resume", *resume, "--out", "other")
        command.write_mnist(self.folder / "patterns", train=392)
        _, err = self.run_linnet(*resume, status=2)
        self.assertRegex(err, "was written by a fit with training set 320 samples, checksum "
                              "[0-9a-f]{8}; this one has 314 samples, checksum [0-9a-f]{8}\n$")

    def test_a_folder_that_another_training_holds(self):
        self.prepare(epochs=100000)
        process = self.start("train", "net.toml", "--out", "run")
        self.addCleanup(lambda: process.poll() is None and process.kill())
        checkpoints = self.folder / "run/checkpoints"
        while not any(checkpoints.glob("*.safetensors")):
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        self.assert_error(f"the folder 'run' is in use by process {process.pid}: another training writes to it; "
                          "wait until it has ended", "train", "--resume", "run")
        process.kill()
        process.communicate()
        lock = self.folder / "run/.linnet-lock"
        lock.unlink()
        lock.symlink_to("nowhere")
        self.assert_error("'run/.linnet-lock' is a link, not a lock; delete it", "train", "--resume",
                          "run")

    def test_a_finished_run_stays(self):
        self.prepare_points()
        summary = self.run_json("train", "net.toml", "--out", "run")
        before = {path: path.stat().st_mtime_ns for path in (self.folder / "run").rglob("*")}
        out, err = self.run_linnet("train", "--resume", "run", "--json")
        self.assertEqual(err, "linnet: the run in 'run' is finished\n")
        self.assertEqual(json.loads(out), summary)
        after = {path: path.stat().st_mtime_ns for path in (self.folder / "run").rglob("*")}
        after.pop(self.folder / "run", None)
        before.pop(self.folder / "run", None)
        self.assertEqual(after, before)

    def test_what_is_no_run(self):
        self.assert_error("the folder 'none' has no run to continue (no run.json)", "train",
                          "--resume", "none")
        (self.folder / "run").mkdir()
        (self.folder / "run/run.json").write_text("{")
        self.assert_error("'run/run.json' is not valid JSON (byte 2)", "train", "--resume", "run")
        (self.folder / "run/run.json").write_text('{"format": 7}')
        self.assert_error("'run/run.json' has format 7; this version reads format 1", "train",
                          "--resume", "run")
        self.assert_error("--checkpoint-every: expected a time (30s, 10m, 2h), a number of steps (500steps) or epoch; got '10'", "train", "--workload",
                          "mnist-cnn", "--checkpoint-every", 10)


if __name__ == "__main__":
    unittest.main()
