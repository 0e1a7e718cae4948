# SPDX-License-Identifier: Apache-2.0
"""The README's C++ is the example that is built."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Readme(unittest.TestCase):
    def test_its_program_is_the_example(self):
        block = re.search(r"```cpp\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL).group(1)
        lines = (ROOT / "examples" / "fashion_mnist.cpp").read_text().splitlines(keepends=True)
        self.assertEqual(block, "".join(line for line in lines if not line.startswith("//")))

    def test_its_program_is_short(self):
        block = re.search(r"int main\(\) \{\n(.*?)\n\}", (ROOT / "README.md").read_text(), re.DOTALL)
        self.assertLessEqual(len(block.group(1).splitlines()), 15)


if __name__ == "__main__":
    unittest.main()
