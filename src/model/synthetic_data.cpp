// SPDX-License-Identifier: Apache-2.0
#include <linnet/datasets.h>
#include <linnet/network.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/folder.h"
#include "data/targets.h"
#include "nn/definition.h"

namespace linnet {
namespace {

constexpr std::int64_t kDigit = 28;  // the side of a drawn digit
constexpr std::int64_t kDigits = 10;
constexpr std::int64_t kStrengths = 3;

/// Labels of digits as `outputs` classes; where these are more, the strength of the colours counts.
Tensor class_labels(std::span<const std::int32_t> digits, std::int64_t outputs) {
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const auto strength = static_cast<std::int64_t>(i) % kStrengths;
    labels.push_back(static_cast<std::int32_t>((digits[i] + kDigits * strength) % outputs));
  }
  return Tensor(std::move(labels));
}

/// Answers that each follow from the digit.
Tensor answers(std::span<const std::int32_t> digits, std::int64_t outputs) {
  std::vector<float> values;
  for (const std::int32_t digit : digits) {
    for (std::int64_t k = 0; k < outputs; ++k) {
      values.push_back((digit * 7 + k * 3) % kDigits < 3 ? 1.0F : 0.0F);
    }
  }
  return Tensor(std::move(values), {std::ssize(digits), outputs});
}

Tensor draw_images(std::span<const std::uint8_t> digits, std::int64_t count, const Shape& sample) {
  const std::int64_t height = sample[0];
  const std::int64_t width = sample[1];
  const std::int64_t channels = sample[2];
  const std::int64_t scale = std::min(height, width) / kDigit;
  const std::int64_t top = (height - scale * kDigit) / 2;
  const std::int64_t left = (width - scale * kDigit) / 2;
  Tensor images(DType::u8, sample.batched(count));
  for (std::int64_t i = 0; i < count; ++i) {
    std::uint8_t* image = images.as_writable<std::uint8_t>().data() + i * sample.elements();
    for (std::int64_t y = 0; y < scale * kDigit; ++y) {
      const std::uint8_t* row = digits.data() + (i * kDigit + y / scale) * kDigit;
      std::uint8_t* pixel = image + ((y + top) * width + left) * channels;
      for (std::int64_t x = 0; x < scale * kDigit; ++x) {
        for (std::int64_t c = 0; c < channels; ++c) {
          const std::int64_t strength = channels == 1 ? kStrengths : i * (7 + 4 * c) % 3 + 1;
          *pixel++ = static_cast<std::uint8_t>(row[x / scale] * strength / kStrengths);
        }
      }
    }
  }
  return images;
}

/// Every tenth word or so is one of fifty that only its class has.
Dataset draw_sequences(std::int64_t count, const Shape& sample, std::int64_t classes,
                       std::int64_t vocabulary, std::uint64_t seed) {
  const std::int64_t markers = std::clamp<std::int64_t>(vocabulary / (2 * classes), 1, 50);
  std::mt19937_64 random(seed);
  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> labels;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto label = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(classes));
    for (std::int64_t t = 0; t < sample.elements(); ++t) {
      const bool marker = random() % 10 == 0;
      const auto among = static_cast<std::uint64_t>(marker ? markers : vocabulary);
      const auto word = static_cast<std::int64_t>(random() % among);
      ids.push_back(static_cast<std::int32_t>(marker ? label * markers + word : word));
    }
    labels.push_back(static_cast<std::int32_t>(label));
  }
  return Dataset({{"text", Tensor(std::move(ids), sample.batched(count))}},
                 {{"label", Tensor(std::move(labels))}},
                 {.name = "synthetic", .classes = numbered_names(classes)});
}

}  // namespace

Dataset datasets::synthetic(const Network& network, Loss loss, std::int64_t samples,
                            std::uint64_t seed) {
  const NetworkDefinition& definition = network.definition();
  const NetworkInput& input = definition.only_input();
  const std::int64_t outputs = network.output_shape().elements();
  if (input.dtype == DType::i32) {
    const std::int64_t vocabulary = definition.parameters.at(0).shape[0];  // the embedding's rows
    return draw_sequences(samples, input.sample, outputs, vocabulary, seed);
  }
  if (input.sample.rank() == 3 && std::min(input.sample[0], input.sample[1]) >= kDigit) {
    const Dataset drawn_digits = digits(samples, 0, seed).train;
    const auto drawn = drawn_digits.inputs()[0].data.as<std::uint8_t>();
    const Column images{"image", draw_images(drawn, samples, input.sample)};
    if (loss == Loss::binary_cross_entropy) {
      return Dataset({images}, {{"value", answers(labels_of(drawn_digits), outputs)}},
                     {.name = "synthetic"});
    }
    return Dataset({images}, {{"label", class_labels(labels_of(drawn_digits), outputs)}},
                   {.name = "synthetic", .classes = numbered_names(outputs)});
  }
  require(input.sample.rank() == 1 && outputs == 1,
          "cannot make synthetic data for a network from {} to {}", to_string(input.sample),
          to_string(network.output_shape()));
  Dataset points = rosenbrock(samples, 0, input.sample[0], seed).train;
  points.set_info({.name = "synthetic"});
  return points;
}

}  // namespace linnet
