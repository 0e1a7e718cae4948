# SPDX-License-Identifier: Apache-2.0
"""The blocks of docs/interop.md, run one after the other in one folder as a reader would."""
import json
import os
import pathlib
import re
import shlex
import subprocess
import tempfile
import unittest

os.environ["KERAS_BACKEND"] = "torch"
try:
    import keras
    import numpy
    import onnx
    import safetensors
    import safetensors.torch
    import torch
    import torchvision
    from PIL import Image
except ImportError as error:
    raise unittest.SkipTest(f"there is no {error.name}; ./dev test --interop without --quick "
                            "installs it") from error

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINNET = os.environ["LINNET_COMMAND"]
DATA = pathlib.Path(os.environ.get("LINNET_DATA", ROOT / "shared/data"))
REAL = ("cifar10_resnet20.safetensors", "squeezenet1.0_dc_fp32.onnx")  # of DATA/models
MADE_OF_REAL = ("r20.safetensors", "squeezenet.safetensors")


def blocks(kinds):
    """(language, text) of the fenced blocks of the page, in its order."""
    text = (ROOT / "docs/interop.md").read_text()
    found = re.findall(r"^( *)```(\w+)\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL)
    return [(kind, "".join(line[len(indent):] for line in block.splitlines(keepends=True)))
            for indent, kind, block in found if kind in kinds]


def detector(path):
    """An ONNX file whose images may have any size."""
    def value(name, dims):
        return onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, dims)
    weight = onnx.numpy_helper.from_array(numpy.ones((4, 3, 3, 3), numpy.float32), "conv.weight")
    nodes = [onnx.helper.make_node("Conv", ["input", "conv.weight"], ["x"], pads=[1, 1, 1, 1]),
             onnx.helper.make_node("Relu", ["x"], ["scores"])]
    graph = onnx.helper.make_graph(nodes, "detector", [value("input", ["N", 3, "H", "W"])],
                                   [value("scores", ["N", 4, "H", "W"])], [weight])
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)],
                                     ir_version=8), path)


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory(prefix="linnet-page-")
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        cls.module = torchvision.models.resnet50().eval()
        safetensors.torch.save_file(cls.module.state_dict(), cls.folder / "resnet50.safetensors")
        detector(cls.folder / "detector.onnx")
        (cls.folder / "imagenet.txt").write_text("".join(f"class {i}\n" for i in range(1000)))
        (cls.folder / "photos").mkdir()
        for i in range(2):
            pixels = numpy.random.default_rng(i).integers(0, 256, (240, 300, 3), numpy.uint8)
            Image.fromarray(pixels).save(cls.folder / f"photos/{i}.jpg")
        text = torch.nn.ModuleDict({"embedding": torch.nn.Embedding(30, 5),
                                    "gru": torch.nn.GRU(5, 4, batch_first=True),
                                    "fc": torch.nn.Linear(4, 3)})
        safetensors.torch.save_file(text.state_dict(), cls.folder / "gru.safetensors")
        subprocess.run([LINNET, "convert", "gru.safetensors", "--network", "gru-text", "--steps", "6",
                        "-o", "text.safetensors"], cwd=cls.folder, check=True, capture_output=True)
        for name in REAL:
            if (DATA / "models" / name).exists():
                (cls.folder / name).symlink_to(DATA / "models" / name)

    def run_line(self, line):
        words = shlex.split(line, comments=True)
        if words[0] == "tensorboard":  # a server; logs_interop.py reads what it would show
            return
        self.assertEqual(words[0], "linnet")
        for name in (*REAL, *MADE_OF_REAL):
            if name in words[1:3] and not (self.folder / name).exists():
                self.skipTest(f"{name} is not there; LINNET_DATA may name the folder of the data")
        done = subprocess.run([LINNET, *words[1:]], cwd=self.folder, capture_output=True, text=True,
                              timeout=300, env={**os.environ, "LINNET_DATA": str(DATA)})
        self.assertEqual(done.returncode, 0, f"{line}\n{done.stderr}")
        if "--json" in words:
            json.loads(done.stdout)
        for option in ("-o", "--onnx"):
            if option in words:
                written = self.folder / words[words.index(option) + 1]
                self.assertGreater(written.stat().st_size, 0, line)

    def run_python(self, text):
        """With what a reader has: the packages, a PyTorch module and a Keras model."""
        names = {"json": json, "numpy": numpy, "safetensors": safetensors, "module": self.module,
                 "model": keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])}
        before = os.getcwd()
        os.chdir(self.folder)
        try:
            exec(text, names)
        finally:
            os.chdir(before)

    def test_blocks(self):
        found = blocks(("sh", "python"))
        self.assertGreater(len(found), 6)
        for kind, text in found:
            if kind == "python":
                with self.subTest(text):
                    self.run_python(text)
                continue
            for line in text.replace("\\\n", " ").splitlines():
                if line.strip():
                    with self.subTest(line):
                        self.run_line(line)


if __name__ == "__main__":
    unittest.main()
