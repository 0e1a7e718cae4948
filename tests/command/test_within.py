# SPDX-License-Identifier: Apache-2.0
"""--within of `linnet train` and `linnet importance`. benchmarks/within.py measures how long it takes."""
import json
import random
import signal
import time
import unittest

import command


class Within(command.CommandTest):
    def setUp(self):
        super().setUp()
        draw = random.Random(5)
        rows = [(x, y, x - y + draw.gauss(0, 0.1)) for x, y in
                ((draw.gauss(0, 1), draw.gauss(0, 1)) for _ in range(300))]
        (self.folder / "rows.csv").write_text(
            "x,y,z\n" + "".join(f"{x:.4f},{y:.4f},{z:.4f}\n" for x, y, z in rows))

    def train_table(self, *arguments, **options):
        return self.run_linnet("train", "rows.csv", "--target", "z", "--threads", 1, *arguments,
                               **options)

    def options(self, run):
        return json.loads((self.folder / run / "run.json").read_text())["options"]

    def summary(self, run):
        return json.loads((self.folder / run / "summary.json").read_text())

    def assert_same_model(self, first, second):
        first, second = (self.folder / run / "model.safetensors" for run in (first, second))
        self.assertEqual(first.read_bytes(), second.read_bytes())

    def test_repeats_without_a_clock(self):
        # A busy machine may have no time for an epoch, or cut one short.
        process = self.start("train", "rows.csv", "--target", "z", "--threads", 1, "--within", "3s",
                             "--out", "timed")
        _, said = process.communicate(timeout=240)
        if process.returncode == 2:
            self.assertIn("--within 3s is too short", said)
            return
        self.assertEqual(process.returncode, 0, said)
        options = self.options("timed")
        self.assertNotIn("--within", options)
        self.assertFalse((self.folder / "timed" / "rehearsal").exists())
        summary = self.summary("timed")
        self.assertIs(summary["interrupted"], False)
        self.assertEqual(summary["within"]["seconds"], 3)
        if "cannot be repeated by a number of epochs" in said:
            return
        epochs = options["--epochs"][0]
        self.assertIn(f"--epochs {epochs} --patience 0 repeats the run", said)
        self.train_table("--epochs", epochs, "--patience", 0, "--out", "again")
        self.assert_same_model("timed", "again")

    # Early stopping ends these long before the clock on any machine.
    def test_repeats_a_run_that_ends_early(self):
        arguments = ("--patience", 1, "--lr", 0.3)
        _, said = self.train_table("--within", "1h", *arguments, "--out", "timed")
        self.assertIn("stopped early: the held-out loss did not improve", said)
        epochs, patience = (self.options("timed")[name][0] for name in ("--epochs", "--patience"))
        self.assertEqual(patience, "1")
        self.assertIn(f"s of 1h; --epochs {epochs} --patience 1 repeats the run", said)
        self.assertLess(self.summary("timed")["epochs"], int(epochs))
        self.train_table("--epochs", epochs, *arguments, "--out", "again")
        self.assert_same_model("timed", "again")

    def test_plans_the_length_of_a_schedule(self):
        arguments = ("--patience", 1, "--lr", 0.3, "--schedule", "cosine")
        self.train_table("--within", "1h", *arguments, "--out", "timed")
        epochs = self.options("timed")["--epochs"][0]
        self.train_table("--epochs", epochs, *arguments, "--out", "again")
        self.assert_same_model("timed", "again")
        rates = [json.loads(line)["learning_rate"] for line in
                 (self.folder / "timed" / "history.jsonl").read_text().splitlines()]
        self.assertAlmostEqual(rates[-1], 0.3, 4)  # of an hour's epochs these are the first

    def test_obeys_a_configuration(self):
        (self.folder / "rows.toml").write_text(
            '[data]\nfile = "rows.csv"\ntarget = "z"\n[training]\npatience = 1\n')
        _, said = self.run_linnet("train", "rows.toml", "--lr", 0.3, "--threads", 1, "--within",
                                  "1h", "--out", "timed")
        self.assertIn("stopped early", said)
        self.assertEqual(self.options("timed")["--patience"], ["1"])

    def test_an_interrupt_ends_the_rehearsal(self):
        command.write_mnist(self.folder / "patterns")
        process = self.start("train", "--workload", "mnist-cnn", "--data", "patterns", "--threads",
                             1, "--batch", 8, "--within", "99h", "--out", "timed")
        self.addCleanup(lambda: process.poll() is None and process.kill())
        progress = self.folder / "timed" / "rehearsal" / "progress.json"
        while process.poll() is None and not progress.exists():
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=240)
        self.assertEqual(process.returncode, 130, said)
        self.assertIn("interrupted in the rehearsal; nothing is saved", said)
        self.assertFalse((self.folder / "timed").exists())

    def test_importance(self):
        self.train_table("--epochs", 3, "--out", "run")
        process = self.start("importance", "run", "rows.csv", "--within", "2s", "--json", "--threads", 1)
        out, said = process.communicate(timeout=240)
        if process.returncode == 2:  # on a busy machine
            self.assertIn("--within 2s is too short", said)
            return
        timed = json.loads(out)
        within = timed.pop("within")
        self.assertEqual(within["seconds"], 2)
        repeats = timed["repeats"]
        self.assertRegex(within["note"], rf"^{repeats} permutations of each column took \d+ % of 2s; --repeats {repeats} "
                                         "repeats the measurement$")
        self.assertEqual([len(column["losses"]) for column in timed["columns"]], [repeats, repeats])
        self.assertEqual(timed, self.run_json("importance", "run", "rows.csv", "--repeats", repeats))
        out, said = self.run_linnet("importance", "run", "rows.csv", "--within", "2s")
        self.assertRegex(out.splitlines()[0], r", \d+ permutations of each column$")
        self.assertIn("repeats the measurement", said)
        for short in ("0.000001s", "0.02s"):
            _, said = self.run_linnet("importance", "run", "rows.csv", "--within", short, status=2)
            self.assertIn(f"--within {short} is too short: ", said)
        for arguments in (("--within", "9"), ("--within", "5s", "--repeats", 3)):
            self.run_linnet("importance", "run", "rows.csv", *arguments, status=2)

    def test_refuses(self):
        _, error = self.train_table("--within", "0.000001s", status=2)
        self.assertIn("--within 0.000001s is too short: reading the data took", error)
        _, error = self.train_table("--within", "0.02s", status=2)  # no time for the process itself
        self.assertIn("--within 0.02s is too short", error)
        self.assertFalse((self.folder / "runs").exists())
        for arguments in (("--within", "60"), ("--within", "5s", "--epochs", 3),
                          ("--within", "5s", "--folds", 3)):
            self.train_table(*arguments, status=2)


if __name__ == "__main__":
    unittest.main()
