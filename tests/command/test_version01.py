# SPDX-License-Identifier: Apache-2.0
"""Models, configurations and a stopped training of version 0.1, in tests/fixtures/version01, do today what they did."""
import json
import pathlib
import shutil
import unittest

import command

FIXTURES = pathlib.Path(__file__).resolve().parents[1] / "fixtures/version01"


class Version01(command.CommandTest):
    def outputs(self, *arguments, **more):
        return [p["outputs"] for p in self.run_json("predict", *arguments, **more)["predictions"]]

    def assert_then(self, outputs, folder):
        """The samples give the same bits; those of then came from another processor, perhaps."""
        wanted = json.loads((FIXTURES / folder / "predictions.json").read_text())
        self.assertEqual(len(outputs), len(wanted))
        for row, then in zip(outputs, wanted):
            for value, number in zip(row, then):
                self.assertAlmostEqual(value, number, 5)

    def test_images_keep_their_orientation_and_their_high_bytes(self):
        model = FIXTURES / "photos/model.safetensors"
        names = ("a_turned", "b_mirrored", "c_wide", "d_twelve_bits")
        outputs = self.outputs(model, *(FIXTURES / f"photos/{name}.png" for name in names))
        self.assertEqual(outputs, self.outputs(model, FIXTURES / "photos/samples.npy"))
        self.assert_then(outputs, "photos")

    def test_texts_keep_their_words(self):
        model = FIXTURES / "texts/model.safetensors"
        texts = (FIXTURES / "texts/texts.txt").read_text(encoding="utf-8").splitlines()
        outputs = self.outputs(model, *texts)
        self.assertEqual(outputs, self.outputs(model, FIXTURES / "texts/ids.npy"))
        self.assert_then(outputs, "texts")

    def test_a_model_of_a_configuration_predicts(self):
        pixels, _ = command.patterns(4, 9)
        command.npy(self.folder / "images.npy", "<f4", (4, 28, 28, 1), [float(pixel) for pixel in pixels])
        outputs = self.outputs(FIXTURES / "training/run/model.safetensors", self.folder / "images.npy")
        self.assert_then(outputs, "training")

    def train_configuration(self, name, *arguments):
        if not (self.folder / "patterns").exists():
            command.write_mnist(self.folder / "patterns", train=200, test=50)
            command.write_points(self.folder / "points")
            shutil.copy(FIXTURES.parent / "tables1/rows.csv", self.folder)
        shutil.copy(FIXTURES / f"training/{name}.toml", self.folder)
        return self.run_json("train", f"{name}.toml", *arguments, "--quiet")

    def test_configurations_train_as_then(self):
        then = json.loads((FIXTURES / "training/summaries.json").read_text())
        for name, wanted in then.items():
            alone = ["--ensemble", "1"] if name == "rows" else []  # tables have trained several networks since
            summary = self.train_configuration(name, "--out", name, *alone)
            for key in ("train_loss", "test_loss"):
                # Vectors of later versions round otherwise, which a training carries on.
                self.assertAlmostEqual(summary[key], wanted.pop(key), delta=0.002, msg=(name, key))
            self.assertEqual({key: summary[key] for key in wanted}, wanted, name)

    def test_a_stopped_training_continues(self):
        """It ends with the bits of one that never stopped, where this machine gives those of its first epoch."""
        whole = self.train_configuration("images", "--out", "whole")
        shutil.copytree(FIXTURES / "training/run", self.folder / "run")
        then, = self.history(self.folder / "run")
        summary = self.run_json("train", "--resume", "run", "--quiet")
        self.assertEqual(len(self.history(self.folder / "run")), 3)
        if self.history(self.folder / "whole")[0]["train_loss"] == then["train_loss"]:
            models = [(self.folder / run / "model.safetensors").read_bytes() for run in ("whole", "run")]
            self.assertTrue(models[0] == models[1])
        self.assertAlmostEqual(summary["test_loss"], whole["test_loss"], delta=0.002)


if __name__ == "__main__":
    unittest.main()
