# SPDX-License-Identifier: Apache-2.0
"""Tables of raw rows: training, prediction, evaluation, `linnet data info`, and their errors."""
import json
import os
import pathlib
import random
import re
import shlex
import tarfile
import unittest

# Before command, which takes the variable away.
ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = pathlib.Path(os.environ.get("LINNET_DATA", ROOT / "../shared/data"))

import command

PAGE = ROOT / "docs/your-data.md"


def write_flowers(path, rows=120, seed=1, header=True, target=True):
    """Two numbers, a colour and a date tell the kind; some values are missing."""
    rng = random.Random(seed)
    lines = ["length;width;colour;seen" + (";kind" if target else "")] if header else []
    for i in range(rows):
        kind = rng.choice(["rose", "tulip", "lily"])
        mean = {"rose": 1, "tulip": 4, "lily": 7}[kind]
        length = "NA" if i % 17 == 3 else f"{rng.gauss(mean, 0.5):.3f}".replace(".", ",")
        width = f"{rng.gauss(-mean, 0.5):.3f}".replace(".", ",")
        line = [length, width, rng.choice(["red", "white", "?"]), f"{1 + i % 28:02}/03/2024"]
        lines.append(";".join(line + ([kind] if target else [])))
    path.write_text("\n".join(lines) + "\n")


def write_values(path, rows=200):
    """y = 1000 + 30 x - 20 [c is b]."""
    rng = random.Random(2)
    lines = ["id,x,c,y"]
    for i in range(rows):
        x, c = rng.uniform(-1, 1), rng.choice("ab")
        lines.append(f"{i},{x:.4f},{c},{1000 + 30 * x - 20 * (c == 'b'):.4f}")
    path.write_text("\n".join(lines) + "\n")


class Tables(command.CommandTest):
    def train_table(self, *arguments, out="run"):
        return self.run_json("train", *arguments, "--out", out, "--threads", 1, "--device", "cpu")

    def test_classes_from_raw_rows(self):
        write_flowers(self.folder / "flowers.csv")
        summary = self.train_table("flowers.csv", "--target", "kind", "--epochs", 20)
        self.assertGreater(summary["test_accuracy"], 0.95)
        self.assertEqual(summary["test_samples"], 24)
        write_flowers(self.folder / "new.csv", rows=5, seed=3, target=False)
        out, _ = self.run_linnet("predict", "run", "new.csv")
        lines = [line.split("\t") for line in out.splitlines()]
        self.assertEqual([line[0] for line in lines], [f"new.csv[{i}]" for i in range(5)])
        self.assertLessEqual({line[1] for line in lines}, {"rose", "tulip", "lily"})
        write_flowers(self.folder / "more.csv", rows=40, seed=4)
        out, _ = self.run_linnet("evaluate", "run/model.safetensors", "--data", "more.csv")
        self.assertIn("more.csv, test set: 40 samples", out)

    def test_values_come_in_their_unit(self):
        write_values(self.folder / "values.csv")
        _, err = self.run_linnet("train", "values.csv", "--target", "y", "--epochs", 60, "--out", "run",
                                 "--device", "cpu")
        self.assertIn("columns of identifiers are left out: 'id'", err)
        self.assertIn("learns 'y', a value, from 4 features", err)
        metrics = json.loads((self.folder / "run/metrics.json").read_text())
        self.assertGreater(metrics["r_squared"], 0.95)
        (self.folder / "new.csv").write_text("x,c\n0.5,a\n0.5,b\n")
        out, _ = self.run_linnet("predict", "run", "new.csv")
        first, second = (float(line.split("\t")[1]) for line in out.splitlines())
        self.assertAlmostEqual(first, 1015, delta=5)
        self.assertAlmostEqual(second, 995, delta=5)

    def test_the_best_epoch_is_kept(self):
        write_values(self.folder / "values.csv")
        summary = self.train_table("values.csv", "--target", "y", "--patience", 3, "--lr", 0.05)
        losses = [epoch["validation_loss"] for epoch in self.history(self.folder / "run")]
        best = losses.index(min(losses)) + 1
        self.assertIn(f"the weights are those of epoch {best},", " ".join(summary["notes"]))
        evaluation = self.run_json("evaluate", "run", "--data", "values.csv")
        self.assertEqual(evaluation["metrics"]["samples"], 200)

    def test_equal_seeds_give_equal_models(self):
        write_flowers(self.folder / "flowers.csv")
        for out, seed in (("a", 1), ("b", 1), ("c", 2)):
            self.train_table("flowers.csv", "--target", "5", "--epochs", 2, "--seed", seed, out=out)
        models = [(self.folder / out / "model.safetensors").read_bytes() for out in "abc"]
        self.assertEqual(models[0], models[1])
        self.assertNotEqual(models[0], models[2])

    def test_a_stopped_run_goes_on(self):
        write_flowers(self.folder / "flowers.csv")
        self.train_table("flowers.csv", "--target", "kind", "--epochs", 4, out="whole")
        self.train_table("flowers.csv", "--target", "kind", "--epochs", 4, out="run")
        (self.folder / "run/summary.json").unlink()
        sorted((self.folder / "run/checkpoints").glob("*.safetensors"))[-1].unlink()
        self.run_linnet("train", "--resume", "run")
        self.assertEqual((self.folder / "whole/model.safetensors").read_bytes(),
                         (self.folder / "run/model.safetensors").read_bytes())

    def test_info(self):
        write_flowers(self.folder / "flowers.csv")
        out, _ = self.run_linnet("data", "info", "flowers.csv", "--target", "kind")
        self.assertIn("120 rows, 5 columns, with a header, separator ';', decimal comma", out)
        self.assertRegex(out, r"length +number +\S.* to .*; 7 missing; Cramér's V 0\.\d\d")
        self.assertRegex(out, r"seen +date_time .* 01/03/2024 to 28/03/2024")
        json_out = self.run_json("data", "info", "flowers.csv", "--type", "colour=category")
        self.assertEqual([c["type"] for c in json_out["columns"]],
                         ["number", "number", "category", "date_time", "category"])
        self.assertEqual(sum(json_out["columns"][0]["histogram"]), 113)

    def test_errors_say_what_to_do(self):
        write_flowers(self.folder / "flowers.csv")
        self.assert_error("--target names the column of 'flowers.csv' that is predicted, one of length, "
                          "width, colour, seen or kind", "train", "flowers.csv")
        self.assert_error("'flowers.csv' has no column 'kimd'; did you mean 'kind'?", "train",
                          "flowers.csv", "--target", "kimd")
        self.assert_error("--type kind: expected number, integer, category, boolean, date_time, constant "
                          "or identifier; got 'class'", "train", "flowers.csv", "--target", "kind",
                          "--type", "kind=class")
        self.assert_error("--target and what goes with it are for a table: linnet train FILE.csv --target "
                          "COLUMN", "train", "--workload", "mnist-cnn", "--target", "x")
        self.assert_error("'flowers.csv' is a table, which brings its data and its network: leave out "
                          "--data, --workload and --from", "train", "flowers.csv", "--target", "kind",
                          "--data", "digits")
        self.train_table("flowers.csv", "--target", "kind", "--epochs", 1)
        (self.folder / "bad.csv").write_text("length;width;colour;seen\n1,5;wide;red;01/03/2024\n")
        self.assert_error("'bad.csv', row 1 (line 2), column 'width': expected a finite number; got "
                          "'wide'", "predict", "run", "bad.csv")


class Page(command.CommandTest):
    """docs/your-data.md: each command of its table section prints what the page says."""

    def setUp(self):
        super().setUp()
        archive = DATA / "tabular/tabular.tar.xz"
        if not archive.is_file():
            self.skipTest(f"{archive} is not there; LINNET_DATA may name the folder above it")
        with tarfile.open(archive) as tar:
            tar.extractall(self.folder, filter="data")

    def test_commands(self):
        blocks = re.findall(r"^```console\n(.*?)^```", PAGE.read_text(), re.M | re.S)
        self.assertGreaterEqual(len(blocks), 4)
        for block in blocks:
            for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
                line, _, promised = part.partition("\n")
                words = shlex.split(line)
                self.assertEqual(words[0], "linnet")
                out, err = self.run_linnet(*words[1:])
                self.check(line, promised, out + err)

    def check(self, line, promised, printed):
        """Every line of the page was printed: that of a survey to the letter, others but for their
        numbers, which depend on the processor. Scores are near the page's."""
        exact = line.startswith("linnet data info")

        def plain(text):
            return text.rstrip() if exact else " ".join(
                re.sub(r"-?\d+(\.\d+)?(e[+-]?\d+)?", "#", text).split())

        lines = [plain(text) for text in printed.splitlines()]
        for text in promised.splitlines():
            if text.strip() not in ("...", ""):
                self.assertIn(plain(text), lines, line)
        score = re.compile(r"(accuracy|R²) (-?\d+\.\d+)")
        wanted = score.findall(promised)
        last = [text for text in printed.splitlines() if not text.startswith("epoch ")]
        got = score.findall("\n".join(last))
        self.assertEqual(len(got), len(wanted), line)
        for (name, least), (_, number) in zip(wanted, got):
            limit = 3 if name == "accuracy" else 0.03
            self.assertGreater(float(number), float(least) - limit, f"{line}: {name}")


if __name__ == "__main__":
    unittest.main()
