// SPDX-License-Identifier: Apache-2.0
// Filters of a convolution from the covariance of its patches.
#include <gtest/gtest.h>
#include <linnet/augment.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fixtures.h"
#include "message_of.h"
#include "temporary_folder.h"

namespace linnet::testing {
namespace {

constexpr std::int64_t kChannels = 2;
constexpr double kEpsilon = 1e-9;  // far below all variances

/// Smooth images of bytes, whose neighbouring pixels go together, with labels.
Dataset smooth(std::int64_t count, std::int64_t side = 7) {
  std::vector<std::uint8_t> bytes;
  std::vector<std::int32_t> labels;
  for (std::int64_t n = 0; n < count; ++n) {
    for (std::int64_t i = 0; i < side * side * kChannels; ++i) {
      const auto at = static_cast<double>(i);
      const auto noise = static_cast<std::uint32_t>(n * 977 + i) * 2654435761U >> 27;
      bytes.push_back(static_cast<std::uint8_t>(
          120 + 60 * std::sin(0.3 * at + static_cast<double>(n)) + noise));
    }
    labels.push_back(static_cast<std::int32_t>(n % 3));
  }
  return Dataset({{"x", Tensor(std::move(bytes), {count, side, side, kChannels})}},
                 {{"y", Tensor(std::move(labels))}});
}

Network stem(Conv2d conv = {.filters = 20, .kernel = 2}) {
  conv.name = "stem";
  return Network({7, 7, kChannels}, {Normalize{.mean = {0.5, 0.4}, .std = {0.25, 0.2}}, conv,
                                     GELU{}, Flatten{}, Dense{.units = 3}});
}

Model model_of(const Network& network, int threads = 1) {
  return Model(network, {.device = "cpu", .threads = threads, .seed = 3});
}

const Whiten kStem{.layer = "stem", .epsilon = kEpsilon};

Model whitened(const Network& network, const Dataset& data, Whiten how = kStem, int threads = 1) {
  Model model = model_of(network, threads);
  whiten(model, data, how);
  return model;
}

using Matrix = std::vector<std::vector<double>>;

Matrix covariance_of(const Matrix& rows) {
  const std::size_t size = rows.front().size();
  const auto count = static_cast<double>(rows.size());
  std::vector<double> mean(size);
  for (const std::vector<double>& row : rows) {
    for (std::size_t i = 0; i < size; ++i) mean[i] += row[i] / count;
  }
  Matrix all(size, std::vector<double>(size));
  for (const std::vector<double>& row : rows) {
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = 0; j < size; ++j) {
        all[i][j] += (row[i] - mean[i]) * (row[j] - mean[j]) / count;
      }
    }
  }
  return all;
}

/// Returns the patches of normalized images that lie inside, one a row, as a convolution takes
/// them.
Matrix patches_of(const Dataset& data, const Conv2d& conv, std::int64_t pad) {
  const std::vector<std::uint8_t> bytes = vector_of<std::uint8_t>(first_input(data));
  const std::int64_t side = data.inputs()[0].record()[0];
  const auto pixel = [&](std::int64_t n, std::int64_t y, std::int64_t x, std::int64_t c) {
    const auto at = static_cast<std::size_t>(((n * side + y) * side + x) * kChannels + c);
    return (bytes[at] / 255.0 - (c == 0 ? 0.5 : 0.4)) / (c == 0 ? 0.25 : 0.2);
  };
  Matrix rows;
  for (std::int64_t n = 0; n < data.size(); ++n) {
    for (std::int64_t y = -pad; y < side; y += conv.stride.height) {
      for (std::int64_t x = -pad; x < side; x += conv.stride.width) {
        const bool inside = y >= 0 && x >= 0 &&
                            y + (conv.kernel.height - 1) * conv.dilation.height < side &&
                            x + (conv.kernel.width - 1) * conv.dilation.width < side;
        if (!inside) continue;
        std::vector<double>& row = rows.emplace_back();
        for (std::int64_t k = 0; k < conv.kernel.height; ++k) {
          for (std::int64_t l = 0; l < conv.kernel.width; ++l) {
            for (std::int64_t c = 0; c < kChannels; ++c) {
              row.push_back(pixel(n, y + k * conv.dilation.height, x + l * conv.dilation.width, c));
            }
          }
        }
      }
    }
  }
  return rows;
}

void expect_identity(const Matrix& covariance, std::size_t size, double tolerance,
                     const std::string& where) {
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) {
      EXPECT_NEAR(covariance[i][j], i == j ? 1 : 0, tolerance) << where << ' ' << i << ' ' << j;
    }
  }
}

/// In double precision, beside patches that the test cuts out itself.
TEST(Whiten, OutputsHaveTheIdentityAsCovariance) {
  struct Case {
    Conv2d conv;
    std::int64_t pad = 0;
    std::string name;
  };
  const std::vector<Case> cases{
      {{.filters = 16, .kernel = 2}, 0, "plain"},
      {{.filters = 24, .kernel = {1, 3}}, 0, "of two sides, with further filters"},
      {{.filters = 36, .kernel = 3, .padding = Padding2d::all(1)}, 1, "padded"},
      {{.filters = 16, .kernel = 2, .stride = 2, .padding = Padding2d::all(1), .dilation = 2},
       1,
       "strided"}};
  const Dataset data = smooth(60);
  for (const auto& [conv, pad, name] : cases) {
    const Model model = whitened(stem(conv), data);
    const std::vector<float> weights = parameter(model, "stem.weight");
    const std::vector<float> first = parameter(model_of(stem(conv)), "stem.weight");
    const Matrix patches = patches_of(data, conv, pad);
    const std::size_t taps = patches.front().size();
    Matrix outputs;
    for (const std::vector<double>& patch : patches) {
      std::vector<double>& row = outputs.emplace_back(taps);
      for (std::size_t i = 0; i < taps; ++i) {
        for (std::size_t j = 0; j < taps; ++j) row[i] += weights[i * taps + j] * patch[j];
      }
    }
    expect_identity(covariance_of(outputs), taps, 2e-4, name);
    double before = 0;  // the norm of a filter falls as the eigenvalue rises
    for (std::size_t i = 0; i < taps; ++i) {
      double norm = 0;
      for (std::size_t j = 0; j < taps; ++j) {
        norm += weights[i * taps + j] * weights[i * taps + j];
        EXPECT_EQ(weights[(taps + i) * taps + j], -weights[i * taps + j]);
      }
      EXPECT_GE(norm * (1 + 1e-6), before) << name;
      before = norm;
    }
    for (std::size_t i = 2 * taps * taps; i < weights.size(); ++i) {
      EXPECT_EQ(weights[i], first[i]) << name;
    }
  }
}

TEST(Whiten, TheNetworkComputesSuchOutputs) {
  const Dataset data = smooth(60);
  Model model = whitened(stem(), data);
  const std::vector<float> values = vector_of(model.value_of("stem", data));
  const std::size_t filters = 20;
  Matrix outputs;
  for (std::size_t at = 0; at < values.size(); at += filters) {
    outputs.emplace_back(values.begin() + static_cast<std::ptrdiff_t>(at),
                         values.begin() + static_cast<std::ptrdiff_t>(at + 8));
  }
  expect_identity(covariance_of(outputs), 8, 2e-4, "stem");
}

/// The epsilon bounds how much directions of small variance are amplified.
TEST(Whiten, AnEpsilonLowersTheVariances) {
  const Dataset data = smooth(60);
  const std::vector<float> sharp = parameter(whitened(stem(), data), "stem.weight");
  const std::vector<float> mild =
      parameter(whitened(stem(), data, {.layer = "stem", .epsilon = 0.1}), "stem.weight");
  for (std::size_t i = 0; i < 8; ++i) {
    double of_sharp = 0;
    double of_mild = 0;
    for (std::size_t j = 0; j < 8; ++j) {
      of_sharp += sharp[i * 8 + j] * sharp[i * 8 + j];
      of_mild += mild[i * 8 + j] * mild[i * 8 + j];
    }
    const double variance = 1 / of_sharp - kEpsilon;
    EXPECT_NEAR(of_mild * (variance + 0.1), 1, 1e-4);
  }
}

TEST(Whiten, GivesTheSameBitsOnThreadsAndForNoLayerBefore) {
  const Dataset data = smooth(600);
  const std::vector<float> one = all_weights(whitened(stem(), data));
  for (const int threads : {2, 4}) {
    EXPECT_EQ(all_weights(whitened(stem(), data, kStem, threads)), one);
  }
  const Conv2d conv{.filters = 16, .kernel = 2, .name = "stem"};
  const Network bare({7, 7, kChannels}, {conv, Flatten{}, Dense{.units = 3}});
  const Network scaled({7, 7, kChannels},
                       {Rescale{.scale = 0.5}, conv, Flatten{}, Dense{.units = 3}});
  const std::vector<float> plain = parameter(whitened(bare, data), "stem.weight");
  const std::vector<float> half = parameter(whitened(scaled, data), "stem.weight");
  for (std::size_t i = 0; i < plain.size(); ++i) {
    EXPECT_NEAR(half[i], 2 * plain[i], 1e-5 * std::abs(plain[i]) + 1e-8);
  }
}

TEST(Whiten, TakesEvenlySpacedSamples) {
  const Dataset data = smooth(40);
  Whiten ten = kStem;
  ten.samples = 10;
  const std::vector<std::int64_t> rows{0, 4, 8, 12, 16, 20, 24, 28, 32, 36};
  EXPECT_EQ(all_weights(whitened(stem(), data, ten)),
            all_weights(whitened(stem(), data.take(rows))));
  EXPECT_NE(all_weights(whitened(stem(), data, ten)), all_weights(whitened(stem(), data)));
  // Larger images than the network's, of which the training takes crops: their middle.
  const Dataset large = smooth(40, 9);
  EXPECT_EQ(all_weights(whitened(stem(), large)),
            all_weights(whitened(stem(), centre_crop(large, 7, 7))));
}

TEST(Whiten, ATrainingBeginsWithIt) {
  const Dataset data = smooth(48);
  const std::vector<float> expected = parameter(whitened(stem(), data), "stem.weight");
  Model model = model_of(stem());
  TrainingOptions options{.epochs = 2, .batch = 16};
  options.freeze = {{.name = "stem.weight"}};
  options.whiten = kStem;
  train(model, data, options);
  EXPECT_EQ(parameter(model, "stem.weight"), expected);
  EXPECT_NE(parameter(model, "stem.bias"), std::vector<float>(20));
  options.whiten.layer = "dense_1";
  EXPECT_EQ(message_of([&] { train(model, data, options); }),
            "[whiten 'dense_1'] expected the name of a conv2d layer; these are stem");
}

struct StopAfterEpoch final : Callback {
  void on_epoch(const EpochReport& /*report*/) override { stops = true; }
  bool stop_requested() override { return stops; }
  bool stops = false;
};

TEST(Whiten, AContinuedTrainingHasItsOwnWeights) {
  const Dataset data = smooth(48);
  const TemporaryFolder folder;
  TrainingOptions options{.epochs = 3, .batch = 16};
  options.whiten = kStem;
  Model whole = model_of(stem());
  train(whole, data, options);
  options.checkpoints = {.folder = folder / "run", .resume = true};
  StopAfterEpoch stop;
  Model stopped = model_of(stem());
  train(stopped, data, options, nullptr, &stop);
  Model rest = model_of(stem(), 2);
  train(rest, data, options);
  EXPECT_EQ(all_weights(rest), all_weights(whole));
  EXPECT_NE(all_weights(stopped), all_weights(whole));
}

TEST(Whiten, NamesWhatItCannotDo) {
  const Dataset data = smooth(4);
  const auto message = [&](const Network& network, const Dataset& of, const Whiten& how = kStem) {
    Model model = model_of(network);
    const std::vector<float> before = all_weights(model);
    std::string text = message_of([&] { whiten(model, of, how); });
    EXPECT_EQ(all_weights(model), before);
    return text;
  };
  EXPECT_EQ(message(stem(), data, {.layer = "dense_1"}),
            "[whiten 'dense_1'] expected the name of a conv2d layer; these are stem");
  EXPECT_EQ(message(Network({7, 7, 2}, {Flatten{}, Dense{.units = 3}}), data),
            "[whiten 'stem'] expected the name of a conv2d layer; the network has none");
  EXPECT_EQ(message(stem({.filters = 15, .kernel = 2}), data),
            "[whiten 'stem'] expected at least 2 * 2 * 2 * 2 = 16 filters; got w=(15, 2, 2, 2)");
  EXPECT_EQ(message(stem({.filters = 16, .kernel = 2, .groups = 2}), data),
            "[whiten 'stem'] expected a convolution in one group; got 2");
  EXPECT_EQ(message(stem({.filters = 256, .kernel = 8, .padding = Padding2d::all(1)}), data),
            "[whiten 'stem'] no patch lies inside x=(N, 7, 7, 2); w=(256, 8, 8, 2)");
  EXPECT_EQ(message(stem(), data.rows(0, 0)),
            "[whiten 'stem'] expected samples; the data set 'data' has none");
  EXPECT_EQ(message(stem(), data, {.layer = "stem", .samples = 0}),
            "[whiten 'stem'] expected samples to be at least 1; got 0");
  EXPECT_EQ(message(stem(), data, {.layer = "stem", .epsilon = 0}),
            "[whiten 'stem'] expected epsilon to be above 0 and finite; got 0");
  const Tensor grey(std::vector<std::uint8_t>(98, 7), {1, 7, 7, 2});
  EXPECT_EQ(message(stem(), Dataset({{"x", grey}}, {})),
            "[whiten 'stem'] all patches of its input are equal");
  std::vector<float> bad(98, 1.0F);
  bad[5] = NAN;
  EXPECT_EQ(message(stem(), Dataset({{"x", Tensor(std::move(bad), {1, 7, 7, 2})}}, {})),
            "[whiten 'stem'] its input has values that are not finite");
}

}  // namespace
}  // namespace linnet::testing
