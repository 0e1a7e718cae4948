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

    def test_its_table_of_speed_has_at_most_eight_rows(self):
        section = (ROOT / "README.md").read_text().partition("## How fast")[2].partition("\n## ")[0]
        self.assertLessEqual(sum(line.startswith("|") for line in section.splitlines()), 2 + 8)

    def test_the_features_count_and_name_every_workload(self):
        numbers = "zero one two three four five six seven eight nine ten eleven twelve".split()
        table = json.loads((ROOT / "benchmarks/workloads.json").read_text())
        names = [entry["name"] for entry in table["workloads"]]
        features = (ROOT / "docs/features.md").read_text()
        count, listed = re.search(r"the (\w+) workloads: ([^;]*);", features).groups()
        self.assertEqual(count, numbers[len(names)])
        self.assertEqual(re.findall(r"`([^`]+)`", listed), names)


if __name__ == "__main__":
    unittest.main()
