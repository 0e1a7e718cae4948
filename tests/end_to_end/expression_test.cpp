// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "fixtures.h"
#include "message_of.h"

namespace linnet::testing {
namespace {

using Weights = std::vector<float>;

Weights trained(const Network& network, const Dataset& data, const TrainingOptions& options) {
  Model model(network, {.device = "cpu", .threads = 2, .seed = 3});
  train(model, data, options);
  return all_weights(model);
}

void expect_close(const Weights& a, const Weights& b, double bound) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], bound) << i;
}

TrainingOptions short_training() {
  return {.epochs = 2, .batch = 8, .optimizer = SGD{.learning_rate = 0.1, .momentum = 0.9}};
}

TEST(CustomLoss, SquaresTrainAsTheMeanSquaredError) {
  const Network network({2}, {Dense{.units = 5}, Tanh{}, Dense{.units = 2}});
  TrainingOptions options = short_training();
  const Weights expected = trained(network, sums_data(30), options);
  options.custom_loss = [](const Expression& y, const Expression& t) {
    return mean(square(y - t));
  };
  expect_close(trained(network, sums_data(30), options), expected, 1e-6);
}

TEST(CustomLoss, LabelsComeAsOneHotRows) {
  const Network network({2}, {Rescale{}, Dense{.units = 5}, Tanh{}, Dense{.units = 2}});
  TrainingOptions options = short_training();
  const Weights expected = trained(network, circle_data(30), options);
  options.custom_loss = [](const Expression& y, const Expression& t) {
    return -sum(t * log_softmax(y));
  };
  expect_close(trained(network, circle_data(30), options), expected, 1e-6);
}

TEST(CustomLoss, IsReportedAsTheLoss) {
  Model model(Network({2}, {Dense{.units = 2}}), {.device = "cpu"});
  TrainingOptions options = short_training();
  options.optimizer = SGD{.learning_rate = 0};
  const Evaluation mse = evaluate(model, sums_data(30));
  options.custom_loss = [](const Expression& y, const Expression& t) { return 3 * square(t - y); };
  const History history = train(model, sums_data(30), options);
  EXPECT_NEAR(history.epochs[0].train.loss, 3 * mse.loss, 1e-5);
}

TEST(CustomLoss, HasNoLayers) {
  TrainingOptions options = short_training();
  options.custom_loss = [](const Expression& y, const Expression&) { return y | ReLU{}; };
  EXPECT_EQ(message_of([&] { trained(Network({2}, {Dense{.units = 2}}), sums_data(8), options); }),
            "expected operators alone in a loss; got a layer");
}

Layer scaled_swish() {
  return CustomLayer{"scaled_swish", [](const Expression& x, LayerWeights& weights) {
                       const Expression scale = weights.add("scale", {x.shape()[-1]}, kOnes);
                       return x * sigmoid(scale * x);
                     }};
}

Network swish_network() {
  return Network({2}, {Dense{.units = 3}, scaled_swish(), Dense{.units = 2}});
}

/// The gradients of all weights: what one step of plain gradient descent at rate 1 takes away.
Weights gradients(const Network& network, const Dataset& data) {
  Model model(network, {.device = "cpu", .seed = 3});
  const Weights before = all_weights(model);
  train(model, data, {.epochs = 1, .batch = data.size(), .optimizer = SGD{.learning_rate = 1}});
  Weights slopes = all_weights(model);
  for (std::size_t i = 0; i < slopes.size(); ++i) slopes[i] = before[i] - slopes[i];
  return slopes;
}

TEST(CustomLayer, ItsGradientsAreFiniteDifferences) {
  const Dataset data = sums_data(16);
  const Weights slopes = gradients(swish_network(), data);
  Model model(swish_network(), {.device = "cpu", .seed = 3});
  std::size_t at = 0;
  for (const std::string& name : model.parameter_names()) {
    Weights values = parameter(model, name);
    for (std::size_t i = 0; i < values.size(); ++i, ++at) {
      constexpr float kStep = 1e-2F;
      const float middle = values[i];
      const auto loss_at = [&](float value) {
        values[i] = value;
        set_parameter(model, name, values);
        return evaluate(model, data).loss;
      };
      const double slope = (loss_at(middle + kStep) - loss_at(middle - kStep)) / (2.0 * kStep);
      EXPECT_NEAR(slopes[at], slope, 1e-3) << name << " " << i;
      loss_at(middle);
    }
  }
}

TEST(CustomLayer, ASavedNetworkDoesNotNeedTheFunction) {
  const Network network = swish_network();
  const Network read = Network::from_json(network.to_json());
  EXPECT_EQ(read.to_json(), network.to_json());
  Model one(network, {.device = "cpu"});
  Model other(read, {.device = "cpu"});
  EXPECT_EQ(vector_of(one.predict(sums_data(5))), vector_of(other.predict(sums_data(5))));
  EXPECT_EQ(one.parameter_names()[2], "scaled_swish_1.scale");
}

TEST(CustomLayer, ErrorsNameTheLayer) {
  const Layer bad = CustomLayer{"bad", [](const Expression& x, LayerWeights& weights) {
                                  return x + weights.add("w", {7});
                                }};
  const std::string error = message_of([&] { Network({2}, {bad}); });
  EXPECT_TRUE(error.starts_with("[add 'bad_1'] ")) << error;
  const Layer weights_alone =
      CustomLayer{"bad", [](const Expression&, LayerWeights& w) { return w.add("w", {7}); }};
  EXPECT_EQ(message_of([&] { Network({2}, {weights_alone}); }),
            "[bad 'bad_1'] expected the function to return an expression of its input");
}

TEST(CustomLayer, ARoleIsGivenOnce) {
  const Layer twice = CustomLayer{"twice", [](const Expression& x, LayerWeights& weights) {
                                    return x * weights.add("w", {2}) + weights.add("w", {2});
                                  }};
  EXPECT_EQ(message_of([&] { Network({2}, {twice}); }),
            "the layer 'twice_1' has two weights 'w'; expected a different role for each");
}

TEST(Expression, OperatorsComputeWhatTheyAreCalled) {
  FunctionalNetwork functional;
  const Expression x = functional.input("x", {2, 3});
  const std::vector<std::pair<std::string, Expression>> outputs{
      {"arithmetic", 1 - 2 * x / 4 + x * 0.5 - -x},  // 1 + x
      {"row", (x - mean(x, {1}, true)) / (max(x, {1}, true) + 1)},
      {"swapped", mean(x, {1}, true) - x},
      {"ratio", max(x, {1}, true) / x},
      {"functions", exp(log(x)) + sqrt(square(x)) + abs(-x) + pow(x, 2) / x},  // 4x
      {"bounds", clip(x, 2, 5) + maximum(x, 0 * x + 3) + minimum(x, 0 * x + 3)},
      {"total", sum(x)},
      {"least", min(x, {0})},
      {"moved", transpose(x, {1, 0})},
      {"part", slice(concat({x, x + 10}, 1), 1, 2, 5)},
      {"soft", softmax(reshape(x, {6}))},
      {"waves", square(sin(x)) + square(cos(x)) + softplus(x) - log(1 + exp(x))},  // 1
  };
  Model model(functional.build(outputs), {.device = "cpu"});
  const Dataset data({{"x", records(Weights{1, 2, 3, 4, 5, 6}, {2, 3})}});
  const std::vector<Column> columns = model.predict_all(data);
  const auto expect = [&](std::size_t i, const Shape& shape, const Weights& values) {
    EXPECT_EQ(columns[i].name, outputs[i].first);
    EXPECT_EQ(columns[i].record(), shape) << columns[i].name;
    const Weights found = vector_of(columns[i].data);
    ASSERT_EQ(found.size(), values.size()) << columns[i].name;
    for (std::size_t k = 0; k < values.size(); ++k) {
      EXPECT_NEAR(found[k], values[k], 2e-5) << columns[i].name << " " << k;
    }
  };
  ASSERT_EQ(columns.size(), outputs.size());
  expect(0, {2, 3}, {2, 3, 4, 5, 6, 7});
  expect(1, {2, 3}, {-0.25F, 0, 0.25F, -1 / 7.0F, 0, 1 / 7.0F});
  expect(2, {2, 3}, {1, 0, -1, 1, 0, -1});
  expect(3, {2, 3}, {3, 1.5F, 1, 1.5F, 1.2F, 1});
  expect(4, {2, 3}, {4, 8, 12, 16, 20, 24});
  expect(5, {2, 3}, {6, 7, 9, 11, 13, 14});
  expect(6, {}, {21});
  expect(7, {3}, {1, 2, 3});
  expect(8, {3, 2}, {1, 4, 2, 5, 3, 6});
  expect(9, {2, 3}, {3, 11, 12, 6, 14, 15});
  expect(11, {2, 3}, {1, 1, 1, 1, 1, 1});
  const Weights soft = vector_of(columns[10].data);
  EXPECT_NEAR(std::accumulate(soft.begin(), soft.end(), 0.0), 1, 1e-6);
  EXPECT_NEAR(soft[1] / soft[0], std::exp(1.0), 1e-5);
}

TEST(Expression, BelongsToOneNetwork) {
  FunctionalNetwork one;
  FunctionalNetwork other;
  const Expression a = one.input("a", {2});
  const Expression b = other.input("b", {2});
  EXPECT_EQ(message_of([&] { a + b; }),
            "[arithmetic] expected operands of one network; got operands of two");
  EXPECT_EQ(message_of([&] {
              static_cast<void>(one.build({{"y", b}}));
            }),
            "the output 'y' is not an expression of this network's inputs");
}

/// Two inputs, and three outputs of one hidden state.
Network two_input_network() {
  FunctionalNetwork functional;
  const Expression a = functional.input("a", {1});
  const Expression b = functional.input("b", {1});
  const Expression hidden = concat({a, b}, 0) | Dense{.units = 6, .name = "hidden"} | Tanh{};
  return functional.build({{"sum", hidden | Dense{.units = 1, .name = "sum"}},
                           {"difference", hidden | Dense{.units = 1, .name = "diff"}},
                           {"hidden", hidden}});
}

/// Column `column` of rows of two numbers.
Tensor column_of(const Tensor& rows, std::size_t column) {
  std::vector<float> values;
  for (std::size_t i = column; i < rows.as<float>().size(); i += 2) {
    values.push_back(rows.as<float>()[i]);
  }
  return records(std::move(values), {1});
}

/// sums_data in a column a number.
struct TwoInputs {
  std::vector<Column> inputs;
  std::vector<Column> targets;

  explicit TwoInputs(std::int64_t count) {
    const Dataset sums = sums_data(count);
    inputs = {{"a", column_of(first_input(sums), 0)}, {"b", column_of(first_input(sums), 1)}};
    targets = {{"sum", column_of(first_target(sums), 0)},
               {"difference", column_of(first_target(sums), 1)}};
  }
  Dataset data() const {
    Dataset made(inputs, targets);
    made.set_info({.name = "two"});
    return made;
  }
};

TEST(FunctionalNetwork, TrainsOnSeveralInputsAndOutputs) {
  const Network network = two_input_network();
  EXPECT_EQ(network.input_names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(network.output_names(), (std::vector<std::string>{"sum", "difference", "hidden"}));
  Model model(network, {.device = "cpu", .seed = 1});
  const Dataset data = TwoInputs(200).data();
  const History history =
      train(model, data, {.epochs = 60, .batch = 20, .optimizer = Adam{.learning_rate = 1e-2}},
            &data);
  EXPECT_LT(history.epochs.back().test.loss, 0.01);
  EXPECT_GT(history.epochs.front().test.loss, 0.1);
  const std::vector<Column> outputs = model.predict_all(data, 64);
  ASSERT_EQ(outputs.size(), 3U);
  EXPECT_EQ(outputs[2].record(), Shape({6}));
  const Weights differences = vector_of(outputs[1].data);
  const Weights wanted = vector_of(data.column("difference").data);
  double worst = 0;
  for (std::size_t i = 0; i < 200; ++i) {
    worst = std::max<double>(worst, std::abs(differences[i] - wanted[i]));
  }
  EXPECT_LT(worst, 0.35);
  EXPECT_EQ(vector_of(model.predict(data)), vector_of(outputs[0].data));
}

TEST(FunctionalNetwork, TheLossIsTheWeightedSum) {
  const Dataset data = TwoInputs(20).data();
  const auto loss = [&](std::vector<OutputLoss> losses) {
    Model model(two_input_network(), {.device = "cpu", .seed = 1});
    TrainingOptions options{.epochs = 1, .batch = 20, .optimizer = SGD{.learning_rate = 0}};
    options.output_losses = std::move(losses);
    return train(model, data, options).epochs[0].train.loss;
  };
  const double sum = loss({{.output = "difference", .weight = 0}});
  const double difference = loss({{.output = "sum", .weight = 0}});
  EXPECT_NEAR(loss({}), sum + difference, 1e-6);
  EXPECT_NEAR(loss({{.output = "sum", .weight = 2}, {.output = "difference", .weight = 0.5}}),
              2 * sum + 0.5 * difference, 1e-6);
}

TEST(FunctionalNetwork, EqualsTheSequenceThatItWrites) {
  FunctionalNetwork functional;
  const Expression x = functional.input("x", {2});
  const Network written =
      functional.build({{"y", x | Dense{.units = 4} | ReLU{} | Dense{.units = 2}}});
  const Network sequence({2}, {Dense{.units = 4}, ReLU{}, Dense{.units = 2}});
  EXPECT_EQ(trained(written, sums_data(30), short_training()),
            trained(sequence, sums_data(30), short_training()));
}

TEST(FunctionalNetwork, IsReadFromItsJson) {
  const Network network = two_input_network();
  const Network read = Network::from_json(network.to_json());
  EXPECT_EQ(read.to_json(), network.to_json());
  EXPECT_EQ(read.input_names(), network.input_names());
  EXPECT_EQ(read.output_names(), network.output_names());
}

TEST(FunctionalNetwork, DataMustFit) {
  const auto error = [](auto change) {
    TwoInputs two(4);
    change(two);
    return message_of([&] { trained(two_input_network(), two.data(), short_training()); });
  };
  EXPECT_EQ(error([](TwoInputs& two) { two.inputs.pop_back(); }),
            "the network's input 'b' has no column in the data set 'two'; the network takes 'a', "
            "'b', and the data set's inputs are 'a'");
  EXPECT_EQ(
      error([](TwoInputs& two) { two.inputs[1].data = two.inputs[1].data.rows(0, 3); }),
      "the column 'b' has 3 records, but 'a' has 4; expected one record of each for every sample");
  EXPECT_EQ(
      error([](TwoInputs& two) { two.targets[1].name = "other"; }),
      "the data set 'two' has targets for 'other', which is not an output of the network; its "
      "outputs are 'sum', 'difference', 'hidden'");
  EXPECT_EQ(error([](TwoInputs& two) { two.targets[1].name = "sum"; }),
            "two columns of a data set are called 'sum'");
  EXPECT_EQ(error([](TwoInputs& two) {
              two.inputs[1].data = records(std::vector<std::int32_t>{1, 2, 3, 4}, {1});
            }),
            "the network takes numbers (f32 or u8) for 'b' but the data set 'two' holds i32; "
            "convert it to f32");
  TrainingOptions options = short_training();
  options.output_losses = {{.output = "nothing"}};
  EXPECT_EQ(message_of([&] { trained(two_input_network(), TwoInputs(4).data(), options); }),
            "a loss is given for 'nothing', which is not an output of the network");
}

}  // namespace
}  // namespace linnet::testing
