# SPDX-License-Identifier: Apache-2.0
"""What a newcomer tries first, and what does nothing: each is told what was found and what to do."""
import random
import unittest

import command


class WrongTurns(command.CommandTest):
    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def table(self, name="t.csv", rows=60, seed=0, label=None):
        """Numbers that tell nothing of the label but where `label` says so."""
        rng = random.Random(seed)
        lines = ["x,z,label"]
        for i in range(rows):
            x = rng.random()
            lines.append(f"{x},{rng.random()},{label(x, i) if label else 'ab'[rng.randrange(4) == 0]}")
        return self.write(name, "\n".join(lines) + "\n")

    def test_a_training_of_nothing(self):
        _, err = self.run_linnet("train", status=2)
        self.assertTrue(err.startswith("linnet: error: linnet train needs data, a configuration or a workload: `linnet "
                                       "train FILE.csv --target COLUMN`"), err)

    def test_files_of_other_kinds(self):
        self.write("im.zip", "PK")
        self.write("t.parquet", "PAR1")
        self.table("a/1.csv")
        self.table("a/2.csv")
        self.write("2023/cats/1.png", "")
        for words in (["train", "im.zip"], ["im.zip"]):
            self.assert_error("'im.zip' is an archive; unpack it and name the folder or the file in it", *words)
        self.assert_error("'t.parquet' is a Parquet file, which linnet.table_task() in Python reads; save it as CSV",
                          "train", "t.parquet", "--target", "x")
        self.assert_error("'a' is a folder with 2 tables, not a data set; name one of them, e.g. 'a/1.csv', or bring "
                          "their rows together in one file", "train", "a")
        _, err = self.run_linnet("train", ".", status=2)
        self.assertIn("lie deeper than its class folders", err)

    def test_a_table_is_no_model(self):
        self.table()
        for words in (["predict", "t.csv", "t.csv"], ["summary", "t.csv"], ["evaluate", "t.csv", "--data", "t.csv"]):
            self.assert_error("expected a trained model, a run folder or a .safetensors file; 't.csv' is a table; "
                              "`linnet train FILE --target COLUMN` learns a column", *words)
        self.write("m.safetensors", "day,temperature\n2024-01-01,3.5\n")
        self.assert_error("cannot read 'm.safetensors': it is not a safetensors file", "predict", "m.safetensors", "t.csv")

    def test_an_option_without_a_command(self):
        _, err = self.run_linnet("--bogus", status=2)
        self.assertIn("unknown option '--bogus'", err)

    def test_options_of_other_libraries_name_ours(self):
        self.table()
        for given, meant in (("--horizon", "--future"), ("--prediction-length=3", "--future"), ("--lookback", "--past"),
                             ("--learning-rate", "--lr"), ("--batch-size", "--batch"), ("--num-epochs", "--epochs"),
                             ("--random-state", "--seed"), ("--output", "--out"), ("--futur", "--future"),
                             ("--Epochs", "--epochs")):
            self.assert_error(f"unknown option '{given.split('=')[0]}'; did you mean '{meant}'?", "train", "t.csv", given)
        _, err = self.run_linnet("train", "t.csv", "--target", "label", "--optimizer", "AdamW", status=2)
        self.assertIn("; did you mean 'adamw'?", err)

    def test_a_run_has_a_summary(self):
        self.table()
        self.run_linnet("train", "t.csv", "--target", "label", "--epochs", 1, "--out", "run")
        self.assertEqual(self.run_linnet("summary", "run")[0], self.run_linnet("summary", "run/model.safetensors")[0])

    def test_texts_in_a_table_name_their_option(self):
        words = ["a", "film", "good", "bad", "day", "of", "rain", "in"]
        rng = random.Random(1)
        rows = [" ".join(rng.choice(words) for _ in range(8)) + f" {i},{i % 2}" for i in range(60)]
        self.write("texts.csv", "text,label\n" + "\n".join(rows) + "\n")
        _, err = self.run_linnet("train", "texts.csv", "--target", "label", status=2)
        self.assertIn("the column 'text' holds texts: --text 'text' learns from them instead", err)

    def test_sets_that_a_folder_has_take_no_share(self):
        rng = random.Random(1)
        for part in ("train", "val", "test"):
            for kind in ("cats", "dogs"):
                for i in range(4):
                    path = self.folder / "photos" / part / kind / f"{i}.png"
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(command.png([rng.randrange(256) for _ in range(64)], 8, 8))
        for part, option in (("validation", "--validation"), ("test", "--test")):
            self.assert_error(f"'photos' has its own {part} set; expected no '{part}' share beside it; got 0.3", "train",
                              "photos", option, 0.3)
        self.assert_error("'photos' has its own validation and test sets; expected no random split beside them",
                          "train", "photos", "--split", "random")

    def test_options_of_gpus_do_nothing_on_a_cpu(self):
        self.table()
        train = ("train", "t.csv", "--target", "label", "--epochs", 1, "--device", "cpu")
        _, err = self.run_linnet(*train, "--streamed", status=2)  # after the note on what it learns
        self.assertIn("linnet: error: --streamed is for image files and GPUs; these data are in memory, and the network "
                      "runs on the CPU: leave it out\n", err)
        for option, value in (("--precision", "tf32"), ("--graph", "off"), ("--deterministic", "off")):
            shown = option + (" tf32" if value == "tf32" else "")
            error = f"{shown} is for GPUs; the network runs on the CPU: leave it out"
            self.assert_error(error, *train, option, value)
            self.run_linnet(*train, "--out", "run") if not (self.folder / "run").exists() else None
            self.assert_error(error, "serve", "run", "--device", "cpu", option, value)
        self.run_linnet(*train, "--precision", "fp32", "--out", "other")

    def test_options_on_parts_of_a_batch_need_parts(self):
        self.table()
        train = ("train", "t.csv", "--target", "label", "--epochs", 1, "--device", "cpu")
        side, sync = "--side-by-side", "--sync-batch-norm"
        for options, sentence in (((side,), f"{side} is for several shards of a process (--shards); each batch is computed whole"),
                                  ((sync,), f"{sync} is for several shards (--shards); each batch is computed whole"),
                                  ((side, sync, "--shards", 2), f"{sync} is for batch norms; the network has none")):
            _, err = self.run_linnet(*train, *options, status=2)
            self.assertIn(f"linnet: error: {sentence}: leave it out\n", err)
        self.assert_error(f"{side} is for several shards (--shards); each batch is computed whole: leave it out", "bench",
                          "mnist-cnn", side)
        self.run_linnet(*train, side, "--shards", 2)

    def test_a_finished_run_refuses_what_would_change_nothing(self):
        self.table()
        self.run_linnet("train", "t.csv", "--target", "label", "--epochs", 2, "--out", "run")
        self.assert_error("the run in 'run' is finished, so '--epochs 6' would change nothing; to train its model "
                          "further, begin a new run: linnet train DATA --from run --epochs N", "train", "--resume",
                          "run", "--epochs", 6)
        for more in ([], ["--epochs", 2], ["--json"]):
            _, err = self.run_linnet("train", "--resume", "run", *more)
            self.assertEqual(err, "linnet: the run in 'run' is finished\n")

    def test_a_model_that_learned_nothing_says_so(self):
        self.table(rows=400)
        summary = self.run_json("train", "t.csv", "--target", "label", "--epochs", 1, "--out", "run")
        self.assertFalse(summary["trivial"]["beaten"])
        self.assertIn("the model is not better than the answer 'a' for every sample", summary["warnings"][0])
        self.assertEqual(next(iter(summary.items())), ("verdict", "warning: " + summary["warnings"][0]))
        page = (self.folder / "run/report.html").read_text()
        self.assertIn('<p class="verdict warns">Warning: the model is not better than the answer &#39;a&#39;', page)
        self.assertLess(page.index("Warning: the model"), page.index("<section>"))
        _, err = self.run_linnet("train", "t.csv", "--target", "label", "--epochs", 1, "--out", "again")
        after = err[err.index("epoch 1/1: "):].splitlines()[1]
        self.assertTrue(after.startswith("linnet: warning: the model is not better than the answer 'a'"), err)
        self.table(rows=400, label=lambda x, i: "ab"[x > 0.5])
        summary = self.run_json("train", "t.csv", "--target", "label", "--out", "good")
        self.assertTrue(summary["trivial"]["beaten"])
        self.assertNotIn("warnings", summary)
        self.assertRegex(summary["verdict"], r"^the model is right for [\d.]+ % of 80 test rows; a linear model [\d.]+ "
                                             r"%, always '[ab]' [\d.]+ %$")
        page = (self.folder / "good/report.html").read_text()
        self.assertIn('<p class="verdict">The model is right for ', page)
        self.assertIn("<h1>Prediction of label from 2 columns of t.csv</h1>", page)

    def test_quiet_shows_nothing_and_long_trainings_few_lines(self):
        self.table()
        arguments = ("train", "t.csv", "--target", "label", "--epochs", 200, "--patience", 0, "--lr", 1e-5)
        self.assertEqual(self.run_linnet(*arguments, "--quiet", "--out", "quiet"), ("", ""))
        _, err = self.run_linnet(*arguments, "--out", "run")
        lines = [line for line in err.splitlines() if line.startswith("epoch ") and ": loss" in line]
        self.assertLessEqual(len(lines), 22)
        self.assertTrue(lines[-1].startswith("epoch 200/200:"), err)

    def test_predictions_have_a_column_each(self):
        self.table(label=lambda x, i: ("label", "other")[x > 0.5])
        self.run_linnet("train", "t.csv", "--target", "label", "--epochs", 1, "--out", "run")
        out, err = self.run_linnet("predict", "run", "t.csv", "--output", "p.csv")
        self.assertEqual(out, "")
        self.assertTrue(err.endswith("linnet: 60 predictions written to 'p.csv'\n"), err)
        header = (self.folder / "p.csv").read_text().splitlines()[0].split(",")
        self.assertEqual(header, ["input", "label", "probability_label", "other"])


if __name__ == "__main__":
    unittest.main()
