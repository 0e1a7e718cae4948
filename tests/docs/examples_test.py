#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The C++ of these pages stands in examples/, which the build compiles."""
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = {"README.md": ["examples/fashion_mnist.cpp"],
         "docs/data.md": ["examples/own_data.cpp", "examples/sequences.cpp"],
         "docs/inference.md": ["examples/inference.cpp"]}
BLOCK = re.compile(r"^```cpp\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Examples(unittest.TestCase):
    def test_every_block_stands_in_its_program(self):
        for page, files in PAGES.items():
            texts = [(ROOT / file).read_text() for file in files]
            # And within a function.
            programs = texts + [re.sub(r"^  ", "", text, flags=re.MULTILINE) for text in texts]
            blocks = BLOCK.findall((ROOT / page).read_text())
            self.assertTrue(blocks, page)
            for block in blocks:
                with self.subTest(page=page, programs=files):
                    self.assertTrue(any(block in text for text in programs), block)


if __name__ == "__main__":
    unittest.main()
