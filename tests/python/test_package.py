# SPDX-License-Identifier: Apache-2.0
"""The package: its examples print what they say, all has a docstring, and it is imported soon."""
import importlib.util
import inspect
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

import files
import linnet as ln

ROOT = Path(__file__).resolve().parent.parent.parent
FASHION = Path("/usr/share/datasets/fashion-mnist")  # Debian's package; nothing is downloaded here


def printed(path):
    """What a program prints, by the comment at its end."""
    _, _, comment = path.read_text().partition("\n# Prints:\n")
    return "".join(line.removeprefix("#").removeprefix("   ") for line in comment.splitlines(keepends=True))


# What examples that need files are run with.
INPUTS = {"images.py": lambda folder: files.image_folder(folder / "digits"),
          "tabular_sklearn.py": lambda folder: files.census(folder / "adult-train.csv"),
          "text.py": lambda folder: files.reviews(folder / "reviews.tsv")}

# Trained long enough that the order of sums, which processors decide, moves what is printed: by points.
ROUNDED = {"fashion_mnist.py": 0.5, "fleet.py": 0.2}
NUMBER = re.compile(r"\d+\.\d+")


class Examples(unittest.TestCase):
    def test_they_print_what_they_say(self):
        programs = sorted((ROOT / "examples" / "python").glob("*.py"))
        self.assertTrue(programs)
        for program in programs:
            with self.subTest(program=program.name), tempfile.TemporaryDirectory() as folder:
                if "fashion_mnist(" in program.read_text() and not FASHION.exists():
                    continue
                if "scipy" in program.read_text() and importlib.util.find_spec("scipy") is None:
                    self.skipTest("SciPy is not installed")
                given = [INPUTS[program.name](Path(folder))] if "sys.argv[1]" in program.read_text() else []
                ended = subprocess.run([sys.executable, program, *given], cwd=folder, capture_output=True, text=True)
                self.assertEqual(ended.returncode, 0, ended.stderr)
                if given:
                    self.assertIn("accuracy", ended.stdout)
                elif program.name in ROUNDED:
                    self.assertEqual(NUMBER.sub("#", ended.stdout), NUMBER.sub("#", printed(program)))
                    for now, then in zip(NUMBER.findall(ended.stdout), NUMBER.findall(printed(program))):
                        self.assertAlmostEqual(float(now), float(then), delta=ROUNDED[program.name])
                else:
                    self.assertEqual(ended.stdout, printed(program))

    def test_the_notebooks_hold_the_programs(self):
        spec = importlib.util.spec_from_file_location("notebooks", ROOT / "python" / "tools" / "notebooks.py")
        notebooks = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(notebooks)
        for program in sorted((ROOT / "examples" / "python").glob("*.py")):
            with self.subTest(program=program.name):
                book = json.loads(program.with_suffix(".ipynb").read_text())
                self.assertEqual([(cell["cell_type"], "".join(cell["source"])) for cell in book["cells"]
                                  if cell["id"] != "cell-argument"], list(notebooks.cells_of(program)),
                                 "`./dev notebooks` writes the notebooks again")

    def test_the_first_prints_what_the_one_in_cpp_does(self):
        cpp = (ROOT / "examples/fashion_mnist.cpp").read_text().partition("\n// Prints:\n")[2]
        self.assertEqual(re.findall(r"test accuracy.*", cpp),
                         re.findall(r"test accuracy.*", printed(ROOT / "examples/python/fashion_mnist.py")))

    def test_the_manual_shows_it(self):
        example = (ROOT / "examples/python/fashion_mnist.py").read_text()
        for page in ("docs/python.md", "docs/start/python.md", "README.md"):
            block = re.search(r"```python\n(import linnet.*?)```", (ROOT / page).read_text(), re.DOTALL)[1]
            self.assertIn(block, example)


class Docstrings(unittest.TestCase):
    def test_everything_has_one(self):
        missing = []
        for name in ln.__all__:
            made = getattr(ln, name)
            if inspect.ismodule(made) and not made.__name__.startswith("linnet"):
                continue
            if not (getattr(made, "__doc__", None) or "").strip():
                missing.append(name)
        self.assertEqual(missing, [])

    def test_help_reads_well(self):
        text = ln.Conv2d.__doc__
        self.assertIn("(N, H, W, C) → (N, H', W', filters)", text)
        self.assertIn("  filters: ", text)
        self.assertEqual(str(inspect.signature(ln.Conv2d)).partition(",")[0], "(filters: 'int'")
        self.assertNotIn("::", "".join(getattr(ln, name).__doc__ or "" for name in ln.__all__))


class Import(unittest.TestCase):
    def test_needs_numpy_alone(self):
        code = ("import sys, linnet; top = {name.partition('.')[0] for name in sys.modules}; "
                "print(sorted(top & {'sklearn', 'pandas', 'matplotlib', 'IPython', 'scipy', 'torch'}))")
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd="/")
        self.assertEqual(out.stdout, "[]\n", out.stderr)

    def test_version(self):
        self.assertRegex(ln.__version__, r"^\d+\.\d+\.\d+$")
        self.assertTrue((Path(ln.__file__).parent / "py.typed").exists())


class Notebooks(unittest.TestCase):
    def test_reports_are_tables(self):
        network = ln.sequential(3, [ln.Dense(4), ln.Dense(2)])
        model = ln.Model(network)
        x, y = np.ones((32, 3), np.float32), np.zeros(32, np.int32)
        trainer = ln.Trainer(model)
        history = trainer.fit((x, y), epochs=2, validation=(x, y))
        shown = [network, history, trainer.evaluate((x, y)), ln.summarize(network),
                 ln.evaluate_metrics(model, (x, y)), ln.profile_prediction(model, 1, 2)]
        for one in shown:
            with self.subTest(type=type(one).__name__):
                self.assertTrue(one._repr_html_().startswith("<table>"))
        self.assertEqual(history.table()["epoch"], [1, 2])
        self.assertIn("dense_1", repr(ln.summarize(network)))
        self.assertIn("conv2d_1", ln.dump_training_step(
            ln.sequential((8, 8, 1), [ln.Conv2d(2), ln.Flatten(), ln.Dense(2)]), 4))


if __name__ == "__main__":
    unittest.main()
