# SPDX-License-Identifier: Apache-2.0
"""`linnet evaluate`: what a training's metrics.json says, again; held-out parts; ignored labels."""
import json
import struct
import unittest

import command
from test_images import bmp
from test_predict import npy

CONFIG = """
[data]
path = "{path}"
[network]
input = {input}
layers = [{{ type = "flatten" }}, {{ type = "dense", units = 2 }}]
[training]
epochs = 2
batch = 4
threads = 1
device = "cpu"
loss = "{loss}"
{more}
"""


class Evaluate(command.CommandTest):
    def train_config(self, path, sample, *arguments, loss="automatic", more=""):
        (self.folder / "net.toml").write_text(
            CONFIG.format(path=path, input=sample, loss=loss, more=more))
        output, error = self.run_linnet("train", "net.toml", "--out", "run", "--json", *arguments)
        return json.loads(output), error

    def kept(self):
        return json.loads((self.folder / "run/metrics.json").read_text())

    def evaluated(self, *arguments):
        return self.run_json("evaluate", "run", "--device", "cpu", *arguments)

    def test_repeats_the_metrics_of_the_training(self):
        self.train()
        record = self.evaluated("--data", "patterns")
        self.assertEqual(record["metrics"], self.kept())
        self.assertEqual((record["part"], record["data"]), ("test", "patterns"))
        self.assertEqual(self.run_json("evaluate", "run/model.safetensors", "--data", "patterns",
                                       "--batch", 7)["metrics"]["confusion"],
                         self.kept()["confusion"])
        self.assertEqual(self.evaluated("--data", "patterns", "--part", "train")["metrics"]["samples"],
                         400)
        out, err = self.run_linnet("evaluate", "run", "--data", "patterns")
        self.assertEqual(self.run_linnet("evaluate", "run", "patterns"), (out, err))
        self.assertRegex(out, r"^patterns, test set: 100 samples\naccuracy [\d.]+ %, top-5 [\d.]+ %, "
                              r"macro F1 [\d.]+\nlabel ")
        self.assertEqual(err, "")

    def test_a_value_that_is_not_finite_is_named(self):
        command.write_points(self.folder / "points")
        self.train_config("points", [4])
        samples = [0.5] * 4 * 32
        samples[4 * 9 + 2] = float("-inf")
        command.npy(self.folder / "points/x_test.npy", "<f4", (32, 4), samples)
        self.assert_error("row 9, column 2 of 'points/x_test.npy' (counted from 0) is -inf; expected finite "
                          "numbers", "evaluate", "run", "--data", "points")

    def test_says_what_does_not_fit(self):
        self.train()
        self.assert_error("'patterns' has no validation set", "evaluate", "run", "--data",
                          "patterns", "--part", "validation")
        self.assert_error("cannot read 'none.safetensors': No such file or directory", "evaluate",
                          "none.safetensors", "--data", "patterns")
        self.assert_error("--image-size is for image files; 'patterns' holds none: leave it out", "evaluate",
                          "run", "--data", "patterns", "--image-size", 14)

    def test_images_are_sized_as_in_the_training(self):
        for part, count in (("train", 12), ("test", 6)):
            for i in range(count):
                folder = self.folder / "images" / part / ("a", "b")[i % 2]
                folder.mkdir(parents=True, exist_ok=True)
                (folder / f"{i}.bmp").write_bytes(bmp(12 + i % 3, i))
        self.train_config("images", [8, 8, 3], "--image-size", 10, more="[augment]\ncrop = true")
        self.assertEqual(self.evaluated("--data", "images")["metrics"], self.kept())
        self.assertNotEqual(self.evaluated("--data", "images", "--image-size", 8)["metrics"],
                            self.kept())

    def test_xrays_hold_out_their_validation_part(self):
        (self.folder / "xrays").mkdir()
        rows = ["file,patient,Mass,Nodule"]
        for i in range(40):
            (self.folder / f"xrays/{i}.bmp").write_bytes(bmp(6, i))
            rows.append(f"{i}.bmp,{i},{i % 2},{i // 2 % 2}")
        (self.folder / "xrays/labels.csv").write_text("\n".join(rows) + "\n")
        summary, error = self.train_config("xrays", [6, 6, 3], "--seed", 3,
                                           loss="binary_cross_entropy")
        self.assertEqual((summary["train_samples"], summary["test_samples"]), (28, 8))
        self.assertGreater(summary["validation_loss"], 0)
        self.assertGreater(summary["test_loss"], 0)
        lines = (self.folder / "run/history.jsonl").read_text().splitlines()
        history = [json.loads(line) for line in lines]
        self.assertEqual([bool(epoch["validation_loss"]) for epoch in history], [True, True])
        self.assertEqual([bool(epoch["test_loss"]) for epoch in history], [False, True])
        self.assertRegex(error, r"epoch 1/2: loss [\d.]+; validation loss [\d.]+; [\d.]+ s")
        self.assertIn("linnet: validation mean ROC AUC of 2 labels", error)
        kept = self.kept()
        self.assertEqual(kept["validation"]["samples"], 4)
        # By the seed of the training: another one would evaluate patients that it has seen.
        self.assertEqual(self.evaluated("--data", "xrays", "--part", "validation")["metrics"],
                         kept.pop("validation"))
        self.assertEqual(self.evaluated("--data", "xrays")["metrics"], kept)
        (self.folder / "net.toml").write_text(
            (self.folder / "net.toml").read_text().replace('"xrays"', '"xrays"\nvalidation = 0.2'))
        self.assert_error("'chest-xray' has its own validation set; expected no 'validation' share beside it; got 0.2", "train", "net.toml", "--out", "other")

    def test_the_ignored_label_may_be_outside(self):
        (self.folder / "arrays").mkdir()
        for part, count in (("train", 12), ("test", 6)):
            x = struct.pack(f"<{4 * count}f", *((i * 7 % 5) / 5 for i in range(4 * count)))
            labels = [(i % 2, -100)[i % 3 == 2] for i in range(count)]
            (self.folder / f"arrays/x_{part}.npy").write_bytes(npy("<f4", (count, 4), x))
            (self.folder / f"arrays/y_{part}.npy").write_bytes(
                npy("<i4", (count,), struct.pack(f"<{count}i", *labels)))
        self.train_config("arrays", [4], more="[loss]\nignore_index = -100\nclass_weights = \"auto\"")
        self.assertEqual(self.kept()["samples"], 4)
        self.assertEqual(self.evaluated("--data", "arrays", "--ignore-index", -100)["metrics"],
                         self.kept())
        self.assert_error("label -100 of record 2 in 'arrays/y_train.npy' is outside [0, 1048576); "
                          "whole numbers are class indices; save values as float32", "evaluate",
                          "run", "--data", "arrays")


if __name__ == "__main__":
    unittest.main()
