# SPDX-License-Identifier: Apache-2.0
"""What the tests of the command share: starting it, and small data sets in a temporary folder."""
import json
import os
import pathlib
import random
import struct
import subprocess
import tempfile
import unittest
import zlib

LINNET = os.environ.get("LINNET_COMMAND", "linnet")
# A developer's own plug-in is none of the tests' business.
os.environ.pop("LINNET_CUDA_LIBRARY", None)
os.environ.pop("LINNET_DATA", None)  # nor are real data under the names of data sets
os.environ.pop("CI", None)  # where progress is drawn on a terminal as everywhere
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


def idx(dimensions, data):
    """The bytes of an IDX file of unsigned bytes."""
    return struct.pack(f">HBB{len(dimensions)}I", 0, 8, len(dimensions), *dimensions) + bytes(data)


def patterns(count, seed):
    """Images (28, 28) with a bright row band that tells the class, and their labels."""
    rng = random.Random(seed)
    pixels, labels = bytearray(), bytearray()
    for i in range(count):
        label = i % 10
        image = bytearray(rng.randrange(60) for _ in range(28 * 28))
        for row in (2 * label + 4, 2 * label + 5):
            image[row * 28:row * 28 + 28] = bytes(200 + rng.randrange(56) for _ in range(28))
        pixels += image
        labels.append(label)
    return pixels, labels


def write_mnist(folder, train=400, test=100):
    """The four files of an MNIST-style data set."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, count, seed in (("train", train, 1), ("t10k", test, 2)):
        pixels, labels = patterns(count, seed)
        (folder / f"{name}-images-idx3-ubyte").write_bytes(idx((count, 28, 28), pixels))
        (folder / f"{name}-labels-idx1-ubyte").write_bytes(idx((count,), labels))


def npy(path, dtype, shape, values):
    """Writes an array: dtype "<f4" or "<i4"."""
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    header = header.ljust(127 - 10) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header.encode() +
                     struct.pack(f"<{len(values)}{'f' if dtype == '<f4' else 'i'}", *values))


def write_points(folder, train=64, test=32):
    """Points (4) of two classes as .npy files; returns the samples of the training set."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(3)
    for part, count in (("test", test), ("train", train)):
        samples = [rng.gauss(0, 1) for _ in range(4 * count)]
        npy(folder / f"x_{part}.npy", "<f4", (count, 4), samples)
        npy(folder / f"y_{part}.npy", "<i4", (count,), [int(x > 0) for x in samples[::4]])
    return samples


def png(pixels, height=28, width=28):
    """A grey PNG file."""
    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data +
                struct.pack(">I", zlib.crc32(kind + data)))
    rows = b"".join(b"\0" + bytes(pixels[i * width:(i + 1) * width]) for i in range(height))
    return (b"\x89PNG\r\n\x1a\n" +
            chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


# A network for them, in the format of a configuration file.
POINTS = """[network]
input = [4]
layers = [{type = "dense", units = 8}, %s{type = "relu"}, {type = "dense", units = 2}]
[data]
path = "points"
"""

# What a sentence on a damaged image ends with.
SKIP_IMAGES = '; --on-bad-image skip (in Python on_bad_image="skip") leaves such files out'


class CommandTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="linnet-command-")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def start(self, *arguments, **options):
        return subprocess.Popen([LINNET, *map(str, arguments)], cwd=self.folder, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)

    def run_linnet(self, *arguments, status=0, **options):
        """Runs the command; returns its standard output and standard error."""
        process = subprocess.run([LINNET, *map(str, arguments)], cwd=self.folder, text=True,
                                 timeout=240, **{"capture_output": True, **options})
        self.assertEqual(process.returncode, status, process.stderr)
        return process.stdout, process.stderr

    def run_json(self, *arguments):
        out, _ = self.run_linnet(*arguments, "--json")
        self.assertEqual(out.count("\n"), 1, "exactly one line of JSON")
        return json.loads(out)

    def train(self, *arguments, out="run", epochs=2):
        """A short training on small patterns on the CPU; returns its summary and its folder."""
        data = self.folder / "patterns"
        if not data.exists():
            write_mnist(data)
        summary = self.run_json("train", "--workload", "mnist-cnn", "--data", data, "--epochs",
                                epochs, "--batch", 32, "--threads", 1, "--device", "cpu",
                                "--out", out, *arguments)
        return summary, self.folder / out

    def history(self, run):
        """What a run's history.jsonl says of its epochs."""
        return [json.loads(line) for line in (run / "history.jsonl").read_text().splitlines()]

    def assert_error(self, sentence, *arguments, status=2, **options):
        """The command ends with `status`, and with exactly this sentence on standard error."""
        _, err = self.run_linnet(*arguments, status=status, **options)
        self.assertEqual(err, f"linnet: error: {sentence}\n")
