# SPDX-License-Identifier: Apache-2.0
"""Prediction intervals: tables of one and of several targets, series, the server, exports, and what is refused."""
import csv
import io
import json
import random
import unittest

import command
import serving


def write_noisy(path, rows=600, seed=1):
    """y = 5 x with noise of std 1, z = -y with noise of std 10; kind is the sign of x."""
    rng = random.Random(seed)
    lines = ["x,y,z,kind"]
    for _ in range(rows):
        x = rng.uniform(-1, 1)
        y = 5 * x + rng.gauss(0, 1)
        lines.append(f"{x:.4f},{y:.4f},{-y + rng.gauss(0, 10):.4f},{'up' if x > 0 else 'down'}")
    path.write_text("\n".join(lines) + "\n")


def write_walk(path, rows=400):
    """A random walk: a forecast of k steps misses by the square root of k."""
    rng = random.Random(3)
    value, lines = 0, ["t,level"]
    for i in range(rows):
        value += rng.gauss(0, 1)
        lines.append(f"{i},{value:.4f}")
    path.write_text("\n".join(lines) + "\n")


class Intervals(serving.ServeTest):
    TRAIN = ("--device", "cpu", "--threads", 1, "--validation", 0.3)

    def train_noisy(self, *targets, arguments=(), out="run"):
        write_noisy(self.folder / "noisy.csv")
        named = [argument for target in targets for argument in ("--target", target)]
        others = [argument for name in ("y", "z", "kind") if name not in targets for argument in ("--ignore", name)]
        return self.run_json("train", "noisy.csv", *named, *others, *self.TRAIN, "--epochs", 15, *arguments,
                             "--out", out)

    def test_values_and_their_ends(self):
        summary = self.train_noisy("y", arguments=("--ensemble", 1))
        score, = summary["test_intervals"]
        self.assertEqual((score["target"], score["wanted"]), ("y", 0.9))
        self.assertGreater(score["half_width"], 1.2)  # 1.64 of the noise alone
        self.assertLess(score["half_width"], 2.4)
        self.assertGreater(score["measured"], 0.8)
        page = (self.folder / "run/report.html").read_text()
        self.assertIn("Prediction intervals", page)
        self.assertIn(f"<td>{100 * score['measured']:.1f} %</td>", page)

        plain, _ = self.run_linnet("predict", "run", "noisy.csv")
        out, _ = self.run_linnet("predict", "run", "noisy.csv", "--interval", 0.9)
        name, value, low, high = out.splitlines()[0].split("\t")
        self.assertEqual(f"{name}\t{value}", plain.splitlines()[0])
        self.assertAlmostEqual(float(high) - float(value), score["half_width"], places=4)
        self.assertAlmostEqual(float(value) - float(low), score["half_width"], places=4)
        rows = list(csv.DictReader((self.folder / "noisy.csv").read_text().splitlines()))
        held = sum(float(line.split("\t")[2]) <= float(row["y"]) <= float(line.split("\t")[3])
                   for line, row in zip(out.splitlines(), rows))
        self.assertGreater(held / len(rows), 0.85)
        self.assertLess(held / len(rows), 0.96)
        wide = self.run_json("predict", "run", "noisy.csv", "--interval", 0.99)
        self.assertEqual(wide["interval"], 0.99)
        one = wide["predictions"][0]
        self.assertGreater(one["high"][0] - one["outputs"][0], score["half_width"])
        self.assertNotIn("interval", self.run_json("predict", "run", "noisy.csv"))
        self.run_linnet("predict", "run", "noisy.csv", "--interval", 0.9, "-o", "ends.csv")
        self.assertTrue((self.folder / "ends.csv").read_text().startswith("input,y,y_low,y_high\n"))
        self.run_linnet("predict", "run", "noisy.csv", "--interval", 0.9, "-o", "ends.npy")
        self.assertIn(b"'shape': (600, 1, 3)", (self.folder / "ends.npy").read_bytes())

        out, _ = self.run_linnet("evaluate", "run", "--data", "noisy.csv")
        self.assertRegex(out, r"\n90 % intervals: ±[\d.]+, hold [89]\d\.\d % of 600 values\n")
        target, = self.run_json("evaluate", "run", "--data", "noisy.csv")["report"]["targets"]
        self.assertEqual(target["interval"]["half_width"], score["half_width"])

    def test_several_targets(self):
        self.train_noisy("y", "z")
        out, _ = self.run_linnet("predict", "run", "noisy.csv", "--interval", 0.8, "-o", "ends.csv")
        with (self.folder / "ends.csv").open() as file:
            row = next(csv.DictReader(file))
        self.assertEqual(list(row), ["input", "y", "y_low", "y_high", "z", "z_low", "z_high"])
        widths = {name: float(row[f"{name}_high"]) - float(row[name]) for name in "yz"}
        self.assertGreater(widths["z"], 4 * widths["y"])

    def test_each_step_of_a_forecast_has_its_own(self):
        write_walk(self.folder / "walk.csv")
        summary = self.run_json("train", "walk.csv", "--target", "level", "--past", 5, "--future", 9, *self.TRAIN,
                                "--epochs", 3, "--out", "run")
        interval = summary["series"]["targets"][0]["interval"]
        self.assertEqual((interval["wanted"], len(interval["measured_by_step"])), (0.9, 9))
        self.assertGreater(interval["half_width_by_step"][8], 1.5 * interval["half_width_by_step"][0])
        out, _ = self.run_linnet("predict", "run", "walk.csv", "--interval", 0.9)
        rows = list(csv.DictReader(io.StringIO(out)))
        self.assertEqual(list(rows[0]), ["row", "level", "level_low", "level_high"])
        for row, width in zip(rows, interval["half_width_by_step"], strict=True):
            self.assertAlmostEqual(float(row["level_high"]) - float(row["level"]), width, places=3)
            self.assertAlmostEqual(float(row["level"]) - float(row["level_low"]), width, places=3)
        whole = self.run_json("predict", "run", "walk.csv", "--interval", 0.9)
        self.assertEqual((whole["interval"], list(whole["forecast"][0])), (0.9, ["time", "values", "low", "high"]))
        plain, _ = self.run_linnet("predict", "run", "walk.csv")
        self.assertEqual(plain.splitlines()[0], "row,level")
        out, _ = self.run_linnet("evaluate", "run", "--data", "walk.csv")
        self.assertRegex(out, r"90 % intervals: ±[\d.]+ in the first step, ±[\d.]+ in the last, hold \d\d\.\d % of the "
                              r"true values\n")

        self.serve("run")
        lines = (self.folder / "walk.csv").read_text().splitlines()
        status, text = self.ask("POST", "/predict?interval=0.9", "\n".join(lines), "text/csv")
        self.assertEqual((status, json.loads(text)), (200, whole))
        self.stop()

    def test_a_server_answers_as_predict_does(self):
        self.train_noisy("y")
        (self.folder / "new.csv").write_text("x\n0.5\n-0.25\n")
        wanted = self.run_json("predict", "run", "new.csv", "--interval", 0.8)["predictions"]
        for one in wanted:
            one.pop("input")
        self.serve("run")
        status, text = self.ask("POST", "/predict?a=b&interval=0.8", "x\n0.5\n-0.25\n", "text/csv")
        self.assertEqual((status, json.loads(text)), (200, {"targets": ["y"], "interval": 0.8, "predictions": wanted}))
        for query, sentence in (("interval=", "expected a number between 0 and 1 after 'interval='; got ''"),
                                ("interval=90", "expected a number between 0 and 1 after 'interval='; got '90'"),
                                ("interval=nan", "expected a number between 0 and 1 after 'interval='; got 'nan'")):
            status, text = self.ask("POST", f"/predict?{query}", "x\n0.5\n", "text/csv")
            self.assertEqual((status, json.loads(text)["error"]), (400, sentence))
        status, text = self.ask("POST", "/predict?interval=0.999", "x\n0.5\n", "text/csv")
        self.assertEqual(status, 400)
        self.assertIn("an interval of coverage 0.999 needs the errors of at least 999 held-out samples", text)
        self.stop()

    def test_what_is_refused(self):
        self.train_noisy("kind", out="classes")
        for coverage, sentence in ((0.9, "prediction intervals are for models of values; this model predicts classes"),
                                   (90, "--interval is a probability between 0 and 1, such as 0.9; got 90"),
                                   (0, "--interval is a probability between 0 and 1, such as 0.9; got 0")):
            out, err = self.run_linnet("predict", "classes", "noisy.csv", "--interval", coverage, status=2)
            self.assertEqual(out, "")
            self.assertIn(sentence, err)
        write_noisy(self.folder / "few.csv", rows=100)
        rest = ("--ignore", "z", "--ignore", "kind", "--device", "cpu", "--epochs", 1)
        self.run_linnet("train", "few.csv", "--target", "y", "--validation", 0.2, *rest, "--out", "few")
        _, err = self.run_linnet("predict", "few", "few.csv", "--interval", 0.99, status=2)
        self.assertIn("an interval of coverage 0.99 needs the errors of at least 99 held-out samples; the model has those "
                      "of 20, enough for a coverage of 0.9523", err)
        self.run_linnet("predict", "few", "few.csv", "--interval", 0.95)
        self.run_linnet("train", "few.csv", "--target", "y", "--validation", 0, *rest, "--out", "none")
        _, err = self.run_linnet("predict", "none", "few.csv", "--interval", 0.9, status=2)
        self.assertIn("the model has no errors of held-out samples", err)
        summary = json.loads((self.folder / "none/summary.json").read_text())
        self.assertNotIn("test_intervals", summary)

    def test_an_export_has_errors_or_says_that_it_lacks_them(self):
        self.train_noisy("y")
        _, err = self.run_linnet("export", "run", "--c", "c")
        self.assertIn("the file holds no errors of held-out samples: intervals around its values need the model file",
                      err)
        _, err = self.run_linnet("export", "run", "--onnx", "model.onnx")
        self.assertNotIn("held-out", err)
        self.run_linnet("convert", "model.onnx", "-o", "again.safetensors")
        first, again = (self.run_json("predict", model, "noisy.csv", "--interval", 0.9)
                        for model in ("run", "again.safetensors"))
        self.assertEqual(again["interval"], 0.9)
        for one, other in zip(first["predictions"], again["predictions"], strict=True):
            for key in ("outputs", "low", "high"):
                self.assertAlmostEqual(one[key][0], other[key][0], places=4)


if __name__ == "__main__":
    unittest.main()
