#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every block ```toml of the manual is one that the command takes: toml_test.py COMMAND.

A block that names its file (`# penguins.toml`) is trained with, or searched with, on a stand-in for its table. Of the
others each is a layer, an optimizer or a schedule, which `linnet summary` reads within a network; the line of shapes
above a layer's block, where it has one, says the input."""
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BLOCK = re.compile(r"^```toml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHAPES = re.compile(r"^`\((N.*?)\).* → ", re.MULTILINE)
INPUTS = {"N, ...": [7, 7, 16], "N, ..., C": [8, 8, 16], "N, H, W, C": [8, 8, 16],
          "N, D, H, W, C": [8, 8, 8, 4], "N, T, C": [8, 16], "N, T": [8, 16], "N, ..., features": [16],
          "N, T, features": [8, 16], "N, features": [1], "": [8, 8, 16]}
COLOURS = [8, 8, 3]  # for a layer whose block has a number for each of them
BOUNDED = [2]        # the same
linnet = "linnet"


def pages():
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks():
    """Yields the page, the text before the block and the block."""
    for page in pages():
        text = page.read_text()
        for match in BLOCK.finditer(text):
            yield page.relative_to(ROOT).as_posix(), text[:match.start()], match[1]


def network(layer, shape):
    return f"[network]\ninput = {shape}\nlayers = [\n{layer}]\n"


def write_tables(folder):
    """Tables with the columns of those of the guides."""
    rng = random.Random(1)
    with open(folder / "penguins.csv", "w", encoding="utf-8") as file:
        file.write("species,bill_length_mm,body_mass_g,year\n")
        for i in range(60):
            file.write(f"{'ABC'[i % 3]},{i % 3 + rng.random():.3f},{3000 + rng.randrange(999)},{2007 + i % 2}\n")
    with open(folder / "airfoil_self_noise.csv", "w", encoding="utf-8") as file:
        file.write("frequency,scaled_sound_pressure_level\n")
        file.writelines(f"{100 * i},{120 + rng.random():.4f}\n" for i in range(60))


def problem(block, before=""):
    """What the command says against a block, or None."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        named = re.match(r"# (\S+\.toml)\n", block)
        name = named[1] if named else "block.toml"
        if named:
            write_tables(folder)
            arguments = ["search" if "[search]" in block else "train", name, "--out", "run"]
        else:
            if not block.startswith("{"):
                text = block + network('{ type = "dense", units = 3 }, { type = "dense", units = 3 }', [8])
            else:
                shapes = SHAPES.findall(before.rpartition("\n### ")[2])
                own = {'type = "normalize"': COLOURS, 'type = "bounding"': BOUNDED}
                shape = next((shape for layer, shape in own.items() if layer in block),
                             INPUTS[shapes[-1] if shapes else ""])
                text = network(block, shape)
            arguments = ["summary", name]
        (folder / name).write_text(block if named else text)
        ran = subprocess.run([linnet, *arguments], cwd=folder, env={**os.environ, "OMP_NUM_THREADS": "1"}, text=True,
                             capture_output=True, check=False)
        return None if ran.returncode == 0 else ran.stderr


class Toml(unittest.TestCase):
    def test_every_block_is_taken(self):
        count = 0
        for page, before, block in blocks():
            count += 1
            with self.subTest(page=page, block=block):
                self.assertIsNone(problem(block, before))
        self.assertGreater(count, 50)

    def test_a_wrong_key_is_found(self):
        for block, before, wrong in (
                ('{ type = "relu", nam = "x" }\n', "\n### relu\n`(N, ...) → (N, ...)`\n", "unknown key 'nam'"),
                ('optimizer = { kind = "sgd", momentu = 0.9 }\n', "", "unknown key 'momentu'"),
                ('# a.toml\n[data]\nfile = "penguins.csv"\ntarget = "species"\n[training]\nepoch = 3\n', "",
                 "unknown key 'epoch'")):
            self.assertIn(wrong, problem(block, before) or "")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        linnet = sys.argv.pop(1)
    unittest.main()
