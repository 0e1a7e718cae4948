// SPDX-License-Identifier: Apache-2.0
#include "ops/blend/blend.h"

#include <gtest/gtest.h>

#include <limits>

#include "op_harness.h"

namespace linnet::testing {
namespace {

OpCase blend_case(const std::string& name, const BlendAttrs& attrs, std::int64_t length) {
  return {name, make_op(BlendOp(attrs)), {f32({length}), f32({length})}, {}, false};
}

TEST(Blend, AgreesWithTheReference) {
  for (std::int64_t length : {1, 19, 64, 100003}) {
    check(blend_case("blend add", {}, length));
    check(blend_case("blend average", {.kind = Blend::average, .decay = 0.9}, length));
    OpCase warm =
        blend_case("blend warm-up", {.kind = Blend::average, .decay = 0.9, .warmup = true}, length);
    check(warm);
    warm.step.update = 0;
    check(warm);
  }
  check(blend_case("blend mix",
                   {.kind = Blend::mix, .bounds = {0, 7, 9, 60}, .weights = {0.1, 0.6}}, 64));
  check(blend_case("blend mix nothing", {.kind = Blend::mix}, 64));
  check({"blend add f64",
         make_op(BlendOp()),
         {{DType::f64, Shape{6}}, {DType::f64, Shape{6}}},
         {},
         false});
  check({"blend guarded",
         make_op(BlendOp({.guarded = true})),
         {f32({9}), f32({9}), {DType::f64, Shape{}}},
         {{-1, 1}, {-1, 1}, {0, 0}},
         false});
}

std::vector<double> blended(const BlendAttrs& attrs, const std::vector<double>& target,
                            const std::vector<double>& source, double stopped,
                            const StepInfo& step = {}) {
  Graph graph;
  const auto length = static_cast<std::int64_t>(target.size());
  const Value t = graph.add_value("t", f32({length}), Storage::external, 0);
  const Value s = graph.add_value("s", f32({length}), Storage::external, 1);
  std::vector<Value> inputs{t, s};
  std::vector<std::vector<double>> data{target, source};
  if (attrs.guarded) {
    inputs.push_back(graph.add_value("stopped", {DType::f64, Shape{}}, Storage::external, 2));
    data.push_back({stopped});
  }
  graph.add(make_op(BlendOp(attrs)), inputs, "blend");
  compare_with_reference(graph, inputs, data, {t}, 2e-5, step);
  return run(graph, inputs, data, {t}, step)[0];
}

TEST(Blend, StopsWhereItIsTold) {
  const BlendAttrs attrs{.guarded = true};
  EXPECT_EQ(blended(attrs, {1, 2}, {4, 8}, 0), (std::vector<double>{5, 10}));
  EXPECT_EQ(blended(attrs, {1, 2}, {4, 8}, 3), (std::vector<double>{1, 2}));
}

TEST(Blend, TheFirstUpdateIsTheAverage) {
  const BlendAttrs attrs{.kind = Blend::average, .decay = 0.75};
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(blended(attrs, {7, infinity}, {4, 8}, 0), (std::vector<double>{4, 8}));
  EXPECT_EQ(blended(attrs, {4, 8}, {8, 0}, 0, {.update = 1}), (std::vector<double>{5, 6}));
}

TEST(Blend, TheWarmUpBoundsTheDecay) {
  const BlendAttrs attrs{.kind = Blend::average, .decay = 0.75, .warmup = true};
  // 6 / 15 after five updates; 101 / 110 would be more than the decay.
  EXPECT_FLOAT_EQ(static_cast<float>(blended(attrs, {1}, {0}, 0, {.update = 5})[0]), 0.4F);
  EXPECT_FLOAT_EQ(static_cast<float>(blended(attrs, {1}, {0}, 0, {.update = 100})[0]), 0.75F);
}

TEST(Blend, AnAverageOfWhatStaysIsThat) {
  const BlendAttrs attrs{.kind = Blend::average, .decay = 0.99999};
  const std::vector<double> same{0.1F, -3.7F, 12345.678F, 1e-20F};
  EXPECT_EQ(blended(attrs, same, same, 0, {.update = 3}), same);
}

TEST(Blend, AMixMayWaitForItsUpdate) {
  const auto after = [](const BlendAttrs& when, std::uint64_t update) {
    BlendAttrs attrs = when;
    attrs.kind = Blend::mix;
    attrs.bounds = {1, 3};
    attrs.weights = {0.25};
    return blended(attrs, {1, 2, 4}, {5, 6, 8}, 0, {.update = update});
  };
  const std::vector<double> same{1, 2, 4};
  const std::vector<double> mixed{1, 3, 5};
  for (const std::uint64_t update : {0, 1, 2, 3, 4, 5}) {
    EXPECT_EQ(after({.first = true}, update), update == 0 ? mixed : same) << update;
    EXPECT_EQ(after({.every = 3}, update), update % 3 == 2 ? mixed : same) << update;
    EXPECT_EQ(after({}, update), mixed) << update;
  }
  EXPECT_EQ(inference_error(make_op(BlendOp({.every = 2})), {f32({4}), f32({4})}, "sum"),
            "[blend 'sum'] expected a mix in the first update or in every one of at least 1; got "
            "2");
}

TEST(Blend, NamesTheDecay) {
  EXPECT_EQ(inference_error(make_op(BlendOp({.kind = Blend::average, .decay = 1})),
                            {f32({4}), f32({4})}, "average"),
            "[blend 'average'] expected a decay in (0, 1); got 1");
}

}  // namespace
}  // namespace linnet::testing
