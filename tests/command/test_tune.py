# SPDX-License-Identifier: Apache-2.0
"""--tune: engines by measurement, kept on disk and in the run."""
import json
import os
import re
import unittest

import command

CONFIG = """
[data]
path = "patterns"
[network]
input = [28, 28, 1]
layers = [
  { type = "conv2d", filters = 8, kernel = 3, stride = 2 },
  { type = "relu" },
  { type = "conv2d", filters = 8, kernel = 3 },
  { type = "flatten" },
  { type = "dense", units = 10 },
]
[training]
epochs = 1
batch = 32
threads = 2
device = "cpu"
tune = true
"""
ENGINE = re.compile(r"engine (\w+) [\d.]+ ms(?:, \w+ [\d.]+ ms)+\n")


class Tune(command.CommandTest):
    def setUp(self):
        super().setUp()
        self.environment = {**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache")}
        command.write_mnist(self.folder / "patterns", train=64, test=20)
        (self.folder / "net.toml").write_text(CONFIG)

    def linnet(self, *arguments):
        return self.run_linnet(*arguments, env=self.environment)[0]

    def test_a_plan_shows_the_candidates_and_keeps_the_choice(self):
        plan = self.linnet("plan", "net.toml")
        # Two convolutions forward and by weights, one by its input; a dense layer in all three.
        self.assertEqual(len(ENGINE.findall(plan)), 8, plan)
        self.assertEqual(self.linnet("plan", "net.toml"), plan)  # from the cache, times and all
        kept = json.loads((self.folder / "cache/linnet/cpu-tuning.json").read_text())
        self.assertEqual(len(kept), 8)
        (self.folder / "net.toml").write_text(CONFIG.replace("tune = true", ""))
        self.assertNotRegex(self.linnet("plan", "net.toml"), ENGINE)
        self.assertEqual(self.linnet("plan", "net.toml", "--tune"), plan)

    def test_a_cache_that_cannot_be_written_stops_no_run(self):
        (self.folder / "cache").write_text("a file, no folder")
        summary = json.loads(self.linnet("train", "net.toml", "--out", "run", "--json"))
        self.assertGreaterEqual(len(summary["engine_choices"]), 8)
        self.assertRegex(summary["notes"][0], r"^measured choices could not be saved: cannot write '.*"
                                              r"cpu-tuning\.json': Not a directory$")

    def test_a_run_keeps_its_choices(self):
        summary = json.loads(self.linnet("train", "net.toml", "--out", "run", "--json"))
        choices = summary["engine_choices"]
        self.assertGreaterEqual(len(choices), 8 + 3)  # a training step, and an evaluation
        self.assertEqual(json.loads((self.folder / "run/summary.json").read_text())["engine_choices"],
                         choices)
        evaluated = json.loads(self.linnet("evaluate", "run", "--data", "patterns", "--json"))
        self.assertEqual(evaluated["metrics"],
                         json.loads((self.folder / "run/metrics.json").read_text()))
        again = json.loads(self.linnet("train", "net.toml", "--out", "again", "--json"))
        self.assertEqual(again["engine_choices"], choices)
        self.assertEqual(again["train_loss"], summary["train_loss"])


if __name__ == "__main__":
    unittest.main()
