// SPDX-License-Identifier: Apache-2.0
#include "synthetic_data.h"

#include <algorithm>
#include <random>

#include "base/check.h"
#include "data/rosenbrock.h"
#include "nn/definition.h"

namespace linnet::command {
namespace {

constexpr std::int64_t kDigit = 28;  // the side of a drawn digit
constexpr std::int64_t kDigits = 10;
constexpr std::int64_t kStrengths = 3;

void name_classes(Dataset& data, std::int64_t count) {
  for (std::int64_t c = 0; c < count; ++c) data.class_names.push_back(fmt::format("{}", c));
}

/// Labels of digits as `outputs` classes; where these are more, the strength of the colours counts.
void add_classes(Dataset& data, const std::vector<std::int32_t>& digits, std::int64_t outputs) {
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const auto strength = static_cast<std::int64_t>(i) % kStrengths;
    data.labels.push_back(static_cast<std::int32_t>((digits[i] + kDigits * strength) % outputs));
  }
  name_classes(data, outputs);
}

/// Answers that each follow from the digit.
void add_answers(Dataset& data, const std::vector<std::int32_t>& digits, std::int64_t outputs) {
  data.value_shape = {outputs};
  for (const std::int32_t digit : digits) {
    for (std::int64_t k = 0; k < outputs; ++k) {
      data.values.push_back((digit * 7 + k * 3) % kDigits < 3 ? 1.0F : 0.0F);
    }
  }
}

void draw_images(Dataset& data, const std::vector<std::uint8_t>& digits, std::int64_t count) {
  const std::int64_t height = data.sample_shape[0];
  const std::int64_t width = data.sample_shape[1];
  const std::int64_t channels = data.sample_shape[2];
  const std::int64_t scale = std::min(height, width) / kDigit;
  const std::int64_t top = (height - scale * kDigit) / 2;
  const std::int64_t left = (width - scale * kDigit) / 2;
  data.bytes.resize(static_cast<std::size_t>(count * data.sample_shape.elements()));
  for (std::int64_t i = 0; i < count; ++i) {
    std::uint8_t* image = data.bytes.data() + i * data.sample_shape.elements();
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
}

/// Every tenth word or so is one of fifty that only its class has.
void draw_sequences(Dataset& data, std::int64_t count, std::int64_t classes,
                    std::int64_t vocabulary, std::uint64_t seed) {
  const std::int64_t markers = std::clamp<std::int64_t>(vocabulary / (2 * classes), 1, 50);
  std::mt19937_64 random(seed);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto label = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(classes));
    for (std::int64_t t = 0; t < data.sample_shape.elements(); ++t) {
      const bool marker = random() % 10 == 0;
      const auto among = static_cast<std::uint64_t>(marker ? markers : vocabulary);
      const auto word = static_cast<std::int64_t>(random() % among);
      data.ids.push_back(static_cast<std::int32_t>(marker ? label * markers + word : word));
    }
    data.labels.push_back(static_cast<std::int32_t>(label));
  }
  name_classes(data, classes);
}

}  // namespace

Dataset synthetic_data(const Network& network, Loss loss, std::int64_t samples,
                       std::uint64_t seed) {
  const NetworkDefinition& definition = network.definition();
  const NetworkInput& input = definition.only_input();
  const std::int64_t outputs = network.output_shape().elements();
  Dataset data;
  data.name = "synthetic";
  data.sample_shape = input.sample;
  if (input.dtype == DType::i32) {
    data.sample_dtype = DType::i32;
    const std::int64_t vocabulary = definition.parameters.at(0).shape[0];  // the embedding's rows
    draw_sequences(data, samples, outputs, vocabulary, seed);
  } else if (input.sample.rank() == 3 && std::min(input.sample[0], input.sample[1]) >= kDigit) {
    const Dataset digits = make_digits(samples, 0, seed).train;
    draw_images(data, digits.bytes, samples);
    if (loss == Loss::binary_cross_entropy) {
      add_answers(data, digits.labels, outputs);
    } else {
      add_classes(data, digits.labels, outputs);
    }
  } else {
    require(input.sample.rank() == 1 && outputs == 1,
            "there are no synthetic data for a network from {} to {}; name a folder with --dataset",
            to_string(input.sample), to_string(network.output_shape()));
    data = make_rosenbrock(samples, 0, input.sample[0], seed).train;
    data.name = "synthetic";
  }
  return data;
}

}  // namespace linnet::command
