# SPDX-License-Identifier: Apache-2.0
"""`linnet train photos/` and texts: a folder or a file alone is enough; what does not fit is refused."""
import json
import lzma
import random
import re
import shlex
import shutil
import struct
import unittest
import zlib

import guide_pages  # first: it reads LINNET_DATA, which command takes away
import command


def striped(side, kind, seed):
    """A colour PNG: a bright horizontal, vertical or diagonal stripe on a dark, noisy ground."""
    rng = random.Random(seed)
    middle = rng.randrange(side // 3, 2 * side // 3)

    def bright(row, column):
        return {"flat": abs(row - middle) < 2, "upright": abs(column - middle) < 2,
                "slanted": abs(row - column) < 2}[kind]

    def chunk(name, data):
        return (struct.pack(">I", len(data)) + name + data +
                struct.pack(">I", zlib.crc32(name + data)))
    rows = b"".join(b"\0" + bytes(value for column in range(side) for value in
                                  [(200 if bright(row, column) else 20) + rng.randrange(50)] * 3)
                    for row in range(side))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def write_photos(folder, kinds=("flat", "slanted", "upright"), each=20, side=16, sizes=1):
    for kind in kinds:
        (folder / kind).mkdir(parents=True, exist_ok=True)
        for i in range(each):
            (folder / kind / f"{i}.png").write_bytes(striped(side + i % sizes, kind, f"{kind}{i}"))


WORDS = {"art": ("painting", "canvas", "museum"), "food": ("soup", "bread", "kitchen"),
         "sport": ("goal", "match", "team")}


def sentence(rng, kind):
    return " ".join(["the", *(rng.choice(WORDS[kind]) for _ in range(6)), "today"])


def write_texts(path, rows=120, seed=1):
    """A label, a tab, a text; or with the names of columns where the file ends in .csv."""
    rng = random.Random(seed)
    kinds = [list(WORDS)[i % 3] for i in range(rows)]
    if path.suffix == ".csv":
        lines = ["id,words,kind"] + [f'{i},"{sentence(rng, kind)}, really",{kind}'
                                     for i, kind in enumerate(kinds)]
    else:
        lines = [f"{kind}\t{sentence(rng, kind)}" for kind in kinds]
    path.write_text("\n".join(lines) + "\n")


class Prepared(command.CommandTest):
    def fit(self, *arguments, out="run"):
        return self.run_json("train", *arguments, "--out", out, "--threads", 1, "--device", "cpu")

    def lines(self, *arguments, **options):
        out, _ = self.run_linnet("predict", *arguments, **options)
        return [line.split("\t") for line in out.splitlines()]


class Photos(Prepared):
    def setUp(self):
        super().setUp()
        write_photos(self.folder / "photos")

    def test_a_folder_is_enough(self):
        out, err = self.run_linnet("train", "photos", "--epochs", 12, "--out", "run", "--device", "cpu",
                                   "--json")
        summary = json.loads(out)
        self.assertIn("linnet: learns one of 3 classes from images of 16 x 16 pixels in colour; 42 "
                      "images train, 6 validate, 12 test", err)
        self.assertEqual((summary["train_samples"], summary["test_samples"]), (42, 12))
        self.assertGreater(summary["test_accuracy"], 0.7)
        self.assertIn("whose validation loss", " ".join(summary["notes"]))
        lines = self.lines("run", "photos")
        self.assertEqual(len(lines), 60)
        right = sum(name.split("/")[1] == kind for name, kind, _ in lines)
        self.assertGreater(right, 45)
        _, err = self.run_linnet("evaluate", "run", "--data", "photos")
        self.assertRegex(err, r"warning: about 7\d % of these samples were in the training set")

    def test_flags_mean_what_they_mean_for_tables(self):
        summary = self.fit("photos", "--epochs", 2, "--validation", 0.3, "--test", 0.2, "--split",
                           "random", "--save-last")
        self.assertEqual((summary["train_samples"], summary["test_samples"]), (30, 12))
        self.assertNotIn("whose validation loss", " ".join(summary["notes"]))
        summary = self.fit("photos", "--epochs", 30, "--patience", 1, "--lr", 1e-9, out="patient")
        self.assertTrue(summary["stopped_early"])
        command.write_mnist(self.folder / "patterns")
        summary = self.run_json("train", "--workload", "mnist-cnn", "--data", "patterns", "--epochs", 2,
                                "--batch", 32, "--validation", 0.25, "--save-best", "--out", "mnist",
                                "--device", "cpu")
        self.assertEqual(summary["train_samples"], 300)
        self.assertIn("whose validation loss", " ".join(summary["notes"]))

    def test_options_stand_over_the_defaults(self):
        summary = self.fit("photos", "--epochs", 2, "--seed", 4)
        again = self.fit("photos", "--epochs", 2, "--seed", 4, out="again")
        self.assertEqual(again["test_loss"], summary["test_loss"])
        self.assertEqual((summary["optimizer"], summary["schedule"]), ("muon", "one_cycle"))
        others = self.fit("photos", "--epochs", 2, "--seed", 4, "--augment", "none", out="still")
        self.assertNotEqual(others["test_loss"], summary["test_loss"])
        others = self.fit("photos", "--epochs", 2, "--optimizer", "adamw", "--schedule", "cosine", "--loss", "hinge",
                          out="others")
        self.assertEqual((others["optimizer"], others["schedule"]), ("adamw", "cosine"))
        tuned = self.fit("photos", "--epochs", 1, "--from", "run", out="tuned")
        self.assertEqual(tuned["optimizer"], "adamw")

    def test_train_and_test_folders_are_kept(self):
        shutil.copytree(self.folder / "photos", self.folder / "both/train")
        shutil.copytree(self.folder / "photos", self.folder / "both/test")
        _, err = self.run_linnet("train", "both", "--epochs", 1, "--out", "run", "--device", "cpu")
        self.assertIn("54 images train, 6 validate, 60 test", err)
        self.assertIn("warning: about 90 % of the samples of the test set of 'both' have the inputs of a training sample "
                      "(targets are not compared), so its metrics are too good for new data", err)

    def test_a_set_without_images_is_said(self):
        write_photos(self.folder / "few", each=1)
        _, err = self.run_linnet("train", "few", "--epochs", 1, "--out", "run", "--device", "cpu")
        self.assertIn("linnet: warning: of 2 images to train with, none is left for the validation set; more "
                      "images of each class are needed, or a larger share\n", err)
        self.assertNotIn("; warning", err)

    def test_images_without_classes_are_said(self):
        self.assert_error("'photos/flat' holds 20 images, but no folder for each class; expected such folders "
                          "or a table labels.csv with the columns file and label", "train",
                          "photos/flat")

    def test_a_target_is_for_tables(self):
        self.assert_error("--target is for tables; 'photos' holds images: leave it out", "train", "photos",
                          "--target", "label")

    def test_sizes_are_made_alike(self):
        write_photos(self.folder / "sizes", sizes=3, each=10)
        _, err = self.run_linnet("train", "sizes", "--epochs", 1, "--out", "run", "--device", "cpu")
        self.assertIn("images of 3 sizes are resized to 17 x 17\nlinnet: learns one of 3 classes", err)

    def test_a_stopped_run_goes_on(self):
        self.fit("photos", "--epochs", 3, out="whole")
        self.fit("photos", "--epochs", 3, out="run")
        (self.folder / "run/summary.json").unlink()
        sorted((self.folder / "run/checkpoints").glob("*.safetensors"))[-1].unlink()
        self.run_linnet("train", "--resume", "run")
        self.assertEqual((self.folder / "whole/model.safetensors").read_bytes(),
                         (self.folder / "run/model.safetensors").read_bytes())

    def assert_refused(self, sentence, *arguments):
        """After the notes on the data."""
        _, err = self.run_linnet(*arguments, "--out", "refused", status=2)
        self.assertEqual(err.splitlines()[-1], f"linnet: error: {sentence}")

    def test_a_trained_model_takes_other_classes(self):
        self.fit("photos", "--epochs", 2, out="body")
        write_photos(self.folder / "two", kinds=("flat", "upright"))
        (self.folder / "two/upright").rename(self.folder / "two/steep")
        of_two = ("train", "two", "--from", "body", "--epochs", 2, "--device", "cpu", "--threads", 1)
        self.assert_refused("the model 'body' knows the classes 'flat', 'slanted', 'upright'; the data "
                            "set 'two' has 'flat', 'steep': --replace-head 2 gives the model a new last "
                            "layer, --force trains its own and takes the classes by number", *of_two)
        self.run_linnet(*of_two, "--out", "b", "--force")
        self.run_linnet(*of_two, "--out", "c", "--replace-head", 2)
        self.assertLessEqual({kind for _, kind, _ in self.lines("c", "two")}, {"flat", "steep"})
        self.assert_refused("the model 'body' has 7 outputs, the data set 'two' 2 classes: --replace-head "
                            "2 gives the model a last layer of 2 outputs, --force trains its own",
                            *of_two, "--replace-head", 7)
        (self.folder / "two/steep").rename(self.folder / "two/upright")
        self.assert_refused("the model 'body' has 3 outputs, the data set 'two' 2 classes: --replace-head "
                            "2 gives the model a last layer of 2 outputs, --force trains its own", *of_two)
        _, err = self.run_linnet("evaluate", "c", "--data", "photos", status=2)
        self.assertIn("has the unknown class", err)
        self.run_linnet("evaluate", "b", "--data", "two", "--force")

    def test_images_with_several_labels(self):
        rays = self.folder / "rays"
        rays.mkdir()
        lines = ["file,patient,split,flat,upright"]
        for i in range(40):
            kind = ("flat", "upright")[i % 2]
            (rays / f"{i}.png").write_bytes(striped(16, kind, f"ray{i}"))
            part = "test" if i % 5 == 4 else "val" if i % 5 == 3 else "train"
            lines.append(f"{i}.png,{i},{part},{int(kind == 'flat')},{int(kind == 'upright')}")
        (rays / "labels.csv").write_text("\n".join(lines) + "\n")
        _, err = self.run_linnet("train", "rays", "--epochs", 2, "--out", "run", "--device", "cpu")
        self.assertIn("learns 2 labels from images of 16 x 16 pixels in colour; 24 images train, 8 "
                      "validate, 8 test", err)
        self.assertNotIn("warning", err)
        self.assertIn("mean ROC AUC of 2 labels", err)
        self.assertEqual([line[1] for line in self.lines("run", "rays/0.png")], ["flat", "upright"])

    def test_what_does_not_fit_is_refused(self):
        self.assert_error("'photos' brings its data and its network: leave out --data and --workload",
                          "train", "photos", "--data", "digits")
        command.write_points(self.folder / "points")
        self.assert_error("'points' holds arrays, whose network a configuration describes: linnet train "
                          "FILE.toml with [data] path", "train", "points")
        for option in ("--past", "--season"):
            self.assert_error(f"{option} is for windows of a series (--past); 'photos' holds images: leave it out",
                              "train", "photos", option, 3)
        (self.folder / "five.toml").write_text(
            '[data]\npath = "photos"\nvalidation = 0.2\n\n[network]\ninput = [16, 16, 3]\n\n[[network.layers]]\n'
            'type = "flatten"\n\n[[network.layers]]\ntype = "dense"\nunits = 5\n')
        self.assert_error("the network has 5 outputs, the data set 'photos' 3 classes: give its last layer as many, or "
                          "train it so with --force", "train", "five.toml", "--device", "cpu")
        self.fit("five.toml", "--force", "--epochs", 1, out="five")
        (self.folder / "empty").mkdir()
        self.assert_error("'empty' holds no data set: the folder is empty", "train", "empty")


class Texts(Prepared):
    def test_one_file_is_enough(self):
        write_texts(self.folder / "news.tsv")
        _, err = self.run_linnet("train", "news.tsv", "--out", "run", "--device", "cpu")
        self.assertIn("learns one of 3 classes of texts by their last 15 words, of a vocabulary of 11; 84 texts "
                      "train, 12 validate, 24 test", err)
        self.assertIn("linnet: test accuracy 100.00 %", err)
        lines = self.lines("run", "bread and soup", "team")
        self.assertEqual([line[:2] for line in lines], [["bread and soup", "food"], ["team", "sport"]])
        lines = self.lines("run", "-", input="a painting\nthe match\n")
        self.assertEqual([line[:2] for line in lines], [["a painting", "art"], ["the match", "sport"]])
        self.assert_error("cannot read 'missing.txt': No such file or directory", "predict", "run",
                          "missing.txt")
        write_texts(self.folder / "new.tsv", rows=30, seed=5)
        out, err = self.run_linnet("evaluate", "run", "--data", "new.tsv")
        self.assertIn("new.tsv, test set: 30 samples\naccuracy 100.00 %", out)
        _, err = self.run_linnet("evaluate", "run", "--data", "news.tsv")
        self.assertIn("were in the training set", err)

    def test_columns_are_named(self):
        write_texts(self.folder / "news.csv")
        self.assert_error("--text names the column of the texts; --target has to name that of the labels",
                          "train", "news.csv", "--text", "words")
        self.fit("news.csv", "--text", "words", "--target", "kind", "--epochs", 10)
        (self.folder / "news.toml").write_text('[data]\nfile = "news.csv"\ntext = "words"\ntarget = "kind"\n')
        self.fit("news.toml", "--epochs", 10, out="toml")
        self.assertEqual(*((self.folder / run / "model.safetensors").read_bytes() for run in ("run", "toml")))
        (self.folder / "bad.toml").write_text('[data]\nfile = "news.csv"\ntarget = "kind"\nentity = "id"\n')
        self.assert_error("'entity' in [data] is for windows of a series (--past); './news.csv' is a table: leave it out",
                          "train", "bad.toml")
        (self.folder / "new.csv").write_text('words,n\n"soup, bread",1\n')
        self.assertEqual(self.lines("run", "new.csv")[0][:2], ["new.csv[0]", "food"])
        out, _ = self.run_linnet("evaluate", "run", "--data", "news.csv")
        self.assertIn("news.csv, test set: 120 samples", out)
        (self.folder / "other.csv").write_text('text,label\n"a goal",sport\n')
        out, _ = self.run_linnet("evaluate", "run", "--data", "other.csv", "--text", "text", "--target",
                                 "label")
        self.assertIn("1 samples", out)

    def test_folders_by_class(self):
        rng = random.Random(3)
        for kind in WORDS:
            (self.folder / "texts" / kind).mkdir(parents=True)
            for i in range(20):
                (self.folder / f"texts/{kind}/{i}.txt").write_text(sentence(rng, kind))
        summary = self.fit("texts", "--epochs", 10)
        self.assertEqual((summary["train_samples"], summary["test_samples"]), (42, 12))
        self.assertEqual(self.lines("run", "the museum")[0][1], "art")
        # Another training from it reads by its words.
        write_texts(self.folder / "more.txt", rows=60)
        summary = self.fit("more.txt", "--from", "run", "--epochs", 2, out="further")
        self.assertGreater(summary["test_accuracy"], 0.9)


class Warnings(Prepared):
    """What is said instead of training nonsense; the library's part is training_warnings_test.cpp."""

    def train_points(self, dtype, values, layers="", training="", expected=0):
        folder = self.folder / "points"
        command.write_points(folder)
        if values is not None:
            for part, count in (("train", 64), ("test", 32)):
                command.npy(folder / f"y_{part}.npy", dtype, (count, *values[0]), values[1] * count)
        (self.folder / "p.toml").write_text(
            f'[network]\ninput = [4]\nlayers = [{layers}]\n[data]\npath = "points"\n'
            f'[training]\nepochs = 1\ndevice = "cpu"\n{training}')
        return self.run_linnet("train", "p.toml", "--out", "run", status=expected)[1]

    def test_squared_error_of_zeros_and_ones(self):
        err = self.train_points("<f4", ((), [1.0]), '{type = "dense", units = 1}')
        self.assertIn("linnet: warning: the targets of 'points' are all 0 or 1, and the loss is the "
                      "squared error: the loss binary_cross_entropy learns probabilities of them", err)
        summary = json.loads((self.folder / "run/summary.json").read_text())
        self.assertEqual(len(summary["warnings"]), 1)

    def test_labels_outside_the_outputs(self):
        err = self.train_points("<i4", ((), [9]), '{type = "dense", units = 2}', expected=2)
        self.assertIn("the network ends in 2 outputs but the data set 'points' has 10 classes", err)

    def test_unscaled_inputs(self):
        command.write_mnist(self.folder / "patterns")
        (self.folder / "p.toml").write_text(
            '[network]\ninput = [28, 28, 1]\nlayers = [{type = "flatten"}, {type = "dense", units = 10}]\n'
            '[data]\npath = "patterns"\n[training]\nepochs = 1\ndevice = "cpu"\n'
            '[optimizer]\nlearning_rate = 1e-6\n')
        _, err = self.run_linnet("train", "p.toml", "--out", "run")
        self.assertRegex(err, r"linnet: warning: the input 'input' has large numbers \(a root mean square "
                              r"of \d+(\.\d+)?\) that no layer scales")

    def test_columns_that_are_not_finite(self):
        (self.folder / "bad.csv").write_text("x,y\n" + "".join(f"{i}.5,{i}\n" for i in range(20)) + "inf,3\n")
        _, err = self.run_linnet("train", "bad.csv", "--target", "y", "--type", "x=number", "--type",
                                 "y=number", "--out", "run", status=2)
        self.assertIn("row 21 (line 22), column 'x'", err)


class Page(guide_pages.PageTest):
    """The guides to images and texts: each command prints what its page says."""

    def test_images(self):
        write_photos(self.folder / "photos", each=60, side=32)
        self.run_page("images")

    def test_texts(self):
        packed = guide_pages.DATA / "imdb/train.tsv.xz"
        if not packed.is_file():
            self.skipTest(f"{packed} is not there; LINNET_DATA may name the folder above it")
        lines = lzma.decompress(packed.read_bytes()).split(b"\n")
        (self.folder / "reviews.tsv").write_bytes(b"\n".join(lines[:25000:5]) + b"\n")
        self.run_page("texts")


if __name__ == "__main__":
    unittest.main()
