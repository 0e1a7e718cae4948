// SPDX-License-Identifier: Apache-2.0
// cross_attention() beside its definition and PyTorch's nn.MultiheadAttention
// (tests/fixtures/make_sequence_fixtures.py).
#include <gtest/gtest.h>
#include <linnet/linnet.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "message_of.h"
#include "nn/definition.h"
#include "temporary_folder.h"
#include "weights.h"

namespace linnet::testing {
namespace {

constexpr std::int64_t kSamples = 5;
constexpr std::int64_t kQueries = 3;
constexpr std::int64_t kSteps = 6;
constexpr std::int64_t kFeatures = 6;
const std::vector<std::int32_t> kLengths{6, 1, 4, 3, 5};

/// As the script's.
std::vector<float> wave(std::int64_t count, const std::string& name, double scale) {
  double phase = 0;
  for (const char letter : name) phase += letter;
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) {
    values.push_back(static_cast<float>(scale * std::sin(0.7 * static_cast<double>(i) + phase)));
  }
  return values;
}

Network crossing(std::int64_t width, bool lengths, const CrossAttentionOptions& options) {
  FunctionalNetwork f;
  const Expression query = f.input("query", {kQueries, kFeatures});
  const Expression memory = f.input("memory", {kSteps, width}, DType::f32, lengths);
  return f.build({{"y", cross_attention(query, memory, options)}});
}

Model model_of(std::int64_t width, bool lengths, const CrossAttentionOptions& options) {
  Model model(crossing(width, lengths, options), {.device = "cpu", .threads = 1});
  for (const std::string& parameter : model.parameter_names()) {
    set_parameter(model, parameter,
                  wave(model.parameter_shape(parameter).elements(), parameter, 0.5));
  }
  return model;
}

Dataset data_of(std::int64_t width, bool lengths) {
  Column memory{.name = "memory",
                .data = records(wave(kSamples * kSteps * width, "memory", 1), {kSteps, width})};
  if (lengths) memory.lengths = Tensor(kLengths);
  return Dataset(
      {{.name = "query",
        .data = records(wave(kSamples * kQueries * kFeatures, "query", 1), {kQueries, kFeatures})},
       memory},
      {{.name = "y",
        .data = records(wave(kSamples * kQueries * kFeatures, "y", 1), {kQueries, kFeatures})}});
}

void expect_near(const std::vector<float>& got, const nlohmann::json& wanted, double tolerance) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], wanted[i].get<double>(), tolerance) << i;
  }
}

TEST(CrossAttention, LearnsAsPyTorchs) {
  std::ifstream file(LINNET_TORCH_FIXTURES "/cross_attention.json");
  const nlohmann::json widths = nlohmann::json::parse(file).at("widths");
  EXPECT_EQ(widths.size(), 2U);
  for (const auto& [text, wanted] : widths.items()) {
    SCOPED_TRACE(text);
    const std::int64_t width = std::stoll(text);
    const Dataset data = data_of(width, true);
    Model model = model_of(width, true, {.heads = 2});
    expect_near(vector_of(model.predict(data)), wanted["before"], 2e-6);
    Trainer trainer(model, {.optimizer = SGD{.learning_rate = 0.2}});
    for (const nlohmann::json& loss : wanted["losses"]) {
      const History history = trainer.fit(data, {.batch = kSamples, .shuffle = false});
      EXPECT_NEAR(history.epochs[0].train.loss, loss.get<double>(), 3e-6);
    }
    expect_near(vector_of(model.predict(data)), wanted["after"], 2e-5);
  }
}

/// Row r of x (rows, columns) times rows from `first` on of a weight, with a bias, in double.
std::vector<double> affine(const std::vector<float>& x, const std::vector<float>& w,
                           const std::vector<float>& b, std::size_t first, std::size_t units) {
  const std::size_t columns = w.size() / b.size() == 0 ? 1 : w.size() / units;
  std::vector<double> y;
  for (std::size_t r = 0; r < x.size() / columns; ++r) {
    for (std::size_t u = 0; u < units; ++u) {
      double sum = b[first + u];
      for (std::size_t c = 0; c < columns; ++c) {
        sum += static_cast<double>(x[r * columns + c]) * w[u * columns + c];
      }
      y.push_back(sum);
    }
  }
  return y;
}

TEST(CrossAttention, IsItsDefinition) {
  constexpr std::int64_t kWidth = 4;
  const Dataset data = data_of(kWidth, false);
  for (const std::int64_t heads : {1, 3}) {
    Model model = model_of(kWidth, false, {.heads = heads, .name = "a"});
    const auto of = [&](const char* name) { return parameter(model, std::string("a.") + name); };
    const std::vector<float> bias = of("in_proj_bias");
    const std::vector<float> query = vector_of(data.inputs()[0].data);
    const std::vector<float> memory = vector_of(data.inputs()[1].data);
    const auto q = affine(query, of("q_proj_weight"), bias, 0, kFeatures);
    const auto k = affine(memory, of("k_proj_weight"), bias, kFeatures, kFeatures);
    const auto v = affine(memory, of("v_proj_weight"), bias, 2 * kFeatures, kFeatures);
    const std::int64_t size = kFeatures / heads;
    std::vector<float> heard(query.size());
    for (std::int64_t n = 0; n < kSamples; ++n) {
      for (std::int64_t at = 0; at < kQueries * heads; ++at) {
        const std::int64_t t = at / heads;
        const std::int64_t from = at % heads * size;
        std::vector<double> weights;
        double total = 0;
        for (std::int64_t s = 0; s < kSteps; ++s) {
          double score = 0;
          for (std::int64_t i = from; i < from + size; ++i) {
            score += q[static_cast<std::size_t>((n * kQueries + t) * kFeatures + i)] *
                     k[static_cast<std::size_t>((n * kSteps + s) * kFeatures + i)];
          }
          weights.push_back(std::exp(score / std::sqrt(static_cast<double>(size))));
          total += weights.back();
        }
        for (std::int64_t i = from; i < from + size; ++i) {
          double sum = 0;
          for (std::int64_t s = 0; s < kSteps; ++s) {
            sum += weights[static_cast<std::size_t>(s)] / total *
                   v[static_cast<std::size_t>((n * kSteps + s) * kFeatures + i)];
          }
          heard[static_cast<std::size_t>((n * kQueries + t) * kFeatures + i)] =
              static_cast<float>(sum);
        }
      }
    }
    const auto wanted = affine(heard, of("out_proj.weight"), of("out_proj.bias"), 0, kFeatures);
    const std::vector<float> y = vector_of(model.predict(data));
    ASSERT_EQ(y.size(), wanted.size());
    for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], wanted[i], 2e-6) << heads;
  }
}

TEST(CrossAttention, DropsInATrainingAloneAndIsSavedAndLoaded) {
  const Dataset data = data_of(4, true);
  Model model = model_of(4, true, {.heads = 2, .dropout = 0.5});
  Model plain = model_of(4, true, {.heads = 2});
  const std::vector<float> y = vector_of(model.predict(data));
  EXPECT_EQ(y, vector_of(plain.predict(data)));
  Trainer dropping(model);
  Trainer keeping(plain);
  EXPECT_NE(dropping.fit(data, {.batch = kSamples}).epochs[0].train.loss,
            keeping.fit(data, {.batch = kSamples}).epochs[0].train.loss);
  const TemporaryFolder folder;
  model.save(folder / "model.safetensors");
  Model loaded = Model::load(folder / "model.safetensors", {.device = "cpu", .threads = 1});
  EXPECT_EQ(vector_of(loaded.predict(data)), vector_of(model.predict(data)));
}

/// Steps after a memory's end leave no trace, and the result has the query's lengths.
TEST(CrossAttention, HeedsLengthsOfBoth) {
  FunctionalNetwork f;
  const Expression query = f.input("query", {kQueries, kFeatures}, DType::f32, true);
  const Expression memory = f.input("memory", {kSteps, 4}, DType::f32, true);
  const Expression y = cross_attention(query, memory, {.heads = 2}) | GlobalAvgPool1d{};
  Model model(f.build({{"y", y}}), {.device = "cpu", .threads = 1});
  const auto outputs = [&](float padding, bool repeats) {
    std::vector<float> q = wave(2 * kQueries * kFeatures, "query", 1);
    std::vector<float> m = wave(2 * kSteps * 4, "memory", 1);
    for (std::size_t i = kFeatures; i < kQueries * kFeatures; ++i) q[i] = padding;
    for (std::size_t i = 2 * 4; i < kSteps * 4; ++i) m[i] = repeats ? m[i - 2 * 4] : padding;
    return vector_of(
        model.predict(Dataset({{.name = "query",
                                .data = records(q, {kQueries, kFeatures}),
                                .lengths = Tensor(std::vector<std::int32_t>{1, 3})},
                               {.name = "memory",
                                .data = records(m, {kSteps, 4}),
                                .lengths = Tensor(std::vector<std::int32_t>{repeats ? 6 : 2, 6})}},
                              {})));
  };
  const std::vector<float> twice = outputs(0, false);
  EXPECT_EQ(twice, outputs(9, false));
  // Steps that are there three times have the same part in the mean.
  const std::vector<float> thrice = outputs(0, true);
  for (std::size_t i = 0; i < twice.size(); ++i) EXPECT_NEAR(twice[i], thrice[i], 1e-6) << i;
}

TEST(CrossAttention, SaysWhatDoesNotFit) {
  const auto said = [](const CrossAttentionOptions& options) {
    return message_of([&] { crossing(4, false, options); });
  };
  EXPECT_EQ(said({.heads = 4, .name = "a"}),
            "[cross_attention 'a'] expected heads that divide 6 features; got 4");
  EXPECT_EQ(said({.dropout = 1, .name = "a"}),
            "[cross_attention 'a'] expected a dropout in [0, 1); got 1");
  FunctionalNetwork f;
  const Expression query = f.input("query", {3, 6});
  const Expression memory = f.input("memory", {6});
  EXPECT_EQ(
      message_of([&] { cross_attention(query, memory, {}); }),
      "[cross_attention 'cross_attention_1'] expected sequences (N, T, features); got (N, 6)");
}

}  // namespace
}  // namespace linnet::testing
