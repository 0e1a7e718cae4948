# SPDX-License-Identifier: Apache-2.0
"""The README's C++ is the example that is built, and its workloads are those of the command."""
import json
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Readme(unittest.TestCase):
    def test_its_program_is_the_example(self):
        block = re.search(r"```cpp\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL).group(1)
        source = (ROOT / "examples" / "fashion_mnist.cpp").read_text().partition("\n// Prints:\n")[0]
        lines = [line for line in source.splitlines(keepends=True) if not line.startswith("//")]
        self.assertEqual(block, "".join(lines))

    def test_its_python_is_the_example(self):
        block = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL).group(1)
        source = (ROOT / "examples" / "python" / "fashion_mnist.py").read_text().partition("\n# Prints:\n")[0]
        self.assertEqual(block, source[source.index("import "):])
        self.assertLessEqual(len(block.splitlines()), 15)

    def test_its_program_is_short(self):
        block = re.search(r"int main\(\) \{\n(.*?)\n\}", (ROOT / "README.md").read_text(), re.DOTALL)
        self.assertLessEqual(len(block.group(1).splitlines()), 15)

    def test_it_is_short(self):
        self.assertLess(len((ROOT / "README.md").read_text().splitlines()), 150)

    def test_it_counts_and_names_every_workload(self):
        numbers = "zero one two three four five six seven eight nine ten eleven twelve".split()
        table = json.loads((ROOT / "benchmarks/workloads.json").read_text())
        names = [entry["name"] for entry in table["workloads"]]
        readme = (ROOT / "README.md").read_text()
        count, listed = re.search(r"the (\w+) workloads: ([^;]*);", readme).groups()
        self.assertEqual(count, numbers[len(names)])
        self.assertEqual(re.findall(r"`([^`]+)`", listed), names)


if __name__ == "__main__":
    unittest.main()
