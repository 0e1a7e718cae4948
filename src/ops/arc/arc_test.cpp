// SPDX-License-Identifier: Apache-2.0
#include "ops/arc/arc.h"

#include <gtest/gtest.h>

#include <cmath>

#include "op_harness.h"

namespace linnet::testing {
namespace {

Fill domain_of(Arc kind) {
  if (kind == Arc::acosh) return {1.1, 5};
  return kind == Arc::atan || kind == Arc::asinh ? Fill{-5, 5} : Fill{-0.9, 0.9};
}

TEST(Arc, AgreesWithTheReference) {
  for (std::size_t i = 0; i < enum_names(Arc{}).size(); ++i) {
    const auto kind = static_cast<Arc>(i);
    const OpPtr op = make_op(ArcOp({kind}));
    const std::string name(enum_names(kind)[i]);
    check({name + " small", op, {f32({3, 5})}, {domain_of(kind)}});
    check({name + " one", op, {f32({1})}, {domain_of(kind)}});
    check({name + " no sample", op, {f32({0, 4})}, {}, false});
    check({name + " many tasks", op, {f32({64, 33, 31})}, {domain_of(kind)}, false});
  }
}

TEST(Arc, IsNaNOutsideOfItsRangeAndKeepsNaN) {
  for (const auto& [kind, x] :
       {std::pair{Arc::asin, 1.5}, std::pair{Arc::acos, -1.5}, std::pair{Arc::acosh, 0.5},
        std::pair{Arc::atanh, 2.0}, std::pair{Arc::atan, std::nan("")}}) {
    Graph graph;
    const Value in = graph.add_value("x", f32({2}), Storage::external, 0);
    const Value y = graph.emit(ArcOp({kind}), {in}, "f");
    EXPECT_TRUE(std::isnan(run(graph, {in}, {{x, x}}, {y})[0][1])) << static_cast<int>(kind);
  }
}

TEST(Arc, NamesTheLayerAndWhatIsWrong) {
  EXPECT_EQ(inference_error(make_op(ArcOp()), {i32({8, 5})}, "a"),
            "[arc 'a'] expected one f32 operand; got x=(8, 5)");
}

}  // namespace
}  // namespace linnet::testing
