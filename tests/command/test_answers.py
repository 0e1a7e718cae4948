# SPDX-License-Identifier: Apache-2.0
"""What `linnet predict` prints follows the loss; `evaluate` knows classes by name; the report and
metrics.json count alike."""
import json
import math
import random
import re
import struct
import unittest

import command
from test_predict import npy

CONFIG = """
[data]
path = "{path}"
{data}
[network]
input = {input}
layers = [{layers}{{ type = "dense", units = {units} }}{last}]
[training]
epochs = {epochs}
batch = 6
threads = 1
device = "cpu"
{more}
"""


def bmp(colour, side=12, seed=0):
    """A BMP of one channel (blue, green, red) that stands out, 24 bits."""
    rng = random.Random(f"{colour} {seed}")
    rows = b""
    for _ in range(side):
        row = bytes(rng.randrange(60) + (180 if k % 3 == colour else 0) for k in range(3 * side))
        rows += row + bytes(-3 * side % 4)
    return struct.pack("<2sIHHIIiiHHIIiiII", b"BM", 54 + len(rows), 0, 0, 54, 40, side, side, 1, 24,
                       0, 0, 0, 0, 0, 0) + rows


def grey_bmp(side=12):
    """A BMP of 8 bits with a palette of greys."""
    palette = b"".join(bytes((c, c, c, 0)) for c in range(256))
    pixels = bytes(128 for _ in range(side * side))
    return struct.pack("<2sIHHIIiiHHIIiiII", b"BM", 54 + 1024 + len(pixels), 0, 0, 54 + 1024, 40,
                       side, side, 1, 8, 0, 0, 0, 0, 256, 0) + palette + pixels


class Answers(command.CommandTest):
    def write_arrays(self, path, x, y, kind="<f4", names=()):
        (self.folder / path).mkdir()
        for part in ("train", "test"):
            for name, rows, dtype in (("x", x, "<f4"), ("y", y, kind)):
                flat = [v for row in rows for v in row] if isinstance(rows[0], list) else rows
                shape = (len(rows), len(rows[0])) if isinstance(rows[0], list) else (len(rows),)
                data = struct.pack(f"<{len(flat)}{dtype[1]}", *flat)
                (self.folder / path / f"{name}_{part}.npy").write_bytes(npy(dtype, shape, data))
        if names:
            (self.folder / path / "classes.txt").write_text("\n".join(names) + "\n")

    def train_config(self, path, *, input="[4]", layers="", units=3, last="", epochs=3, more="",
                     data="", out="run"):
        (self.folder / "net.toml").write_text(
            CONFIG.format(path=path, input=input, layers=layers, units=units, last=last,
                          epochs=epochs, more=more, data=data))
        return self.run_linnet("train", "net.toml", "--out", out)

    def inputs(self, count=5):
        rng = random.Random(4)
        x = [[rng.gauss(0, 1) for _ in range(4)] for _ in range(count)]
        flat = [v for row in x for v in row]
        (self.folder / "x.npy").write_bytes(
            npy("<f4", (count, 4), struct.pack(f"<{len(flat)}f", *flat)))
        return x

    def predicted(self, out="run"):
        return self.run_json("predict", out, "x.npy", "--device", "cpu")["predictions"]

    def lines(self, out="run"):
        text, err = self.run_linnet("predict", out, "x.npy", "--device", "cpu")
        return [line.split("\t") for line in text.splitlines()], err

    def raw(self, out="run"):
        """The last layer's outputs: a file whose loss is squared error gives them as they are."""
        self.rewrite(out, "raw", lambda record: {**record, "loss": "mse", "labels": False})
        return [p["outputs"] for p in self.predicted("raw.safetensors")]

    def rewrite(self, out, name, change):
        content = (self.folder / out / "model.safetensors").read_bytes()
        size = struct.unpack("<Q", content[:8])[0]
        header = json.loads(content[8:8 + size])
        record = change(json.loads(header["__metadata__"].pop("linnet.training")))
        if record is not None:
            header["__metadata__"]["linnet.training"] = json.dumps(record)
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        (self.folder / f"{name}.safetensors").write_bytes(
            struct.pack("<Q", len(text)) + text + content[8 + size:])

    def train_labels(self, last="", loss="binary_cross_entropy"):
        x = self.inputs(60)
        y = [[float(v > 0) for v in row[:3]] for row in x]
        self.write_arrays("multi", x, y, names=("mass", "nodule", "hernia"))
        self.inputs()
        self.train_config("multi", last=last, more=f'loss = "{loss}"')

    def test_independent_labels_have_a_probability_each(self):
        self.train_labels()
        raw = self.raw()
        lines, err = self.lines()
        self.assertEqual(err, "")
        self.assertEqual([line[:2] for line in lines],
                         [[f"x.npy[{i}]", name] for i in range(5)
                          for name in ("mass", "nodule", "hernia")])
        wanted = [1 / (1 + math.exp(-z)) for row in raw for z in row]
        for line, p in zip(lines, wanted):
            self.assertAlmostEqual(float(line[2]), p, places=4)
        self.assertEqual(self.run_json("predict", "run", "x.npy", "--device", "cpu")["loss"],
                         "binary_cross_entropy")
        first = self.predicted()[0]
        self.assertNotIn("class", first)
        self.assertEqual([entry["label"] for entry in first["labels"]],
                         ["mass", "nodule", "hernia"])
        self.assertAlmostEqual(first["labels"][1]["probability"], wanted[1], places=6)
        self.assertAlmostEqual(first["outputs"][2], wanted[2], places=6)

    def test_a_last_sigmoid_is_not_squashed_again(self):
        self.train_labels(last=', { type = "sigmoid" }')
        self.assertEqual([p["outputs"] for p in self.predicted()], self.raw())

    def test_values_are_printed_as_they_are(self):
        x = self.inputs(60)
        self.write_arrays("values", x, [[3 * row[0], row[1] - row[2]] for row in x],
                          names=("height", "weight"))
        self.inputs()
        self.train_config("values", units=2, more='loss = "mse"')
        raw = self.raw()
        lines, err = self.lines()
        self.assertEqual(err, "")
        self.assertEqual([len(line) for line in lines], [3] * 5)
        for line, row in zip(lines, raw):
            self.assertEqual([struct.pack("<f", float(v)) for v in line[1:]],
                             [struct.pack("<f", v) for v in row])
        self.assertNotIn("class", self.predicted()[0])

    def test_classes_and_scores(self):
        x = self.inputs(60)
        labels = [max(range(3), key=lambda c, row=row: row[c]) for row in x]
        self.write_arrays("classes", x, labels, kind="<i4", names=("a", "b", "c"))
        self.inputs()
        self.train_config("classes")
        for p, row in zip(self.predicted(), self.raw()):
            total = sum(math.exp(z) for z in row)
            self.assertEqual(p["class"], "abc"[row.index(max(row))])
            self.assertAlmostEqual(p["probability"], math.exp(max(row)) / total, places=5)
        self.train_config("classes", more='loss = "hinge"', out="hinge")
        for p, row in zip(self.predicted("hinge"), self.raw("hinge")):
            self.assertEqual((p["class"], p["score"]), ("abc"[row.index(max(row))], max(row)))
            self.assertNotIn("probability", p)

    def test_a_file_without_its_loss_says_what_is_assumed(self):
        self.train_labels()
        self.rewrite("run", "old", lambda record: None)
        lines, err = self.lines("old.safetensors")
        self.assertEqual(err, "linnet: 'old.safetensors' does not name the loss of its training: its outputs are read as logits of one class of several (softmax)\n")
        self.assertEqual(len(lines), 5)

    def write_pets(self, root, names, files=6, classes=("cat", "dog", "emu")):
        for name in names:
            folder = self.folder / root / name
            folder.mkdir(parents=True)
            for i in range(files):
                (folder / f"{i}.bmp").write_bytes(bmp(classes.index(name), seed=i))

    def train_pets(self, *, path="pets", data="", epochs=25):
        return self.train_config(
            path, input="[12, 12, 3]", epochs=epochs, data=data,
            layers='{ type = "rescale", scale = 0.00392 }, { type = "flatten" }, ')

    def test_classes_are_known_by_name(self):
        self.write_pets("pets", ("cat", "dog", "emu"))
        self.train_pets()
        self.write_pets("fewer", ("dog", "emu"))
        self.write_pets("other", ("cat", "dog", "emu"))
        (self.folder / "other/classes.txt").write_text("emu\ncat\ndog\n")
        for data, count in (("pets", 18), ("fewer", 12), ("other", 18)):
            metrics = self.run_json("evaluate", "run", "--data", data, "--device", "cpu")["metrics"]
            self.assertEqual((metrics["accuracy"], metrics["samples"]), (1, count), data)
            self.assertEqual([c["class"] for c in metrics["classes"]], ["cat", "dog", "emu"])
            self.assertEqual(metrics["confusion"][0], [count - 12, 0, 0])
        self.write_pets("unknown", ("cat",))
        (self.folder / "unknown/cat").rename(self.folder / "unknown/yak")
        self.assert_error("the data set 'unknown' has the unknown class 'yak'; the "
                          "model's classes are 'cat', 'dog', 'emu'", "evaluate", "run", "--data",
                          "unknown", "--device", "cpu")

    def test_grey_images_among_others_are_read_in_colour_and_said(self):
        self.write_pets("mixed", ("cat", "dog", "emu"))
        (self.folder / "mixed/cat/0.bmp").write_bytes(grey_bmp())
        note = ("linnet: 1 of the 18 images of 'mixed' is grey, the others in colour; all are read in colour, with 3 channels (--channels 1, in Python channels=1, reads all as grey)\n")
        self.assertIn(note, self.train_pets(path="mixed", epochs=1)[1])
        _, err = self.run_linnet("data", "convert", "mixed", "arrays", "--to", "npy")
        self.assertIn(note, err)
        self.run_linnet("data", "convert", "mixed", "grey", "--to", "npy", "--channels", 1)
        self.assertIn(b"(18, 12, 12, 1)", (self.folder / "grey/x_train.npy").read_bytes()[:128])
        grey = (self.folder / "net.toml").read_text().replace("[12, 12, 3]", "[12, 12, 1]")
        (self.folder / "grey.toml").write_text(grey)
        self.assertNotIn("in colour", self.run_linnet("train", "grey.toml", "--channels", 1, "--out",
                                                      "option")[1])
        (self.folder / "key.toml").write_text(grey.replace("[network]", "channels = 1\n[network]"))
        self.run_linnet("train", "key.toml", "--out", "key")
        self.assertEqual(self.run_json("evaluate", "key", "--data", "mixed", "--device",
                                       "cpu")["metrics"]["samples"], 18)
        (self.folder / "two.toml").write_text(grey.replace("[network]", "channels = 2\n[network]"))
        self.assertIn("'channels' in [data] must be 1 or 3; got '2'",
                      self.run_linnet("train", "two.toml", "--out", "two", status=2)[1])

    def test_pictures_of_other_sizes_are_resized_as_evaluations_do(self):
        self.write_pets("pets", ("cat", "dog", "emu"))
        self.train_pets()
        for side, colour in ((30, 1), (5, 2)):
            (self.folder / "one.bmp").write_bytes(bmp(colour, side))
            prediction = self.run_json("predict", "run", "one.bmp", "--device", "cpu")
            self.assertEqual(prediction["predictions"][0]["class"], ("cat", "dog", "emu")[colour])

    def test_the_report_counts_what_metrics_json_counts(self):
        x = self.inputs(60)
        labels = [max(range(3), key=lambda c, row=row: row[c]) for row in x]
        self.write_arrays("classes", x, labels, kind="<i4")
        for units in (3, 4):  # also with more outputs than classes
            out = f"run{units}"
            self.train_config("classes", units=units, more="[loss]\nignore_index = 1", out=out)
            metrics = json.loads((self.folder / out / "metrics.json").read_text())
            report = (self.folder / out / "report.html").read_text()
            at = report.index("Confusion matrix")
            table = report[at:report.index("</tbody>", at)]
            counts = [int(count) for count in re.findall(r'predicted as [^"]*: (\d+)"', table)]
            self.assertEqual(counts, [count for row in metrics["confusion"] for count in row])
            self.assertEqual(sum(counts), 60 - labels.count(1))
            self.assertEqual(sum(metrics["confusion"][1]), 0)


if __name__ == "__main__":
    unittest.main()
