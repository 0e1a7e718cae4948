# SPDX-License-Identifier: Apache-2.0
"""`linnet launch`: ranks of one machine, what it says of one that dies, restarts and signals."""
import hashlib
import json
import os
import pathlib
import random
import re
import signal
import struct
import subprocess
import tempfile
import time
import unittest

from command import LINNET, write_mnist

PROBE = os.environ.get("RANKS_PROBE", "")
# The sanitizers report what MPI itself does.
MPIEXEC = "" if os.environ.get("LINNET_SANITIZED") else os.environ.get("RANKS_MPIEXEC", "")
HANGS = 120  # seconds after which a test that hangs ends; no assertion is about time


def tensors(file):
    """The bytes of a safetensors file without its header, whose metadata name times and machines."""
    data = pathlib.Path(file).read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    return hashlib.sha256(data[8 + length:]).hexdigest()


def write_cifar(folder):
    """Two classes of noise as files of CIFAR-10: 16 images to train on, 8 to test."""
    folder.mkdir()
    for name, count in (("data_batch_1.bin", 16), ("test_batch.bin", 8)):
        rng = random.Random(name)
        (folder / name).write_bytes(b"".join(
            bytes([i % 2, *(rng.randrange(100) + 100 * (i % 2) for _ in range(3072))])
            for i in range(count)))


def write_texts(folder):
    """Reviews of several lengths, whose words tell the class: 43 to train on, 8 to test."""
    folder.mkdir()
    for name, count in (("train", 43), ("test", 8)):
        rng = random.Random(name)
        (folder / f"{name}.tsv").write_text("".join(
            f"{i % 2}\t" + " ".join(f"word{i % 2 * rng.randrange(20)}"
                                    for _ in range(rng.randrange(2, 30))) + "\n"
            for i in range(count)))


class Launched:
    """`linnet launch` at work."""

    def __init__(self, *arguments, cwd=None):
        self.process = subprocess.Popen([LINNET, "launch", *arguments], cwd=cwd, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def end(self):
        out, err = self.process.communicate(timeout=HANGS)
        return self.process.returncode, out, err


def wait_until(true, what):
    end = time.monotonic() + HANGS
    while not true():
        if time.monotonic() > end:
            raise AssertionError(f"this never came: {what}")
        time.sleep(0.02)


class Launch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.logs = self.folder / "logs"

    def launch(self, *arguments):
        launched = Launched(*arguments, cwd=self.folder)
        self.addCleanup(launched.process.stdout.close)
        self.addCleanup(launched.process.stderr.close)
        self.addCleanup(launched.process.wait)
        self.addCleanup(launched.process.kill)
        return launched

    def run_launch(self, *arguments):
        return self.launch(*arguments).end()

    def process_of(self, rank):
        """The process of a rank that writes to a file, once it has met the others."""
        log = self.logs / f"rank-{rank}.log"
        found = []

        def begun():
            text = log.read_text() if log.exists() else ""
            found[:] = re.findall(r": process (\d+)", text)
            return found

        wait_until(begun, f"rank {rank}")
        return int(found[-1])


@unittest.skipUnless(PROBE, "the Gloo plug-in is not built")
class LaunchedPrograms(Launch):
    def probe(self, *arguments, launch=("-n", "4")):
        return self.launch(*launch, "--logs", str(self.logs), "--program", PROBE, "--", "gloo",
                           *arguments)

    def test_rank_0_alone_is_on_the_terminal(self):
        code, out, err = self.probe("2", "1000", "0").end()
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(re.findall(r"rank \d of 4", out), ["rank 0 of 4"])
        for rank in (1, 2, 3):
            self.assertIn(f"rank {rank} of 4", (self.logs / f"rank-{rank}.log").read_text())

    def test_a_killed_rank_is_named_and_all_end(self):
        launched = self.probe("1000000", "1000", "1", "2")
        os.kill(self.process_of(2), signal.SIGKILL)
        code, _, err = launched.end()
        self.assertEqual(code, 4)
        self.assertRegex(err, r"probe: lost rank: rank 2 ended in the sum of gradients at step \d+\n")
        self.assertIn(f"linnet: rank 2 was ended by signal 9 (Killed); output of the other ranks: "
                      f"{self.logs}\n", err)

    def test_a_stopped_rank_is_named_and_killed(self):
        launched = self.probe("1000000", "1000", "1", "1")
        stopped = self.process_of(3)
        os.kill(stopped, signal.SIGSTOP)
        code, _, err = launched.end()
        self.assertEqual(code, 4)
        self.assertIn("linnet: rank 3 was stopped by a signal; ", err)
        self.assertFalse(os.path.exists(f"/proc/{stopped}"))

    def test_a_rank_that_fails_is_quoted(self):
        code, _, err = self.probe("1", "1000", "0", "none").end()
        self.assertEqual(code, 2)
        self.assertRegex(err, r"linnet: rank \d ended with exit status 2")

    def test_all_are_restarted_so_often(self):
        launched = self.probe("1000000", "1000", "1", "2", launch=("-n", "2", "--max-restarts", "1"))
        first = self.process_of(1)
        os.kill(first, signal.SIGKILL)
        wait_until(lambda: self.process_of(1) != first, "the restart")
        os.kill(self.process_of(1), signal.SIGKILL)
        code, _, err = launched.end()
        self.assertEqual(code, 4)
        self.assertEqual(re.findall(r"linnet: rank 1 was ended by signal 9 \(Killed\); (\w+)", err),
                         ["restart", "output"])

    def test_signals_are_passed_on(self):
        launched = self.probe("1000000", "1000", "1")
        ranks = [self.process_of(rank) for rank in (1, 2, 3)]
        launched.process.send_signal(signal.SIGTERM)
        code, _, _ = launched.end()
        self.assertNotEqual(code, 0)
        for process in ranks:
            self.assertFalse(os.path.exists(f"/proc/{process}"))

    def test_no_rank_outlives_the_launcher(self):
        launched = self.probe("1000000", "1000", "1")
        rank = self.process_of(1)
        launched.process.kill()
        wait_until(lambda: not os.path.exists(f"/proc/{rank}"), "the end of rank 1")

    def test_what_cannot_be_launched_is_said(self):
        code, _, err = self.run_launch("-n", "3", "--", "train")
        self.assertEqual(code, 2)
        self.assertIn("expected a power of two up to 1024 for -n; got 3", err)
        code, _, err = self.run_launch("-n", "2", "--max-restarts", "1", "--", "train", "a.toml")
        self.assertEqual(code, 2)
        self.assertIn("--max-restarts needs the run folder that a restart continues", err)


@unittest.skipUnless(PROBE, "the Gloo plug-in is not built")
class LaunchedTrainings(Launch):
    def setUp(self):
        super().setUp()
        write_mnist(self.folder / "data")
        self.arguments = ["train", "--workload", "mnist-cnn", "--data", str(self.folder / "data"),
                          "--batch", "50", "--shards", "4", "--threads", "1", "--epochs", "2"]

    def train(self, ranks, out, *more):
        code, _, err = self.run_launch("-n", str(ranks), "--", *self.arguments, "--out", out, *more)
        self.assertEqual(code, 0, err)
        return tensors(self.folder / out / "model.safetensors")

    def test_the_weights_do_not_depend_on_the_ranks(self):
        one = self.train(1, "one")
        self.assertEqual(self.train(2, "two"), one)
        self.assertEqual(self.train(4, "four"), one)
        summary = json.loads((self.folder / "four" / "summary.json").read_text())
        self.assertEqual(summary["interrupted"], False)

    def test_the_weights_do_not_depend_on_the_buckets(self):
        configuration = self.folder / "buckets.toml"
        configuration.write_text("""
            [data]
            path = "data"
            [network]
            input = [28, 28, 1]
            layers = [{ type = "rescale" }, { type = "flatten" }, { type = "dense", units = 100 },
                      { type = "relu" }, { type = "dense", units = 100 }, { type = "dense", units = 10 }]
            [training]
            batch = 50
            epochs = 1
            bucket_bytes = 40_000
            """)
        found = []
        for more in (["--bucket", "1KiB"], ["--bucket", "1MiB"], []):
            code, _, err = self.run_launch("-n", "2", "--", "train", str(configuration), "--threads", "1",
                                           "--out", f"buckets {len(found)}", *more)
            self.assertEqual(code, 0, err)
            found.append(tensors(self.folder / f"buckets {len(found)}" / "model.safetensors"))
        self.assertEqual(found, [found[0]] * 3)
        for wrong in ("0", "-1", "MiB"):
            code, _, err = self.run_launch("-n", "1", "--", *self.arguments, "--bucket", wrong)
            self.assertEqual(code, 2, err)
            self.assertIn("--bucket", err)

    def test_a_run_whose_rank_is_killed_ends_with_the_same_bits(self):
        whole = self.train(2, "whole")
        launched = self.launch("-n", "2", "--max-restarts", "3", "--logs", str(self.logs), "--",
                               *self.arguments, "--out", "killed", "--checkpoint-every", "1steps")
        checkpoints = self.folder / "killed" / "checkpoints"
        wait_until(lambda: list(checkpoints.glob("*.safetensors")), "a checkpoint")
        children = pathlib.Path(f"/proc/{launched.process.pid}/task/{launched.process.pid}/children")
        os.kill(int(children.read_text().split()[1]), signal.SIGKILL)
        code, _, err = launched.end()
        self.assertEqual(code, 0, err)
        self.assertIn("rank 1 was ended by signal 9 (Killed); restart 1 of 3 from the last", err)
        self.assertEqual(tensors(self.folder / "killed" / "model.safetensors"), whole)

    def test_the_weights_of_other_networks_do_not_depend_on_the_ranks(self):
        write_cifar(self.folder / "cifar")
        write_texts(self.folder / "texts")
        for workload, data, batch in (("vgg-cifar10", "cifar", 8), ("gru-imdb", "texts", 18),
                                      ("resnet50-cifar10", "cifar", 8)):
            arguments = ["train", "--workload", workload, "--data", data, "--batch", str(batch),
                         "--shards", "4", "--threads", "1", "--epochs", "1", "--device", "cpu"]
            ways = {f"{ranks} by launch": [LINNET, "launch", "-n", str(ranks), "--"]
                    for ranks in (1, 2, 4)}
            if MPIEXEC:
                ways["4 by MPI"] = [MPIEXEC, "--allow-run-as-root", "--oversubscribe", "-n", "4",
                                    LINNET]
            ways = {way: (start, []) for way, start in ways.items()}
            for ranks in ("1", "2"):
                ways[f"{ranks} side by side"] = [LINNET, "launch", "-n", ranks, "--"], ["--side-by-side"]
            found = {}
            for way, (start, more) in ways.items():
                out = f"{workload} {way}"
                process = subprocess.run([*start, *arguments, *more, "--out", out],
                                         cwd=self.folder, text=True, capture_output=True,
                                         timeout=HANGS)
                self.assertEqual(process.returncode, 0, f"{out}: {process.stderr}")
                found[way] = tensors(self.folder / out / "model.safetensors")
            self.assertEqual(len(set(found.values())), 1, (workload, found))

    def test_an_error_of_one_rank_is_said_by_the_others(self):
        code, _, err = self.run_launch("-n", "2", "--", *self.arguments, "--out", "x", "--loss", "mse")
        self.assertNotEqual(code, 0)
        self.assertIn("linnet: error: ", err)

    def test_ranks_with_data_of_their_own_are_refused(self):
        """Equally many samples, valid all of them: one pixel or one label differs."""
        program = self.folder / "with_own_data"
        program.write_text(f'#!/bin/sh\nexec "{LINNET}" "$@" --data "data-$RANK"\n')
        program.chmod(0o755)
        for differs, part in (("train-images-idx3-ubyte", "training set"),
                              ("train-labels-idx1-ubyte", "training set"),
                              ("t10k-images-idx3-ubyte", "test set")):
            for rank in range(2):
                write_mnist(self.folder / f"data-{rank}")
            file = self.folder / "data-1" / differs
            content = bytearray(file.read_bytes())
            content[-1] ^= 1
            file.write_bytes(content)
            code, _, err = self.run_launch("-n", "2", "--program", str(program), "--", "train",
                                           "--workload", "mnist-cnn", "--epochs", "1", "--out", "mixed")
            self.assertNotEqual(code, 0)
            self.assertRegex(err, f"{part} differs between ranks: \\d+ samples, checksum \\w+ on rank 0, "
                                  "\\d+ samples, checksum \\w+ on rank 1")

    def test_a_signal_saves_first(self):
        launched = self.launch("-n", "2", "--", *self.arguments[:-1], "1000", "--out", "stopped",
                               "--checkpoint-every", "1steps")
        checkpoints = self.folder / "stopped" / "checkpoints"
        wait_until(lambda: list(checkpoints.glob("*.safetensors")), "a checkpoint")
        launched.process.send_signal(signal.SIGINT)
        code, _, err = launched.end()
        self.assertEqual(code, 130, err)
        self.assertIn("everything so far is saved", err)


if __name__ == "__main__":
    unittest.main()
