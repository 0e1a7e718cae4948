# SPDX-License-Identifier: Apache-2.0
import tempfile
import unittest
from pathlib import Path

import check_operators

TREE = {
    "src/ops/runs/runs.h": 'class RunsOp final : public OpBase<RunsOp> {\n'
                           'static constexpr std::string_view kName = "runs";\n};\n',
    "src/ops/runs/runs_function.cpp": '#include "ops/runs/runs.h"\nExpression runs(const Expression& x) {\n',
    "src/ops/runs/runs_onnx.cpp": '#include "ops/runs/runs.h"\nall.imports["Runs"] = {read_runs, {}};\n',
    "include/linnet/functions.h": "Expression runs(const Expression& x);\n",
    "docs/own-layers.md": "| `runs(x)` | running sums |\n",
    "docs/interop.md": "| Runs | not along the batch |\n",
}


class CheckOperators(unittest.TestCase):
    def found(self, files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**TREE, **files}.items():
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return check_operators.check(folder)

    def test_accepts_three_files(self):
        self.assertEqual(self.found({}), [])
        self.assertEqual(self.found({"tests/a.cpp": "RunsOp", "src/model/a_test.cpp": '["runs"]'}), [])

    def test_refuses_a_fourth(self):
        for name, text in (("python/src/functions.cpp", 'm.def("runs", f);\n'), ("src/model/step.cpp", "RunsOp op;\n")):
            (sentence,) = self.found({name: text})
            self.assertTrue(sentence.startswith(
                "src/ops/runs/: 4 files outside of it name the operator, at most 3 may: "), sentence)
            self.assertIn(name, sentence)

    def test_refuses_functions_and_rules_elsewhere(self):
        for name, text in (("src/onnx/export.cpp", '#include "ops/runs/runs.h"\nall["runs"] = write;\n'),
                           ("src/onnx/import.cpp", 'all["Runs"] = read;\n'),
                           ("src/nn/expression/sums.cpp", "Expression runs(const Expression& x) {\n")):
            place, _ = self.found({name: text})
            kind = "onnx" if "onnx" in name else "function"
            self.assertEqual(place, f"{name}: has the function or the rules of 'runs', which nobody else uses; "
                                    f"src/ops/runs/runs_{kind}.cpp may have them")

    def test_leaves_out_what_others_build_upon(self):
        user = '#include "ops/runs/runs.h"\nRunsOp op;\n'
        self.assertEqual(self.found({"src/model/step.cpp": user, "src/nn/layers/a.cpp": user}), [])

    def test_the_tree_keeps_it(self):
        root = Path(__file__).resolve().parent.parent
        named = check_operators.named_by(check_operators.texts(root))
        self.assertEqual(check_operators.sentences(named), [])
        self.assertIn("cumsum", named)


if __name__ == "__main__":
    unittest.main()
