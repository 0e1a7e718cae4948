// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linnet/linnet.h>

#include <algorithm>
#include <random>

#include "message_of.h"
#include "networks/networks.h"
#include "nn/definition.h"
#include "weights.h"

namespace linnet::testing {
namespace {

Shape shape_of(const Network& network, std::string_view name) {
  for (const ParameterSpec& spec : network.definition().parameters) {
    if (spec.name == name) return spec.shape;
  }
  return {};
}

/// Sequences of ids below 10; the label tells whether a 7 stands after the last 3.
Dataset sevens_behind_threes(std::int64_t count, std::int64_t steps) {
  std::mt19937 random(5);
  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> labels;
  for (std::int64_t n = 0; n < count; ++n) {
    std::int32_t label = 0;
    for (std::int64_t t = 0; t < steps; ++t) {
      ids.push_back(static_cast<std::int32_t>(random() % 10));
      if (ids.back() == 7) label = 1;
      if (ids.back() == 3) label = 0;
    }
    labels.push_back(label);
  }
  return data_of(records(ids, {steps}), records(labels));
}

TEST(Recurrent, GruImdbIsThePublishedOne) {
  const Network network = workloads::gru_imdb();
  EXPECT_EQ(network.parameters(), 3818302);
  EXPECT_EQ(network.input_shape(), Shape{150});
  EXPECT_EQ(network.output_shape(), Shape{2});
  EXPECT_EQ(shape_of(network, "embedding_1.weight"), (Shape{30000, 125}));
  EXPECT_EQ(shape_of(network, "gru_1.weight_ih_l0"), (Shape{300, 125}));
  EXPECT_EQ(shape_of(network, "gru_1.weight_hh_l0"), (Shape{300, 100}));
  EXPECT_EQ(shape_of(network, "gru_1.bias_ih_l0"), Shape{300});
  EXPECT_EQ(shape_of(network, "gru_1.bias_hh_l0"), Shape{300});
  EXPECT_EQ(zoo::gru_text({.classes = 0}).output_shape(), Shape{100});
  EXPECT_THROW(zoo::gru_text({.steps = 0}), Error);
}

TEST(Recurrent, LayersGiveStatesOrSequences) {
  const auto output = [](const Layer& layer) { return Network({7, 3}, {layer}).output_shape(); };
  EXPECT_EQ(output(SimpleRNN{.units = 5}), Shape{5});
  EXPECT_EQ(output(GRU{.units = 5, .return_sequences = true}), (Shape{7, 5}));
  EXPECT_EQ(output(LSTM{.units = 5, .return_sequences = true, .reverse = true}), (Shape{7, 5}));
  EXPECT_EQ(output(Bidirectional{LSTM{.units = 5}}), Shape{10});
  EXPECT_EQ(output(Bidirectional{GRU{.units = 5, .return_sequences = true}}), (Shape{7, 10}));
  EXPECT_EQ(output(Bidirectional{.layer = GRU{.units = 5}, .merge = Bidirectional::Merge::sum}),
            Shape{5});
  const Network network({7, 3}, {Bidirectional{.layer = LSTM{.units = 5}, .name = "words"}});
  EXPECT_EQ(network.parameters(), 2 * (20 * 3 + 20 * 5 + 40));
  EXPECT_EQ(shape_of(network, "words.weight_hh_l0_reverse"), (Shape{20, 5}));
  EXPECT_EQ(Network({7, 3}, {GRU{.units = 5, .bias = false}}).parameters(), 15 * 8);
}

TEST(Recurrent, ReverseIsForwardOfTheReversedSteps) {
  const std::int64_t steps = 6;
  const std::int64_t features = 3;
  std::mt19937 random(3);
  std::vector<float> x(4 * steps * features);
  for (float& value : x) value = static_cast<float>(random() % 1000) / 500 - 1;
  std::vector<float> flipped = x;
  for (std::int64_t n = 0; n < 4; ++n) {
    for (std::int64_t t = 0; t < steps; ++t) {
      std::copy_n(x.begin() + (n * steps + t) * features, features,
                  flipped.begin() + (n * steps + steps - 1 - t) * features);
    }
  }
  Model forward(Network({steps, features}, {GRU{.units = 5}}), {.device = "cpu"});
  Model backward(Network({steps, features}, {GRU{.units = 5, .reverse = true}}), {.device = "cpu"});
  for (const std::string& name : forward.parameter_names()) {
    set_parameter(backward, name + "_reverse", parameter(forward, name));
  }
  const Shape sample{steps, features};
  EXPECT_EQ(vector_of(forward.predict(Dataset({{"x", records(x, sample)}}))),
            vector_of(backward.predict(Dataset({{"x", records(flipped, sample)}}))));
}

TEST(Recurrent, NetworksLearnWhatCameLast) {
  const Dataset data = sevens_behind_threes(600, 12);
  for (const Layer& layer : {Layer(GRU{.units = 12}), Layer(Bidirectional{LSTM{.units = 12}})}) {
    Model model(Network({12}, {Embedding{.vocabulary = 10, .features = 6}, layer, Dense{2}},
                        DType::i32),
                {.device = "cpu"});
    const History history =
        train(model, data, {.epochs = 20, .batch = 32, .optimizer = Adam{.learning_rate = 1e-2}});
    EXPECT_GT(history.epochs.front().train.loss, 0.3);
    EXPECT_LT(history.epochs.back().train.loss, 0.1);
  }
}

TEST(Recurrent, LayersNameWhatTheyExpect) {
  EXPECT_EQ(message_of([] { Network({7}, {GRU{.units = 5, .name = "words"}}); }),
            "[gru 'words'] expected (N, steps, features); got (N, 7)");
  EXPECT_EQ(message_of([] {
              Network({7, 3}, {LSTM{}});
            }),
            "[lstm 'lstm_1'] expected units to be at least 1; got 0");
  EXPECT_EQ(message_of([] { Network({7}, {Embedding{.vocabulary = 9, .features = 2}}); }),
            "[embedding 'embedding_1'] expected ids (N, ...) of i32; got f32 (N, 7): put it first "
            "in a network whose input is i32");
  EXPECT_EQ(message_of([] {
              Network({7, 3}, {Bidirectional{GRU{.units = 5, .reverse = true}}});
            }),
            "[bidirectional 'bidirectional_1'] expected a layer that is not reversed itself");
}

}  // namespace
}  // namespace linnet::testing
