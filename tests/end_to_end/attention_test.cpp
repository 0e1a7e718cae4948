// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "fixtures.h"

namespace linnet::testing {
namespace {

constexpr std::int64_t kSteps = 5;
constexpr std::int64_t kFeatures = 6;

Dataset sequences(std::int64_t count, std::uint64_t seed) {
  std::vector<float> values(static_cast<std::size_t>(count * kSteps * kFeatures));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = 2 * unit_float(philox(seed, i, 0)[0]) - 1;
  }
  return data_of(records(values, {kSteps, kFeatures}),
                 records(std::vector<std::int32_t>(static_cast<std::size_t>(count), 0)));
}

/// Row r of x (rows, columns) times a weight (units, columns) with a bias.
std::vector<double> affine(const std::vector<double>& x, const std::vector<float>& w,
                           const std::vector<float>& b) {
  const std::size_t units = b.size();
  const std::size_t columns = w.size() / units;
  std::vector<double> y;
  for (std::size_t r = 0; r < x.size() / columns; ++r) {
    for (std::size_t u = 0; u < units; ++u) {
      double sum = b[u];
      for (std::size_t c = 0; c < columns; ++c) sum += x[r * columns + c] * w[u * columns + c];
      y.push_back(sum);
    }
  }
  return y;
}

/// The definition, one head and one position after the other.
std::vector<double> attention(const Model& model, const std::vector<double>& x, std::size_t heads,
                              bool causal) {
  const auto weight = [&](const char* name) { return parameter(model, std::string("a.") + name); };
  const std::vector<double> all = affine(x, weight("in_proj_weight"), weight("in_proj_bias"));
  const std::size_t size = kFeatures / heads;
  const auto at = [&](std::size_t part, std::size_t step, std::size_t head, std::size_t i) {
    return all[step * 3 * kFeatures + part * kFeatures + head * size + i];
  };
  std::vector<double> heard(x.size());
  for (std::size_t h = 0; h < heads; ++h) {
    for (std::size_t q = 0; q < kSteps; ++q) {
      const std::size_t seen = causal ? q + 1 : kSteps;
      std::vector<double> weights;
      double total = 0;
      for (std::size_t k = 0; k < seen; ++k) {
        double score = 0;
        for (std::size_t i = 0; i < size; ++i) score += at(0, q, h, i) * at(1, k, h, i);
        weights.push_back(std::exp(score / std::sqrt(static_cast<double>(size))));
        total += weights.back();
      }
      for (std::size_t i = 0; i < size; ++i) {
        double& sum = heard[q * kFeatures + h * size + i];
        for (std::size_t k = 0; k < seen; ++k) sum += weights[k] / total * at(2, k, h, i);
      }
    }
  }
  return affine(heard, weight("out_proj.weight"), weight("out_proj.bias"));
}

TEST(Attention, IsItsDefinition) {
  const Dataset data = sequences(1, 3);
  const std::vector<double> x = vector_of<double>(first_input(data).to(DType::f64));
  for (bool causal : {false, true}) {
    for (std::int64_t heads : {1, 3}) {
      Model model(Network({kSteps, kFeatures},
                          {MultiHeadAttention{.heads = heads, .causal = causal, .name = "a"}}),
                  {.device = "cpu", .seed = 4});
      set_parameter(model, "a.in_proj_bias", std::vector<float>(18, 0.3F));
      const std::vector<float> y = vector_of(model.predict(data));
      const std::vector<double> expected =
          attention(model, x, static_cast<std::size_t>(heads), causal);
      ASSERT_EQ(y.size(), expected.size());
      for (std::size_t i = 0; i < y.size(); ++i) {
        EXPECT_NEAR(y[i], expected[i], 1e-5) << heads << causal;
      }
    }
  }
}

TEST(Attention, HasThePublishedParameters) {
  const Network network({7, 512}, {MultiHeadAttention{.heads = 8, .name = "a"}});
  EXPECT_EQ(network.parameters(), 4 * 512 * 512 + 4 * 512);
  EXPECT_EQ(network.output_shape(), (Shape{7, 512}));
}

TEST(Attention, SaysWhatDoesNotFit) {
  const auto error = [](const Shape& sample, const Layer& layer) -> std::string {
    try {
      Network(sample, {layer});
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(error({4, 6}, MultiHeadAttention{.heads = 4, .name = "a"}),
            "[multi_head_attention 'a'] expected heads that divide 6 features; got 4");
  EXPECT_EQ(error({6}, MultiHeadAttention{.name = "a"}),
            "[multi_head_attention 'a'] expected sequences (N, T, features); got (N, 6)");
}

std::vector<std::string> parameter_names(const Network& network) {
  std::vector<std::string> names;
  for (const ParameterSpec& spec : network.definition().parameters) names.push_back(spec.name);
  return names;
}

TEST(TransformerEncoderLayer, HasPyTorchsParameters) {
  const Network network({7, 512}, {TransformerEncoderLayer{.heads = 8, .name = "e"}});
  EXPECT_EQ(network.parameters(), 3152384);
  EXPECT_EQ(network.output_shape(), (Shape{7, 512}));
  std::vector<std::string> names = parameter_names(network);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names,
            (std::vector<std::string>{"e.linear1.bias", "e.linear1.weight", "e.linear2.bias",
                                      "e.linear2.weight", "e.norm1.bias", "e.norm1.weight",
                                      "e.norm2.bias", "e.norm2.weight", "e.self_attn.in_proj_bias",
                                      "e.self_attn.in_proj_weight", "e.self_attn.out_proj.bias",
                                      "e.self_attn.out_proj.weight"}));
}

/// Rows of zero mean and unit variance are what a last norm leaves, and only that.
TEST(TransformerEncoderLayer, NormsStandWhereTheyAreToldTo) {
  const Dataset data = sequences(3, 8);
  for (bool norm_first : {false, true}) {
    Model model(Network({kSteps, kFeatures}, {TransformerEncoderLayer{.heads = 2,
                                                                      .feed_forward = 8,
                                                                      .norm_first = norm_first}}),
                {.device = "cpu"});
    const std::vector<float> y = vector_of(model.predict(data));
    double mean = 0;
    double square = 0;
    for (std::size_t i = 0; i < kFeatures; ++i) {
      mean += y[i] / kFeatures;
      square += y[i] * y[i] / kFeatures;
    }
    const bool normal = std::abs(mean) < 1e-5 && std::abs(square - 1) < 1e-3;
    EXPECT_EQ(normal, !norm_first);
  }
}

/// The class is the position that stands out: nothing but comparing positions tells it.
TEST(TransformerEncoderLayer, LearnsToCompare) {
  const Dataset data = sequences(256, 9);
  for (std::size_t n = 0; n < 256; ++n) {
    const auto x = first_input(data).as<float>().subspan(n * kSteps * kFeatures);
    std::size_t best = 0;
    for (std::size_t t = 1; t < kSteps; ++t) {
      if (x[t * kFeatures] > x[best * kFeatures]) best = t;
    }
    first_target(data).as_writable<std::int32_t>()[n] = static_cast<std::int32_t>(best);
  }
  Model model(Network({kSteps, kFeatures},
                      {PositionalEmbedding{},
                       TransformerEncoderLayer{.heads = 2, .feed_forward = 16, .dropout = 0},
                       Flatten{}, Dense{.units = 5}}),
              {.device = "cpu"});
  const History history =
      train(model, data, {.epochs = 30, .batch = 32, .optimizer = Adam{.learning_rate = 5e-3}});
  EXPECT_GT(history.epochs.front().train.loss, 1.4);
  EXPECT_LT(history.epochs.back().train.loss, 0.5);
}

TEST(PositionalEmbedding, AddsItsWeight) {
  const Dataset data = sequences(2, 5);
  Model model(Network({kSteps, kFeatures}, {PositionalEmbedding{.name = "p"}}), {.device = "cpu"});
  const std::vector<float> x = vector_of(first_input(data));
  const std::vector<float> w = parameter(model, "p.weight");
  const std::vector<float> y = vector_of(model.predict(data));
  ASSERT_EQ(w.size(), 30U);
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], x[i] + w[i % 30]);
}

TEST(Dense, ActsOnTheLastAxisOfSequences) {
  const Dataset data = sequences(2, 6);
  Model model(Network({kSteps, kFeatures}, {Dense{.units = 3, .name = "d"}, ReLU{}}),
              {.device = "cpu"});
  EXPECT_EQ(model.network().output_shape(), (Shape{kSteps, 3}));
  const std::vector<double> expected =
      affine(vector_of<double>(first_input(data).to(DType::f64)), parameter(model, "d.weight"),
             parameter(model, "d.bias"));
  const std::vector<float> y = vector_of(model.predict(data));
  ASSERT_EQ(y.size(), expected.size());
  for (std::size_t i = 0; i < y.size(); ++i) {
    EXPECT_NEAR(y[i], std::max(expected[i], 0.0), 1e-6);
  }
}

}  // namespace
}  // namespace linnet::testing
