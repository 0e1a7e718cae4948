// SPDX-License-Identifier: Apache-2.0
#include "ops/compare/compare.h"

#include <gtest/gtest.h>

#include <cmath>

#include "op_harness.h"

namespace linnet::testing {
namespace {

constexpr std::array kKinds{Comparison::greater, Comparison::greater_equal,
                            Comparison::less,    Comparison::less_equal,
                            Comparison::equal,   Comparison::not_equal};

TEST(Compare, AgreesWithTheReference) {
  for (const Comparison kind : kKinds) {
    const OpPtr op = make_op(CompareOp({.kind = kind, .value = 0.25}));
    check({"compare", op, {f32({3, 5}), f32({3, 5})}, {}, false});
    check({"compare ids", op, {i32({30, 5}), i32({30, 5})}, {{0, 3}}, false});
    check({"compare with a number", op, {f32({3, 5})}, {}, false});
    check({"compare one", op, {f32({1}), f32({1})}, {}, false});
    check({"compare no sample", op, {f32({0, 3}), f32({0, 3})}, {}, false});
    check({"compare many tasks", op, {f32({300, 1001}), f32({300, 1001})}, {}, false});
  }
}

TEST(Compare, GivesOnesAndZeros) {
  const double nan = std::nan("");
  const std::vector<std::vector<double>> expected{{1, 0, 0, 0}, {1, 0, 1, 0}, {0, 1, 0, 0},
                                                  {0, 1, 1, 0}, {0, 0, 1, 0}, {1, 1, 0, 1}};
  for (std::size_t k = 0; k < kKinds.size(); ++k) {
    Graph graph;
    const Value a = graph.add_value("a", f32({4}), Storage::external, 0);
    const Value b = graph.add_value("b", f32({4}), Storage::external, 16);
    const Value y = graph.emit(CompareOp({.kind = kKinds[k], .value = 0}), {a, b}, "compare");
    const auto got = run(graph, {a, b}, {{3, 1, 2, nan}, {2, 2, 2, 2}}, {y});
    EXPECT_EQ(got[0], expected[k]) << k;
  }
}

TEST(Compare, NamesTheLayerAndTheShapes) {
  const OpPtr op = make_op(CompareOp());
  EXPECT_EQ(inference_error(op, {f32({3, 5}), f32({3, 4})}, "mask"),
            "[compare 'mask'] expected one f32 operand, or two of one shape, f32 or i32; got "
            "a=(3, 5), b=(3, 4)");
  EXPECT_NE(inference_error(op, {i32({3})}), "");
  EXPECT_NE(inference_error(op, {f32({3}), i32({3})}), "");
}

}  // namespace
}  // namespace linnet::testing
