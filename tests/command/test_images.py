# SPDX-License-Identifier: Apache-2.0
"""Folders of images: streamed, augmented, with bad files."""
import json
import struct
import unittest

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


def bmp(side, seed):
    """A BMP of side x side pixels, 24 bits."""
    row = bytes((seed * 31 + 7 * k) % 256 for k in range(3 * side)) + bytes(-3 * side % 4)
    header = struct.pack("<2sIHHIIiiHHIIiiII", b"BM", 54 + side * len(row), 0, 0, 54, 40, side,
                         side, 1, 24, 0, 0, 0, 0, 0, 0)
    return header + row * side


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
