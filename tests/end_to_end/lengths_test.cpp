// SPDX-License-Identifier: Apache-2.0
// What operators and layers do with sequences of different length.
#include <gtest/gtest.h>
#include <linnet/linnet.h>

#include <cmath>
#include <functional>

#include "message_of.h"
#include "weights.h"

namespace linnet::testing {
namespace {

constexpr std::int64_t kSteps = 5;
constexpr std::int64_t kFeatures = 6;
const std::vector<std::int32_t> kLengths{5, 1, 3};

using Body = std::function<Expression(const Expression& x)>;

/// The result of `body` for sequences x; with lengths "x.lengths" or without.
Network network_of(const Body& body, std::int64_t steps = kSteps, bool lengths = true) {
  FunctionalNetwork f;
  return f.build({{"y", body(f.input("x", {steps, kFeatures}, DType::f32, lengths))}});
}

Tensor sequences() {
  std::vector<float> x;
  for (int i = 0; i < 3 * kSteps * kFeatures; ++i)
    x.push_back(std::sin(0.9F * static_cast<float>(i)));
  return records(x, {kSteps, kFeatures});
}

/// Sequences give what each gives alone, cut to its length.
void expect_as_without_padding(const Body& body, const std::string& what) {
  Model padded(network_of(body), {.device = "cpu", .seed = 1});
  for (const std::string& name : padded.parameter_names()) {  // padding must not stay 0
    std::vector<float> values = parameter(padded, name);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += i % 3 == 0 ? 0.5F : -0.2F;
    set_parameter(padded, name, values);
  }
  const Tensor x = sequences();
  const Tensor y = padded.predict(Dataset({{.name = "x", .data = x, .lengths = Tensor(kLengths)}}));
  for (std::int64_t i = 0; i < std::ssize(kLengths); ++i) {
    const std::int64_t length = kLengths[static_cast<std::size_t>(i)];
    Model alone(network_of(body, length, false), {.device = "cpu"});
    alone.set_weights(padded.weights());
    std::vector<float> steps = vector_of(x.rows(i, i + 1));
    steps.resize(static_cast<std::size_t>(length * kFeatures));
    const std::vector<float> wanted =
        vector_of(alone.predict(Dataset({{"x", records(steps, {length, kFeatures})}})));
    const std::vector<float> got = vector_of(y.rows(i, i + 1));
    ASSERT_EQ(got.size(), wanted.size()) << what;
    for (std::size_t k = 0; k < got.size(); ++k) EXPECT_NEAR(got[k], wanted[k], 2e-6) << what;
  }
}

TEST(Lengths, OperatorsThatKeepTheStepsHandThemOn) {
  const Layer pool = GlobalAvgPool1d{};
  const Dense dense{.units = kFeatures};
  const std::vector<std::pair<std::string, Body>> bodies{
      {"arithmetic", [&](const auto& x) { return (x * x + sigmoid(x) - 2.0) | pool; }},
      {"dense", [&](const auto& x) { return x | dense | GlobalMaxPool1d{}; }},
      {"features",
       [&](const auto& x) {
         return concat({x + 1.0, slice(x, 1, 2, 4)}, 1) | pool;
       }},
      {"parts",
       [&](const auto& x) {
         const Expression parts = reshape(x, {x.shape()[0], 2, 3}) + 1.0;
         return reshape(transpose(parts, {0, 2, 1}), {x.shape()[0], 6}) | pool;
       }},
      {"reduce", [&](const auto& x) { return (x - max(x + 1.0, {1}, true)) | pool; }},
      {"numbers",
       [&](const auto& x) {
         return reshape(exp(sum(x, {1})), {x.shape()[0], 1}) | pool;
       }},
      {"softmax", [&](const auto& x) { return softmax(x) | pool; }},
      {"layer norm", [&](const auto& x) { return (x + 1.0) | LayerNorm{} | dense | pool; }},
      {"encoder",
       [&](const auto& x) {
         return x | dense | TransformerEncoderLayer{.heads = 2, .feed_forward = 4, .dropout = 0} |
                pool;
       }},
      {"blocks",
       [&](const auto& x) {
         return x | dense | Residual{.body = {MultiHeadAttention{.heads = 2}, Tanh{}}} |
                Concat{.branches = {{GRU{.units = 2}, ReLU{}}, {dense, pool}}};
       }},
      {"own layer", [&](const auto& x) {
         return x | dense |
                CustomLayer{"twice", [](const Expression& y, LayerWeights&) { return y * 2.0; }} |
                Bidirectional{LSTM{.units = 2}};
       }}};
  for (const auto& [what, body] : bodies) expect_as_without_padding(body, what);
}

std::string refused(const Body& body) {
  return message_of([&] { network_of(body); });
}

const std::string kInstead =
    ", since it does not use the lengths of sequences: GlobalAvgPool1d, GlobalMaxPool1d, attention "
    "and recurrent layers leave padding out";

TEST(Lengths, OperatorsThatWouldTakePaddingForDataAreRefused) {
  const std::string reduces = "[reduce 'reduce_1'] would count padding as steps" + kInstead;
  EXPECT_EQ(refused([](const auto& x) { return mean(x, {0}); }), reduces);
  EXPECT_EQ(refused([](const auto& x) { return sum(x); }), reduces);
  EXPECT_EQ(refused([](const auto& x) { return max(x, {0, 1}, true); }), reduces);
  EXPECT_EQ(refused([](const auto& x) { return slice(x, 0, 0, 2); }),
            "[slice 'slice_1'] would cut at steps that are padding in shorter sequences, since it "
            "does not use the lengths of sequences: a recurrent layer gives the state after the "
            "last step that counts");
  EXPECT_EQ(refused([](const auto& x) {
              return transpose(x, {1, 0});
            }),
            "[transpose 'transpose_1'] would move the steps to another axis, where padding counts "
            "as data" +
                kInstead);
  EXPECT_EQ(refused([](const auto& x) {
              return concat({x, x}, 0);
            }),
            "[concat 'concat_1'] would put steps after the padding of others, since it does not "
            "use the lengths of sequences: join features (the last axis), or the results of "
            "GlobalAvgPool1d or GlobalMaxPool1d");
  const std::string mixes = "[reshape 'reshape_1'] would mix steps with padding" + kInstead;
  EXPECT_EQ(refused([](const auto& x) { return reshape(x, {kSteps * kFeatures}); }), mixes);
  EXPECT_EQ(refused([](const auto& x) { return reshape(x, {kFeatures, kSteps}); }), mixes);
  EXPECT_EQ(refused([](const auto& x) { return softmax(mean(x, {1})); }),
            "[softmax 'softmax_1'] would give weight to padding" + kInstead);
}

TEST(Lengths, LayersThatWouldTakePaddingForDataAreRefused) {
  const auto with = [](const Layer& layer) {
    return refused([&](const auto& x) { return x | layer; });
  };
  const std::string normalizes =
      " would include padding in mean and variance, since it does not use the lengths of "
      "sequences: LayerNorm normalizes each step alone";
  EXPECT_EQ(with(BatchNorm{}), "[batch_norm 'batch_norm_1']" + normalizes);
  EXPECT_EQ(with(GroupNorm{.groups = 2}), "[group_norm 'group_norm_1']" + normalizes);
  EXPECT_EQ(with(LayerNorm{.axes = 2}), "[group_norm 'layer_norm_1']" + normalizes);
  const std::string reads = " would read padding as data" + kInstead;
  EXPECT_EQ(with(Conv1d{.filters = 2}), "[conv1d 'conv1d_1']" + reads);
  EXPECT_EQ(with(MaxPool1d{}), "[max_pool1d 'max_pool1d_1']" + reads);
  EXPECT_EQ(with(AvgPool1d{}), "[avg_pool1d 'avg_pool1d_1']" + reads);
  EXPECT_EQ(with(Flatten{}), "[reshape 'flatten_1'] would mix steps with padding" + kInstead);
  EXPECT_EQ(refused([](const auto& x) { return mean(x, {1}) | Dense{.units = 2}; }),
            "[dense 'dense_1'] would mix steps with padding" + kInstead);
  const Layer own =
      CustomLayer{"pool", [](const Expression& x, LayerWeights&) { return mean(x, {0}); }};
  EXPECT_EQ(with(own), "[reduce 'pool_1'] would count padding as steps" + kInstead);
  EXPECT_EQ(with(Residual{.body = {own}}),
            "[reduce 'residual_1.pool_1'] would count padding as steps" + kInstead);
}

TEST(Lengths, SequencesThatEndAtDifferentStepsAreNotCombined) {
  FunctionalNetwork f;
  const Shape sample{kSteps, kFeatures};
  const Expression a = f.input("a", sample, DType::f32, true);
  const Expression c = f.input("c", sample, DType::f32, true);
  const std::string wanted =
      "'] would combine sequences that end at different steps, by 'a.lengths' and 'c.lengths': "
      "give one of the inputs lengths, or combine the results of GlobalAvgPool1d, GlobalMaxPool1d "
      "or a recurrent layer";
  EXPECT_EQ(message_of([&] { a + c; }), "[arithmetic 'arithmetic_1" + wanted);
  EXPECT_EQ(message_of([&] { concat({a, c}, 1); }), "[concat 'concat_1" + wanted);
  const Expression pooled = (a | GlobalAvgPool1d{}) + (c | GlobalAvgPool1d{});
  EXPECT_EQ(pooled.shape(), Shape{kFeatures});
}

/// An operand without lengths goes on as long as the other.
TEST(Lengths, OneOfTwoOperandsMayHaveThem) {
  FunctionalNetwork f;
  const Shape sample{kSteps, kFeatures};
  const Expression a = f.input("a", sample);
  const Expression x = f.input("x", sample, DType::f32, true);
  Model model(f.build({{"y", (a + x) | GlobalAvgPool1d{}}, {"x", x | GlobalAvgPool1d{}}}),
              {.device = "cpu"});
  const Tensor ones(std::vector<float>(3 * kSteps * kFeatures, 1.0F), {3, kSteps, kFeatures});
  const std::vector<Column> made = model.predict_all(
      Dataset({{"a", ones}, {.name = "x", .data = sequences(), .lengths = Tensor(kLengths)}}));
  const std::vector<float> y = vector_of(made[0].data);
  const std::vector<float> without = vector_of(made[1].data);
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], without[i] + 1, 1e-6);
}

TEST(Lengths, PredictorsCheckThemAsDataSetsDo) {
  const Model model(network_of([](const auto& x) { return x | GRU{.units = 2}; }),
                    {.device = "cpu"});
  const Predictor predictor(model);
  for (const std::int32_t length : {0, -2, 300}) {
    const Tensor lengths(std::vector<std::int32_t>{5, length, 1}, {3, 1});
    const std::string wanted = fmt::format("is {}; expected 1 to 5", length);
    EXPECT_EQ(message_of([&] {
                predictor.predict(State({{"x", sequences()}, {"x.lengths", lengths}}));
              }),
              "the length of sample 1 in the column 'x.lengths' " + wanted);
    EXPECT_EQ(message_of(
                  [&] { Dataset({{.name = "x", .data = sequences(), .lengths = lengths}}); }),
              "the length of sample 1 in the column 'x' " + wanted);
  }
}

TEST(Lengths, ClassifyTakesThemByName) {
  Model model(network_of([](const auto& x) { return x | GRU{.units = 2} | Softmax{}; }),
              {.device = "cpu"});
  model.set_class_names({"slow", "fast"});
  const Predictor predictor(model);
  const Dataset data({{.name = "x", .data = sequences(), .lengths = Tensor(kLengths)}});
  const std::vector<Classified> classified =
      predictor.classify(State({{"x", sequences()}, {"x.lengths", Tensor(kLengths, {3, 1})}}));
  const std::vector<float> p = vector_of(model.predict(data));
  ASSERT_EQ(classified.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(classified[i].label, p[2 * i] >= p[2 * i + 1] ? "slow" : "fast");
    EXPECT_EQ(classified[i].probability, std::max(p[2 * i], p[2 * i + 1]));
  }
  EXPECT_EQ(message_of([&] { predictor.classify(sequences()); }),
            "expected a network of one input; it has 2: x, x.lengths");
}

Dataset with_targets(const std::vector<std::int32_t>& target_lengths) {
  Column target{.name = "y", .data = Tensor(DType::f32, {3, kSteps, 1})};
  if (!target_lengths.empty()) target.lengths = Tensor(target_lengths);
  return Dataset({{.name = "x", .data = sequences(), .lengths = Tensor(kLengths)}}, {target});
}

TEST(Lengths, TargetsWithoutAStepThatCountsAreRefused) {
  const auto message = [](const Dataset& data) {
    Model model(network_of([](const auto& x) { return x | Dense{.units = 1}; }), {.device = "cpu"});
    return message_of([&] { train(model, data, {.epochs = 1}); });
  };
  EXPECT_EQ(message(with_targets({0, 0, 0})),
            "the lengths of the targets of the 3 training samples of 'data' leave no step that "
            "counts; expected at least one");
  Dataset weighted = with_targets({0, 2, 0});
  EXPECT_EQ(message(weighted), "");  // a single 0 is a sample without a target
  weighted.set_weights(Tensor(std::vector<float>{1, 0, 1}));
  EXPECT_EQ(message(weighted),
            "the lengths and weights of the targets of the 3 training samples of 'data' leave no "
            "step that counts; expected at least one");
}

TEST(Lengths, OutputsThatHaveThemNeedTargetsThatSayWhatCounts) {
  Model model(network_of([](const auto& x) { return x | Dense{.units = 1}; }), {.device = "cpu"});
  Dataset data = with_targets({});
  EXPECT_EQ(message_of([&] { train(model, data, {.epochs = 1}); }),
            "the output 'y' has sequences of different lengths, but the target 'y' of 'data' has "
            "neither lengths nor weights (N, T): padding would count in the loss");
  data.set_weights(Tensor(std::vector<float>(3 * kSteps, 1), {3, kSteps}));
  EXPECT_EQ(message_of([&] { train(model, data, {.epochs = 1}); }), "");
}

}  // namespace
}  // namespace linnet::testing
