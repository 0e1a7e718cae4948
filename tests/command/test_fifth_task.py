# SPDX-License-Identifier: Apache-2.0
"""A kind of data that only one file knows (fifth/numbers_task.cpp) goes through all commands; docs/adding-a-task.md."""
import random
import unittest

import serving


class FifthTask(serving.ServeTest):
    def setUp(self):
        super().setUp()
        rng = random.Random(7)
        lines = []
        for i in range(200):
            values = [rng.gauss(0, 1) for _ in range(3)]
            lines.append(" ".join(["high" if values[0] > 0 else "low", *(f"{value:.3f}" for value in values)]))
        (self.folder / "few.numbers").write_text("\n".join(lines) + "\n")

    def test_it_goes_through_all_commands(self):
        out, _ = self.run_linnet("few.numbers")
        self.assertIn("'few.numbers' holds numbers.\n\n  linnet data info few.numbers", out)
        info = self.run_json("data", "info", "few.numbers")
        self.assertEqual((info["path"], info["train"]["samples"], info["train"]["sample_shape"]), ("few.numbers", 200, [3]))
        self.assertIn("\nNumbers:\n  --units", self.run_linnet("train", "--help")[0])

        _, err = self.run_linnet("train", "few.numbers", "--units", 16, "--out", "run", "--device", "cpu")
        self.assertIn("learns one of 2 classes; 140 lines train, 20 validate, 40 test", err)
        (self.folder / "few.toml").write_text('[data]\nfile = "few.numbers"\nunits = 16\n')
        self.run_linnet("train", "few.toml", "--out", "toml", "--device", "cpu")
        self.assertEqual(*((self.folder / run / "model.safetensors").read_bytes() for run in ("run", "toml")))

        metrics = self.run_json("evaluate", "run", "--data", "few.numbers")["metrics"]
        self.assertGreater(metrics["accuracy"], 0.9)
        out, _ = self.run_linnet("predict", "run", "few.numbers")
        self.assertEqual(len(out.splitlines()), 200)
        self.assertRegex(out, r"^few\.numbers:1\t(high|low)\t")
        features = self.run_json("features", "run", "few.numbers", "--layer", "dense_1", "-o", "out.npy")
        self.assertEqual(features["shape"], [200, 16])

        self.serve("run")
        self.assertIn('"takes":"numbers of a line"', self.ask("GET", "/model")[1])
        self.assertIn('"format":"lines of numbers"', self.ask("GET", "/model")[1])
        answer, = self.predict({"inputs": [[2.5, 0, 0]]})
        self.assertEqual(answer["class"], "high")

    def test_settings_of_others_are_refused(self):
        self.assert_error("--past is for windows of a series (--past); 'few.numbers' holds numbers: leave it out",
                          "train", "few.numbers", "--past", 3)
        self.assert_error("--augment is for images; 'few.numbers' holds numbers: leave it out",
                          "train", "few.numbers", "--augment", "flip")
        (self.folder / "rows.csv").write_text("a,b\n" + "".join(f"{i},{i % 2}\n" for i in range(40)))
        self.assert_error("--units is for numbers; 'rows.csv' is a table: leave it out",
                          "train", "rows.csv", "--target", "b", "--units", 3)


if __name__ == "__main__":
    unittest.main()
