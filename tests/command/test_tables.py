# SPDX-License-Identifier: Apache-2.0
"""Tables of raw rows: training, prediction, evaluation, `linnet data info`, and their errors."""
import csv
import html
import json
import math
import pathlib
import random
import re
import shutil
import statistics
import struct
import unittest

import guide_pages  # first: it reads LINNET_DATA, which command takes away
import command

FIXTURES = pathlib.Path(__file__).resolve().parents[2] / "tests/fixtures/tables1"


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


def write_imbalanced(path):
    """One row of twenty is of the rare class."""
    rng = random.Random(4)
    lines = ["x,z,kind"]
    for i in range(1200):
        rare = i % 20 == 0
        lines.append(f"{rng.gauss(1.6 if rare else 0, 1):.4f},{rng.gauss(0, 1):.4f},{'rare' if rare else 'usual'}")
    path.write_text("\n".join(lines) + "\n")


class Tables(command.CommandTest):
    def train_table(self, *arguments, out="run"):
        return self.run_json("train", *arguments, "--out", out, "--threads", 1, "--device", "cpu")

    def read_csv(self, name):
        with open(self.folder / name, newline="") as file:
            return list(csv.DictReader(file))

    def test_classes_from_raw_rows(self):
        write_flowers(self.folder / "flowers.csv")
        summary = self.train_table("flowers.csv", "--target", "kind", "--epochs", 20, "--seed", 2)
        self.assertGreater(summary["test_accuracy"], 0.95)
        self.assertEqual(summary["test_samples"], 24)
        write_flowers(self.folder / "new.csv", rows=5, seed=3, target=False)
        out, _ = self.run_linnet("predict", "run", "new.csv")
        lines = [line.split("\t") for line in out.splitlines()]
        self.assertEqual([line[0] for line in lines], [f"new.csv[{i}]" for i in range(5)])
        self.assertLessEqual({line[1] for line in lines}, {"rose", "tulip", "lily"})
        out, _ = self.run_linnet("predict", "run", "new.csv", "--output", "out.csv")
        rows = self.read_csv("out.csv")
        self.assertEqual(list(rows[0]), ["input", "kind", "lily", "rose", "tulip"])
        for (name, kind, share), row in zip(lines, rows, strict=True):
            self.assertEqual((row["input"], row["kind"]), (name, kind))
            self.assertAlmostEqual(float(row[kind]), float(share), places=4)
            self.assertAlmostEqual(sum(float(row[kind]) for kind in ("lily", "rose", "tulip")), 1, places=4)
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

    def test_levenberg_marquardt(self):
        rng = random.Random(3)
        lines = ["a,b,c,y"]
        for _ in range(400):
            a, b, c = (rng.uniform(-1, 1) for _ in range(3))
            lines.append(f"{a:.5f},{b:.5f},{c:.5f},{5000 + 300 * math.sin(2 * a) * b + 50 * c * c:.5f}")
        (self.folder / "smooth.csv").write_text("\n".join(lines) + "\n")
        by = ("smooth.csv", "--target", "y", "--optimizer", "levenberg_marquardt", "--seed", 1)
        summary = self.train_table(*by)
        self.assertGreater(summary["test_r_squared"], 0.999)
        self.assertEqual(summary["optimizer"], "levenberg_marquardt")
        self.assertIsNone(summary["learning_rate"])
        self.assertEqual(summary["parameters"], 3 * 5 + 5 + 5 + 1, "5 units")
        self.train_table(*by, "--epochs", 6, out="whole")
        self.train_table(*by, "--epochs", 6, out="parts")
        (self.folder / "parts/summary.json").unlink()
        sorted((self.folder / "parts/checkpoints").glob("*.safetensors"))[-1].unlink()
        self.run_linnet("train", "--resume", "parts")
        self.assertEqual((self.folder / "whole/model.safetensors").read_bytes(),
                         (self.folder / "parts/model.safetensors").read_bytes())
        # A configuration says the same.
        (self.folder / "lm.toml").write_text('[data]\nfile = "smooth.csv"\ntarget = "y"\n\n[optimizer]\n'
                                             'kind = "levenberg_marquardt"\n\n[training]\nepochs = 6\nseed = 1\n')
        self.train_table("lm.toml", out="same")
        self.assertEqual((self.folder / "whole/model.safetensors").read_bytes(),
                         (self.folder / "same/model.safetensors").read_bytes())
        self.assert_error("levenberg_marquardt has no learning rate; leave out --lr", "train", *by, "--lr", 0.1)
        write_flowers(self.folder / "flowers.csv")
        self.assert_error("[levenberg_marquardt] learns values; 'kind' is a class: train by another optimizer, such as "
                          "adamw", "train", "flowers.csv", "--target", "kind", "--optimizer", "levenberg_marquardt")

    def test_normalized_error_of_held_out_rows_that_are_alike(self):
        """The latest rows, which are held out, have one target: the training rows' variance divides their error."""
        targets = [7 if i > 35 else 7 + math.sin(3 * i) for i in range(60)]
        lines = [f"2024-{1 + i // 28:02}-{1 + i % 28:02},{math.sin(i):.4f},{y!r}" for i, y in enumerate(targets)]
        (self.folder / "late.csv").write_text("\n".join(["day,x,y"] + lines) + "\n")
        summary = self.train_table("late.csv", "--target", "y", "--time", "day", "--epochs", 1, "--ensemble", 1,
                                   "--loss", "normalized_squared_error")
        metrics = json.loads((self.folder / "run/metrics.json").read_text())
        variance = statistics.pvariance(targets[:42])
        for found, rmse in ((summary["test_loss"], metrics["rmse"]),
                            (summary["validation_loss"], metrics["validation"]["rmse"])):
            self.assertAlmostEqual(found * variance / rmse ** 2, 1, places=4)

    def test_the_best_epoch_is_kept(self):
        write_values(self.folder / "values.csv")
        summary = self.train_table("values.csv", "--target", "y", "--patience", 3, "--lr", 0.05)
        losses = [epoch["validation_loss"] for epoch in self.history(self.folder / "run")]
        best = losses.index(min(losses)) + 1
        self.assertIn(f"the weights are those of epoch {best},", " ".join(summary["notes"]))
        evaluation = self.run_json("evaluate", "run", "--data", "values.csv")
        self.assertEqual(evaluation["metrics"]["samples"], 200)

    def test_a_test_set_that_chooses_the_epoch_is_said(self):
        write_values(self.folder / "values.csv")
        for validation, said in ((0, True), (0.2, False)):
            _, err = self.run_linnet("train", "values.csv", "--target", "y", "--validation", validation, "--epochs", 2,
                                     "--out", f"run-{validation}", "--device", "cpu")
            sentence = "the test set of 'values.csv' chooses the epoch, since there is no validation set"
            self.assertEqual(sentence in err, said, err)

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

    def test_scalings_and_missing_values_travel_with_the_model(self):
        write_flowers(self.folder / "flowers.csv")
        summary = self.train_table("flowers.csv", "--target", "kind", "--epochs", 20, "--scale", "quantile",
                                   "--scale", "width=robust", "--missing", "interpolate")
        self.assertGreater(summary["test_accuracy"], 0.9)
        write_flowers(self.folder / "more.csv", rows=40, seed=4)
        evaluation = self.run_json("evaluate", "run", "--data", "more.csv")
        self.assertGreater(evaluation["metrics"]["accuracy"], 0.9)

    def test_how_a_file_was_read_travels_with_the_model(self):
        rng = random.Random(4)
        rows = [(rng.random() * 9, rng.random()) for _ in range(80)]
        numbers = "2019;2020;2021\n" + "".join(f"{a:.2f};{b:.2f};{a + b:.2f}\n" for a, b in rows)
        (self.folder / "years.csv").write_text(numbers)  # nothing shows that the first record names columns
        self.train_table("years.csv", "--target", "2021", "--header", "--epochs", 2, out="years")
        out, _ = self.run_linnet("predict", "years/model.safetensors", "years.csv")
        self.assertEqual(len(out.splitlines()), 80)
        self.assertEqual(self.run_json("evaluate", "years", "--data", "years.csv")["metrics"]["samples"], 80)
        (self.folder / "comma.csv").write_text(
            "x;version;build;y\n" + "".join(f"{i},5;1.{i % 3};2.{i % 2};{'no' if i % 2 else 'yes'}\n" for i in range(60)))
        self.train_table("comma.csv", "--target", "y", "--decimal", ",", "--epochs", 1, out="comma")
        self.run_linnet("predict", "comma", "comma.csv")
        (self.folder / "bars.csv").write_text("a;b|y\n" + "".join(f"{i % 7};{i % 3}|{i % 2}\n" for i in range(60)))
        self.train_table("bars.csv", "--target", "y", "--separator", "|", "--epochs", 1, out="bars")
        self.run_linnet("importance", "bars", "bars.csv")

    def test_rows_that_cannot_be_measured_are_left_out(self):
        write_flowers(self.folder / "flowers.csv")
        self.train_table("flowers.csv", "--target", "kind", "--epochs", 1)
        lines = (self.folder / "flowers.csv").read_text().splitlines()
        without = [line.rsplit(";", 1)[0] + ";" if i in (3, 5) else line for i, line in enumerate(lines)]
        (self.folder / "gaps.csv").write_text("\n".join(without) + "\n")
        _, err = self.run_linnet("evaluate", "run", "--data", "gaps.csv", "--report", "page.html")
        self.assertIn("2 rows without a target are left out", err)
        _, err = self.run_linnet("importance", "run", "gaps.csv")
        self.assertIn("2 rows without a target are left out", err)
        other = [line.rsplit(";", 1)[0] + ";orchid" if i in (3, 5) else line for i, line in enumerate(lines)]
        (self.folder / "other.csv").write_text("\n".join(other) + "\n")
        self.assert_error("'other.csv', row 3 (line 4), column 'kind': the label 'orchid' is none of the model's 3 "
                          "classes: lily, rose or tulip", "evaluate", "run", "--data", "other.csv")
        out, err = self.run_linnet("evaluate", "run", "--data", "other.csv", "--force")
        self.assertIn("2 rows with labels that the model does not know are left out", err)
        self.assertIn("118 samples", out)

    def test_the_page_says_what_the_matrix_is_of(self):
        write_flowers(self.folder / "flowers.csv")
        self.train_table("flowers.csv", "--target", "kind", "--epochs", 1)
        self.assertIn("Confusion matrix (test)", (self.folder / "run/report.html").read_text())

    def test_what_is_not_for_rows_is_refused(self):
        write_flowers(self.folder / "flowers.csv")
        arguments = ("train", "flowers.csv", "--target", "kind")
        for extra in (("--network", "gru"), ("--entity", "colour"), ("--known", "colour"), ("--season", 5)):
            self.assert_error(f"{extra[0]} is for windows of a series (--past); 'flowers.csv' is a table: leave it out",
                              *arguments, *extra)
        self.assert_error("--image-size is for images; 'flowers.csv' is a table: leave it out", *arguments,
                          "--image-size", 5)
        self.assert_error("--augment and --decoders are for images; 'flowers.csv' is a table: leave them out",
                          *arguments, "--decoders", 1, "--augment", "flip")

    def test_splits_by_group_and_by_time(self):
        write_flowers(self.folder / "flowers.csv")
        _, err = self.run_linnet("train", "flowers.csv", "--target", "kind", "--group", "seen", "--epochs", 1,
                                 "--out", "groups", "--device", "cpu")
        self.assertRegex(err, r"groups of 'seen': \d+ train, \d+ validate, \d+ test\nlinnet: learns 'kind'")
        _, err = self.run_linnet("train", "flowers.csv", "--target", "kind", "--time", "seen", "--epochs", 1,
                                 "--out", "time", "--device", "cpu")
        self.assertIn("split along 'seen', validation from 20/03/2024, test from 23/03/2024\nlinnet: learns", err)

    def train_rows(self, rows, *arguments, header="x,g,y"):
        """Trains an epoch on these rows, as the folder's run; returns what is said."""
        shutil.rmtree(self.folder / "run", ignore_errors=True)
        (self.folder / "rows.csv").write_text("\n".join([header, *rows]) + "\n")
        return self.run_linnet("train", "rows.csv", "--target", "y", "--epochs", 1, "--out", "run",
                               "--threads", 1, "--device", "cpu", *arguments)[1]

    def test_a_part_without_rows_is_said(self):
        small = [f"{i * i},g{i % 7},c{i // 2}" for i in range(60)]
        err = self.train_rows(small, "--validation-folds", 1)
        self.assertIn("60 rows train, 0 validate, 0 test", err)
        self.assertIn("linnet: warning: no row is left for the validation and the test set: each class has "
                      "too few rows to give some; a random split (--split random) or a larger share takes "
                      "some\n", err)
        warnings = json.loads((self.folder / "run/summary.json").read_text())["warnings"]
        self.assertTrue(any(warning.startswith("no row is left for") for warning in warnings), warnings)
        self.assertNotIn("no row is left", self.train_rows(small, "--split", "random"))
        self.assertNotIn("no row is left", self.train_rows(small, "--validation", 0, "--test", 0))
        err = self.train_rows([f"{i * i},g{i % 7},c{i // 4}" for i in range(80)], "--validation-folds", 1)
        self.assertIn("warning: no row is left for the validation set: ", err)

    def test_other_texts_for_missing_values(self):
        texts = ("unknown", "-999")
        (self.folder / "rows.csv").write_text("x,z,y\n" + "".join(
            f"{texts[0] if i % 7 == 3 else i * i},{texts[1] if i % 9 == 0 else i / 8},{i % 4}.5\n" for i in range(60)))
        given = [word for text in texts for word in ("--missing-text", text)]
        out, _ = self.run_linnet("data", "info", "rows.csv", "--json", *given)
        columns = json.loads(out)["columns"]
        self.assertEqual([(column["type"], column["missing"]) for column in columns[:2]],
                         [("integer", 9), ("number", 7)])
        train = ("--epochs", 1, "--threads", 1, "--device", "cpu", "--out")
        _, err = self.run_linnet("train", "rows.csv", "--target", "y", *given, *train, "option")
        self.assertIn("from 4 features", err)  # two numbers, and whether each is missing
        (self.folder / "net.toml").write_text(
            '[data]\nfile = "rows.csv"\ntarget = "y"\nmissing_text = ["unknown", "-999"]\n')
        self.run_linnet("train", "net.toml", *train, "key")
        predicted = self.run_linnet("predict", "option", "rows.csv")  # the model file knows them
        self.assertEqual(self.run_linnet("predict", "key", "rows.csv"), predicted)
        self.assertEqual(len(predicted[0].splitlines()), 60)

    def test_targets_of_decimal_zeros_and_ones(self):
        rows = [f"{i * 37 % 60},g{i % 7},{1 if i * 37 % 60 > 30 else 0}.0" for i in range(60)]
        warning = ("linnet: warning: the targets of 'rows.csv' are all 0 or 1, and the loss is the squared error: "
                   "--task classification learns them as classes\n")
        self.assertIn(warning, self.train_rows(rows, "--task", "regression"))
        self.assertIn("learns 'y', one of 2 classes", self.train_rows(rows))
        several = self.train_rows([f"{row},{i % 2}.0" for i, row in enumerate(rows)], "--target", "z",
                                  "--task", "regression", header="x,g,y,z")
        self.assertIn("the loss binary_cross_entropy learns probabilities of them", several)
        err = self.train_rows(rows, "--loss", "binary_cross_entropy", "--task", "regression")
        self.assertNotIn("warning: the", err)
        self.assertRegex(err, r"linnet: mean ROC AUC of 1 labels \d")  # of probabilities, as they are predicted
        self.assertNotIn("R²", err + self.run_linnet("evaluate", "run", "--data", "rows.csv")[0])

    def test_shares_are_measured_as_they_are_predicted(self):
        self.train_rows([f"{i * 37 % 60},g{i % 7},{0.25 + i * 37 % 60 / 120}" for i in range(60)],
                        "--loss", "binary_cross_entropy")
        out, _ = self.run_linnet("predict", "run", "rows.csv")
        rows = (self.folder / "rows.csv").read_text().splitlines()[1:]
        errors = [abs(float(line.split("\t")[1]) - float(row.split(",")[2])) for line, row in zip(out.splitlines(), rows)]
        report, _ = self.run_linnet("evaluate", "run", "--data", "rows.csv")
        measured = float(re.search("mean absolute error ([\\d.]+)", report)[1])
        self.assertAlmostEqual(measured, sum(errors) / len(errors), delta=1e-3 * measured)

    def test_unknown_categories_are_said(self):
        self.train_rows([f"{i * i},{'gh'[i % 2]},{i % 3}.5" for i in range(60)])
        for name, category in (("one", "G"), ("two", "g")):
            (self.folder / f"{name}.csv").write_text(f"x,g,y\n1,{category},1\n2,h,2\n")
        note = "linnet: 1 value of 'one.csv' in column 'g' is unknown to the model, such as 'G'\n"
        self.assertEqual(self.run_linnet("predict", "run", "one.csv")[1], note)
        self.assertIn(note, self.run_linnet("evaluate", "run", "--data", "one.csv")[1])
        self.assertEqual(self.run_linnet("predict", "run", "one.csv", "two.csv")[1], note)
        self.assertEqual(self.run_linnet("predict", "run", "two.csv")[1], "")

    def test_values_outside_the_training_are_said(self):
        self.train_rows([f"{i * 7 % 60},{'gh'[i % 2]},{i % 3}.5" for i in range(60)])
        (self.folder / "one.csv").write_text("x,g,y\n-100,g,1\n2,h,2\n1000,h,1\n")
        note = "2 values of 'one.csv' in column 'x' are outside the training's range, "
        self.assertRegex(self.run_linnet("predict", "run", "one.csv")[1], f"^linnet: {note}\\d+ to \\d+, such as -100\n$")
        self.assertTrue(self.run_json("predict", "run", "one.csv")["notes"][0].startswith(note))
        self.assertIn(note, self.run_linnet("evaluate", "run", "--data", "one.csv")[1])
        (self.folder / "one.csv").write_text("x,g,y\n20,h,2\n")
        self.assertNotIn("notes", self.run_json("predict", "run", "one.csv"))

    def test_few_validation_rows_are_said(self):
        warning = "only 13 validation rows choose the epoch, so scores depend on which rows these are; --folds 5 " \
                  "measures on each row once"
        write_flowers(self.folder / "flowers.csv")
        command = ("train", "flowers.csv", "--target", "kind", "--epochs", 1, "--device", "cpu")
        _, err = self.run_linnet(*command, "--validation-folds", 1, "--out", "few")
        self.assertIn(f"linnet: warning: {warning}\n", err)
        self.assertIn(warning, json.loads((self.folder / "few/summary.json").read_text())["warnings"])
        self.assertIn(warning, html.unescape((self.folder / "few/report.html").read_text()))
        for other in (("--validation", 0.3, "--out", "many"), ("--validation", 0, "--out", "none"), ("--folds", 2)):
            self.assertNotIn("--folds 5", self.run_linnet(*command, *other)[1])

    def test_classes_without_a_test_row_are_said(self):
        warning = "linnet: warning: the test set has no row of the class 'c9'"
        often = [f"{i * i},g{i % 7},c{i % 2}" for i in range(60)]
        err = self.train_rows(often + ["1,g1,c9"])
        self.assertIn(warning + ", so its metrics do not count it\n", err)
        err = self.train_rows(often + ["1,g1,c9", "2,g1,c91"])
        self.assertIn(warning + " and 1 more of 4, so its metrics do not count them\n", err)
        self.assertNotIn("has no row of", self.train_rows(often))
        self.assertNotIn("has no row of", self.train_rows(often + ["1,g1,c9"], "--test", 0))

    def test_classes_that_differ_by_case_are_said(self):
        (self.folder / "rows.csv").write_text("x,y\n" + "".join(f"{i}.5,{('Yes', 'no', 'NO')[i % 3]}\n"
                                                                 for i in range(60)))
        _, err = self.run_linnet("train", "rows.csv", "--target", "y", "--epochs", 1, "--out", "run", "--device",
                                 "cpu")
        self.assertIn("linnet: warning: the classes 'NO' and 'no' differ by upper and lower case alone, and are "
                      "learned as two\n", err)

    def test_groups_that_alone_hold_a_class_train(self):
        # Only the third island has no class of its own: it measures.
        rows = [f"{i * i},{'pqr'[i % 3]},{['ab', 'ac', 'aa'][i % 3][i // 3 % 2]}" for i in range(90)]
        for seed in range(4):
            err = self.train_rows(rows, "--group", "g", "--seed", seed)
            self.assertIn("groups of 'g': 2 train, 0 validate, 1 test\nlinnet: 2 of the groups of 'g' hold a class "
                          "that no other group has, so they train\nlinnet: learns", err)
            self.assertIn("warning: no row is left for the validation set: each class keeps a group of 'g' "
                          "to train; more groups of each class are needed\n", err)
        err = self.train_rows([f"{i * i},g{i % 6},c{i % 6}" for i in range(60)], "--group", "g")
        self.assertIn("groups of 'g': 6 train, 0 validate, 0 test", err)
        self.assertIn("warning: no row is left for the validation and the test set: each class keeps", err)
        (self.folder / "rows.csv").write_text("\n".join(["x,g,y", *rows]) + "\n")
        self.assert_error("fold 1 of 3 has no rows of 'rows.csv' to measure: each class keeps a group of 'g' to "
                          "train; more groups of each class are needed", "train", "rows.csv", "--target", "y",
                          "--group", "g", "--folds", 3)

    def test_values_of_zero_and_one_are_measured_as_values(self):
        write_values(self.folder / "values.csv")
        self.train_table("values.csv", "--target", "y", "--epochs", 1)
        (self.folder / "zero.csv").write_text("x,c,y\n0.5,a,0\n-0.5,b,1\n0.1,a,0\n")
        out, _ = self.run_linnet("evaluate", "run", "--data", "zero.csv")
        self.assertRegex(out, r"\nR² -[\d.]+, mean absolute error [\d.e+]+, root mean squared error ")
        self.assertNotIn("ROC", out)
        report = self.run_json("evaluate", "run", "--data", "zero.csv")
        self.assertEqual(set(report["metrics"]), {"samples", "r_squared", "mae", "rmse"})
        self.assertEqual([one["target"] for one in report["report"]["targets"]], ["y"])
        out, _ = self.run_linnet("importance", "run", "zero.csv")
        self.assertIn("zero.csv: 3 rows, R² -", out)
        (self.folder / "one.csv").write_text("x,c,y\n0.5,a,7\n")
        out, _ = self.run_linnet("evaluate", "run", "--data", "one.csv")
        self.assertIn("R² undefined (all true values are equal), mean absolute error", out)
        self.train_rows([f"{i * i},g{i % 7},{int(i % 3 == 0)}" for i in range(60)], "--task", "regression")
        metrics = json.loads((self.folder / "run/metrics.json").read_text())
        self.assertIn("r_squared", metrics)
        self.assertIn("r_squared", metrics["validation"])
        result = self.run_json("train", "rows.csv", "--target", "y", "--task", "regression", "--folds", 2,
                               "--epochs", 1, "--device", "cpu")
        self.assertIn("r_squared", result["mean"])

    def test_a_header_alone_is_no_row(self):
        self.train_rows([f"{'rgb'[i % 3]},{'sml'[i % 2]},{'ny'[i % 2]}" for i in range(40)], header="colour,size,y")
        for text in ("colour,size\n", "size,colour,y\n"):
            (self.folder / "header.csv").write_text(text)
            self.assert_error("'header.csv' holds a header and no rows", "predict", "run", "header.csv")
        (self.folder / "header.csv").write_text("colour,size,y\n")
        self.assert_error("'header.csv' holds a header and no rows", "evaluate", "run", "--data", "header.csv")
        self.assert_error("'header.csv' holds a header and no rows", "train", "header.csv", "--target", "y")
        (self.folder / "row.csv").write_text("r,s\n")
        out, _ = self.run_linnet("predict", "run", "row.csv")
        self.assertRegex(out, r"^row.csv\[0\]\t[ny]\t")

    def test_decimal_commas_in_quotes(self):
        err = self.train_rows([f'"{i * i / 8:.2f}",g{i % 7},"{i / 4:.2f}"'.replace(".", ",") for i in range(60)])
        self.assertIn("numbers in quotes are read with a decimal comma\n", err)
        self.assertIn("learns 'y', a value,", err)
        (self.folder / "new.csv").write_text('x,g\n"2,25",g1\n')
        self.run_linnet("predict", "run", "new.csv")
        (self.folder / "new.csv").write_text("x,g\n2.25,g1\n")
        self.run_linnet("predict", "run", "new.csv")
        err = self.train_rows([f"1.{i:03},56;g{i % 7};{i // 4},{i % 4}" for i in range(60)], header="x;g;y")
        self.assertNotIn("are read as texts", err)
        self.assertIn("learns 'y', a value,", err)

    def test_what_was_taken_for_missing_or_for_thousands_is_said(self):
        rows = [f"{'-' if i % 9 == 4 else i * i};{'None' if i % 4 == 0 else 'A'};{'1.717' if i == 5 else 300 + i};{i * 3}"
                for i in range(60)]
        err = self.train_rows(rows, header="x;g;n;y")
        said = ("'1.717' in 'n' is read as a whole number with the thousands separator '.'; --decimal . reads it as a "
                "fraction", "'-' is read as a missing value: 7 rows in 'x'",
                "'None' is read as a text: 15 rows in 'g'; --missing-text 'None' reads it as a missing value")
        out, _ = self.run_linnet("data", "info", "rows.csv")
        report = (self.folder / "run/report.html").read_text()
        for sentence in said:
            self.assertIn(sentence, err)
            self.assertIn(sentence, out)
            self.assertIn(sentence.replace("'", "&#39;"), report.replace("'", "&#39;"))
        json_out = self.run_json("data", "info", "rows.csv", "--thousands", "none", "--missing-text", "")
        self.assertEqual([c["type"] for c in json_out["columns"]], ["category", "category", "number", "integer"])
        self.assertEqual(json_out["columns"][2]["least"], 1.717)

    def test_targets_far_from_zero_are_learned_and_measured(self):
        rows = [f"{i / 200},{2459000.5 + i / 80:.4f}" for i in range(200)]
        (self.folder / "rows.csv").write_text("x,jd\n" + "\n".join(rows) + "\n")
        self.train_table("rows.csv", "--target", "jd", "--epochs", 60)
        self.run_linnet("predict", "run", "rows.csv", "--output", "out.csv")
        wanted = [float(row.split(",")[1]) for row in rows]
        errors = [abs(float(row["jd"]) - y) for row, y in zip(self.read_csv("out.csv"), wanted, strict=True)]
        evaluation = self.run_json("evaluate", "run", "--data", "rows.csv")
        self.assertAlmostEqual(evaluation["metrics"]["mae"], sum(errors) / 200, places=4)
        self.assertLess(sum(errors) / 200, 0.2)  # of values from 2459000.5 to 2459003
        self.assertIn('"actual": 245900', json.dumps(evaluation["report"]))

    def test_models_of_older_transforms_predict_as_they_did(self):
        """Written by version 0.1, whose transforms have the version 3: words are missing in all columns, F and N one."""
        for name in ("classes", "value"):
            self.run_linnet("predict", FIXTURES / f"{name}.safetensors", FIXTURES / "rows.csv", "--output", "out.npy",
                            "--device", "cpu")
            old, new = (path.read_bytes() for path in (FIXTURES / f"{name}.npy", self.folder / "out.npy"))
            self.assertEqual(old[:128], new[:128])  # the header
            for a, b in zip(struct.iter_unpack("<f", old[128:]), struct.iter_unpack("<f", new[128:]), strict=True):
                self.assertAlmostEqual(a[0], b[0], delta=1e-6 * max(1, abs(a[0])))
        self.run_linnet("predict", FIXTURES / "series.safetensors", FIXTURES / "days.csv", "--output", "out.csv")
        with open(FIXTURES / "series.csv", newline="") as file:
            old = list(csv.DictReader(file))
        for a, b in zip(old, self.read_csv("out.csv"), strict=True):
            self.assertEqual(a["day"], b["day"])
            self.assertAlmostEqual(float(a["level"]), float(b["level"]), places=4)

    def test_the_header_of_partial_dependence_is_whole(self):
        self.train_rows([f"{i * i},g{i % 7},{i / 4:.2f}" for i in range(60)], header="x,g,y")
        text = (self.folder / "rows.csv").read_text().replace("x,g,y", "x,g,scaled_sound_pressure_level")
        (self.folder / "rows.csv").write_text(text)
        self.train_table("rows.csv", "--target", "scaled_sound_pressure_level", "--epochs", 1, out="long")
        out, _ = self.run_linnet("importance", "long", "rows.csv", "--column", "x")
        lines = out.splitlines()
        start = lines.index("partial dependence on 'x'") + 1
        self.assertEqual(lines[start].split(), ["value", "scaled_sound_pressure_level"])
        self.assertEqual({len(line) for line in lines[start:]}, {len(lines[start])})

    def test_what_optimize_refuses(self):
        self.train_rows([f"{i * i},{i % 5},{i / 4:.2f}" for i in range(60)])
        for goal in ("4", "1 + 2"):
            self.assert_error(f"the goal '{goal}' names no output and no column; the output is 'y'", "optimize",
                              "run", "--minimize", goal)
        self.assert_error("the column 'g' holds whole numbers, and none lies between 0.2 and 0.8", "optimize",
                          "run", "--minimize", "y", "--range", "g=0.2..0.8")
        best = self.run_json("optimize", "run", "--minimize", "g", "--range", "g=0.2..2.8", "--generations", 3)
        self.assertEqual(best["best"][0]["inputs"]["g"], 1)

    def test_folds(self):
        write_flowers(self.folder / "flowers.csv")
        arguments = ["train", "flowers.csv", "--target", "kind", "--epochs", 15, "--folds", 3, "--device", "cpu"]
        result = self.run_json(*arguments, "--out", "scores", "--threads", 1)
        self.assertEqual([fold["test_samples"] for fold in result["folds"]], [40, 40, 40])
        self.assertEqual(sum(fold["metrics"]["samples"] for fold in result["folds"]), 120)
        self.assertGreater(result["mean"]["accuracy"], 0.9)
        losses = [fold["metrics"]["log_loss"] for fold in result["folds"]]
        mean = sum(losses) / 3
        self.assertAlmostEqual(result["mean"]["log_loss"], mean, places=9)
        self.assertAlmostEqual(result["std"]["log_loss"],
                               (sum((a - mean)**2 for a in losses) / 2)**0.5, places=9)
        self.assertEqual(json.loads((self.folder / "scores/folds.json").read_text()), result)
        self.assertEqual([path.name for path in (self.folder / "scores").iterdir()], ["folds.json"])
        out, err = self.run_linnet(*arguments)
        self.assertIn("linnet: fold 2: learns 'kind', one of 3 classes,", err)
        self.assertEqual(self.run_linnet(*arguments, "--quiet"), (out, ""))
        lines = out.splitlines()
        self.assertEqual(lines[0].split(), ["fold", "trained", "tested", "epochs", "accuracy", "macro", "F1",
                                            "log", "loss"])
        self.assertEqual([line.split()[0] for line in lines[1:]], ["1", "2", "3", "mean", "std", "a", "always"])
        self.assertLess(result["trivial"]["accuracy"], 0.5)
        self.assertGreater(result["linear"]["accuracy"], 0.8)
        self.assertEqual(set(result["folds"][0]), {"train_samples", "test_samples", "epochs", "metrics", "linear",
                                                   "trivial"})
        self.assertFalse((self.folder / "runs").exists(), "no model is kept")
        (self.folder / "file").write_text("")
        self.assert_error("cannot make the folder 'file/scores': Not a directory", *arguments, "--out",
                          "file/scores")
        self.assert_error("--folds measures on each part in turn; leave out --test", *arguments, "--test", 0.2)
        self.assert_error("--folds keeps no model that could be continued; leave out --resume", *arguments,
                          "--resume", "somewhere")

    def test_folds_in_a_configuration(self):
        write_flowers(self.folder / "flowers.csv")
        (self.folder / "folds.toml").write_text(
            '[data]\nfile = "flowers.csv"\ntarget = "kind"\nfolds = 3\n[training]\nepochs = 3\nthreads = 1\n')
        result = self.run_json("train", "folds.toml", "--device", "cpu")
        self.assertEqual(len(result["folds"]), 3)
        same = self.run_json("train", "flowers.csv", "--target", "kind", "--folds", 3, "--epochs", 3,
                             "--threads", 1, "--device", "cpu")
        self.assertEqual(result["mean"], same["mean"])
        self.assertEqual(len(self.run_json("train", "folds.toml", "--folds", 2, "--device", "cpu")["folds"]), 2)

    def test_an_average_of_the_weights(self):
        write_values(self.folder / "values.csv")
        arguments = ("values.csv", "--target", "y", "--epochs", 4, "--save-last")
        saved = {}
        for decay in ("0", "0.5", "0.9"):
            summary = self.train_table(*arguments, "--average", decay, out=f"run-{decay}")
            self.assertEqual(summary["average"], float(decay))
            saved[decay] = (self.folder / f"run-{decay}/model.safetensors").read_bytes()
            # What the last epoch's validation said is what the saved model does.
            self.assertAlmostEqual(summary["test_loss"],
                                   self.history(self.folder / f"run-{decay}")[-1]["test_loss"], places=9)
        self.assertEqual(len(set(saved.values())), 3)
        (self.folder / "run.toml").write_text(
            '[data]\nfile = "values.csv"\ntarget = "y"\n[training]\nepochs = 4\naverage = 0.9\nsave_best = '
            'false\n')
        self.train_table("run.toml", out="toml")
        self.assertEqual((self.folder / "toml/model.safetensors").read_bytes(), saved["0.9"])
        self.assert_error("--average: expected a number of at least 0 and below 1; got '1'", "train",
                          *arguments, "--average", 1)
        (self.folder / "run.toml").write_text(
            '[data]\nfile = "values.csv"\ntarget = "y"\n[training]\naverage = 1.5\n')
        self.assert_error("run.toml:5:11: 'average' in [training] must be in [0, 1); got 1.5", "train",
                          "run.toml")

    def test_a_configuration_describes_a_table(self):
        write_flowers(self.folder / "flowers.csv")
        (self.folder / "run.toml").write_text(
            '[data]\nfile = "flowers.csv"\ntarget = "kind"\nignore = "colour"\nmissing = "median"\n'
            'scale = { width = "robust" }\nvalidation = 0.2\nsplit = "random"\n\n[training]\nepochs = 3\n')
        _, err = self.run_linnet("train", "run.toml", "--out", "run", "--device", "cpu", "--threads", 1)
        self.assertIn("from 8 features; 72 rows train, 24 validate, 24 test", err)
        self.assertEqual(len(self.history(self.folder / "run")), 3)
        # The same by arguments, and arguments before the file's.
        self.run_linnet("train", "flowers.csv", "--target", "kind", "--ignore", "colour", "--missing",
                        "median", "--scale", "width=robust", "--validation", 0.2, "--split", "random",
                        "--epochs", 3, "--out", "same", "--device", "cpu", "--threads", 1)
        models = [(self.folder / run / "model.safetensors").read_bytes() for run in ("run", "same")]
        self.assertEqual(models[0], models[1])
        _, err = self.run_linnet("train", "run.toml", "--validation", 0.1, "--ignore", "seen", "--out", "other",
                                 "--device", "cpu")
        self.assertIn("84 rows train, 12 validate, 24 test", err)
        (self.folder / "wrong.toml").write_text('[data]\nfile = "flowers.csv"\ntarget = "kind"\ngruop = "x"\n')
        self.assert_error("wrong.toml:4:1: unknown key 'gruop' in [data]; did you mean 'group'?", "train",
                          "wrong.toml")
        (self.folder / "wrong.toml").write_text('[data]\nfile = "flowers.csv"\ntarget = "kind"\ntest = 1\n')
        self.assert_error("wrong.toml:4:8: 'test' in [data] must be in [0, 0.99]; got 1", "train",
                          "wrong.toml")
        (self.folder / "wrong.toml").write_text('[data]\nfile = "flowers.csv"\nname = "digits"\n'
                                                'target = "kind"\n')
        self.assert_error("wrong.toml:3:8: [data] takes 'file' or 'name', not both", "train", "wrong.toml")

    def test_a_network_of_ones_own(self):
        write_values(self.folder / "values.csv")
        (self.folder / "net.toml").write_text(
            '[network]\nlayers = [{ type = "dense", units = 16 }, { type = "tanh" }, { type = "dense", '
            'units = 1 }]\n[training]\nepochs = 80\n')
        summary = self.train_table("net.toml", "--data", "values.csv", "--target", "y")
        self.assertEqual(summary["parameters"], 4 * 16 + 16 + 16 + 1)
        metrics = json.loads((self.folder / "run/metrics.json").read_text())
        self.assertGreater(metrics["r_squared"], 0.95, "the output is scaled back")
        (self.folder / "new.csv").write_text("x,c\n0.5,a\n0.5,b\n")
        out, _ = self.run_linnet("predict", "run", "new.csv")
        self.assertAlmostEqual(float(out.split()[1]), 1015, delta=8)

    def test_a_network_of_numbers_and_categories(self):
        rng = random.Random(1)
        towns = [f"town{i}" for i in range(40)]
        lines = ["x,town,y"] + [f"{rng.random():.3f},{t},{'a' if towns.index(t) % 2 else 'b'}"
                                for t in (rng.choice(towns) for _ in range(400))]
        (self.folder / "towns.csv").write_text("\n".join(lines) + "\n")
        paths = ('[data]\nfile = "towns.csv"\ntarget = "y"\n[network]\npaths = [\n'
                 '{ from = "categories", layers = [{ type = "embedding", vocabulary = 41, features = 4 }, '
                 '{ type = "flatten" }], to = "town" },\n'
                 '{ from = ["numbers", "town"], layers = [{ type = "dense", units = 16 }, { type = "relu" }, '
                 '{ type = "dense", units = 2 }], to = "kind" },\n]\noutputs = "kind"\n'
                 '[training]\nepochs = 40\n')
        (self.folder / "paths.toml").write_text(paths)
        summary = self.train_table("paths.toml")
        self.assertGreater(summary["test_accuracy"], 0.9)
        (self.folder / "list.toml").write_text(
            '[data]\nfile = "towns.csv"\ntarget = "y"\n[network]\nlayers = [{ type = "dense", units = 2 }]\n')
        self.assert_error("list.toml:5:10: the data have 1 features and 1 columns of ids; [network] expected "
                          "'paths' from 'numbers' and from 'categories'", "train", "list.toml")

    def test_a_training_starts_from_a_model_of_other_rows(self):
        write_values(self.folder / "values.csv")
        self.train_table("values.csv", "--target", "y", "--epochs", 40, out="first")
        lines = (self.folder / "values.csv").read_text().splitlines()
        (self.folder / "few.csv").write_text("\n".join(lines[:31]) + "\n")
        self.train_table("few.csv", "--from", "first", "--epochs", 1, out="second")
        metrics = json.loads((self.folder / "second/metrics.json").read_text())
        self.assertGreater(metrics["r_squared"], 0.9, "30 rows and 1 epoch, but the first model's weights")
        self.train_table("--from", "first", "--data", "few.csv", "--epochs", 1, out="third")
        self.assertEqual((self.folder / "second/model.safetensors").read_bytes(),
                         (self.folder / "third/model.safetensors").read_bytes())
        self.assert_error("the fitted transform predicts 'y'; got the target 'x'", "train", "few.csv", "--from",
                          "first", "--target", "x")
        self.assert_error("the columns are transformed as those of 'first' were; leave out --scale, --ignore "
                          "and --task", "train", "few.csv", "--from", "first", "--scale", "robust")

    def test_several_targets(self):
        rng = random.Random(3)
        lines = ["x,low,high,hot,wet"]
        for _ in range(300):
            x = rng.uniform(-1, 1)
            lines.append(f"{x:.4f},{0.001 * x:.7f},{5000 - 2000 * x:.2f},{int(x > 0)},{int(abs(x) > 0.5)}")
        (self.folder / "several.csv").write_text("\n".join(lines) + "\n")
        self.train_table("several.csv", "--target", "low", "--target", "high", "--ignore", "hot", "--ignore",
                         "wet", "--epochs", 40)
        metrics = json.loads((self.folder / "run/metrics.json").read_text())
        self.assertGreater(metrics["r_squared"], 0.95)
        (self.folder / "new.csv").write_text("x\n0.5\n-0.5\n")
        out, _ = self.run_linnet("predict", "run", "new.csv")
        _, low, high = out.splitlines()[0].split("\t")
        self.assertAlmostEqual(float(low), 0.0005, delta=0.0002)
        self.assertAlmostEqual(float(high), 4000, delta=300)
        self.run_linnet("predict", "run", "new.csv", "-o", "out.csv")
        self.assertEqual(self.read_csv("out.csv")[0], {"input": "new.csv[0]", "low": low, "high": high})
        self.train_table("several.csv", "--target", "hot", "--target", "wet", "--ignore", "low", "--ignore",
                         "high", "--epochs", 40, out="labels")
        metrics = json.loads((self.folder / "labels/metrics.json").read_text())
        self.assertGreater(metrics["mean_roc_auc"], 0.97)
        out, _ = self.run_linnet("predict", "labels", "new.csv")
        lines = [line.split("\t") for line in out.splitlines()]
        self.assertEqual([line[1] for line in lines], ["hot", "wet", "hot", "wet"])
        self.assertGreater(float(lines[0][2]), 0.8)
        self.assertLess(float(lines[2][2]), 0.2)
        self.run_linnet("predict", "labels", "new.csv", "-o", "out.csv")
        row = self.read_csv("out.csv")[1]
        self.assertEqual(list(row), ["input", "hot", "wet"])
        self.assertLess(float(row["hot"]), 0.2)

    def test_class_weights_of_an_imbalanced_table(self):
        write_imbalanced(self.folder / "rare.csv")
        scores = {}
        for weights in ("1,1", "auto"):
            self.train_table("rare.csv", "--target", "kind", "--epochs", 15, "--class-weights", weights,
                             "--ensemble", 1, "--seed", 1, out=weights)
            metrics = json.loads((self.folder / weights / "metrics.json").read_text())
            scores[weights] = (metrics["macro"]["f1"], metrics["classes"][0]["recall"])
        self.assertGreater(scores["auto"][0], 0.6)
        self.assertGreater(scores["auto"][1], 0.6)
        self.assertLess(scores["1,1"][1], 0.4, "without weights the rare class is hardly found")

    def test_oversampling_of_an_imbalanced_table(self):
        write_imbalanced(self.folder / "rare.csv")
        recalls = {}
        for share in (0, 1):
            _, err = self.run_linnet("train", "rare.csv", "--target", "kind", "--epochs", 15, "--oversample", share,
                                     "--ensemble", 1, "--seed", 1, "--threads", 1, "--out", f"share-{share}")
            self.assertEqual("rare classes are repeated: 840 training samples become 1596" in err, share == 1, err)
            metrics = json.loads((self.folder / f"share-{share}/metrics.json").read_text())
            recalls[share] = metrics["classes"][0]["recall"]
            self.assertEqual(json.loads((self.folder / f"share-{share}/summary.json").read_text())["trivial"]["answer"],
                             "always 'usual'")
        self.assertGreater(recalls[1], 0.6)
        self.assertLess(recalls[0], 0.4)
        # A training that is continued repeats the same samples; the class weights count them.
        model = (self.folder / "share-1/model.safetensors").read_bytes()
        for name in ("summary.json", "model.safetensors"):
            (self.folder / "share-1" / name).unlink()  # as if killed at its end
        self.run_linnet("train", "--resume", "share-1")
        self.assertEqual((self.folder / "share-1/model.safetensors").read_bytes(), model)
        (self.folder / "rare.toml").write_text(
            '[data]\nfile = "rare.csv"\ntarget = "kind"\n[training]\noversample = 1\nepochs = 15\nseed = 1\n'
            'threads = 1\n[loss]\nclass_weights = "auto"\n')
        self.run_linnet("train", "rare.toml", "--ensemble", 1, "--out", "weighted")
        self.assertEqual(self.history(self.folder / "weighted")[-1]["validation_accuracy"],
                         self.history(self.folder / "share-1")[-1]["validation_accuracy"])
        out, _ = self.run_linnet("train", "rare.csv", "--target", "kind", "--epochs", 2, "--oversample", 1, "--folds", 2)
        self.assertIn("   1      600      600        2", out)
        self.assert_error("the data set 'rare.csv' has no classes, one label a sample; oversampling repeats samples "
                          "of rare classes", "train", "rare.csv", "--target", "z", "--oversample", 1, "--quiet",
                          "--out", "values")
        (self.folder / "rare.toml").write_text((self.folder / "rare.toml").read_text().replace("= 1\ne", "= 1.5\ne"))
        self.assert_error("rare.toml:5:14: 'oversample' in [training] must lie in [0, 1]; got 1.5", "train", "rare.toml")

    def test_a_model_of_a_table_is_exported_with_its_names(self):
        write_flowers(self.folder / "flowers.csv")
        self.train_table("flowers.csv", "--target", "kind", "--epochs", 1)
        note = "linnet: the file takes no raw rows, but the 12 numbers that the table's transform makes of them"
        _, err = self.run_linnet("export", "run", "--onnx", "flowers.onnx")
        self.assertEqual(err, note + "; its metadata 'linnet.features' names them\n")
        data = (self.folder / "flowers.onnx").read_bytes()
        self.assertIn(b'["length","length missing","width",', data)
        _, err = self.run_linnet("export", "run", "--c", "firmware")
        self.assertEqual(err, note + "; a comment in its header names them\n")
        self.assertIn("   [2] width\n", (self.folder / "firmware/model.h").read_text())

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
        self.assertNotIn("Correlations", out)  # of three classes
        lines = ["x,y,big"] + [f"{i},{3 * i ** 2},{'yes' if i > 9 else 'no'}" for i in range(1, 17)] + ["900,5,no"]
        (self.folder / "powers.csv").write_text("\n".join(lines) + "\n")
        out, _ = self.run_linnet("data", "info", "powers.csv", "--target", "y")
        self.assertRegex(out, r"Box plots +low +quartile +median +quartile +high +outliers \(rows\)\n"
                              r" +x +1 +5 +9 +13 +16  1: 17\n +y +3 +48 +192 +432 +768  none\n")
        self.assertRegex(out, r"x +linear -0\.\d\d \(-0\.\d\d to \+0\.\d\d\)  logarithmic .*  exponential .*  power ")
        self.assertRegex(out, r"big +logistic \+[01]\.\d\d \(")
        column = self.run_json("data", "info", "powers.csv", "--target", "y")["columns"][0]
        self.assertEqual([of["form"] for of in column["correlations"]],
                         ["linear", "logarithmic", "exponential", "power"])
        self.assertEqual((column["outliers"], column["box"]["median"]), ([17], 9))

    def test_errors_say_what_to_do(self):
        write_flowers(self.folder / "flowers.csv")
        self.assert_error("--target names the column of 'flowers.csv' that is predicted, one of length, "
                          "width, colour, seen or kind; --task novelty needs none", "train", "flowers.csv")
        self.assert_error("'flowers.csv' has no column 'kimd'; did you mean 'kind'?", "train",
                          "flowers.csv", "--target", "kimd")
        self.assert_error("--type kind: expected number, integer, category, boolean, date_time, constant "
                          "or identifier; got 'class'", "train", "flowers.csv", "--target", "kind",
                          "--type", "kind=class")
        self.assert_error("--target is for tables; 'digits' is not a table: leave it out", "train", "--workload",
                          "mnist-cnn", "--data", "digits", "--target", "x")
        self.assert_error("'flowers.csv' brings its data and its network: leave out --data and --workload", "train", "flowers.csv", "--target", "kind",
                          "--data", "digits")
        self.assert_error("'flowers.csv' is a table, which the network of a workload does not take: leave "
                          "out the workload", "train", "mnist-cnn", "--data", "flowers.csv", "--target",
                          "kind")
        self.assert_error("--scale: expected standard, min_max, robust, quantile or log1p; got 'quantil'; "
                          "did you mean 'quantile'?", "train", "flowers.csv", "--target", "kind", "--scale",
                          "quantil")
        self.assert_error("the column 'colour' of 'flowers.csv' is of the type category; scalings are for "
                          "numbers", "train", "flowers.csv", "--target", "kind", "--scale", "colour=robust")
        self.assert_error("several targets are all numbers or all booleans; the target 'colour' of "
                          "'flowers.csv' is of the type category", "train", "flowers.csv", "--target", "colour",
                          "--target", "kind")
        self.assert_error("a split is by group or by time; got the group 'colour' and the time 'seen'",
                          "train", "flowers.csv", "--target", "kind", "--group", "colour", "--time", "seen")
        self.assert_error("'flowers.csv', row 4 (line 5), column 'length': the time is missing", "train",
                          "flowers.csv", "--target", "kind", "--time", "length")
        self.train_table("flowers.csv", "--target", "kind", "--epochs", 1)
        (self.folder / "bad.csv").write_text("length;width;colour;seen\n1,5;wide;red;01/03/2024\n")
        self.assert_error("'bad.csv', row 1 (line 2), column 'width': expected a finite number; got "
                          "'wide'", "predict", "run", "bad.csv")


class Page(guide_pages.PageTest):
    """The guides to tables: each command prints what its page says."""

    def test_commands(self):
        self.unpack_tables()
        for page in ("reading-tables", "tables", "table-inputs", "splits", "evaluate", "intervals", "importance", "optimize", "search"):
            self.run_page(page)


if __name__ == "__main__":
    unittest.main()
