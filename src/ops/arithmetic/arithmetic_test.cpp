// SPDX-License-Identifier: Apache-2.0
#include "ops/arithmetic/arithmetic.h"

#include <gtest/gtest.h>

#include <cmath>

#include "graph/add.h"
#include "op_harness.h"
#include "ops/arithmetic/unaligned_cuda_test.h"

namespace linnet::testing {
namespace {

TEST(Arithmetic, AgreesWithTheReference) {
  for (Arithmetic kind : {Arithmetic::add, Arithmetic::subtract, Arithmetic::multiply,
                          Arithmetic::divide, Arithmetic::maximum, Arithmetic::minimum}) {
    const OpPtr op = make_op(ArithmeticOp({kind}));
    const std::vector<Fill> fills{{-2, 2}, {0.5, 2}};
    check({"arithmetic equal shapes", op, {f32({3, 5}), f32({3, 5})}, fills});
    check({"arithmetic one", op, {f32({1}), f32({1})}, fills});
    check({"arithmetic scalar operand", op, {f32({4, 3}), f32({})}, fills});
    check({"arithmetic last axis", op, {f32({2, 3, 4, 5}), f32({5})}, fills});
    check({"arithmetic last two axes", op, {f32({3, 4, 7}), f32({4, 7})}, fills});
    check({"arithmetic last axis of four", op, {f32({5, 3, 8}), f32({8})}, fills});
    check({"arithmetic a number a sample", op, {f32({3, 4, 5}), f32({3, 1, 1})}, fills});
    check({"arithmetic per sample, vectors", op, {f32({3, 2, 4}), f32({3, 1, 1})}, fills});
    check({"arithmetic channels of a sample", op, {f32({3, 2, 2, 5}), f32({3, 1, 1, 5})}, fills});
    check({"arithmetic channels, vectors", op, {f32({3, 2, 4}), f32({3, 1, 4})}, fills});
    check({"arithmetic a number a pixel", op, {f32({2, 3, 2, 4}), f32({3, 2, 1})}, fills});
    check({"arithmetic a row a step", op, {f32({2, 3, 4, 2}), f32({3, 1, 2})}, fills});
    check({"arithmetic leading ones", op, {f32({3, 2, 5}), f32({1, 1, 5})}, fills});
    check({"arithmetic one number", op, {f32({1, 1}), f32({1})}, fills});
    check({"arithmetic ones", op, {f32({3, 5}), f32({1, 1})}, fills});
    check({"arithmetic one sample", op, {f32({1, 5}), f32({1, 1})}, fills});
    check({"arithmetic no sample, repeated", op, {f32({0, 4}), f32({0, 1})}, fills, false});
    check({"arithmetic nothing repeated", op, {f32({3, 0}), f32({3, 1})}, fills, false});
    check({"arithmetic long runs", op, {f32({3, 40001}), f32({3, 1})}, fills, false});
    check({"arithmetic many rows", op, {f32({70, 31, 33}), f32({70, 1, 33})}, fills, false});
    check({"arithmetic no sample", op, {f32({0, 4}), f32({4})}, fills, false});
    check({"arithmetic no column", op, {f32({3, 0}), f32({0})}, fills, false});
    check({"arithmetic many tasks", op, {f32({300, 31, 33}), f32({33})}, fills, false});
    check({"arithmetic large", op, {f32({40}), f32({40})}, {{-1e18, 1e18}, {1, 1e18}}, false});
  }
}

TEST(Arithmetic, NamesTheLayerAndTheShapes) {
  EXPECT_EQ(
      inference_error(make_op(ArithmeticOp({Arithmetic::multiply})), {f32({8, 5}), f32({8})},
                      "gate"),
      "[arithmetic 'gate'] expected b of a shape that broadcasts to a's; got a=(8, 5), b=(8)");
  const OpPtr add = make_op(ArithmeticOp());
  EXPECT_NE(inference_error(add, {f32({2, 3, 4, 5}), f32({2, 1, 4, 1})}), "");
  EXPECT_NE(inference_error(add, {f32({3, 1}), f32({3, 5})}), "");
  EXPECT_NE(inference_error(add, {f32({5}), f32({1, 5})}), "");
}

TEST(Arithmetic, TellsWhichOperandIsLarger) {
  const OpPtr op = make_op(ArithmeticOp({Arithmetic::exceeds}));
  check({"exceeds", op, {f32({30, 5}), f32({30, 5})}, {}, false});
  check({"exceeds repeated", op, {f32({30, 5}), f32({30, 1})}, {}, false});
  Graph graph;
  const Value a = graph.add_value("a", f32({3}), Storage::external, 0);
  const Value b = graph.add_value("b", f32({3}), Storage::external, 12);
  const Value y = graph.emit(ArithmeticOp({Arithmetic::exceeds}), {a, b}, "exceeds");
  const auto got = run(graph, {a, b}, {{1, 2, 3}, {2, 2, 2}}, {y});
  EXPECT_EQ(got[0], (std::vector<double>{0, 0.5, 1}));
}

TEST(Arithmetic, MaximumAndMinimumKeepNaN) {
  for (Arithmetic kind : {Arithmetic::maximum, Arithmetic::minimum}) {
    Graph graph;
    const Value a = graph.add_value("a", f32({5}), Storage::external, 0);
    const Value b = graph.add_value("b", f32({5}), Storage::external, 20);
    const Value y = graph.emit(ArithmeticOp({kind}), {a, b}, "m");
    const double nan = std::nan("");
    const auto got = run(graph, {a, b}, {{nan, 1, nan, 1, 1}, {1, nan, nan, 1, 1}}, {y});
    for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(std::isnan(got[0][i])) << i;
  }
}

TEST(Arithmetic, MayLieAnywhere) {
  check_unaligned(make_op(ArithmeticOp()), {f32({3, 8}), f32({3, 1})});
  check_unaligned(make_op(ArithmeticOp()), {f32({3, 2, 8}), f32({3, 1, 8})});
}

TEST(SumLeading, AgreesWithTheReference) {
  check({"sum_leading one axis", make_op(SumLeadingOp({1})), {f32({5, 3})}, {}, false});
  check({"sum_leading all axes", make_op(SumLeadingOp({2})), {f32({5, 3})}, {}, false});
  check({"sum_leading no sample", make_op(SumLeadingOp({1})), {f32({0, 3})}, {}, false});
  check({"sum_leading no column", make_op(SumLeadingOp({1})), {f32({3, 0})}, {}, false});
  check({"sum_leading rows in parts", make_op(SumLeadingOp({1})), {f32({3000, 50})}, {}, false});
  check({"sum_leading many tasks", make_op(SumLeadingOp({2})), {f32({64, 31, 67})}, {}, false});
}

TEST(SumLeading, AxesFromAFileAreChecked) {
  for (std::int64_t axes : {-1, 0, 3}) {
    EXPECT_EQ(inference_error(make_op(SumLeadingOp({axes})), {f32({5, 3})}, "s"),
              fmt::format("[sum_leading 's'] expected an f32 operand with at least {} axes; got "
                          "x=(5, 3)",
                          axes));
  }
}

TEST(Scale, AgreesWithTheReference) {
  check({"scale", make_op(ScaleOp({.alpha = -1.5, .beta = 0.25})), {f32({3, 5})}});
  check({"scale pixels", make_op(ScaleOp({.alpha = 1.0 / 255})), {f32({40})}, {{0, 255}}});
  check({"scale empty", make_op(ScaleOp({.alpha = 2})), {f32({0, 4})}, {}, false});
  check({"scale many tasks",
         make_op(ScaleOp({.alpha = 3, .beta = 1})),
         {f32({333, 257})},
         {},
         false});
}

TEST(Add, AgreesWithTheReference) {
  check({"add", make_op(AddOp()), {f32({3, 5}), f32({3, 5})}});
  check({"add empty", make_op(AddOp()), {f32({0, 5}), f32({0, 5})}, {}, false});
  check({"add many tasks", make_op(AddOp()), {f32({256, 333}), f32({256, 333})}, {}, false});
}

}  // namespace
}  // namespace linnet::testing
