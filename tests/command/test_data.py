#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`linnet data info` and `linnet data convert`."""
import io
import struct
import tarfile
import unittest

import command


class DataTest(command.CommandTest):
    def setUp(self):
        super().setUp()
        command.write_mnist(self.folder / "patterns", train=30, test=20)

    def test_info_describes(self):
        info = self.run_json("data", "info", "patterns")
        self.assertEqual(info["format"], "idx")
        self.assertEqual(info["train"]["range"]["least"], 0)
        self.assertEqual(info["train"]["range"]["most"], 255)
        self.assertEqual(info["train"]["shapes"], [{"shape": [28, 28, 1], "samples": 30}])
        self.assertEqual(info["bad_files"], [])
        out, err = self.run_linnet("data", "info", "patterns")
        self.assertIn("patterns (idx)\n", out)
        self.assertIn("10.0 %  ####", out)
        self.assertEqual(err, "")

    def test_info_names_every_bad_file(self):
        for name in ("train-images-idx3-ubyte", "t10k-images-idx3-ubyte"):
            (self.folder / "patterns" / name).write_bytes(b"none")
        out, _ = self.run_linnet("data", "info", "patterns", status=2)
        self.assertIn("no samples\n2 bad files\n", out)
        self.assertIn("'patterns/train-images-idx3-ubyte' is cut short", out)
        out, _ = self.run_linnet("data", "info", "patterns", "--json", status=2)
        self.assertEqual(out.count("idx3-ubyte' is cut short"), 2)

    def test_info_of_drawn_data(self):
        info = self.run_json("data", "info", "digits")
        self.assertEqual(info["format"], "memory")
        self.assertEqual(info["train"]["sample_shape"], [28, 28, 1])

    def test_info_of_a_file_of_texts(self):
        (self.folder / "news.tsv").write_text("art\ta painting of bread\n" * 3 + "food\tsome bread and soup\n")
        info = self.run_json("data", "info", "news.tsv")
        self.assertEqual((info["path"], info["format"], info["train"]["classes"], info["train"]["samples_by_class"]),
                         ("news.tsv", "texts", ["art", "food"], [3, 1]))
        self.assert_error("--separator is for tables; 'news.tsv' holds texts: leave it out", "data", "info", "news.tsv",
                          "--separator", "tab")
        self.assertEqual(self.run_json("data", "info", "news.tsv", "--target", "1")["format"], "table")

    def test_there_and_back(self):
        for source, target, name in (("patterns", "images", "images"), ("images", "npy", "npy"),
                                     ("npy", "idx", "idx"), ("idx", "npy2", "npy")):
            _, err = self.run_linnet("data", "convert", source, target, "--to", name)
            self.assertEqual(err, f"linnet: 30 training and 20 test samples written to '{target}' "
                                  f"as {name}\n")
        for part in ("x_train", "y_train", "x_test", "y_test"):
            self.assertEqual((self.folder / f"npy/{part}.npy").read_bytes(),
                             (self.folder / f"npy2/{part}.npy").read_bytes())
        self.assertEqual(len(list((self.folder / "images/train/3").glob("*.png"))), 3)
        self.assertEqual(self.run_json("data", "info", "idx")["train"]["samples_by_class"],
                         [3] * 10)

    def test_bmp_and_size(self):
        self.run_linnet("data", "convert", "patterns", "images", "--to", "images", "--image-format",
                        "bmp")
        self.run_linnet("data", "convert", "images", "small", "--to", "npy", "--size", 14)
        info = self.run_json("data", "info", "small")
        self.assertEqual(info["test"]["sample_shape"], [14, 14, 1])

    def test_refusals(self):
        self.assert_error("'patterns' exists; name a new folder",
                          "data", "convert", "patterns", "patterns", "--to", "npy")
        self.assert_error("CIFAR's files hold u8 images of (32, 32, 3); the samples of "
                          "'patterns' are u8 (28, 28, 1)",
                          "data", "convert", "patterns", "out", "--to", "cifar")
        self.assert_error("--size is for image files; 'patterns' holds none: leave it out",
                          "data", "convert", "patterns", "out", "--to", "npy", "--size", 14)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["patterns"])

    def test_damaged_data_is_one_sentence(self):
        def fails(name, sentence, listed=True, advice=""):
            """convert gives the sentence; info lists it as a bad file, or gives it too."""
            self.assert_error(sentence + advice, "data", "convert", name, "out", "--to", "npy")
            if not listed:
                return self.assert_error(sentence, "data", "info", name)
            out, err = self.run_linnet("data", "info", name, status=2)
            self.assertIn(f"1 bad file\n  {sentence}\n", out)
            self.assertEqual(err, "")

        (self.folder / "empty").mkdir()
        fails("empty", "'empty' holds no data set: the folder is empty", listed=False)
        (self.folder / "cifar").mkdir()
        (self.folder / "cifar/data_batch_1.bin").write_bytes(bytes(5000))
        (self.folder / "cifar/test_batch.bin").write_bytes(bytes(3073))
        fails("cifar", "'cifar/data_batch_1.bin' has 5000 bytes; expected a multiple of 3073, the "
                       "size of a CIFAR-10 record")
        self.run_linnet("data", "convert", "patterns", "images", "--to", "images")
        image = sorted((self.folder / "images/train/0").iterdir())[0]
        image.write_bytes(image.read_bytes()[:60])
        out, _ = self.run_linnet("data", "info", "images", "--json", status=2)
        reason = command.json.loads(out)["bad_files"][0]["reason"]
        self.assertIn(f"'images/train/0/{image.name}' is ", reason)
        fails("images", reason, advice=command.SKIP_IMAGES)
        (self.folder / "xrays").mkdir()
        (self.folder / "xrays/0.png").write_bytes(b"")
        (self.folder / "xrays/labels.csv").write_text("file,patient,Mass\n0.png,1,perhaps\n")
        fails("xrays", "line 2 of 'xrays/labels.csv' has 'perhaps' for Mass; expected 0 or 1",
              listed=False)
        self.assertFalse((self.folder / "out").exists())

    def test_float64_becomes_float32(self):
        (self.folder / "arrays").mkdir()
        header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }".ljust(117) + "\n"
        (self.folder / "arrays/x_train.npy").write_bytes(
            b"\x93NUMPY\x01\0" + struct.pack("<H", 118) + header.encode() +
            struct.pack("<6d", 0, 1, 2, 3, 4, 5.5))
        header = "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }".ljust(117) + "\n"
        (self.folder / "arrays/y_train.npy").write_bytes(
            b"\x93NUMPY\x01\0" + struct.pack("<H", 118) + header.encode() + bytes([1, 0]))
        info = self.run_json("data", "info", "arrays")
        self.assertEqual((info["train"]["dtype"], info["train"]["range"]["most"]), ("f32", 5.5))
        self.run_linnet("data", "convert", "arrays", "out", "--to", "npy")
        self.assertEqual(self.run_json("data", "info", "out")["train"], info["train"] | {"name": "out"})

    def test_kept_data_is_asked_for(self):
        cache = self.folder / "cache"
        environment = {**command.os.environ, "XDG_CACHE_HOME": str(cache)}
        self.assert_error("imdb was not found: put its reviews (train.tsv and test.tsv, or the "
                          f"folders of aclImdb) into '{cache}/linnet/imdb', or name their folder; the known "
                          "data sets are fashion-mnist, digits, mnist, cifar10, cifar100, cifar100-coarse, imdb, "
                          "chest-xray, rosenbrock",
                          "data", "info", "imdb", env=environment)
        (cache / "linnet/imdb").mkdir(parents=True)
        for part in ("train", "test"):
            (cache / f"linnet/imdb/{part}.tsv").write_text("1\tgood film\n0\tbad film\n")
        out, _ = self.run_linnet("data", "info", "imdb", "--json", env=environment)
        self.assertEqual(command.json.loads(out)["train"]["sample_shape"], [150])

    def test_names_are_looked_for_in_linnet_data_first(self):
        """An archive there is unpacked into the cache once."""
        environment = {**command.os.environ, "LINNET_DATA": str(self.folder / "data"),
                       "XDG_CACHE_HOME": str(self.folder / "cache")}
        (self.folder / "data/cifar10").mkdir(parents=True)
        archive = self.folder / "data/cifar10/batches.tar.xz"
        with tarfile.open(archive, "w:xz") as files:
            for name, count in (("data_batch_1.bin", 3), ("test_batch.bin", 2)):
                member = tarfile.TarInfo(name)
                member.size = count * 3073
                files.addfile(member, io.BytesIO(bytes([1]) + bytes(member.size - 1)))
        for _ in range(2):
            out, err = self.run_linnet("data", "info", "cifar10", "--json", env=environment)
            info = command.json.loads(out)
            self.assertEqual((err, info["train"]["samples"], info["test"]["samples"]), ("", 3, 2))
            if archive.exists():
                archive.unlink()
        self.assertEqual(sorted(p.name for p in (self.folder / "cache/linnet").iterdir()),
                         ["cifar10"])
        self.assert_error("'data/cifar10' holds no data set: the folder is empty", "data", "info",
                          "data/cifar10", env=environment)


if __name__ == "__main__":
    unittest.main()
