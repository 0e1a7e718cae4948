# SPDX-License-Identifier: Apache-2.0
import json
import os
import pty
import signal
import time
import unittest

import command

# Steps and batches of so wide a network take long enough to be caught in one.
SLOW = """[network]
input = [28, 28, 1]
layers = [
  {type = "rescale"},
  {type = "conv2d", filters = 64, padding = "same"}, {type = "relu"},
  {type = "conv2d", filters = 64, padding = "same"}, {type = "relu"},
  {type = "conv2d", filters = 64, padding = "same"}, {type = "relu"},
  {type = "global_avg_pool2d"}, {type = "dense", units = 10},
]
[data]
path = "patterns"
[training]
epochs = 1
batch = 8
threads = 1
device = "cpu"
"""


class Interrupt(command.CommandTest):
    def start_training(self, *arguments, out="run"):
        """A training that would take hours; returns once its first progress line is out."""
        if not (self.folder / "patterns").exists():
            command.write_mnist(self.folder / "patterns")
        data = () if "--data" in arguments else ("--data", "patterns")
        process = self.start("train", "--workload", "mnist-cnn", *data, "--epochs", 100000000,
                             "--out", out, "--json", "--threads", 1, *arguments)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        for line in process.stderr:
            if line.startswith("epoch 1/"):
                return process
        self.fail("no progress line")

    def start_slow(self, train, test):
        """On a terminal, where progress is shown many times a second; returns it and its text."""
        folder = self.folder / "patterns"
        folder.mkdir()
        for name, count in (("train", train), ("t10k", test)):
            (folder / f"{name}-images-idx3-ubyte").write_bytes(
                command.idx((count, 28, 28), bytes(784) * count))
            (folder / f"{name}-labels-idx1-ubyte").write_bytes(
                command.idx((count,), bytes(i % 10 for i in range(count))))
        (self.folder / "slow.toml").write_text(SLOW)
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        process = command.subprocess.Popen(
            [command.LINNET, "train", "slow.toml", "--out", "run"], cwd=self.folder,
            stdout=command.subprocess.DEVNULL, stderr=slave, start_new_session=True,
            env={**os.environ, "TERM": "xterm"})
        os.close(slave)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        return process, master

    def wait_for(self, text, terminal):
        """Reads what the process shows until that text."""
        shown = b""
        while text.encode() not in shown:
            try:
                more = os.read(terminal, 4096)
            except OSError:  # the process has ended
                more = b""
            self.assertTrue(more, f"no '{text}' in {shown.decode(errors='replace')}")
            shown += more

    def test_saves_everything(self):
        for name in ("SIGINT", "SIGTERM"):
            with self.subTest(name):
                process = self.start_training(out=name)
                process.send_signal(getattr(signal, name))
                out, err = process.communicate(timeout=120)
                self.assertEqual(process.returncode, 130, err)
                self.assertTrue(err.endswith(
                    f"linnet: interrupted; everything so far is saved in {name}; to continue: linnet train "
                    f"--resume {name}\n"), err)
                # What was trained is saved before it is evaluated; epochs that were done before
                # the signal have their own lines.
                self.assertLess(err.index(f"the model is saved in '{name}/model.safetensors'"),
                                max(err.rfind("; test loss"), err.rfind("linnet: interrupted; everything")))
                summary = json.loads(out)
                self.assertTrue(summary["interrupted"])
                folder = self.folder / name
                self.assertEqual(json.loads((folder / "summary.json").read_text()), summary)
                last = json.loads((folder / "history.jsonl").read_text().splitlines()[-1])
                self.assertEqual(last["epoch"], summary["epochs"])
                self.assertIn("(interrupted)", (folder / "report.html").read_text())
                self.assertFalse((folder / ".linnet-lock").exists())
                (self.folder / "some").write_bytes(command.idx((1, 28, 28), bytes(784)))
                self.run_linnet("predict", folder / "model.safetensors", "some")

    def test_a_quiet_training_says_how_to_continue(self):
        command.write_mnist(self.folder / "patterns")
        process = self.start("train", "--workload", "mnist-cnn", "--data", "patterns", "--epochs", 100000000, "--out", "run",
                             "--threads", 1, "--quiet")
        self.addCleanup(lambda: process.poll() is None and process.kill())
        while not (self.folder / "run/progress.json").exists():
            self.assertIsNone(process.poll())
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)
        self.assertRegex(err, r"^linnet: interrupted; the model is saved in 'run/model.safetensors'; [^\n]*\n"
                              r"linnet: interrupted; everything so far is saved in run; to continue: linnet train "
                              r"--resume run\n$")

    def caught(self, process):
        """Whether the process has a handler for SIGINT."""
        with open(f"/proc/{process.pid}/status") as status:
            masks = dict(line.split(":\t") for line in status if line.startswith("Sig"))
        return int(masks["SigCgt"], 16) >> (signal.SIGINT - 1) & 1

    def test_the_second_one_kills(self):
        # Steps of 20,000 samples: the first Ctrl-C is still waiting for the end of one.
        process = self.start_training("--data", "digits", "--batch", 20000)
        self.assertEqual(self.caught(process), 1)
        process.send_signal(signal.SIGINT)
        while self.caught(process):
            pass
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
        self.assertEqual(process.returncode, -signal.SIGINT)

    def test_loading_ends_at_once_and_leaves_nothing(self):
        # Images that take minutes to decode: one large file under many names.
        for name in ("a", "b"):
            (self.folder / "images" / name).mkdir(parents=True)
        (self.folder / "image.png").write_bytes(command.png(bytes(6000 * 6000), 6000, 6000))
        for i in range(4000):
            link = self.folder / "images" / "ab"[i % 2] / f"{i}.png"
            link.symlink_to(self.folder / "image.png")
        (self.folder / "images.toml").write_text(
            '[network]\ninput = [28, 28, 1]\nlayers = [{type = "flatten"}, {type = "dense", '
            'units = 2}]\n[data]\npath = "images"\nimage_size = 28\n')
        for name in ("SIGINT", "SIGTERM"):
            with self.subTest(name):
                process = self.start("train", "images.toml", "--out", "new/run")
                self.addCleanup(lambda p=process: p.poll() is None and p.kill())
                # Several threads: it is decoding.
                while len(os.listdir(f"/proc/{process.pid}/task")) < 2:
                    self.assertIsNone(process.poll())
                self.assertTrue((self.folder / "new/run/.linnet-lock").exists())
                process.send_signal(getattr(signal, name))
                _, err = process.communicate(timeout=60)  # decoding would take longer
                self.assertEqual(process.returncode, 130, err)
                self.assertEqual(err, "\nlinnet: interrupted before the first step; nothing is saved\n")
                self.assertFalse((self.folder / "new").exists())

    def test_an_evaluation_is_interrupted(self):
        # One step of training, minutes of evaluation.
        process, terminal = self.start_slow(train=8, test=60000)
        self.wait_for("evaluating", terminal)
        self.assertFalse((self.folder / "run/model.safetensors").exists())
        process.send_signal(signal.SIGTERM)
        self.wait_for("interrupted; the model is saved in 'run/model.safetensors'", terminal)
        self.assertIsNone(process.poll())  # it goes on evaluating
        self.run_linnet("predict", "run/model.safetensors",
                        self.folder / "patterns" / "train-images-idx3-ubyte")
        process.send_signal(signal.SIGINT)  # the second one, of whatever kind
        self.assertEqual(process.wait(timeout=60), -signal.SIGINT)

    def test_a_report_is_interrupted(self):
        process, terminal = self.start_slow(train=8, test=6000)
        self.wait_for("epoch 1/1: loss", terminal)
        process.send_signal(signal.SIGTERM)
        self.wait_for("the model is saved; writing the report", terminal)
        self.assertTrue((self.folder / "run/model.safetensors").exists())
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=60), -signal.SIGTERM)


if __name__ == "__main__":
    unittest.main()
