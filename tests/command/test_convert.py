# SPDX-License-Identifier: Apache-2.0
"""`linnet convert` between names of weights, and `linnet features`, without other libraries;
tests/interop/weights_interop.py compares with those."""
import json
import os
import pathlib
import struct
import unittest

# Before command, which takes the variable away.
ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = pathlib.Path(os.environ.get("LINNET_DATA", ROOT / "../shared/data"))

import command
from test_images import bmp


def write_safetensors(path, tensors):
    """{name: (shape, floats)}"""
    header, data = {}, b""
    for name, (shape, values) in tensors.items():
        begin = len(data)
        data += struct.pack(f"<{len(values)}f", *values)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def read_header(path):
    data = path.read_bytes()
    return json.loads(data[8:8 + struct.unpack("<Q", data[:8])[0]])


def read_tensors(path):
    """{name: bytes}"""
    data = path.read_bytes()
    start = 8 + struct.unpack("<Q", data[:8])[0]
    return {name: data[slice(*(start + at for at in entry["data_offsets"]))]
            for name, entry in read_header(path).items() if name != "__metadata__"}


def gru(words=6, features=2, units=3, classes=2):
    """The state_dict of an embedding, a GRU and a dense layer, all 0.1."""
    shapes = {"embedding.weight": [words, features], "gru.weight_ih_l0": [3 * units, features],
              "gru.weight_hh_l0": [3 * units, units], "gru.bias_ih_l0": [3 * units],
              "gru.bias_hh_l0": [3 * units], "fc.weight": [classes, units], "fc.bias": [classes]}
    tensors = {}
    for name, shape in shapes.items():
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        tensors[name] = (shape, [0.1] * count)
    return tensors


class Convert(command.CommandTest):
    def setUp(self):
        super().setUp()
        write_safetensors(self.folder / "torch.safetensors", gru())

    def test_there_and_back(self):
        _, err = self.run_linnet("convert", "torch.safetensors", "--network", "gru-text", "--steps",
                                 4, "-o", "m.safetensors")
        self.assertEqual(err, "linnet: converted 7 tensors by the names of torchvision to gru-text in 'm.safetensors': samples (4), outputs (2)\n")
        _, err = self.run_linnet("convert", "m.safetensors", "--to", "torchvision", "-o",
                                 "back.safetensors")
        self.assertEqual(err, "linnet: 7 tensors by the names of torchvision written to "
                              "'back.safetensors'; they do not include the scale of the pixels: "
                              "none that has a name\n")
        header = read_header(self.folder / "back.safetensors")
        self.assertEqual(header.pop("__metadata__"), {"format": "pt"})
        self.assertEqual({name: entry["shape"] for name, entry in header.items()},
                         {name: shape for name, (shape, _) in gru().items()})
        self.run_linnet("convert", "m.safetensors", "--to", "keras", "-o", "keras.npz")
        report = json.loads(self.run_linnet("convert", "keras.npz", "--network", "gru-text", "-o",
                                            "n.safetensors", "--json")[0])
        self.assertEqual(report, {"network": "gru-text", "names": "keras", "tensors": 6,
                                  "ignored": [], "unfit": [], "parameters": 83,
                                  "pixels": None})
        # A model file needs no run folder.
        command.npy(self.folder / "x.npy", "<i4", (2, 4), [1, 2, 3, 4, 5, 0, 1, 2])
        out, _ = self.run_linnet("predict", "m.safetensors", "x.npy")
        self.assertEqual(out, "x.npy[0]\t0.5\t0.5\nx.npy[1]\t0.5\t0.5\n")

    def test_names_the_classes(self):
        (self.folder / "classes.txt").write_text("bad\n\n good \n")
        convert = ("convert", "torch.safetensors", "--network", "gru-text", "--steps", 4, "-o",
                   "m.safetensors", "--classes")
        self.run_linnet(*convert, "classes.txt")
        command.npy(self.folder / "x.npy", "<i4", (1, 4), [1, 2, 3, 4])
        out, _ = self.run_linnet("predict", "m.safetensors", "x.npy")
        self.assertEqual(out, "x.npy[0]\tbad\t0.5000\n")
        (self.folder / "m.safetensors").unlink()
        (self.folder / "classes.txt").write_text("bad\ngood\nugly\n")
        self.assert_error("got 3 class names; the first output of the network, (2) a sample, has at most 2 classes", *convert, "classes.txt")
        self.assert_error("cannot read 'none.txt': No such file or directory", *convert, "none.txt")
        self.assertFalse((self.folder / "m.safetensors").exists())
        self.assert_error("--classes needs --network or an ONNX file; --to writes only weights",
                          "convert", "m.safetensors", "--to", "keras", "--classes", "classes.txt",
                          "-o", "k.npz")

    def test_model_files_of_half_the_size(self):
        self.run_linnet("convert", "torch.safetensors", "--network", "gru-text", "--steps", 4, "-o",
                        "m.safetensors")
        command.npy(self.folder / "x.npy", "<i4", (1, 4), [1, 2, 3, 4])
        for dtype in ("bf16", "f16"):
            self.run_linnet("convert", "m.safetensors", "--to", "linnet", "--dtype", dtype, "-o",
                            "half.safetensors")
            header = read_header(self.folder / "half.safetensors")
            self.assertEqual(header["dense_1.bias"]["dtype"], dtype.upper())
            self.assertEqual(header["__metadata__"],
                             read_header(self.folder / "m.safetensors")["__metadata__"])
            out, _ = self.run_linnet("predict", "half.safetensors", "x.npy")
            self.assertEqual(out, "x.npy[0]\t0.5\t0.5\n")

    def test_says_what_does_not_fit(self):
        tensors = gru()
        tensors["fc.weight"] = ([2, 4], [0] * 8)
        del tensors["fc.bias"]
        tensors["other"] = ([1], [0])
        write_safetensors(self.folder / "bad.safetensors", tensors)
        self.assert_error(
            "the weights do not fit gru-text, by the names of torchvision: 'fc.weight' is f32 (2, 4); expected f32 (2, 3), since 'dense_1.weight' of the network is (2, 3); 'fc.bias' (2), which 'dense_1.bias' (2) of the network needs, is missing; 'other' (1) belongs to no parameter",
            "convert", "bad.safetensors", "--network", "gru-text", "-o", "m.safetensors")
        self.assertFalse((self.folder / "m.safetensors").exists())

    def test_says_what_is_left_out(self):
        tensors = gru()
        tensors["head.weight"] = tensors.pop("fc.weight")
        tensors["head.bias"] = tensors.pop("fc.bias")
        tensors["other"] = ([1], [0])
        write_safetensors(self.folder / "other.safetensors", tensors)
        convert = ("convert", "other.safetensors", "--network", "gru-text", "--steps", 4, "-o",
                   "m.safetensors")
        _, err = self.run_linnet(*convert, "--rename", "head.*=fc.*", "--non-strict")
        self.assertEqual(err, "linnet: converted 7 tensors by the names of torchvision to gru-text in 'm.safetensors': samples (4), outputs (2)\n"
                              "linnet: 'other' (1) belongs to no parameter\n")
        report = self.run_json(*convert, "--rename", "head=fc", "--non-strict")
        self.assertEqual(report["unfit"], ["'other' (1) belongs to no parameter"])
        for bad in ("head", "=fc", "head=", "*=fc"):
            self.assert_error("--rename: expected a layer of the file and its name in the network, "
                              f"such as fc=head; got '{bad}'", *convert, "--rename", bad)

    def test_ports_of_onnx_files_and_ids_out_of_range(self):
        self.run_linnet("convert", "torch.safetensors", "--network", "gru-text", "--steps", 4, "-o",
                        "m.safetensors")
        (self.folder / "classes.txt").write_text("bad\ngood\n")
        self.run_linnet("convert", "torch.safetensors", "--network", "gru-text", "--steps", 4, "-o",
                        "m.safetensors", "--classes", "classes.txt")
        self.run_linnet("export", "m.safetensors", "--onnx", "m.onnx")
        _, err = self.run_linnet("convert", "m.onnx", "-o", "n.safetensors")
        self.assertRegex(err, r"^linnet: converted 'm.onnx' to 'n.safetensors': \d+ parameters, "
                              r"samples 'input' \(4\) of INT32 \(N, 4\), ids from 0 to 5, outputs "
                              r"'output' \(2\) of FLOAT \(N, 2\)\nlinnet: written by linnet \S+\n$")
        report = self.run_json("convert", "m.onnx", "-o", "n.safetensors")
        self.assertEqual(report["inputs"], [{"name": "input", "sample": [4], "axes": [1], "batch": 0,
                                             "type": "INT32", "shape": [-1, 4], "below": 6}])
        self.assertEqual(json.loads(report["metadata"]["linnet.classes"]), ["bad", "good"])
        command.npy(self.folder / "x.npy", "<i4", (2, 4), [1, 2, 3, 4, 5, 0, 1, 2])
        out, _ = self.run_linnet("predict", "n.safetensors", "x.npy")
        self.assertEqual(out, "x.npy[0]\tbad\t0.5000\nx.npy[1]\tbad\t0.5000\n")
        command.npy(self.folder / "x.npy", "<i4", (2, 4), [1, 2, 3, 4, 5, 0, 6, 2])
        self.assert_error("row 1, column 2 of the input 'input' (counted from 0) has the id 6; the "
                          "embedding 'embedding_1' expects 0 to 5", "predict", "n.safetensors",
                          "x.npy")

    def test_networks_of_openvino_are_recognised(self):
        (self.folder / "v.xml").write_text('<?xml version="1.0"?>\n<net name="v" version="11">')
        (self.folder / "r.xml").write_text("<rows/>")
        way = "OpenVINO's form (.xml and .bin) has no way back; convert the ONNX file that it was made of"
        self.assert_error(f"cannot read 'v.xml': expected .onnx, .safetensors or .npz; {way}",
                          "convert", "v.xml", "-o", "m.safetensors")
        self.assert_error(f"'v.xml' is of another program; {way}", "v.xml")
        self.assert_error("'r.xml' is a file of records; write a table of it (CSV), or for texts "
                          "lines of a label, a tab and a text", "r.xml")

    def test_asks_for_one_direction(self):
        self.assert_error("linnet convert needs --network, to make a model of weights, or --to, to write a model's weights; got neither", "convert", "torch.safetensors", "-o",
                          "m.safetensors")
        self.assert_error("-o './torch.safetensors' would overwrite the input file; name another one", "convert", "torch.safetensors", "--network", "gru-text",
                          "-o", "./torch.safetensors")
        self.assert_error("cannot write the model 'm.npz': expected a name that ends in .safetensors", "convert",
                          "torch.safetensors", "--network", "gru-text", "-o", "m.npz")
        self.assert_error("cannot load the model 'torch.safetensors': it holds weights, but no "
                          "Linnet network", "convert", "torch.safetensors", "--to", "keras", "-o",
                          "m.npz")
        (self.folder / "x.npz").write_bytes(b"PK")
        self.assert_error("cannot read 'x.npz': it is cut short or not a zip archive: its end record is missing", "convert", "x.npz", "--network", "gru-text", "-o",
                          "m.safetensors")


class Features(command.CommandTest):
    def test_layers_of_images(self):
        (self.folder / "net.toml").write_text("""[network]
input = [28, 28, 1]
layers = [{type = "flatten"}, {type = "dense", units = 5, name = "d"}, {type = "dense", units = 10}]
""")
        command.write_mnist(self.folder / "patterns", 20, 10)
        self.run_linnet("train", "net.toml", "--data", "patterns", "--epochs", 1, "--threads", 1,
                        "--device", "cpu", "--out", "run")
        photos = self.folder / "photos"
        photos.mkdir()
        for name, side in (("a.bmp", 40), ("b.bmp", 64)):
            (photos / name).write_bytes(bmp(side, 90))
        out, err = self.run_linnet("features", "run", "photos", "--layer", "d", "-o", "out.npy")
        self.assertEqual(out, "photos/a.bmp\nphotos/b.bmp\n")
        self.assertEqual(err, "linnet: (2, 5) of 2 samples written to 'out.npy'\n")
        report = self.run_json("features", "run", "photos", "-o", "out.npy")
        self.assertEqual(report["shape"], [2, 10])
        self.assert_error("a centre crop of 28 x 28 cannot be taken from images whose shorter side is 20", "features", "run", "photos",
                          "--resize", 20, "-o", "out.npy")
        self.assert_error("the network has no layer 'e'; it has 'flatten_1', 'd', 'dense_1'",
                          "features", "run", "photos", "--layer", "e", "-o", "out.npy")


class ZooNetworks(command.CommandTest):
    """`linnet train FOLDER --network NAME --weights FILE`."""

    def setUp(self):
        super().setUp()
        for i in range(40):
            folder = self.folder / "photos" / ("light" if i % 2 else "dark")
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{i}.bmp").write_bytes(bmp(32, i))

    def train(self, *arguments):
        return self.run_linnet("train", "photos", "--network", "mobilenet_v3_small", "--epochs", 1,
                               "--image-size", 32, "--quiet", *arguments)

    def test_weights_stay_and_the_head_is_new(self):
        self.train("--out", "first")
        self.run_linnet("convert", "first/model.safetensors", "--to", "timm", "-o",
                        "w.safetensors")
        (self.folder / "photos" / "other").mkdir()
        for i in range(20):
            (self.folder / "photos" / "other" / f"{i}.bmp").write_bytes(bmp(32, 3 * i))
        self.train("--weights", "w.safetensors", "--freeze", "features.*", "--out", "second")
        self.run_linnet("convert", "second/model.safetensors", "--to", "timm", "-o",
                        "v.safetensors")
        before, after = (read_tensors(self.folder / f"{name}.safetensors") for name in "wv")
        self.assertEqual(before.keys(), after.keys())
        changed = {name for name in before if before[name] != after[name]}
        self.assertEqual({name.split(".")[0] for name in changed}, {"conv_head", "classifier"})

    def test_errors(self):
        self.train("--out", "first")
        self.run_linnet("convert", "first/model.safetensors", "--to", "torchvision", "-o",
                        "w.safetensors")
        _, err = self.run_linnet("train", "photos", "--network", "mobilenet_v2", "--weights",
                                 "w.safetensors", "--image-size", 32, status=2)
        self.assertTrue(err.startswith("linnet: error: the weights do not fit mobilenet_v2, by the "
                                       "names of torchvision: 'features.0.0.weight' is f32 (16, 3, 3, "
                                       "3); expected f32 (32, 3, 3, 3), since 'features.0.0.weight' of "
                                       "the network is (32, 3, 3, 3)"), err)
        self.assert_error("'mobilenet_v3_small' takes images of 3 channels; leave out --channels 1",
                          "train", "photos", "--network", "mobilenet_v3_small", "--channels", 1)
        self.assert_error("'gru-text' is a text model; --network takes networks of images",
                          "train", "photos", "--network", "gru-text")
        (self.folder / "t.csv").write_text("a,b\n" + "1,2\n3,4\n" * 20)
        self.assert_error("--network is for images; 't.csv' is a table", "train", "t.csv",
                          "--target", "b", "--network", "vit_tiny")
        self.assert_error("--network trains on a folder of images by class: linnet train FOLDER "
                          "--network vit_tiny", "train", "--workload", "mnist-cnn", "--network",
                          "vit_tiny")


class RealWeights(command.CommandTest):
    """The published CIFAR ResNets on CIFAR-10's test images: 91.73 % and 93.39 %."""

    def test_published_accuracy(self):
        weights = DATA / "models"
        for path in (weights / "cifar10_resnet20.safetensors", DATA / "cifar10"):
            if not path.exists():
                self.skipTest(f"{path} is not there; LINNET_DATA may name the folder above it")
        environment = {**os.environ, "LINNET_DATA": str(DATA.resolve()),
                       "XDG_CACHE_HOME": str(self.folder / "cache")}
        for depth, correct in ((20, 9173), (56, 9339)):
            self.run_linnet("convert", weights / f"cifar10_resnet{depth}.safetensors", "--network",
                            f"cifar-resnet{depth}", "-o", "r.safetensors")
            out, _ = self.run_linnet("evaluate", "r.safetensors", "--data", "cifar10", "--device",
                                     "cpu", "--json", env=environment)
            metrics = json.loads(out)["metrics"]
            self.assertEqual(metrics["samples"], 10000)
            self.assertAlmostEqual(metrics["accuracy"] * 10000, correct, delta=2)


if __name__ == "__main__":
    unittest.main()
