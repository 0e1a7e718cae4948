# SPDX-License-Identifier: Apache-2.0
"""linnet train --from MODEL: a trained body, frozen layers, another head."""
import json
import signal
import struct
import time
import unittest

import command

BODY = """[network]
input = [28, 28, 1]
layers = [
  {type = "rescale"}, {type = "conv2d", filters = 4}, {type = "relu"},
  {type = "max_pool2d", size = 3}, {type = "flatten"},
  {type = "dense", units = 16}, {type = "relu"}, {type = "dense", units = 10},
]
[data]
path = "patterns"
[training]
epochs = 1
batch = 32
device = "cpu"
"""

RECIPE = """[training]
epochs = 2
batch = 32
seed = 4
device = "cpu"
trains = [{name = "dense*", learning_rate_factor = 0.5}, {name = "*", learning_rate_factor = 0.1}]
"""


def weights(folder):
    """The bytes of a model's tensors, by name."""
    data = (folder / "model.safetensors").read_bytes()
    length, = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__")
    return {name: data[8 + length + tensor["data_offsets"][0]:8 + length + tensor["data_offsets"][1]]
            for name, tensor in header.items()}


class Transfer(command.CommandTest):
    def setUp(self):
        super().setUp()
        command.write_mnist(self.folder / "patterns")
        (self.folder / "body.toml").write_text(BODY)
        self.run_linnet("train", "body.toml", "--out", "body")
        self.body = self.folder / "body"
        command.write_mnist(self.folder / "few", train=60, test=30)

    def continue_from(self, out, *arguments):
        summary = self.run_json("train", "--from", "body", "--data", "few", "--device", "cpu",
                                "--epochs", 2, "--batch", 32, "--out", out, *arguments)
        return summary, weights(self.folder / out)

    def test_it_starts_from_the_weights(self):
        before = self.run_json("evaluate", "body", "--data", "few")
        _, after = self.continue_from("run", "--lr", "1e-12")
        self.assertEqual(after.keys(), weights(self.body).keys())
        same = self.run_json("evaluate", "run", "--data", "few")
        self.assertEqual(same["metrics"]["confusion"], before["metrics"]["confusion"])
        summary, trained = self.continue_from("trained")
        self.assertEqual(summary["workload"], "body")
        self.assertNotEqual(trained, weights(self.body))
        # A file stands for its folder.
        self.run_linnet("train", "--from", self.body / "model.safetensors", "--data", "few",
                        "--device", "cpu", "--epochs", 2, "--batch", 32, "--out", "file")
        self.assertEqual(weights(self.folder / "file"), trained)

    def test_frozen_parameters_stay(self):
        _, after = self.continue_from("run", "--freeze", "conv*", "--freeze", "dense_1.*")
        before = weights(self.body)
        changed = {name for name in after if after[name] != before[name]}
        self.assertEqual(changed, {"dense_2.weight", "dense_2.bias"})

    def test_a_new_head(self):
        # Two classes more than the data have.
        summary, after = self.continue_from("run", "--freeze", "conv*", "--replace-head", 12, "--force")
        before = weights(self.body)
        self.assertEqual(len(after["dense_2.bias"]), 4 * 12)
        self.assertEqual(len(before["dense_2.bias"]), 4 * 10)
        for name, value in after.items():
            if name.startswith("conv"):
                self.assertEqual(value, before[name], name)
        evaluated = self.run_json("evaluate", "run", "--data", "few")
        self.assertEqual(evaluated["metrics"]["samples"], 30)
        self.assertGreater(summary["parameters"], 0)

    def test_a_configuration_brings_the_recipe_alone(self):
        (self.folder / "recipe.toml").write_text(RECIPE)
        self.run_linnet("train", "recipe.toml", "--from", "body", "--data", "few", "--freeze",
                        "conv*", "--out", "run")
        before, after = weights(self.body), weights(self.folder / "run")
        changed = {name for name in after if after[name] != before[name]}
        self.assertEqual({name.split("_")[0] for name in changed}, {"dense"})
        self.assert_error("recipe.toml:1:1: the file needs the key 'network'", "train",
                          "recipe.toml", "--data", "few")

    def test_it_is_continued_too(self):
        whole = ("train", "--from", "body", "--replace-head", 10, "--freeze", "conv*", "--data",
                 "few", "--device", "cpu", "--epochs", 300, "--batch", 4, "--checkpoint-every", "epoch")
        self.run_linnet(*whole, "--out", "whole")
        process = self.start(*whole, "--out", "run")
        while not list((self.folder / "run").glob("checkpoints/*.safetensors")):
            self.assertIsNone(process.poll())
            time.sleep(0.001)
        process.kill()
        process.communicate()
        self.assertEqual(process.returncode, -signal.SIGKILL)
        self.run_linnet("train", "--resume", "run")
        self.assertEqual((self.folder / "run/model.safetensors").read_bytes(),
                         (self.folder / "whole/model.safetensors").read_bytes())

    def test_mistakes_are_named(self):
        few = ("--data", "few", "--device", "cpu")
        self.assert_error("--replace-head needs --from", "train", "--workload",
                          "mnist-cnn", "--replace-head", 3, *few)
        self.assert_error("--freeze: no parameter matches 'fc*'; the first is 'conv2d_1.weight', "
                          "the last 'dense_2.bias'", "train", "--from", "body", "--freeze", "fc*",
                          *few)
        self.assert_error("--freeze leaves no parameter to train", "train", "--from", "body",
                          "--freeze", "*", *few)
        _, err = self.run_linnet("train", "--from", "nothing", *few, status=2)
        self.assertIn("nothing", err)


if __name__ == "__main__":
    unittest.main()
