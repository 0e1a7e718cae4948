// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/reduce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ops/arithmetic/unaligned_cuda_test.h"
#include "ops/reduce/run_kernel_test.h"
#include "ops/reduce/same_on_cuda_test.h"

namespace linnet::testing {
namespace {

using Axes = std::vector<std::int64_t>;
constexpr Reduction kKinds[] = {Reduction::sum, Reduction::mean, Reduction::max, Reduction::min};
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

OpPtr reduce(Reduction kind, Axes axes, bool keep_dims = false) {
  return make_op(ReduceOp({.kind = kind, .axes = std::move(axes), .keep_dims = keep_dims}));
}

OpPtr repeat(Reduction kind, Axes axes, Axes dims, bool keep_dims = false) {
  return make_op(ReduceGradOp(
      {.kind = kind, .axes = std::move(axes), .dims = std::move(dims), .keep_dims = keep_dims}));
}

TEST(Reduce, AgreesWithTheReference) {
  for (Reduction kind : kKinds) {
    for (bool keep_dims : {false, true}) {
      check({"reduce rows", reduce(kind, {1}, keep_dims), {f32({4, 19})}});
      check({"reduce trailing axes", reduce(kind, {2, 3}, keep_dims), {f32({2, 3, 5, 7})}});
      check({"reduce space", reduce(kind, {1, 2}, keep_dims), {f32({2, 3, 5, 7})}});
      check({"reduce columns", reduce(kind, {1}, keep_dims), {f32({3, 4, 5})}});
      check({"reduce all", reduce(kind, {1, 2, 3}, keep_dims), {f32({2, 3, 5, 7})}});
      check({"reduce apart", reduce(kind, {1, 3}, keep_dims), {f32({2, 3, 5, 7})}});
      check({"reduce packs of rows", reduce(kind, {1}, keep_dims), {f32({3, 36})}});
      check({"reduce packs of columns", reduce(kind, {1}, keep_dims), {f32({3, 9, 8})}});
      check({"reduce packs apart", reduce(kind, {1, 3}, keep_dims), {f32({2, 3, 5, 8})}});
      check({"reduce packs between", reduce(kind, {1, 3}, keep_dims), {f32({2, 3, 5, 2, 4})}});
      check({"reduce apart, columns", reduce(kind, {1, 3}, keep_dims), {f32({2, 3, 5, 4, 3})}});
    }
  }
}

TEST(Reduce, OddSizesAgreeWithTheReference) {
  for (Reduction kind : kKinds) {
    check({"reduce one sample", reduce(kind, {1}), {f32({1, 9, 3})}});
    check({"reduce one element", reduce(kind, {1}), {f32({1, 1})}});
    check({"reduce dimensions of one", reduce(kind, {1, 3}), {f32({4, 1, 5, 1})}});
    check({"reduce between ones", reduce(kind, {2}), {f32({1, 1, 6, 1, 3})}});
    check({"reduce three groups", reduce(kind, {1, 3, 5}), {f32({2, 2, 3, 2, 2, 3})}});
    check({"reduce no sample", reduce(kind, {1}), {f32({0, 9, 3})}, {}, false});
    check({"reduce no column", reduce(kind, {1}), {f32({2, 9, 0})}, {}, false});
  }
  check({"repeat no sample", repeat(Reduction::sum, {1}, {9}), {f32({0, 3})}, {}, false});
  check({"select no sample",
         make_op(ReduceSelectGradOp({.axes = {1}})),
         {f32({0, 3}), f32({0, 9, 3}), f32({0, 3})},
         {},
         false});
}

TEST(Reduce, ManyTasksAndTilesAgreeWithTheReference) {
  for (Reduction kind : kKinds) {
    const bool gradient = kind == Reduction::max;  // that of a sum has its own cases
    check({"reduce wide columns", reduce(kind, {1}), {f32({3, 300, 131})}, {}, gradient});
    check({"reduce tiles", reduce(kind, {1, 2}), {f32({12, 13, 11, 64})}, {}, gradient});
    check({"reduce long rows", reduce(kind, {1}), {f32({30, 9001})}, {}, false});
    check({"reduce long columns", reduce(kind, {1}), {f32({2, 40000, 3})}, {}, false});
    check({"reduce long packs", reduce(kind, {1}), {f32({1, 40000, 4})}, {}, false});
    check({"reduce one long row", reduce(kind, {1}), {f32({1, 200003})}, {}, false});
    check({"reduce one long row of packs", reduce(kind, {1}), {f32({1, 200004})}, {}, false});
  }
  check({"reduce many rows", reduce(Reduction::max, {1}), {f32({2500, 37})}});
}

TEST(Reduce, ExtremeValuesAgreeWithTheReference) {
  for (Reduction kind : {Reduction::max, Reduction::min}) {
    check({"reduce extreme rows", reduce(kind, {1}), {f32({4, 50})}, {{-3e38, 3e38}}, false});
    check({"reduce extreme columns", reduce(kind, {1}), {f32({4, 9, 5})}, {{-3e38, 3e38}}, false});
  }
  check({"reduce one sign", reduce(Reduction::max, {1}), {f32({4, 9, 5})}, {{-3, -2}}});
  check({"reduce the other sign", reduce(Reduction::min, {1}), {f32({4, 9, 5})}, {{2, 3}}});
}

TEST(ReduceGrad, AgreesWithTheReference) {
  check({"repeat rows", repeat(Reduction::sum, {1}, {5}), {f32({3})}});
  check({"repeat columns", repeat(Reduction::mean, {1, 2}, {5, 3}), {f32({3, 7})}});
  check({"repeat kept", repeat(Reduction::mean, {1, 3}, {5, 3}, true), {f32({3, 1, 4, 1})}});
  check({"repeat many", repeat(Reduction::mean, {1}, {70}), {f32({300, 65})}, {}, false});
}

TEST(ReduceSelectGrad, TheFirstOfEqualsGetsTheGradient) {
  const std::vector<float> x = {1, 7, 7, 2, 0, 7};
  const std::vector<float> dy = {5};
  const std::vector<float> y = {7};
  const std::vector<float> expected = {0, 5, 0, 0, 0, 0};
  const OpPtr op = make_op(ReduceSelectGradOp({.axes = {1}}));
  EXPECT_EQ(run_kernel(op, {f32({1}), f32({1, 6}), f32({1})}, {dy.data(), x.data(), y.data()}),
            expected);
  // The same numbers as two columns of three: 7 first stands in row 1 and in row 0.
  const std::vector<float> two_dy = {5, 6};
  const std::vector<float> two_y = {7, 7};
  const std::vector<float> two = {0, 6, 5, 0, 0, 0};
  EXPECT_EQ(run_kernel(op, {f32({1, 2}), f32({1, 3, 2}), f32({1, 2})},
                       {two_dy.data(), x.data(), two_y.data()}),
            two);
}

TEST(ReduceSelectGrad, EqualsAgreeWithTheReference) {
  Graph graph;
  const Value dy = graph.add_value("dy", f32({2, 4}), Storage::external, 0);
  const Value x = graph.add_value("x", f32({2, 3, 4, 5}), Storage::external, 1);
  const Value y = graph.emit(ReduceOp({.kind = Reduction::max, .axes = {1, 3}}), {x}, "max");
  const Value dx = graph.emit(ReduceSelectGradOp({.axes = {1, 3}}), {dy, x, y}, "max");
  std::vector<double> elements;
  for (int i = 0; i < 120; ++i) elements.push_back(i * 7 % 11 % 3);
  compare_with_reference(graph, {dy, x}, {{1, 2, 3, 4, 5, 6, 7, 8}, elements}, {dx}, 0);
}

TEST(Reduce, ANanReachesTheResult) {
  for (Reduction kind : kKinds) {
    for (std::int64_t at = 0; at < 40; ++at) {
      std::vector<float> x(40, 1.0F);
      x[static_cast<std::size_t>(at)] = kNan;
      EXPECT_TRUE(std::isnan(run_kernel(reduce(kind, {1}), {f32({1, 40})}, {x.data()})[0])) << at;
      const auto columns = run_kernel(reduce(kind, {1}), {f32({2, 10, 2})}, {x.data()});
      for (std::size_t i = 0; i < 4; ++i) {
        const bool own = static_cast<std::size_t>(at / 20 * 2 + at % 2) == i;
        EXPECT_EQ(std::isnan(columns[i]), own) << at;
      }
    }
  }
}

TEST(Reduce, MayLieAnywhere) {
  for (Reduction kind : kKinds) {
    check_unaligned(reduce(kind, {1}), {f32({3, 300})});
    check_unaligned(reduce(kind, {1}), {f32({3, 30, 8})});
    check_unaligned(reduce(kind, {1}), {f32({1, 80000})});
  }
  check_unaligned(repeat(Reduction::mean, {1}, {5}), {f32({3, 8})});
  check_unaligned(repeat(Reduction::mean, {1}, {8}), {f32({3})});
}

/// However threads share out the elements.
TEST(Reduce, ANanReachesTheResultAndItsGradientOnCuda) {
  for (const Shape& shape : {Shape{1, 72}, Shape{1, 71}, Shape{1, 23, 3}, Shape{1, 18, 4}}) {
    const auto elements = static_cast<std::size_t>(shape.elements());
    const std::vector<float> dy = {5, 6, 7, 8};
    const std::vector<float> nans(4, kNan);
    const ValueType result = reduce(Reduction::max, {1})->infer(std::vector{f32(shape)})[0];
    for (std::size_t at = 0; at < elements; at += 9) {
      std::vector<float> x(elements, 1.0F);
      x[at] = kNan;
      x[(at + 40) % elements] = kNan;
      for (Reduction kind : kKinds) {
        expect_same_on_cuda(reduce(kind, {1}), {f32(shape)}, {x.data()});
      }
      expect_same_on_cuda(make_op(ReduceSelectGradOp({.axes = {1}})), {result, f32(shape), result},
                          {dy.data(), x.data(), nans.data()});
    }
  }
}

TEST(ReduceSelectGrad, TheFirstNanGetsTheGradient) {
  const std::vector<float> x = {3, kNan, 1, kNan};
  const std::vector<float> dy = {5};
  const OpPtr op = make_op(ReduceSelectGradOp({.axes = {1}}));
  const std::vector<float> expected = {0, 5, 0, 0};
  EXPECT_EQ(run_kernel(op, {f32({1}), f32({1, 4}), f32({1})}, {dy.data(), x.data(), &kNan}),
            expected);
  const std::vector<float> y = {3, kNan};
  const std::vector<float> two_dy = {5, 6};
  const std::vector<float> two = {5, 6, 0, 0};
  EXPECT_EQ(run_kernel(op, {f32({1, 2}), f32({1, 2, 2}), f32({1, 2})},
                       {two_dy.data(), x.data(), y.data()}),
            two);
}

TEST(Reduce, NamesTheAxesAndTheShape) {
  EXPECT_EQ(inference_error(reduce(Reduction::sum, {2, 1}), {f32({2, 3, 4})}, "pool"),
            "[reduce 'pool'] expected one f32 operand with the axes (2, 1), ascending, after the "
            "batch; got x=(2, 3, 4)");
  EXPECT_EQ(inference_error(reduce(Reduction::max, {1}), {f32({2, 0})}, "pool"),
            "[reduce 'pool'] expected elements along the axes (1); got x=(2, 0)");
  EXPECT_EQ(inference_error(repeat(Reduction::sum, {2}, {3}, true), {f32({2, 1, 4})}, "pool"),
            "[reduce_grad 'pool'] expected one f32 operand to repeat along the axes (2); got "
            "dy=(2, 1, 4)");
  EXPECT_NE(inference_error(reduce(Reduction::sum, {}), {f32({2, 3})}), "");
  EXPECT_NE(inference_error(reduce(Reduction::sum, {0}), {f32({2, 3})}), "");
  EXPECT_NE(inference_error(reduce(Reduction::sum, {2}), {f32({2, 3})}), "");
  EXPECT_NE(inference_error(reduce(Reduction::sum, {1, 1}), {f32({2, 3})}), "");
  EXPECT_NE(inference_error(reduce(Reduction::sum, {1}), {i32({2, 3})}), "");
  EXPECT_NE(inference_error(repeat(Reduction::max, {1}, {3}), {f32({2})}), "");
  EXPECT_NE(inference_error(repeat(Reduction::sum, {1, 2}, {3}), {f32({2})}), "");
  EXPECT_NE(inference_error(repeat(Reduction::sum, {4}, {3}), {f32({2, 3})}), "");
  EXPECT_NE(inference_error(make_op(ReduceSelectGradOp({.axes = {1}})),
                            {f32({2}), f32({2, 3}), f32({3})}),
            "");
}

}  // namespace
}  // namespace linnet::testing
