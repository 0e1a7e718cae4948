// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linnet/linnet.h>

#include <algorithm>
#include <vector>

#include "data_sets.h"
#include "message_of.h"

namespace linnet::testing {
namespace {

TEST(SyntheticData, HaveTheShapeThatTheNetworkTakes) {
  const Network images({60, 40, 3}, {Flatten{}, Dense{.units = 30}});
  const Dataset drawn = datasets::synthetic(images, Loss::automatic, 12, 1);
  EXPECT_EQ(drawn.inputs()[0].record(), (Shape{60, 40, 3}));
  EXPECT_EQ(drawn.classes().size(), 30U);
  EXPECT_NO_THROW(drawn.check_labels());
  const Dataset answers = datasets::synthetic(images, Loss::binary_cross_entropy, 12, 1);
  EXPECT_EQ(answers.targets()[0].record(), (Shape{30}));
  EXPECT_TRUE(std::ranges::all_of(vector_of(first_target(answers)),
                                  [](float value) { return value == 0 || value == 1; }));
  const Network texts({9}, {Embedding{.vocabulary = 50, .features = 2}, Flatten{}, Dense{2}},
                      DType::i32);
  const std::vector<std::int32_t> ids =
      vector_of<std::int32_t>(first_input(datasets::synthetic(texts, Loss::automatic, 40, 1)));
  EXPECT_EQ(ids.size(), 360U);
  EXPECT_GE(*std::ranges::min_element(ids), 0);
  EXPECT_LT(*std::ranges::max_element(ids), 50);
  const Network features({6}, {Dense{.units = 1}});
  EXPECT_EQ(datasets::synthetic(features, Loss::mse, 5, 1).inputs()[0].data.shape(), (Shape{5, 6}));
  EXPECT_EQ(message_of(
                [] { datasets::synthetic(Network({6}, {Dense{.units = 2}}), Loss::mse, 5, 1); }),
            "cannot make synthetic data for a network from (6) to (2)");
}

TEST(SyntheticData, AreAFunctionOfTheSeedThatCanBeLearned) {
  const Network network({28, 28, 1}, {Rescale{}, Flatten{}, Dense{.units = 10}});
  const Dataset data = datasets::synthetic(network, Loss::automatic, 300, 3);
  const auto pixels = [](const Dataset& of) { return vector_of<std::uint8_t>(first_input(of)); };
  EXPECT_EQ(pixels(datasets::synthetic(network, Loss::automatic, 300, 3)), pixels(data));
  EXPECT_NE(pixels(datasets::synthetic(network, Loss::automatic, 300, 4)), pixels(data));
  Model model(network, {.device = "cpu"});
  const History history = train(model, data, {.epochs = 5, .batch = 50});
  EXPECT_LT(history.epochs.back().train.loss, 0.8 * history.epochs.front().train.loss);
}

}  // namespace
}  // namespace linnet::testing
