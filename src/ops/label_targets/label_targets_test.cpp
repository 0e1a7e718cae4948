// SPDX-License-Identifier: Apache-2.0
#include "ops/label_targets/label_targets.h"

#include <gtest/gtest.h>

#include "op_harness.h"

namespace linnet::testing {
namespace {

TEST(LabelTargets, AgreesWithTheReference) {
  for (const LabelTargetsAttrs& attrs : {LabelTargetsAttrs{}, LabelTargetsAttrs{.smoothing = 0.1},
                                         LabelTargetsAttrs{0.2, true, 1}}) {
    const OpPtr op = make_op(LabelTargetsOp(attrs));
    const std::vector<Fill> fills{{0, 3}, {0.5, 2}};
    check({"label_targets", op, {i32({6}), f32({3})}, fills, false});
    check({"label_targets of places", op, {i32({2, 5}), f32({3})}, fills, false});
    check({"label_targets one class", op, {i32({4}), f32({1})}, {{0, 1}, {0.5, 2}}, false});
    check({"label_targets no sample", op, {i32({0}), f32({3})}, fills, false});
    check({"label_targets labels outside", op, {i32({9}), f32({3})}, {{-2, 5}, {0.5, 2}}, false});
    check({"label_targets many tasks", op, {i32({5000}), f32({37})}, {{0, 37}, {0, 2}}, false});
  }
}

std::vector<double> targets(const LabelTargetsAttrs& attrs, const std::vector<double>& labels,
                            const std::vector<double>& weights) {
  Graph graph;
  const auto n = static_cast<std::int64_t>(labels.size());
  const auto c = static_cast<std::int64_t>(weights.size());
  const Value l = graph.add_value("labels", i32({n}), Storage::external, 0);
  const Value w = graph.add_value("weights", f32({c}), Storage::external, 1);
  const Value t = graph.emit(LabelTargetsOp(attrs), {l, w}, "loss");
  return run(graph, {l, w}, {labels, weights}, {t})[0];
}

TEST(LabelTargets, DividesByTheWeightsOfTheLabels) {
  // Weights 4 and 1 of labels 1 and 0: the rows hold 4/5 and 1/5.
  EXPECT_EQ(targets({}, {1, 0}, {1, 4}), (std::vector<double>{0, 0.8F, 0.2F, 0}));
  // Smoothing 0.5 over 2 classes: 0.75 and 0.25 of each class's own weight.
  EXPECT_EQ(targets({.smoothing = 0.5}, {1, 0}, {1, 4}),
            (std::vector<double>{0.05F, 0.6F, 0.15F, 0.2F}));
}

TEST(LabelTargets, WhatIsIgnoredCountsForNothing) {
  EXPECT_EQ(targets({0, true, -100}, {1, -100, 0}, {1, 3}),
            (std::vector<double>{0, 0.75F, 0, 0, 0.25F, 0}));
  EXPECT_EQ(targets({0, true, 1}, {1, 1}, {1, 3}), (std::vector<double>{0, 0, 0, 0}));
}

TEST(LabelTargets, NamesTheLayerAndWhatIsWrong) {
  EXPECT_EQ(inference_error(make_op(LabelTargetsOp()), {f32({8}), f32({3})}, "loss"),
            "[label_targets 'loss'] expected i32 labels (N, ...) and weights (C); got labels=(8), "
            "weights=(3)");
  EXPECT_EQ(inference_error(make_op(LabelTargetsOp({.smoothing = 1})), {i32({8}), f32({3})}, "a"),
            "[label_targets 'a'] expected a smoothing in [0, 1); got 1");
}

}  // namespace
}  // namespace linnet::testing
