// SPDX-License-Identifier: Apache-2.0
#include "ops/dropout/dropout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "op_harness.h"
#include "ops/arithmetic/unaligned_cuda_test.h"
#include "ops/dropout/dropout_cpu.h"

namespace linnet::testing {
namespace {

TEST(Dropout, AgreesWithTheReference) {
  for (double rate : {0.0, 0.3, 0.5, 0.99}) {
    const OpPtr op = make_op(DropoutOp({.rate = rate, .stream = 3}));
    check({"dropout", op, {f32({3, 7})}});
    check({"dropout one", op, {f32({1})}});
    check({"dropout no sample", op, {f32({0, 4})}, {}, false});
    check({"dropout many tasks", op, {f32({100, 301})}, {}, false});
  }
}

/// Whole vectors and what is left, blocks whose number needs more than 32 bits.
TEST(Dropout, VectorsFollowTheFormulaToTheBit) {
  for (double rate : {0.0, 0.37, 0.5}) {
    for (std::int64_t block : {std::int64_t{0}, std::int64_t{5}, (std::int64_t{1} << 32) - 9}) {
      for (std::int64_t count = 0; count < 300; ++count) {
        const DropoutMask mask = dropout_mask({.rate = rate, .stream = 2}, {.seed = 9, .step = 4});
        std::vector<float> x(static_cast<std::size_t>(count));
        std::vector<float> expected;
        for (std::size_t i = 0; i < x.size(); ++i) {
          x[i] = static_cast<float>(i) / 7 - 11;
          expected.push_back(
              linnet::drop(x[i], mask(static_cast<std::uint64_t>(block) + i / 4)[i % 4]));
        }
        cpu::drop_elements(mask, static_cast<std::uint64_t>(4 * block), count, x.data(), x.data());
        ASSERT_EQ(x, expected) << rate << ", " << count << " from block " << block;
      }
    }
  }
}

TEST(Dropout, AgreesWithTheReferenceFromAnyRow) {
  const OpPtr op = make_op(DropoutOp({.rate = 0.4, .stream = 1}));
  for (std::uint64_t row : {1, 2, 3, 4, 1000}) {
    OpCase op_case{"dropout rows", op, {f32({5, 7})}};
    op_case.step.first_row = row;
    check(op_case);
    op_case.inputs = {f32({60, 301})};
    op_case.gradient = false;
    check(op_case);
  }
}

TEST(Dropout, PartsOfABatchDropAsTheWholeBatch) {
  for (std::int64_t size : {1, 7, 12, 90}) {
    const auto rows = [&](std::uint64_t first, std::int64_t count) {
      Graph graph;
      const Value x = graph.add_value("x", f32({count, size}), Storage::external, 0);
      const Value y = graph.emit(DropoutOp({.rate = 0.5, .stream = 1}), {x}, "dropout");
      const std::vector<double> ones(static_cast<std::size_t>(count * size), 1.0);
      return run(graph, {x}, {ones}, {y}, {.seed = 3, .step = 5, .first_row = first})[0];
    };
    std::vector<double> parts = rows(0, 5);
    const std::vector<double> rest = rows(5, 7);
    parts.insert(parts.end(), rest.begin(), rest.end());
    EXPECT_EQ(parts, rows(0, 12)) << size;
  }
}

TEST(Dropout, MayLieAnywhere) { check_unaligned(make_op(DropoutOp()), {f32({3, 7})}); }

std::vector<double> drop(double rate, std::int64_t stream, const StepInfo& step, std::int64_t n) {
  Graph graph;
  const Value x = graph.add_value("x", f32({n}), Storage::external, 0);
  const Value y = graph.emit(DropoutOp({rate, stream}), {x}, "dropout");
  return run(graph, {x}, {std::vector<double>(static_cast<std::size_t>(n), 1.0)}, {y}, step)[0];
}

TEST(Dropout, DropsItsShareAndKeepsTheMean) {
  for (double rate : {0.1, 0.5, 0.8}) {
    const std::vector<double> y = drop(rate, 0, {.seed = 1}, 100000);
    double dropped = 0;
    double sum = 0;
    for (double v : y) {
      dropped += v == 0 ? 1 : 0;
      sum += v;
    }
    EXPECT_NEAR(dropped / 1e5, rate, 0.005);
    EXPECT_NEAR(sum / 1e5, 1.0, 0.03);
  }
}

TEST(Dropout, DiffersBySeedStreamAndStepOnly) {
  const std::vector<double> first = drop(0.5, 0, {.seed = 1, .step = 2}, 64);
  EXPECT_EQ(first, drop(0.5, 0, {.seed = 1, .step = 2, .epoch = 9, .position = 5}, 64));
  EXPECT_NE(first, drop(0.5, 0, {.seed = 2, .step = 2}, 64));
  EXPECT_NE(first, drop(0.5, 1, {.seed = 1, .step = 2}, 64));
  EXPECT_NE(first, drop(0.5, 0, {.seed = 1, .step = 3}, 64));
}

TEST(Dropout, NoTwoBlocksDropAlike) {
  const std::vector<double> y = drop(0.5, 0, {.seed = 1}, 4096);
  for (std::size_t period : {4, 8, 16, 64}) {
    std::size_t equal = 0;
    for (std::size_t i = 0; i + period < y.size(); ++i) equal += y[i] == y[i + period] ? 1 : 0;
    EXPECT_NEAR(static_cast<double>(equal) / static_cast<double>(y.size()), 0.5, 0.06) << period;
  }
}

TEST(Dropout, ADroppedInfinityIsZero) {
  Graph graph;
  const Value x = graph.add_value("x", f32({64}), Storage::external, 0);
  const Value y = graph.emit(DropoutOp({.rate = 0.5}), {x}, "dropout");
  const std::vector<double> infinite(64, std::numeric_limits<double>::infinity());
  const std::vector<double> dropped = run(graph, {x}, {infinite}, {y})[0];
  EXPECT_GT(std::count(dropped.begin(), dropped.end(), 0.0), 0);
  for (double value : dropped) EXPECT_FALSE(std::isnan(value));
}

TEST(Dropout, NamesTheLayerAndTheRate) {
  EXPECT_EQ(inference_error(make_op(DropoutOp({.rate = 1})), {f32({4})}, "drop"),
            "[dropout 'drop'] expected a rate in [0, 1); got 1");
}

}  // namespace
}  // namespace linnet::testing
