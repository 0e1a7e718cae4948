#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the npm package under node, beside the command, and the page in Chromium: check_web.py COMMAND BUILD.

The command writes a model of images and one of a table, and their predictions; web_test.mjs compares its own with
them. page_test.mjs uses the page, where chromium is installed."""
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
IMAGES = 50


def write_npy(path, dtype, shape, data):
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + data)


def write_flowers(path):
    """Two numbers and a colour say the kind."""
    numbers = random.Random(1)
    lines = ["length,width,colour,kind"]
    for i in range(300):
        kind = i % 3
        lines.append(f"{numbers.gauss(3 * kind, 1):.3f},{numbers.gauss(-kind, 1):.3f},"
                     f"{numbers.choice(['red', 'blue'][:1 + kind])},{'abc'[kind]}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main(command, build):
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)

        def linnet(*arguments):
            subprocess.run([command, *map(str, arguments)], cwd=folder, check=True, stdout=subprocess.DEVNULL)

        pixels = random.Random(2).randbytes(IMAGES * 28 * 28)
        (folder / "images.u8").write_bytes(pixels)
        write_npy(folder / "images.npy", "|u1", (IMAGES, 28, 28, 1), pixels)
        write_flowers(folder / "flowers.csv")
        linnet("train", "--workload", "mnist-cnn", "--data", "digits", "--epochs", 1, "--device", "cpu", "--out", "images", "--quiet")
        linnet("train", "flowers.csv", "--target", "kind", "--epochs", 5, "--device", "cpu", "--out", "table", "--quiet")
        for run, of in (("images", "images.npy"), ("table", "flowers.csv")):
            linnet("predict", run, of, "-o", f"{run}_out.npy")
            content = (folder / f"{run}_out.npy").read_bytes()
            (folder / f"{run}.f32").write_bytes(content[10 + int.from_bytes(content[8:10], "little"):])
        status = subprocess.run(["node", "--test", HERE / "web_test.mjs"], check=False, env={
            **os.environ, "LINNET_PACKAGE": str(build / "package"), "LINNET_FILES": work}).returncode
        if not shutil.which("chromium"):
            print("The page was not tested: there is no chromium.")
            return status
        return status or subprocess.run(
            ["node", "--experimental-websocket", HERE / "page_test.mjs", build / "linnet.html", folder / "flowers.csv",
             folder / "images/model.safetensors"], check=False).returncode


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__.splitlines()[0])
    sys.exit(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()))
