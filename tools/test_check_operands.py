# SPDX-License-Identifier: Apache-2.0
import tempfile
import unittest
from pathlib import Path

import check_operands


class CheckOperands(unittest.TestCase):
    def found(self, code):
        return [what for _, what in check_operands.check_text(code)]

    def test_names_file_and_line(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "src/ops/relu/relu_cpu.cpp")
            path.parent.mkdir(parents=True)
            path.write_text("\nconst float* x = args.in(0);\n")
            self.assertEqual(check_operands.check(folder),
                             ["src/ops/relu/relu_cpu.cpp:2: in(0) picks an operand by its number; "
                              "use its name in the operator's In or Out"])

    def test_operands_by_number(self):
        for code in ("args.in(0)", "args.in<std::uint8_t>(1)", "args.in_out(3)", "node.out( 2 )",
                     "node.fixed(1)", "inputs[0].shape", "args.node.outputs[1]",
                     "args.output_gradients[0]", "args.needed[2]", "node.output_read[0]",
                     "kernel.packed_operands = {1};", "kernel.packed_operands.push_back(2);"):
            self.assertEqual(len(self.found(code)), 1, code)

    def test_accepts_names_and_variables(self):
        self.assertEqual(self.found(
            "args.in(In::x); args.out<double>(Out::y); args.in(kFirst); inputs[i]; inputs.front();\n"
            "packed_operands = {In::w}; min(0, 1); begin(3); stage.run(0); my_inputs[0];\n"
            "// args.in(0)\n/* inputs[0] */"), [])

    def test_the_tree_has_none(self):
        self.assertEqual(check_operands.check(Path(__file__).resolve().parent.parent), [])


if __name__ == "__main__":
    unittest.main()
