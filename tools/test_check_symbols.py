# SPDX-License-Identifier: Apache-2.0
import tempfile
import unittest
from pathlib import Path

import check_symbols


class CheckSymbols(unittest.TestCase):
    def test_reads_what_headers_declare(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "a.h").write_text("class Inside;\nclass Model final : public Base {\n int run();\n};\n"
                                           "// class Talk {\nextern const int kMost;\n")
            self.assertEqual(check_symbols.declared(folder), {"Model", "run", "kMost"})

    def test_knows_to_whom_a_symbol_belongs(self):
        for symbol, name in (("linnet::Model::run(linnet::Inside const&) const", "Model"),
                             ("typeinfo name for linnet::Inside", "Inside"),
                             ("linnet::zoo::mlp(std::span<linnet::Layer const>)", "mlp"),
                             ("linnet::operator+(linnet::Expression const&, double)", "operator"),
                             ("linnet::cross_entropy[abi:cxx11](int)", "cross_entropy")):
            self.assertEqual(check_symbols.owner(symbol), name)


if __name__ == "__main__":
    unittest.main()
