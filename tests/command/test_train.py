# SPDX-License-Identifier: Apache-2.0
import json
import pathlib
import unittest

import command


class Train(command.CommandTest):
    def test_json_has_every_key(self):
        summary, folder = self.train("--seed", 3)
        self.assertEqual(summary["notes"], [])
        for key in ("workload", "device", "device_name", "precision", "threads", "seed", "batch",
                    "epochs", "parameters", "train_loss", "test_loss", "test_accuracy",
                    "samples_per_second", "startup_seconds", "peak_bytes", "planned_bytes", "shards",
                    "version", "commit", "machine"):
            self.assertIn(key, summary)
            self.assertIsNotNone(summary[key], key)
        self.assertEqual(set(summary["epoch_seconds"]), {"median", "min", "max"})
        self.assertEqual((summary["workload"], summary["device"], summary["precision"]),
                         ("mnist-cnn", "cpu", "fp32"))
        self.assertEqual((summary["batch"], summary["epochs"], summary["seed"], summary["threads"]),
                         (32, 2, 3, 1))
        self.assertEqual(summary["parameters"], 31530)
        self.assertGreater(summary["samples_per_second"], 0)
        self.assertGreater(summary["peak_bytes"], 1 << 20)
        self.assertEqual(json.loads((folder / "summary.json").read_text()), summary)

    def test_bf16(self):
        layers = ("--seed", 3, "--disable-pass", "fuse_small_cnn")  # one operator stays in fp32
        fp32, _ = self.train(*layers, out="fp32")
        bf16, folder = self.train(*layers, "--precision", "bf16", out="bf16")
        self.assertEqual(bf16["precision"], "bf16")
        self.assertEqual(json.loads((folder / "summary.json").read_text())["precision"], "bf16")
        self.assertNotEqual(bf16["train_loss"], fp32["train_loss"])
        self.assertAlmostEqual(bf16["train_loss"], fp32["train_loss"],
                               delta=0.02 * fp32["train_loss"])
        plan = ("plan", "--workload", "rosenbrock-mlp", "--batch", 8)
        arithmetic = json.loads(self.run_linnet("devices", "--json")[0])["cpu"]["bf16"]
        self.assertIn(arithmetic, ("operands rounded, fp32 arithmetic", "AVX512_BF16", "AMX"))
        self.assertIn(f"bf16: {arithmetic}\n", self.run_linnet("devices")[0])
        self.assertIn("      engine bf16: ", self.run_linnet(*plan, "--precision", "bf16")[0])
        self.assertNotIn("engine", self.run_linnet(*plan)[0])

    def test_leaves_a_whole_run_folder(self):
        summary, folder = self.train()
        self.assertEqual(sorted(path.name for path in folder.iterdir()),
                         ["checkpoints", "history.jsonl", "metrics.json", "model.safetensors",
                          "report.html", "run.json", "summary.json"])
        epochs = [json.loads(line) for line in (folder / "history.jsonl").read_text().splitlines()]
        self.assertEqual([epoch["epoch"] for epoch in epochs], [1, 2])
        self.assertTrue(all(epoch["complete"] for epoch in epochs))
        self.assertEqual(epochs[-1]["test_loss"], summary["test_loss"])
        self.assertLess(epochs[1]["train_loss"], epochs[0]["train_loss"])
        self.assertIsNone(epochs[0]["validation_loss"])
        report = (folder / "report.html").read_text()
        self.assertEqual(report.count("<svg"), 7)  # loss and accuracy; ROC, precision-recall, ...
        self.assertIn("class=\"matrix\"", report)

    def test_equal_seeds_give_equal_results(self):
        first, _ = self.train("--seed", 5, out="a")
        second, _ = self.train("--seed", 5, out="b")
        other, _ = self.train("--seed", 6, out="c")
        self.assertEqual(first["train_loss"], second["train_loss"])
        self.assertNotEqual(first["train_loss"], other["train_loss"])

    def test_learns_drawn_digits(self):
        summary = self.run_json("train", "--workload", "mnist-cnn", "--data", "digits", "--epochs",
                                1, "--out", "run")
        self.assertEqual((summary["train_samples"], summary["test_samples"]), (20000, 4000))
        self.assertGreater(summary["test_accuracy"], 0.5)  # guessing gives 0.1

    def test_a_network_of_branches_and_own_layers_learns(self):
        summary = self.run_json("train", command.EXAMPLES / "branches.toml", "--epochs", 1)
        self.assertGreater(summary["test_accuracy"], 0.5)

    def test_never_overwrites_a_run(self):
        _, folder = self.train()
        before = (folder / "summary.json").read_bytes()
        self.assert_error("the folder 'run' already has a run (model.safetensors); name another folder with --out", "train", "--workload", "mnist-cnn", "--data", "patterns",
                          "--out", "run")
        self.assertEqual((folder / "summary.json").read_bytes(), before)

    def test_default_folders_differ(self):
        command.write_mnist(self.folder / "patterns")
        folders = [self.run_json("train", "--workload", "mnist-cnn", "--data", "patterns",
                                 "--epochs", 1)["folder"] for _ in range(2)]
        self.assertNotEqual(*folders)
        for folder in folders:
            self.assertRegex(folder, r"^runs/mnist-cnn-\d{8}-\d{6}(-\d+)?$")
            self.assertTrue((self.folder / folder / "report.html").exists())

    def test_configuration_and_its_overrides(self):
        command.write_mnist(self.folder / "patterns")
        text = (command.EXAMPLES / "mnist.toml").read_text()
        text = text.replace('name = "fashion-mnist"', 'path = "patterns"')
        text = text.replace("validation = 0.0", "validation = 0.25")
        (self.folder / "mine.toml").write_text(text)
        summary = self.run_json("train", "mine.toml", "--epochs", 1, "--optimizer", "sgd", "--lr",
                                0.05, "--out", "run")
        self.assertEqual((summary["workload"], summary["epochs"]), ("mine", 1))
        self.assertEqual((summary["optimizer"], summary["learning_rate"]), ("sgd", 0.05))
        self.assertIsNotNone(summary["validation_loss"])

    def test_layers_rest_and_are_whitened(self):
        command.write_mnist(self.folder / "patterns")
        layers = ('{type = "rescale"}, {type = "conv2d", filters = 8, kernel = 2, name = "stem"}, {type = "relu"}, '
                  '{type = "flatten"}, {type = "dense", units = 10}')
        text = f'[data]\npath = "patterns"\n[network]\ninput = [28, 28, 1]\nlayers = [{layers}]\n[optimizer]\nlearning_rate = 1e-5\n[training]\n'
        recipes = {"plain": "", "frozen": 'freeze = [{name = "stem.*", until = 1}]\n', "whitened": 'whiten = "stem"\n',
                   "both": 'freeze = ["stem.weight"]\nwhiten = "stem"\n'}
        found = {}
        for name, lines in recipes.items():
            (self.folder / f"{name}.toml").write_text(text + lines)
            found[name] = self.run_json("train", f"{name}.toml", "--epochs", 2, "--batch", 100, "--out", name)
            epochs = (self.folder / name / "history.jsonl").read_text().splitlines()
            losses = [json.loads(line)["train_loss"] for line in epochs]
            out, _ = self.run_linnet("bench", f"{name}.toml", "--to-accuracy", 1, "--epochs", 2, "--batch", 100, "--json", "-", status=3)
            race = json.loads(out)
            self.assertEqual(race["losses"], losses)
            self.assertEqual(race["freeze"], found[name]["freeze"])
        self.assertEqual(len({summary["train_loss"] for summary in found.values()}), 4)
        self.assertEqual((found["plain"]["freeze"], found["both"]["freeze"]), ([], [{"name": "stem.weight"}]))
        self.assertEqual(found["both"]["whiten"], {"layer": "stem", "samples": 5000, "epsilon": 0.0005})
        self.assertNotIn("whiten", found["frozen"])
        self.assert_error('whiten = "stem" in [training] sets initial weights, but the model to start from has trained ones: leave it out',
                          "train", "both.toml", "--from", "plain", "--out", "c")
        (self.folder / "wrong.toml").write_text(text + 'freeze = ["head*"]\n')
        self.assert_error("[freeze 'head*'] expected the name of parameters that train; these are stem.weight, stem.bias, "
                          "dense_1.weight, dense_1.bias", "train", "wrong.toml", "--out", "d")

    def test_losses_have_options_and_metrics_are_kept(self):
        command.write_mnist(self.folder / "patterns")
        train = ("train", "--workload", "mnist-cnn", "--data", "patterns", "--epochs", 1, "--out")
        plain = self.run_json(*train, "a")
        smooth = self.run_json(*train, "b", "--label-smoothing", 0.1, "--class-weights", "auto")
        self.assertNotEqual(plain["train_loss"], smooth["train_loss"])
        metrics = json.loads((self.folder / "a" / "metrics.json").read_text())
        self.assertEqual(metrics["samples"], plain["test_samples"])
        self.assertAlmostEqual(metrics["accuracy"], plain["test_accuracy"])
        self.assertEqual(sum(map(sum, metrics["confusion"])), plain["test_samples"])
        _, err = self.run_linnet(*train, "c", "--loss", "mse", status=2)
        self.assertIn("this loss expects values; the data set", err)

    def test_progress_is_plain_lines_without_a_terminal(self):
        command.write_mnist(self.folder / "patterns")
        out, err = self.run_linnet("train", "--workload", "mnist-cnn", "--data", "patterns",
                                   "--epochs", 1, "--out", "run")
        self.assertEqual(out, "")
        self.assertNotIn("\r", err)
        self.assertNotIn("\x1b", err)
        self.assertIn("epoch 1/1: loss ", err)
        self.assertRegex(err, r"linnet: test accuracy [\d.]+ %; report: run/report.html\n$")

    def test_a_full_disk_is_one_sentence(self):
        if not pathlib.Path("/dev/full").exists():
            self.skipTest("no /dev/full")
        command.write_mnist(self.folder / "patterns")
        with open("/dev/full", "w") as full:
            _, err = self.run_linnet("train", "--workload", "mnist-cnn", "--data", "patterns",
                                     "--epochs", 1, "--out", "run", "--json", status=2,
                                     capture_output=False, stdout=full, stderr=-1)
        self.assertTrue(err.endswith("linnet: error: cannot write to standard output: No space "
                                     "left on device\n"), err)


if __name__ == "__main__":
    unittest.main()
