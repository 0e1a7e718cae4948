# SPDX-License-Identifier: Apache-2.0
import tempfile
import unittest
from pathlib import Path

import check_fusions

FUSION = {
    "src/fusions/pair/pair.h": 'class PairOp final : public OpBase<PairOp, NoAttributes> {\n'
                               'static constexpr std::string_view kName = "pair";\n};\n',
    "src/fusions/pair/pair_pass.cpp": '#include "fusions/pair/pair.h"\n'
                                      'passes.add(Phase::forward, {"fuse_pair", fuse});\n',
    "src/fusions/triple/triple_pass.cpp": '#include "fusions/pair/pair.h"\nPairOp op;\n',
}


class CheckFusions(unittest.TestCase):
    def found(self, files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**FUSION, **files}.items():
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return check_fusions.check(folder)

    def test_accepts_a_fusion_and_one_that_includes_it(self):
        self.assertEqual(self.found({"src/model/step.cpp": '#include "fusions/fusions.h"\n// a PairOp\n'}),
                         [])

    def test_refuses_includes(self):
        self.assertEqual(self.found({"src/model/step.cpp": '#include "fusions/pair/pair.h"\n'}),
                         ["src/model/step.cpp: includes the fusion 'pair'; only src/fusions/pair/ may"])

    def test_refuses_classes_also_in_tests(self):
        self.assertEqual(self.found({"tests/a_test.cpp": "const PairOp* op;\n"}),
                         ["tests/a_test.cpp: says PairOp of the fusion 'pair'; only src/fusions/pair/ may"])

    def test_refuses_names_in_sources(self):
        self.assertEqual(self.found({"src/model/a.cpp": 'off("fuse_pair"); is("pair");\n',
                                     "tests/a_test.cpp": 'off("fuse_pair");\n'}),
                         [f"src/model/a.cpp: says \"{name}\" of the fusion 'pair'; only "
                          "src/fusions/pair/ may" for name in ("fuse_pair", "pair")])

    def test_refuses_needed_passes_that_are_nowhere(self):
        self.assertEqual(self.found({"tests/a_test.cpp": 'LINNET_NEEDS_PASSES("fuse_pair",\n  "fuse_pear");\n'}),
                         ["tests/a_test.cpp: needs the pass 'fuse_pear', which no fusion has; its test would "
                          "always be skipped"])

    def test_refuses_cycles(self):
        found = self.found({"src/fusions/pair/more.cpp": '#include "fusions/triple/triple.h"\n'})
        self.assertEqual(len(found), 2, found)

    def test_what_a_fusion_needs(self):
        rooms = {"a": ([], [], {"b"}), "b": ([], [], {"c"}), "c": ([], [], set())}
        self.assertEqual(check_fusions.needed_by(rooms, "a"), {"a", "b", "c"})

    def test_the_tree_is_right(self):
        self.assertEqual(check_fusions.check(Path(__file__).resolve().parent.parent), [])


if __name__ == "__main__":
    unittest.main()
