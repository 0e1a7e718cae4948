# SPDX-License-Identifier: Apache-2.0
"""Blocks of Python in the manual: each is Python, and what it takes of the package is there."""
import ast
import importlib
import re
import unittest
from pathlib import Path

import linnet

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = ("README.md", "docs/python.md", "docs/start/python.md")


def blocks(page):
    return re.findall(r"^```python\n(.*?)^```$", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)


def missing(code):
    """Names of `ln.` and of modules of linnet in the code that the package does not have."""
    wrong = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Attribute):
            names = ast.unparse(node).split(".")
            if names[0] == "ln" and all(name.isidentifier() for name in names):
                found = linnet
                for name in names[1:]:
                    if not hasattr(found, name):
                        wrong.append(".".join(names))
                        break
                    found = getattr(found, name)
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("linnet"):
            module = importlib.import_module(node.module)
            wrong += [f"{node.module}.{each.name}" for each in node.names if not hasattr(module, each.name)]
    return wrong


class Manual(unittest.TestCase):
    def test_its_python_names_what_is_there(self):
        for page in PAGES:
            self.assertTrue(blocks(page), page)
            for block in blocks(page):
                with self.subTest(page=page, block=block):
                    self.assertEqual(missing(block), [])

    def test_what_is_missing_is_found(self):
        self.assertEqual(missing("ln.Dense(4)\nln.Densee(4)\nln.datasets.mnst('a')"), ["ln.Densee", "ln.datasets.mnst"])


if __name__ == "__main__":
    unittest.main()
