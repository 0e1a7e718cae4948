# SPDX-License-Identifier: Apache-2.0
import tempfile
import unittest
from pathlib import Path

import check_includes

LISTS = {
    "src/base/CMakeLists.txt": "linnet_layer(base SOURCES check.cpp)\n",
    "src/plan/CMakeLists.txt": "linnet_layer(plan\n  SOURCES plan.cpp  # a comment)\n  DEPENDS base)\n",
    "src/runtime/CMakeLists.txt": "add_library(linnet_runtime INTERFACE)\n"
                                  "target_link_libraries(linnet_runtime INTERFACE linnet_plan)\n",
    "src/backend/CMakeLists.txt": "linnet_layer(backend_cpu SOURCES cpu/memory.cpp DEPENDS runtime)\n",
    "src/ops/CMakeLists.txt": "linnet_layer(ops SOURCES ${sources} DEPENDS base)\n"
                              "linnet_layer(ops_cpu SOURCES ${cpu} DEPENDS ops backend_cpu base)\n",
    "src/base/check.h": "",
    "src/plan/plan.h": "",
    "src/backend/cpu/memory.h": "",
    "src/ops/dense/dense.h": "",
}


class CheckIncludes(unittest.TestCase):
    def problems(self, files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**LISTS, **files}.items():
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return check_includes.check(folder)

    def test_knows_the_layers_of_cuda(self):
        lists = {"src/backend/CMakeLists.txt":
                 "linnet_layer(backend_cpu SOURCES cpu/memory.cpp DEPENDS runtime)\n"
                 "linnet_cuda_layer(backend_cuda SOURCES cuda/device.cpp DEPENDS base)\n",
                 "src/ops/CMakeLists.txt": LISTS["src/ops/CMakeLists.txt"] +
                 "linnet_cuda_layer(ops_cuda SOURCES ${cuda} DEPENDS ops backend_cuda)\n",
                 "src/backend/cuda/kernel.h": ""}
        self.assertEqual(self.problems({
            **lists, "src/ops/dense/dense_cuda.cu": '#include "backend/cuda/kernel.h"\n'}), [])
        self.assertEqual(len(self.problems({
            **lists, "src/ops/dense/dense_cuda.cu": '#include "backend/cpu/memory.h"\n',
            "src/ops/dense/dense.cpp": '#include "backend/cuda/kernel.h"\n'})), 2)

    def test_accepts_what_depends_names(self):
        self.assertEqual(self.problems({
            "src/plan/plan.cpp": '#include "plan/plan.h"\n#include "base/check.h"\n#include <vector>\n',
            "src/ops/dense/dense_cpu.cpp": '#include "backend/cpu/memory.h"\n',
            "src/ops/dense/dense_test.cpp": '#include "plan/plan.h"\n',
            "src/runtime/backend.h": '#include "plan/plan.h"\n#include "base/check.h"\n',
            "include/linnet/linnet.h": "#include <linnet/types.h>\n#include <vector>\n",
        }), [])

    def test_names_file_line_and_both_layers(self):
        self.assertEqual(self.problems({"src/base/check.cpp": '\n#include "plan/plan.h"\n'}), [
            "src/base/check.cpp:2: layer 'base' includes \"plan/plan.h\" of 'plan', which its DEPENDS "
            "does not name"])

    def test_depends_is_not_transitive(self):
        self.assertEqual(len(self.problems(
            {"src/backend/cpu/memory.cpp": '#include "base/check.h"\n'})), 1)

    def test_operators_are_apart_from_their_kernels(self):
        include = '#include "backend/cpu/memory.h"\n'
        self.assertEqual(len(self.problems({"src/ops/dense/dense.cpp": include})), 1)
        self.assertEqual(self.problems({"src/ops/dense/engine_cpu.cpp": include,
                                        "src/ops/dense/engine_cpu.h": include,
                                        "src/ops/dense/dense_hwy.cpp": include,
                                        "src/ops/cpu_kernels.h": include}), [])

    def test_passes_of_fusions_are_apart_from_their_operators(self):
        layer = {"src/fusions/CMakeLists.txt": "linnet_layer(fusions SOURCES fusions.cpp DEPENDS plan ops)"}
        include = '#include "plan/plan.h"\n'
        kernel = '#include "backend/cpu/memory.h"\n'
        self.assertEqual(self.problems({**layer, "src/fusions/pair/pair_pass.cpp": include,
                                        "src/fusions/fusions.h": include,
                                        "src/fusions/pair/pair_cpu.cpp": kernel}), [])
        self.assertEqual(len(self.problems({**layer, "src/fusions/pair/pair.cpp": include,
                                            "src/fusions/pair/pair_pass.cpp": kernel})), 2)

    def test_a_folder_belongs_to_the_layer_that_takes_its_sources(self):
        files = {"src/plan/passes/CMakeLists.txt": "linnet_layer(passes SOURCES fuse.cpp DEPENDS ops plan)",
                 "src/plan/passes/match.h": '#include "ops/dense/dense.h"\n'}
        self.assertEqual(self.problems(files), [])
        del files["src/plan/passes/CMakeLists.txt"]
        self.assertEqual(len(self.problems(files)), 1)

    def test_public_headers_stand_alone(self):
        self.assertEqual(len(self.problems({"include/linnet/a.h": '#include "base/check.h"\n'})), 1)
        self.assertEqual(len(self.problems({"include/linnet/b.h": "#include <fmt/format.h>\n"})), 1)

    def test_nothing_from_above_the_layers(self):
        self.assertEqual(len(self.problems({
            "tests/op_harness.h": "", "src/base/check.cpp": '#include "op_harness.h"\n'})), 1)

    def test_the_commands_stand_above_their_settings_and_reports(self):
        include = '#include "commands/inputs.h"\n'
        self.assertEqual(self.problems({"apps/linnet/commands/predict.cpp": include}), [])
        self.assertEqual(self.problems({"apps/linnet/report/json.cpp": "\n" + include}),
                         ['apps/linnet/report/json.cpp:2: report/ includes "commands/inputs.h", '
                          "which stands above it"])
        self.assertEqual(len(self.problems({"apps/linnet/config/loss.h": include})), 1)

    def test_a_folder_without_a_layer(self):
        self.assertEqual(self.problems({"src/odd/x.cpp": ""}),
                         ["src/odd/x.cpp: no CMakeLists.txt declares the layer 'odd'"])

    def test_a_header_with_fixed_width_integers_includes_cstdint(self):
        self.assertEqual(self.problems({
            "src/base/check.h": "#include <string>\n// std::int8_t\nstd::int64_t count();\n",
            "include/linnet/types.h": "#include <cstdint>\nstd::uint8_t byte();\n",
        }), ["src/base/check.h:3: int64_t without #include <cstdint>"])

    def test_another_file_may_have_it_from_the_trees_headers(self):
        self.assertEqual(self.problems({
            "include/linnet/types.h": "#include <cstdint>\n",
            "src/base/check.h": "#include <linnet/types.h>\n",
            "src/base/check.cpp": '#include "base/check.h"\nstd::int32_t x;\n',
            "tests/base/check_test.cpp": "#include <vector>\nuint64_t x;\n",
        }), ["tests/base/check_test.cpp:2: uint64_t without #include <cstdint>"])


if __name__ == "__main__":
    unittest.main()
