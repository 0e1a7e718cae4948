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
}

TEST(SyntheticData, HaveLengthsOfTheirSequences) {
  const Network network({6, 3}, {Lengths{}, GRU{.units = 4}, Dense{2}});
  const Dataset data = datasets::synthetic(network, Loss::automatic, 50, 1);
  ASSERT_EQ(data.inputs().size(), 2U);
  const auto lengths = vector_of<std::int32_t>(data.inputs()[1].data);
  EXPECT_GE(*std::ranges::min_element(lengths), 1);
  EXPECT_EQ(*std::ranges::max_element(lengths), 6);
}

struct AnyNetwork {
  const char* name;
  Network network;
  Loss loss;
  Shape target;  ///< of one sample
};

TEST(SyntheticData, AreMadeForAnyNetworkAndCanBeLearned) {
  FunctionalNetwork functional;
  const Expression words = functional.input("words", {5}, DType::i32);
  const Expression numbers = functional.input("numbers", {3});
  const Expression features = words | Embedding{.vocabulary = 9, .features = 4} | Flatten{};
  const Network two =
      functional.build({{"class", concat({features, numbers}, 0) | Dense{.units = 4}}});
  const std::vector<AnyNetwork> networks = {
      {"features to classes", Network({6}, {Dense{8}, ReLU{}, Dense{3}}), Loss::automatic, {}},
      {"features to values", Network({6}, {Dense{8}, ReLU{}, Dense{2}}), Loss::mse, {2}},
      {"features to answers", Network({6}, {Dense{1}}), Loss::binary_cross_entropy, {1}},
      {"steps of features to classes",
       Network({7, 4}, {LSTM{6}, Dense{5}}),
       Loss::cross_entropy,
       {}},
      {"small images to classes", Network({8, 8, 3}, {Flatten{}, Dense{4}}), Loss::automatic, {}},
      {"images to images",
       Network({32, 32, 3}, {Conv2d{.filters = 3, .padding = Padding2d::same()}}),
       Loss::mse,
       {32, 32, 3}},
      {"classes of pixels",
       Network({30, 30, 1}, {Conv2d{.filters = 2, .padding = Padding2d::same()}}),
       Loss::automatic,
       {30, 30}},
      {"classes of words",
       Network({6}, {Embedding{.vocabulary = 11, .features = 4}, Dense{11}}, DType::i32),
       Loss::automatic,
       {6}},
      {"two inputs", two, Loss::automatic, {}},
  };
  for (const AnyNetwork& of : networks) {
    SCOPED_TRACE(of.name);
    const Dataset data = datasets::synthetic(of.network, of.loss, 256, 1);
    EXPECT_EQ(data.targets()[0].record(), of.target);
    Model model(of.network, {.device = "cpu"});
    const History history = train(
        model, data,
        {.epochs = 8, .batch = 32, .optimizer = Adam{.learning_rate = 0.01}, .loss = of.loss});
    EXPECT_LT(history.epochs.back().train.loss, 0.97 * history.epochs.front().train.loss);
  }
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
