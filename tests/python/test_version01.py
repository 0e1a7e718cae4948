# SPDX-License-Identifier: Apache-2.0
"""A script for version 0.1, in tests/fixtures/version01, runs as it did, and every argument of then is taken."""
import ast
import pathlib
import subprocess
import sys
import tempfile
import unittest

import linnet as ln

FIXTURES = pathlib.Path(__file__).resolve().parents[1] / "fixtures/version01/training"


def parameters(signature):
    """The names of a call's parameters with the texts of their defaults."""
    arguments = ast.parse(f"def f{signature[signature.index('('):]}: ...").body[0].args
    named = arguments.args[len(arguments.args) - len(arguments.defaults):] + arguments.kwonlyargs
    defaults = arguments.defaults + arguments.kw_defaults
    return [(one.arg, ast.unparse(default)) for one, default in zip(named, defaults)]


class Version01(unittest.TestCase):
    def test_the_script_prints_what_it_printed(self):
        with tempfile.TemporaryDirectory() as folder:
            printed = subprocess.run([sys.executable, FIXTURES / "options.py", f"{folder}/checkpoints"],
                                     capture_output=True, text=True, check=True).stdout.splitlines()
        *texts, losses = (FIXTURES / "options.txt").read_text().splitlines()
        self.assertEqual(printed[:-1], texts)
        for loss, then in zip(printed[-1].split(), losses.split(), strict=True):
            self.assertAlmostEqual(float(loss), float(then), 3)

    def test_every_argument_is_taken(self):
        for line in (FIXTURES / "signatures.txt").read_text().splitlines():
            name = line[:line.index("(")].removesuffix(".__init__")
            called = ln
            for part in line[:line.index("(")].split("."):
                called = getattr(called, part)
            if isinstance(called, type):
                called = called.__init__
            then, now = parameters(line), parameters(called.__doc__.splitlines()[0])
            if name in vars(ln) and not name[0].islower() and ".__init__" not in line:
                now = now[:len(then)]  # classes of options take their fields by place
            self.assertEqual(then, [one for one in now if one in then], name)


if __name__ == "__main__":
    unittest.main()
