# SPDX-License-Identifier: Apache-2.0
import json
import signal
import unittest

import command


class Interrupt(command.CommandTest):
    def start_training(self, *arguments):
        """A training that would take hours; returns once its first progress line is out."""
        command.write_mnist(self.folder / "patterns")
        data = () if "--data" in arguments else ("--data", "patterns")
        process = self.start("train", "--workload", "mnist-cnn", *data, "--epochs", 100000000,
                             "--out", "run", "--json", "--threads", 1, *arguments)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        for line in process.stderr:
            if line.startswith("epoch 1/"):
                return process
        self.fail("no progress line")

    def test_saves_everything(self):
        process = self.start_training()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130, err)
        self.assertTrue(
            err.endswith("linnet: interrupted; everything so far is saved in run\n"), err)
        summary = json.loads(out)
        self.assertTrue(summary["interrupted"])
        folder = self.folder / "run"
        self.assertEqual(json.loads((folder / "summary.json").read_text()), summary)
        last = json.loads((folder / "history.jsonl").read_text().splitlines()[-1])
        self.assertEqual(last["epoch"], summary["epochs"])
        self.assertIn("(interrupted)", (folder / "report.html").read_text())
        (self.folder / "some").write_bytes(command.idx((1, 28, 28), bytes(784)))
        self.run_linnet("predict", folder / "model.safetensors", "some")

    def test_the_second_one_kills(self):
        # Steps of 20,000 samples: the first Ctrl-C is still waiting for the end of one.
        process = self.start_training("--data", "digits", "--batch", 20000)

        def caught():
            with open(f"/proc/{process.pid}/status") as status:
                masks = dict(line.split(":\t") for line in status if line.startswith("Sig"))
            return int(masks["SigCgt"], 16) >> (signal.SIGINT - 1) & 1

        self.assertEqual(caught(), 1)
        process.send_signal(signal.SIGINT)
        while caught():
            pass
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
        self.assertEqual(process.returncode, -signal.SIGINT)


if __name__ == "__main__":
    unittest.main()
