# SPDX-License-Identifier: Apache-2.0
"""Text models: the vocabulary of a run, predictions of new texts, evaluation."""
import gzip
import random
import shutil
import struct
import unittest

import command

CONFIG = """
[data]
path = "reviews"
[network]
input = [150]
layers = [
  {type = "embedding", vocabulary = 30000, features = 4},
  {type = "gru", units = 4},
  {type = "dense", units = 2},
]
[training]
epochs = 6
batch = 8
threads = 1
device = "cpu"
[optimizer]
learning_rate = 0.05
"""
GOOD, BAD, ANY = ("fine", "great", "lovely"), ("poor", "dull", "awful"), ("film", "plot", "the")


def review(rng, good):
    return " ".join(rng.choice(ANY) if rng.random() < 0.4 else rng.choice(GOOD if good else BAD)
                    for _ in range(rng.randrange(4, 9)))


class Texts(command.CommandTest):
    def setUp(self):
        super().setUp()
        rng = random.Random(5)
        (self.folder / "reviews").mkdir()
        for part, count in (("train", 48), ("test", 16)):
            lines = [f"{i % 2}\t{review(rng, i % 2 == 1)}\n" for i in range(count)]
            (self.folder / f"reviews/{part}.tsv").write_text("".join(lines))
        (self.folder / "texts.toml").write_text(CONFIG)
        self.summary = self.run_json("train", "texts.toml", "--out", "run")

    def outputs(self, *arguments):
        return [p["outputs"] for p in self.run_json("predict", *arguments)["predictions"]]

    def test_the_report_shows_the_worst_mistakes(self):
        with (self.folder / "reviews/test.tsv").open("a") as file:
            file.write("0\tfine great unheard lovely film\n")
        self.run_linnet("train", "texts.toml", "--out", "other")
        page = (self.folder / "other/report.html").read_text()
        self.assertIn("<h2>Worst mistakes</h2>", page)
        self.assertRegex(page, "<blockquote>fine great … lovely film<footer>negative, predicted <b>positive</b>")

    def test_a_run_reads_new_texts_without_its_training_set(self):
        words = (self.folder / "run/vocabulary.txt").read_text().split()
        self.assertEqual(set(words), {*GOOD, *BAD, *ANY, "<unicode>"})
        shutil.rmtree(self.folder / "reviews")
        (self.folder / "new/deep").mkdir(parents=True)
        (self.folder / "new/a.txt").write_text("A great, LOVELY film: fine!")
        (self.folder / "new/deep/b.txt").write_text("dull plot, awful; poor film")
        (self.folder / "both.tsv").write_text("1\tA great, LOVELY film: fine!\n"
                                              "dull plot, awful; poor film\n\n")
        out, err = self.run_linnet("predict", "run", "new")
        lines = [line.split("\t") for line in out.splitlines()]
        self.assertEqual([line[:2] for line in lines],
                         [["new/a.txt", "positive"], ["new/deep/b.txt", "negative"]])
        self.assertTrue(all(0.5 <= float(line[2]) <= 1 for line in lines))
        self.assertEqual(err, "")
        (self.folder / "both.tsv.gz").write_bytes(
            gzip.compress((self.folder / "both.tsv").read_bytes()))
        wanted = self.outputs("run", "new")
        self.assertEqual(self.outputs("run/model.safetensors", "both.tsv"), wanted)
        self.assertEqual(self.outputs("run", "both.tsv.gz"), wanted)
        ids = [0] * 146 + [1] + [3 + words.index(w) for w in ("dull", "plot", "awful")]
        header = "{'descr': '<i4', 'fortran_order': False, 'shape': (150,), }".ljust(117) + "\n"
        (self.folder / "ids.npy").write_bytes(b"\x93NUMPY\x01\0" + struct.pack("<H", 118) +
                                              header.encode() + struct.pack("<150i", *ids))
        (self.folder / "dull.txt").write_text("dull plot awful")
        self.assertEqual(*self.outputs("run", "ids.npy", "dull.txt"))

    def test_texts_of_unknown_words_are_said(self):
        _, err = self.run_linnet("predict", "run", "dull plot, awful", "ein ganz fremder Text", "nothing known, plot")
        self.assertEqual(err, "linnet: 2 of 3 texts hold mostly words that the model does not know, such as "
                              "'ein ganz fremder Text'\n")

    def test_a_text_without_words_is_not_said_to_hold_unknown_ones(self):
        (self.folder / "nothing.txt").write_text("")
        _, err = self.run_linnet("predict", "run", "nothing.txt")
        self.assertEqual(err, "")

    def test_says_what_is_missing(self):
        (self.folder / "review.txt").write_text("fine")
        (self.folder / "empty").mkdir()
        (self.folder / "binary.txt").write_bytes(b"\x89PNG\0\0")
        self.assert_error("the folder 'empty' holds no texts (*.txt)", "predict", "run", "empty")
        self.assert_error("the folder 'empty' has no model.safetensors; expected a run folder of `linnet train`", "predict", "empty", "review.txt")
        self.assert_error("'binary.txt' is not a text; expected texts, folders of *.txt, tables of texts (.tsv) or arrays of ids (.npy)", "predict", "run",
                          "binary.txt")
        (self.folder / "run/vocabulary.txt").unlink()
        self.assert_error("the model takes texts as ids, but the file of its words is missing: cannot read 'run/vocabulary.txt'", "predict", "run", "review.txt")

    def test_evaluation_reads_by_the_run_s_words(self):
        # The same reviews, but a training set that would rank other words first.
        shutil.copytree(self.folder / "reviews", self.folder / "others")
        (self.folder / "others/train.tsv").write_text("0\tplot plot awful\n1\tawful awful fine\n")
        record = self.run_json("evaluate", "run", "--data", "others")
        self.assertEqual((record["part"], record["metrics"]["samples"]), ("test", 16))
        self.assertEqual(record["metrics"],
                         command.json.loads((self.folder / "run/metrics.json").read_text()))


if __name__ == "__main__":
    unittest.main()
