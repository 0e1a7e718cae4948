# SPDX-License-Identifier: Apache-2.0
import re
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

    def test_compares_the_functions_of_c_with_their_header(self):
        header = "LINNET_C_API int32_t linnet_a(const char* path,\n  int b) X;\nLINNET_C_API const char* linnet_b(void);\n"
        good = ["linnet_a@@LINNET_C_1", "linnet_b@@LINNET_C_2", "linnet::f()@@LINNET_0.1"]
        self.assertEqual(list(check_symbols.c_faults("l.so", good, header)), [])
        wrong = list(check_symbols.c_faults("l.so", ["linnet_a@@LINNET_0.1", "linnet_c@@LINNET_C_1"], header))
        self.assertEqual([re.search("'(.*?)'", sentence)[1] for sentence in wrong], ["linnet_b", "linnet_c", "linnet_a"])
        self.assertIn("with the version 'LINNET_0.1'", wrong[2])


if __name__ == "__main__":
    unittest.main()
