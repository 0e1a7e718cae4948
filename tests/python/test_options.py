# SPDX-License-Identifier: Apache-2.0
"""Every field of a struct of options is an argument of its class, in the stub and in the manual's page of it."""
import ast
import importlib.util
import pathlib
import re
import unittest

import linnet as ln

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = {"Clip": "optimizer", "Warmup": "schedule", "Average": "trainer", "Lookahead": "trainer", "Freeze": "trainer", "Whiten": "whiten",
           "ParameterGroup": "optimizer", "Augment": "augment",
           "Checkpoints": "checkpoint", "Watch": "custom_metric", "LossOptions": "loss", "OutputLoss": "trainer", "LBFGS": "lbfgs",
           "CpuOptions": "devices", "CudaOptions": "devices", "Objective": "trainer", "DatasetOptions": "dataset",
           "TableTransformOptions": "table_transform", "TrainingOptions": "trainer"}
# `loss` takes functions, too; kWholeEpoch is a constant.
OTHERWISE = {"custom", "custom_loss", "kWholeEpoch"}


def module(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def fields(struct, header):
    """The variables of a struct, as its docstrings name them."""
    reader = module(ROOT / "python/tools/docstrings.py").Reader()
    reader.read(header)
    names = [name.removeprefix(struct + ".") for name in reader.docs if name.startswith(struct + ".")]
    return {name for name in names if not re.search(rf"\b{name}\([^)]*\) const", header)} - OTHERWISE


def arguments(struct):
    """The arguments of the class, and its properties, in the stub that the manual's page is made of."""
    stub = ast.parse((pathlib.Path(ln.__file__).parent / "_linnet/__init__.pyi").read_text())
    made = next(node for node in stub.body if isinstance(node, ast.ClassDef) and node.name == struct)
    functions = {node.name: node for node in made.body if isinstance(node, ast.FunctionDef)}
    return {each.arg for each in functions["__init__"].args.args[1:]} & functions.keys()


class Options(unittest.TestCase):
    def test_every_field_is_an_argument(self):
        for struct, file in HEADERS.items():
            header = (ROOT / f"include/linnet/{file}.h").read_text()
            self.assertEqual(fields(struct, header) - arguments(struct), set(), struct)
            more = header.replace(f"struct {struct} {{\n", f"struct {struct} {{\n  double added = 0;  ///< a new field\n")
            self.assertEqual(fields(struct, more) - arguments(struct), {"added"}, struct)


if __name__ == "__main__":
    unittest.main()
