# SPDX-License-Identifier: Apache-2.0
"""TensorBoard reads what `linnet train --log` writes."""
import csv
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

LINNET = os.environ["LINNET_COMMAND"]


class Logs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="linnet-logs-")
        cls.run_folder = pathlib.Path(cls.temporary.name) / "run"
        subprocess.run([LINNET, "train", "--workload", "mnist-cnn", "--data", "digits", "--epochs", "3",
                        "--device", "cpu", "--out", cls.run_folder, "--log", "tensorboard,csv"],
                       check=True, capture_output=True)
        cls.history = [json.loads(line)
                       for line in (cls.run_folder / "history.jsonl").read_text().splitlines()]
        cls.events = EventAccumulator(str(cls.run_folder), size_guidance={"scalars": 0})
        cls.events.Reload()  # checks every record's sums

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def test_scalars(self):
        self.assertEqual(len(self.history), 3)
        for tag, key in (("loss/train", "train_loss"), ("accuracy/test", "test_accuracy"),
                         ("epoch/learning_rate", "learning_rate")):
            values = [event.value for event in self.events.Scalars(tag)]
            for value, line in zip(values, self.history, strict=True):
                self.assertAlmostEqual(value, line[key], delta=1e-6 * max(1, abs(line[key])))
        steps = self.events.Scalars("loss/step")
        self.assertEqual([event.step for event in steps], list(range(len(steps))))
        self.assertEqual(self.events.Scalars("loss/train")[-1].step, len(steps))

    def test_histograms_and_graph(self):
        tags = self.events.Tags()
        self.assertIn("weight/conv2d_1.weight", tags["histograms"])
        histogram = self.events.Histograms("weight/dense_1.bias")[-1].histogram_value
        self.assertEqual(histogram.num, 10)
        self.assertEqual(sum(histogram.bucket), 10)
        self.assertLessEqual(histogram.min, histogram.bucket_limit[0])
        nodes = {node.name: node for node in self.events.Graph().node}
        self.assertEqual(nodes["input"].op, "Placeholder")
        for node in nodes.values():
            for name in node.input:
                self.assertIn(name, nodes)

    def test_csv(self):
        with open(self.run_folder / "history.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([float(row["train_loss"]) for row in rows],
                         [line["train_loss"] for line in self.history])
        self.assertEqual([int(row["epoch"]) for row in rows], [1, 2, 3])


if __name__ == "__main__":
    unittest.main()
