# SPDX-License-Identifier: Apache-2.0
import json
import shutil
import signal
import unittest

import command


class RunFolder(command.CommandTest):
    def setUp(self):
        super().setUp()
        command.write_points(self.folder / "points")
        (self.folder / "points.toml").write_text(command.POINTS % "")

    def test_one_of_eight_trainings_gets_the_folder(self):
        runs = [self.start("train", "points.toml", "--seed", seed, "--epochs", 300, "--out", "run")
                for seed in range(8)]
        errors = {seed: run.communicate(timeout=240)[1] for seed, run in enumerate(runs)}
        winners = [seed for seed, run in enumerate(runs) if run.returncode == 0]
        self.assertEqual(len(winners), 1, [text.splitlines()[-1] for text in errors.values()])
        for seed, run in enumerate(runs):
            if seed in winners:
                continue
            self.assertEqual(run.returncode, 2)
            self.assertRegex(errors[seed],
                             r"^linnet: error: the folder 'run' (is in use( by process \d+)?: another "
                             r"training writes to it|already has a run \([a-z.]+\)); name another "
                             r"folder with --out\n$")
        folder = self.folder / "run"
        self.assertEqual(json.loads((folder / "summary.json").read_text())["seed"], winners[0])
        epochs = [epoch["epoch"] for epoch in self.history(folder)]
        self.assertEqual(epochs, list(range(1, 301)))
        self.assertEqual(sorted(path.name for path in folder.iterdir()),
                         ["checkpoints", "history.jsonl", "metrics.json", "model.safetensors",
                          "report.html", "run.json", "summary.json"])

    def test_what_a_killed_training_leaves_is_no_hindrance(self):
        process = self.start("train", "points.toml", "--epochs", 100000000, "--out", "run")
        for line in process.stderr:
            if line.startswith("epoch 1/"):
                break
        process.send_signal(signal.SIGKILL)
        process.communicate()
        folder = self.folder / "run"
        self.assertTrue((folder / ".linnet-lock").exists())
        for path in folder.iterdir():  # as if it had been killed before the first epoch's end
            if path.name == "checkpoints":
                shutil.rmtree(path)
            elif path.name != ".linnet-lock":
                path.unlink()
        (folder / f".linnet-{process.pid}-0.tmp").write_text("half a model")
        self.run_linnet("train", "points.toml", "--epochs", 1, "--out", "run")
        self.assertEqual([path.name for path in folder.iterdir() if path.name.startswith(".")], [])

    def test_the_default_place_is_cleaned_too(self):
        old = self.folder / "runs" / "points-20200101-000000"
        old.mkdir(parents=True)
        (old / ".linnet-999999999-0.tmp").write_text("half a model")
        (old / ".linnet-lock").write_text("999999999\n")
        (old / "model.safetensors").write_text("whole")
        self.run_linnet("train", "points.toml", "--epochs", 1)
        self.assertEqual([path.name for path in old.iterdir()], ["model.safetensors"])

    def test_metrics_are_not_overwritten(self):
        (self.folder / "run").mkdir()
        (self.folder / "run/metrics.json").write_text("mine")
        self.assert_error("the folder 'run' already has a run (metrics.json); name another folder with --out", "train", "points.toml", "--out", "run")
        self.assertEqual((self.folder / "run/metrics.json").read_text(), "mine")

    def test_a_folder_that_cannot_be_written_is_known_at_once(self):
        _, err = self.run_linnet("train", "points.toml", "--out", "/sys/kernel", status=2)
        self.assertRegex(
            err, r"^linnet: error: cannot write into the folder '/sys/kernel': [^\n]+\n$")

    def test_no_home_and_no_temporary_folder_is_a_note(self):
        environment = {key: value for key, value in command.os.environ.items()
                       if key not in ("HOME", "XDG_CACHE_HOME")}
        environment["TMPDIR"] = str(self.folder / "none")
        _, err = self.run_linnet("train", "points.toml", "--epochs", 1, "--tune", "--out", "run",
                                 env=environment)
        self.assertIn("linnet: measured choices are not kept between runs: there is no cache folder", err)
        _, err = self.run_linnet("train", "points.toml", "--data", "cifar10", status=2,
                                 env=environment)
        self.assertIn("cifar10 was not found: name the folder of its binary batches; the known data sets are ", err)


class Refusals(command.CommandTest):
    """What is known before the first step, and what is never saved."""

    def setUp(self):
        super().setUp()
        self.samples = command.write_points(self.folder / "points", train=65)

    def configure(self, norm="", more=""):
        (self.folder / "points.toml").write_text(command.POINTS % norm + more)

    def test_batch_norm_of_one_row(self):
        self.configure('{type = "batch_norm", name = "norm"}, ')
        one = "[batch_norm 'norm'] expected more than 1 value per channel when training; "
        self.assert_error(one + "the last batch of 65 samples in batches of 16 has 1: choose "
                          "another batch size, such as 17, or drop_last (--drop-last), which "
                          "leaves that sample out", "train", "points.toml", "--batch", 16, "--out",
                          "run")
        self.assert_error(one + "a batch of 1 sample gives it (1, 8): choose a larger batch",
                          "train", "points.toml", "--batch", 1, "--out", "run")
        self.assertFalse((self.folder / "run").exists())
        self.run_linnet("train", "points.toml", "--batch", 16, "--epochs", 1, "--drop-last",
                        "--out", "run")
        line = json.loads((self.folder / "run/history.jsonl").read_text())
        self.assertEqual((line["samples"], line["complete"]), (64, True))
        self.configure('{type = "batch_norm", name = "norm"}, ',
                       "[training]\nbatch = 16\nepochs = 1\ndrop_last = true\n")
        self.run_linnet("train", "points.toml", "--out", "other")

    def test_numbers_that_are_none_are_named(self):
        self.configure()
        bad = list(self.samples)
        bad[4 * 7 + 2] = float("nan")
        command.npy(self.folder / "points/x_train.npy", "<f4", (65, 4), bad)
        self.assert_error("row 7, column 2 of './points/x_train.npy' (counted from 0) is nan; expected finite numbers", "train", "points.toml", "--out", "run")

    def test_ids_outside_the_embedding_are_named(self):
        (self.folder / "ids.toml").write_text(
            '[network]\ninput = [4]\nlayers = [{type = "embedding", vocabulary = 10, features = 2},'
            ' {type = "flatten"}, {type = "dense", units = 2}]\n[data]\npath = "points"\n')
        for part, count in (("train", 65), ("test", 32)):
            command.npy(self.folder / f"points/x_{part}.npy", "<i4", (count, 4),
                        [i % 10 for i in range(4 * count)])
        command.npy(self.folder / "points/x_test.npy", "<i4", (32, 4), [0] * 126 + [10, 0])
        self.assert_error("row 31, column 2 of './points/x_test.npy' (counted from 0) has the id 10;"
                          " the embedding 'embedding_1' expects 0 to 9", "train", "ids.toml",
                          "--out", "run")

    def test_labels_that_are_all_ignored(self):
        self.configure(more="[loss]\nignore_index = -1\n")
        command.npy(self.folder / "points/y_train.npy", "<i4", (65,), [-1] * 65)
        self.assert_error("all 65 labels of the training samples of 'points' are -1, which the loss ignores (ignore_index); expected at least one other label",
                          "train", "points.toml", "--out", "run")

    def test_ruined_weights_are_not_saved(self):
        self.configure(more="[schedule]\nkind = \"step\"\nevery_epochs = 1\ngamma = 1e30\n")
        # One step an epoch: the second one's update makes infinities of good weights.
        train = ("train", "points.toml", "--batch", 65, "--optimizer", "sgd", "--lr", 1e-3)
        _, err = self.run_linnet(*train, "--epochs", 9, "--out", "run", status=2)
        self.assertRegex(err, r"linnet: error: the [^\n]* NaN or infinite [^\n]*; a lower learning "
                              r"rate, gradient clipping or scaled inputs may help; the weights of "
                              r"epoch 1 are kept in 'run/model.safetensors'\n$")
        self.run_linnet(*train, "--epochs", 1, "--out", "one")
        self.assertEqual((self.folder / "run/model.safetensors").read_bytes(),
                         (self.folder / "one/model.safetensors").read_bytes())
        _, err = self.run_linnet("train", "points.toml", "--batch", 65, "--optimizer", "sgd",
                                 "--lr", "1e39", "--epochs", 1, "--out", "none", status=2)
        self.assertNotIn("are kept in", err)
        self.assertFalse((self.folder / "none").exists())

    def test_a_summary_is_read_or_refused(self):
        """Another seed would draw another test set, and others engines give other bits."""
        self.configure()
        self.run_linnet("train", "points.toml", "--epochs", 1, "--out", "run")
        path = self.folder / "run/summary.json"
        whole = json.loads(path.read_text())
        evaluate = ("evaluate", "run", "--data", "points")
        for key, value, wanted in (("seed", -1, "an integer from 0 to 9223372036854775807"),
                                   ("seed", 2**63, "an integer from 0 to 9223372036854775807"),
                                   ("seed", 2**64, "an integer from 0 to 9223372036854775807"),
                                   ("seed", 1.5, "an integer from 0 to 9223372036854775807"),
                                   ("seed", "1" * 500, "an integer from 0 to 9223372036854775807"),
                                   ("sample_shape", [-4], "the dims of a sample"),
                                   ("sample_shape", [2**40, 2**40], "the dims of a sample"),
                                   ("engine_choices", {"dense": 1}, "an object of names")):
            path.write_text(json.dumps({**whole, key: value}))
            _, err = self.run_linnet(*evaluate, status=2)
            self.assertIn(f"'run/summary.json': '{key}' should be {wanted}; got ", err)
            self.assertLess(len(err), 300)
        path.write_text("{")
        self.assertIn("'run/summary.json' should hold a JSON object", self.run_linnet(*evaluate, status=2)[1])
        for good in ({**whole, "seed": 2**63 - 1}, {}):
            path.write_text(json.dumps(good))
            self.run_linnet(*evaluate)

    def test_flags_change_what_they_name(self):
        self.configure(more='[optimizer]\nkind = "adamw"\nlearning_rate = 0.002\n'
                            'weight_decay = 0.1\n[schedule]\nkind = "linear"\n'
                            'warmup_epochs = 2\nfloor = 0.5\n'
                            '[training]\nbatch = 65\n')
        plain = self.run_json("train", "points.toml", "--epochs", 4, "--out", "plain")
        self.assertEqual((plain["optimizer"], plain["learning_rate"]), ("adamw", 0.002))
        self.run_linnet("train", "points.toml", "--epochs", 4, "--schedule", "cosine", "--out",
                        "cosine")
        rates = [epoch["learning_rate"] for epoch in self.history(self.folder / "cosine")]
        self.assertAlmostEqual(rates[0], 0.001)  # warm-up
        self.assertGreaterEqual(rates[3], 0.001)  # the floor is half of the rate
        self.assertLess(rates[3], 0.002)
        other = self.run_json("train", "points.toml", "--epochs", 1, "--optimizer", "adam", "--out",
                              "adam")
        self.assertEqual((other["optimizer"], other["learning_rate"]), ("adam", 0.002))

    def test_class_names_are_utf8_and_given_once(self):
        self.configure()
        (self.folder / "points/classes.txt").write_bytes(b"cat\ncaf\xe9\n")
        self.assert_error("line 2 of './points/classes.txt' names the class 'caf\\xE9', which is "
                          "not UTF-8; convert the file to UTF-8", "train", "points.toml", "--out",
                          "run")
        (self.folder / "points/classes.txt").write_bytes(b"cat\ncat\n")
        self.assert_error("'./points/classes.txt' names the class 'cat' twice, in lines 1 and 2",
                          "train", "points.toml", "--out", "run")
        (self.folder / "points/classes.txt").write_bytes("cat\ncafé\n".encode())
        self.run_linnet("train", "points.toml", "--epochs", 1, "--out", "run")

    def test_infinite_bounds_are_saved(self):
        (self.folder / "points.toml").write_text(
            command.POINTS.replace('{type = "relu"}',
                                   '{type = "hard_tanh", low = 0, high = inf}') % "")
        self.run_linnet("train", "points.toml", "--epochs", 1, "--out", "run")
        out, _ = self.run_linnet("evaluate", "run", "--data", "points")
        self.assertIn("accuracy", out)


if __name__ == "__main__":
    unittest.main()
