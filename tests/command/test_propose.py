# SPDX-License-Identifier: Apache-2.0
"""`linnet PATH` says what lies there and what to run; `linnet --help` is a page."""
import re
import shlex
import subprocess
import unittest

import command
from test_prepared import write_photos, write_texts


class Propose(command.CommandTest):
    def proposed(self, path):
        """The page, and the arguments of its commands."""
        out, err = self.run_linnet(path)
        self.assertEqual(err, "")
        lines = [re.split(r" {3,}", line.strip())[0] for line in out.splitlines() if line.startswith("  ")]
        return out, [shlex.split(line)[1:] for line in lines]

    def test_a_table(self):
        (self.folder / "my rows.csv").write_text(
            "a,kind,b\n" + "".join(f"{i * 0.37 % 5:.3f},{'xy'[i % 2]},{i * 0.71 % 3:.3f}\n" for i in range(60)))
        (self.folder / "rows.csv").write_text(
            "a,class,b\n" + "".join(f"{i * 0.37 % 5:.3f},{'xy'[i % 2]},{i * 0.71 % 3:.3f}\n" for i in range(60)))
        out, commands = self.proposed("my rows.csv")
        self.assertIn("my rows.csv is a table of 60 rows and 3 columns: a, kind, b.\n", out)
        self.assertEqual(commands[1], ["train", "my rows.csv", "--target", "b"])
        out, commands = self.proposed("rows.csv")
        self.assertEqual(commands[:2], [["data", "info", "rows.csv"],
                                        ["train", "rows.csv", "--target", "class"]])
        self.assertEqual(commands[2][:2], ["predict", "runs/NAME"])
        self.run_linnet(*commands[0])
        self.run_linnet(*commands[1], "--epochs", 1, "--out", "run", "--device", "cpu")

    def test_folders_and_texts(self):
        write_photos(self.folder / "photos", each=6)
        out, commands = self.proposed("photos")
        self.assertIn("photos holds 18 images of 3 classes: flat, slanted, upright.\n", out)
        self.assertEqual(commands[1], ["train", "photos"])
        write_texts(self.folder / "news.tsv")
        out, commands = self.proposed("news.tsv")
        self.assertIn("news.tsv holds 120 texts of 3 classes: art, food, sport.\n", out)
        self.assertEqual(commands[0], ["train", "news.tsv"])
        write_texts(self.folder / "news.csv")
        self.assertEqual(self.proposed("news.csv")[1][1],
                         ["train", "news.csv", "--text", "words", "--target", "kind"])
        command.write_mnist(self.folder / "patterns")
        self.assertIn(["train", "patterns"], self.proposed("patterns")[1])
        command.write_points(self.folder / "points")
        self.assertIn("holds arrays", self.proposed("points")[0])

    def test_searches_series_and_single_classes(self):
        (self.folder / "search.toml").write_text('[data]\nfile = "a.csv"\n\n[search]\nruns = 2\n')
        self.assertEqual(self.proposed("search.toml")[1], [["search", "search.toml"]])
        write_photos(self.folder / "photos", kinds=("flat",), each=6)
        out, commands = self.proposed("photos")
        self.assertIn("photos holds 6 images of one class: flat. A training wants a folder for each of at least", out)
        self.assertEqual([line[0] for line in commands], ["data"])
        (self.folder / "days.csv").write_text(
            "day,temp\n" + "".join(f"2024-{1 + i // 28:02}-{1 + i % 28:02},{i % 9}.5\n" for i in range(120)))
        self.assertEqual(self.proposed("days.csv")[1][1],
                         ["train", "days.csv", "--target", "temp", "--past", "30", "--future", "7"])

    def test_runs_and_other_files(self):
        self.train()
        self.assertEqual(self.proposed("run")[1][0], ["predict", "run", "INPUT"])
        self.assertEqual(self.proposed("run/model.safetensors")[1][0][:2],
                         ["predict", "run/model.safetensors"])
        (self.folder / "n.toml").write_text("")
        self.assertEqual(self.proposed("n.toml")[1][1], ["train", "n.toml"])
        (self.folder / "odd.dat").write_bytes(b"\0\1")
        self.assert_error("'odd.dat' is not a folder of data, table, file of texts, image, model or "
                          "configuration that `linnet` knows; see `linnet --help`", "odd.dat")
        self.assert_error("'n.toml' is not a command; `linnet n.toml` alone says what to run, e.g. `linnet "
                          "train n.toml ...`", "n.toml", "--epochs", 3)

    def test_help_is_a_page_in_groups(self):
        out, _ = self.run_linnet("--help")
        alone = subprocess.run([command.LINNET], capture_output=True, text=True, check=False)
        self.assertEqual((alone.stdout, alone.stderr, alone.returncode), (out, "", 2))
        self.assertNotIn("\nOthers:", out)
        for text in ("First steps with your own data:", "\nTrain and use models:\n  train ",
                     "`linnet COMMAND --help`"):
            self.assertIn(text, out)
        for name in ("train", "predict", "evaluate", "data", "bench", "completion", "serve", "runs"):
            self.assertEqual(len(re.findall(rf"(?m)^  {name}  ", out)), 1, name)
        self.assertLess(max(len(line) for line in out.splitlines()), 110)


if __name__ == "__main__":
    unittest.main()
