# SPDX-License-Identifier: Apache-2.0
"""Folders of images: streamed, augmented, with bad files."""
import json
import math
import os
import shutil
import struct
import subprocess
import unittest
import zlib

import command

CONFIG = """
[data]
path = "images"
{data}
[network]
input = [{side}, {side}, 3]
layers = [{{ type = "flatten" }}, {{ type = "dense", units = 2 }}]
[training]
epochs = 2
batch = 4
threads = 1
[augment]
flip = true
{augment}
"""

DRIVER = """
#include <stdio.h>
#include "net.h"
int main(void) {
  float pixels[NET_IN_INPUT], scores[NET_OUT_0];
  for (int i = 0; i < NET_IN_INPUT; ++i) pixels[i] = (float)getchar();
  net_predict(pixels, scores);
  for (int c = 0; c < NET_OUT_0; ++c) printf("%.9g\\n", scores[c]);
  return 0;
}
"""


def softmax(scores):
    powers = [math.exp(score - max(scores)) for score in scores]
    return [power / sum(powers) for power in powers]


def bmp(side, seed):
    """A BMP of side x side pixels, 24 bits."""
    row = bytes((seed * 31 + 7 * k) % 256 for k in range(3 * side)) + bytes(-3 * side % 4)
    header = struct.pack("<2sIHHIIiiHHIIiiII", b"BM", 54 + side * len(row), 0, 0, 54, 40, side,
                         side, 1, 24, 0, 0, 0, 0, 0, 0)
    return header + row * side


def turned(png, orientation=6):
    """The same PNG with an EXIF orientation."""
    data = b"eXIf" + b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01" + struct.pack(">HHI", orientation, 0, 0)
    return png[:33] + struct.pack(">I", len(data) - 4) + data + struct.pack(">I", zlib.crc32(data)) + png[33:]


class Images(command.CommandTest):
    def setUp(self):
        super().setUp()
        for part, count in (("train", 10), ("test", 4)):
            for i in range(count):
                folder = self.folder / "images" / part / ("a", "b")[i % 2]
                folder.mkdir(parents=True, exist_ok=True)
                (folder / f"{i}.bmp").write_bytes(bmp(12, i))
        self.write_config()

    def write_config(self, side=12, data="", augment=""):
        text = CONFIG.format(side=side, data=data, augment=augment)
        (self.folder / "images.toml").write_text(text)

    def train(self, *arguments, out="run"):
        output, error = self.run_linnet("train", "images.toml", "--json", "--out", out, *arguments)
        return json.loads(output), error

    def losses(self, *arguments, out):
        summary, _ = self.train(*arguments, out=out)
        return summary["train_loss"], summary["test_loss"], summary["test_accuracy"]

    def test_streamed_and_resident_agree(self):
        wanted = self.losses(out="resident")
        self.assertEqual(self.losses("--streamed", out="streamed"), wanted)
        self.assertEqual(self.losses("--streamed", "--prefetch", 1, "--decoders", 3, out="c"), wanted)

    def test_views_are_averaged(self):
        self.train(out="run")
        row = bytes(range(0, 180, 5))  # 12 pixels that are no mirror images of themselves
        flipped = b"".join(row[i:i + 3] for i in range(33, -3, -3))
        header = bmp(12, 0)[:54]
        for name, each in (("plain", row), ("flipped", flipped)):
            (self.folder / f"{name}.bmp").write_bytes(header + each * 12)

        def shares(name, *arguments):
            output, _ = self.run_linnet("predict", "run", f"{name}.bmp", "--json", *arguments)
            return json.loads(output)["predictions"][0]["outputs"]
        self.assertNotAlmostEqual(shares("plain")[0], shares("flipped")[0], places=5)
        for views in ("flip", "flip,shift=2"):
            for a, b in zip(shares("plain", "--tta", views), shares("flipped", "--tta", views)):
                self.assertAlmostEqual(a, b, places=5)
        output, _ = self.run_linnet("evaluate", "run", "--data", "images", "--tta", "flip,shift=1", "--json")
        self.assertEqual(json.loads(output)["metrics"]["samples"], 4)
        for views in ("turn", "shift", "shift=0", "flip,", ""):
            error = self.run_linnet("predict", "run", "plain.bmp", "--tta", views, status=2)[1]
            self.assertIn(f"--tta: expected flip, shift=PIXELS or both, such as flip,shift=1; got '{views}'", error)
        self.assertIn("expected views shifted by 0 to 11 pixels of images of (12, 12, 3); got 12",
                      self.run_linnet("predict", "run", "plain.bmp", "--tta", "shift=12", status=2)[1])

    def test_a_model_keeps_its_views(self):
        """A training's --tta is in the saved model: predict, evaluate, serve, ONNX and C use it alike."""
        plain, _ = self.train("--seed", 3, out="plain")
        summary, _ = self.train("--seed", 3, "--tta", "flip,shift=1", out="kept")
        self.assertEqual(summary["test_accuracy_of_one_view"], plain["test_accuracy"])
        self.assertNotEqual(summary["test_loss"], plain["test_loss"])
        scores = {name: self.run_json("evaluate", name, "--data", "images", *views)["metrics"]
                  for name, views in (("plain", ("--tta", "flip,shift=1")), ("kept", ()))}
        self.assertEqual(scores["kept"], scores["plain"])
        self.assertEqual(scores["kept"]["accuracy"], summary["test_accuracy"])

        def outputs(name, *arguments):
            answer = self.run_json("predict", name, "images/test/a/0.bmp", *arguments)
            return answer["predictions"][0]["outputs"]
        wanted = outputs("plain", "--tta", "flip,shift=1")
        self.assertEqual(outputs("kept"), wanted)
        self.assertNotEqual(outputs("plain"), wanted)
        self.run_linnet("export", "kept", "--onnx", "kept.onnx")
        self.run_linnet("convert", "kept.onnx", "-o", "back.safetensors")
        row = bmp(12, 0)[54:90]
        command.npy(self.folder / "x.npy", "<f4", (1, 3, 12, 12),
                    [row[3 * at + channel] for channel in (2, 1, 0) for _ in range(12) for at in range(12)])
        back = self.run_json("predict", "back.safetensors", "x.npy")["predictions"][0]["outputs"]
        for a, b in zip(back, wanted):  # probabilities: the file names the loss
            self.assertAlmostEqual(a, b, places=4)
        for a, b in zip(softmax(self.in_c("kept", bmp(12, 0))), wanted):
            self.assertAlmostEqual(a, b, places=4)
        # A model with views trains as without, and keeps them, unless others are asked for.
        for name in ("plain", "kept"):
            self.train("--from", name, "--epochs", 1, "--seed", 4, out=f"{name} again")
        self.assertEqual(outputs("kept again"), outputs("plain again", "--tta", "flip,shift=1"))
        self.train("--from", "kept", "--epochs", 1, "--seed", 4, "--tta", "flip", out="flipped")
        self.assertEqual(outputs("flipped"), outputs("plain again", "--tta", "flip"))
        error = self.run_linnet("train", "images.toml", "--tta", "shift=12", "--out", "x", status=2)[1]
        self.assertIn("expected views shifted by 0 to 11 pixels", error)
        self.assertFalse((self.folder / "x/model.safetensors").exists())

    def in_c(self, model, image):
        """What the C file of a model answers on an image of 12 x 12 pixels."""
        compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
        if compiler is None:
            self.skipTest("there is no C compiler")
        self.run_linnet("export", model, "--c", "c", "--name", "net")
        (self.folder / "c/main.c").write_text(DRIVER)
        subprocess.run([compiler, "-std=c99", "-o", "net", "c/main.c", "c/net.c", "-lm"], cwd=self.folder,
                       check=True)
        rows = [image[at:at + 36] for at in range(len(image) - 36, 53, -36)]  # the last row is the first
        pixels = b"".join(row[i:i + 3][::-1] for row in rows for i in range(0, 36, 3))
        printed = subprocess.run([self.folder / "net"], input=pixels, capture_output=True, check=True).stdout
        return [float(score) for score in printed.split()]

    def test_crops_and_resizes(self):
        self.write_config(side=8, augment="crop = true\ncutout = 2")
        wanted = self.losses(out="resident")
        self.assertEqual(self.losses("--streamed", out="streamed"), wanted)
        self.write_config(side=8, data="image_size = [8, 8]")
        self.assertNotEqual(self.losses(out="resized"), wanted)
        self.write_config(side=8)
        self.assertEqual(self.losses("--image-size", "8x8", out="option"),
                         self.losses("--image-size", 8, "--streamed", out="again"))

    def test_options_stand_over_the_file(self):
        plain = self.losses("--augment", "none", out="plain")
        self.assertEqual(self.losses("--augment", "flip=0", out="zero"), plain)
        self.assertNotEqual(self.losses("--augment", "padding=2,jitter,mixup=0.4", out="much"), plain)

    def test_a_bad_image_stops_the_run_or_is_skipped(self):
        bad = self.folder / "images/train/a/4.bmp"
        bad.write_bytes(bad.read_bytes()[:100])
        for streamed in ((), ("--streamed",)):
            error = self.run_linnet("train", "images.toml", "--out", "x", *streamed, status=2)[1]
            self.assertIn("images/train/a/4.bmp'", error)
            summary, error = self.train("--on-bad-image", "skip", *streamed, out=f"s{len(streamed)}")
            self.assertEqual((summary["bad_images"], summary["train_samples"]), (1, 9))
            self.assertIn("1 bad image file was left out, the first: ", error)
            self.assertIn("a/4.bmp'", error)
        bad.unlink()
        self.assertEqual(self.train(out="without")[0]["train_loss"], summary["train_loss"])

    def test_orientation_is_that_of_the_training(self):
        for path in sorted((self.folder / "images").rglob("*.bmp")):
            pixels = [(int(path.stem) * 9 + k * 7) % 256 for k in range(12 * 12)]
            path.with_suffix(".png").write_bytes(turned(command.png(pixels, 12, 12)))
            path.unlink()
        self.write_config(data="channels = 3")
        turned_file = self.folder / "images/train/a/0.png"
        upright = self.losses(out="upright")
        self.assertNotEqual(self.losses("--exif", "ignore", out="stored"), upright)
        self.write_config(data='channels = 3\nexif = "ignore"')
        self.assertEqual(self.losses(out="same"), self.losses("--exif", "ignore", out="again"))
        rows = list(zip(*[iter([(k * 7) % 256 for k in range(144)])] * 12))
        plain = {"upright": [rows[11 - x][y] for y in range(12) for x in range(12)],
                 "stored": [value for row in rows for value in row]}
        for run, pixels in plain.items():
            (self.folder / "plain.png").write_bytes(command.png(pixels, 12, 12))
            outputs = self.run_json("predict", run, turned_file, "plain.png")["predictions"]
            self.assertEqual(outputs[0]["outputs"], outputs[1]["outputs"], run)

    def test_predicts_what_can_be_read(self):
        self.train(out="run")
        files = sorted((self.folder / "images/test").rglob("*.bmp"))
        files[1].write_bytes(files[1].read_bytes()[:100])
        out, error = self.run_linnet("predict", "run", "images/test", "missing.bmp", status=2)
        self.assertEqual(len(out.splitlines()), 3)
        self.assertIn("linnet: left out: '" + str(files[1].relative_to(self.folder)), error)
        self.assertIn("linnet: left out: cannot read 'missing.bmp'", error)
        out, error = self.run_linnet("predict", "run", "images/test", "--on-bad-image", "skip")
        self.assertEqual((len(out.splitlines()), error.count("left out")), (3, 1))
        self.assertEqual(self.run_linnet("predict", "run", "images/test", "--on-bad-image", "stop", status=2)[0], "")
        self.assertEqual(self.run_linnet("predict", "run", files[1], status=2)[0], "")
        error = self.run_linnet("evaluate", "run", "--data", "images", status=2)[1]
        self.assertIn("--on-bad-image skip", error)

    def test_a_folder_says_what_it_left_out(self):
        bad = self.folder / "images/train/a/4.bmp"
        bad.write_bytes(bad.read_bytes()[:100])
        error = self.run_linnet("train", "images", "--epochs", 1, "--out", "x", status=2)[1]
        self.assertIn("; --on-bad-image skip (in Python on_bad_image=\"skip\") leaves such files out", error)
        error = self.run_linnet("train", "images", "--epochs", 1, "--on-bad-image", "skip", "--out", "y")[1]
        self.assertIn("1 bad image file was left out, the first: 'images/train/a/4.bmp'", error)

    def test_a_table_gives_values(self):
        folder = self.folder / "faces"
        folder.mkdir()
        rows = ["file,age,smiles,glasses"]
        for i in range(24):
            (folder / f"{i}.bmp").write_bytes(bmp(12, i))
            rows.append(f"{i}.bmp,{20 + i * 1.5},{i % 2},{i % 3 // 2}")
        (folder / "labels.csv").write_text("\n".join(rows) + "\n")
        error = self.run_linnet("train", "faces", "--target", "age", "--epochs", 2, "--out", "ages")[1]
        self.assertIn("learns 1 value from images", error)
        out = self.run_linnet("predict", "ages", "faces/3.bmp")[0].split("\t")
        self.assertTrue(0 < float(out[1]) < 80, out)
        error = self.run_linnet("train", "faces", "--target", "smiles", "--target", "glasses", "--epochs", 1, "--out", "signs")[1]
        self.assertIn("learns 2 labels from images", error)
        self.assertEqual(len(self.run_linnet("predict", "signs", "faces/3.bmp")[0].splitlines()), 2)
        out, error = self.run_linnet("evaluate", "ages", "--data", "faces", "--target", "age")
        self.assertIn("were in the training set of the model", error)
        self.assertNotEqual(out, "")

    def test_says_what_is_wrong(self):
        def error(*arguments):
            return self.run_linnet("train", "images.toml", *arguments, status=2)[1]
        self.assertIn("there is no augmentation 'flop'; did you mean 'flip'?",
                      error("--augment", "flop"))
        self.assertIn("--augment flip: expected a number of at least 0; got 'x'",
                      error("--augment", "flip=x"))
        self.assertIn("--image-size: expected pixels, such as 224, or HEIGHTxWIDTH, such as "
                      "224x192; got '8by8'",
                      error("--image-size", "8by8"))
        self.write_config(augment="flop = 1")
        self.assertIn("images.toml:", error())
        self.assertIn("flop", error())


if __name__ == "__main__":
    unittest.main()
