// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "data_sets.h"
#include "message_of.h"
#include "model/loss_graph.h"

namespace linnet::testing {
namespace {

std::string refusal(Loss loss, const LossOptions& options, bool labels = true) {
  return message_of([&] { check_loss_options(loss, options, labels, {3}); });
}

TEST(LossOptions, NamesFollowTheEnumeration) {
  const std::vector<std::string_view> names = loss_names();
  ASSERT_EQ(names.size(), static_cast<std::size_t>(Loss::normalized_squared_error) + 1);
  EXPECT_EQ(names[static_cast<std::size_t>(Loss::automatic)], "automatic");
  EXPECT_EQ(names[static_cast<std::size_t>(Loss::binary_cross_entropy)], "binary_cross_entropy");
  EXPECT_EQ(names[static_cast<std::size_t>(Loss::kl_divergence)], "kl_divergence");
  EXPECT_EQ(names[static_cast<std::size_t>(Loss::focal)], "focal");
}

TEST(LossOptions, WhatALossHasNoUseForIsRefused) {
  EXPECT_EQ(refusal(Loss::mse, {.label_smoothing = 0.1}, false),
            "the loss mse of values takes no label smoothing");
  EXPECT_EQ(refusal(Loss::huber, {.class_weights = {1, 1, 1}}, false),
            "the loss huber of values takes no class weights");
  EXPECT_EQ(refusal(Loss::cross_entropy, {.ignore_index = 1}, false),
            "the loss cross_entropy of values takes no ignored label");
  EXPECT_EQ(refusal(Loss::cross_entropy, {.positive_weights = {1, 1, 1}}),
            "the loss cross_entropy of labels takes no positive weights");
  EXPECT_EQ(refusal(Loss::hinge, {.class_weights = {1, 2, 3}, .ignore_index = 1}), "");
}

TEST(LossOptions, NumbersHaveRanges) {
  EXPECT_EQ(refusal(Loss::cross_entropy, {.label_smoothing = 1}),
            "[loss] expected label_smoothing to be in [0, 1); got 1");
  EXPECT_EQ(refusal(Loss::cross_entropy, {.class_weights = {1, 2}}),
            "expected 3 class weights, one for each output; got 2");
  EXPECT_EQ(refusal(Loss::cross_entropy, {.class_weights = {1, 2, -3}}),
            "[loss] expected class_weights to be at least 0 and finite; got [1, 2, -3]");
  EXPECT_EQ(refusal(Loss::focal, {.focal_gamma = -1}),
            "[loss] expected focal_gamma to be at least 0 and finite; got -1");
  EXPECT_EQ(refusal(Loss::focal, {.focal_alpha = 2}),
            "[loss] expected focal_alpha to be at most 1; got 2");
  EXPECT_EQ(refusal(Loss::huber, {.huber_delta = 0}, false),
            "[loss] expected huber_delta to be above 0 and finite; got 0");
  EXPECT_EQ(refusal(Loss::minkowski, {.minkowski_exponent = 0.5}, false),
            "[loss] expected minkowski_exponent to be at least 1 and finite; got 0.5");
  EXPECT_EQ(refusal(Loss::quantile, {.quantile = 1}, false),
            "[loss] expected quantile to be in (0, 1); got 1");
  EXPECT_EQ(refusal(Loss::mae, {.quantile = 0.9}, false),
            "the loss mae of values takes no quantile");
  EXPECT_EQ(refusal(Loss::mse, {.l2 = -1}, false),
            "[loss] expected l2 to be at least 0 and finite; got -1");
}

TEST(LossOptions, BalancedWeightsLetEveryClassCountAlike) {
  const std::vector<float> samples(8);
  const std::vector<std::int32_t> labels{0, 0, 0, 0, 0, 0, 1, 3};
  const Dataset data = data_of(records(samples, {1}), records(labels));
  // scikit-learn's compute_class_weight("balanced"), with 4 classes: 8 / (4 * count).
  EXPECT_EQ(balanced_class_weights(data), (std::vector<double>{8.0 / 24, 2, 0, 2}));
  const Dataset unlabelled(data.inputs());
  EXPECT_EQ(message_of([&] { balanced_class_weights(unlabelled); }),
            "the data set 'data' has no labels; class weights need labels");
}

}  // namespace
}  // namespace linnet::testing
