# SPDX-License-Identifier: Apache-2.0
"""linnet train --within: how long it takes is measured by benchmarks/within.py, not here."""
import json
import random
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

    def test_repeats_without_a_clock(self):
        _, said = self.train_table("--within", "2s", "--out", "timed")
        start = json.loads((self.folder / "timed" / "run.json").read_text())
        self.assertNotIn("--within", start["options"])
        epochs = start["options"]["--epochs"][0]
        self.assertIn(f"--epochs {epochs} --patience 0 repeats the run", said)
        self.assertFalse((self.folder / "timed" / "rehearsal").exists())
        summary = json.loads((self.folder / "timed" / "summary.json").read_text())
        self.assertEqual((summary["interrupted"], str(summary["epochs"])), (False, epochs))
        self.assertEqual(summary["within"]["seconds"], 2)
        self.train_table("--epochs", epochs, "--patience", 0, "--out", "again")
        first, second = (self.folder / name / "model.safetensors" for name in ("timed", "again"))
        self.assertEqual(first.read_bytes(), second.read_bytes())

    def test_plans_the_length_of_a_schedule(self):
        self.train_table("--within", "2s", "--schedule", "cosine", "--out", "timed")
        start = json.loads((self.folder / "timed" / "run.json").read_text())
        self.assertGreater(int(start["options"]["--epochs"][0]), 1)

    def test_says_why_it_ends_early(self):
        _, said = self.train_table("--within", "20s", "--patience", 1, "--lr", 0.3, "--out", "timed")
        self.assertIn("stopped early: the held-out loss did not improve", said)
        self.assertIn("s of 20s", said)

    def test_refuses(self):
        _, error = self.train_table("--within", "0.001s", status=2)
        self.assertIn("--within 0.001s is too short: reading the data took", error)
        _, error = self.train_table("--within", "0.1s", status=2)
        self.assertIn("--within 0.1s is too short", error)
        self.assertFalse((self.folder / "runs").exists())
        for arguments in (("--within", "60"), ("--within", "5s", "--epochs", 3),
                          ("--within", "5s", "--folds", 3)):
            self.train_table(*arguments, status=2)


if __name__ == "__main__":
    unittest.main()
