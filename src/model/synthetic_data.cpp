// SPDX-License-Identifier: Apache-2.0
#include <linnet/datasets.h>
#include <linnet/network.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/folder.h"
#include "base/random.h"
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

/// Returns the rows of the smallest table that ids look up. Throws Error where they look up none.
std::int64_t rows_for(const NetworkDefinition& network, const NetworkInput& input) {
  const Value ids = input.value;
  std::int64_t rows = std::numeric_limits<std::int32_t>::max();
  bool found = false;
  for (const Node& node : network.graph.nodes()) {
    if (std::ranges::find(node.inputs, ids) == node.inputs.end()) continue;
    for (const Value value : node.inputs) {
      const ValueInfo& info = network.graph.info(value);
      if (info.storage != Storage::parameter) continue;
      rows = std::min(rows, info.type.shape[0]);
      found = true;
    }
  }
  require(found, "cannot make synthetic ids for the input '{}', which looks up no table",
          input.name);
  return rows;
}

/// One number a sample, from 0 to 1, that follows from its first numbers or ids.
std::vector<double> hidden_values(const Tensor& samples, std::int64_t below) {
  constexpr std::int64_t kMost = 8;
  const std::int64_t size = samples.shape().sample().elements();
  const std::int64_t read = std::min(size, kMost);
  std::vector<double> hidden(static_cast<std::size_t>(samples.shape()[0]));
  for (std::size_t i = 0; i < hidden.size(); ++i) {
    const std::size_t begin = i * static_cast<std::size_t>(size);
    if (below > 0) {
      hidden[i] = samples.as<std::int32_t>()[begin] / static_cast<double>(below);
      continue;
    }
    double sum = 0;
    for (std::int64_t k = 0; k < read; ++k) {
      sum += samples.as<float>()[begin + static_cast<std::size_t>(k)];
    }
    hidden[i] = std::erfc(-sum / std::sqrt(2.0 * static_cast<double>(read))) / 2;
  }
  return hidden;
}

bool takes_labels(Loss loss) {
  return loss == Loss::automatic || loss == Loss::cross_entropy || loss == Loss::hinge ||
         loss == Loss::focal;
}

/// Targets of one output that a loss takes; each number of a sample's follows from its hidden
/// value.
Column targets_for(std::span<const double> hidden, const Shape& output, Loss loss) {
  const auto samples = static_cast<std::int64_t>(hidden.size());
  if (takes_labels(loss) && output.elements() > 1) {
    const std::int64_t classes = output[output.rank() - 1];
    const std::int64_t places = output.elements() / classes;
    std::vector<std::int32_t> labels;
    for (const double value : hidden) {
      const auto label = static_cast<std::int32_t>(value * static_cast<double>(classes));
      labels.insert(labels.end(), static_cast<std::size_t>(places),
                    std::min(label, static_cast<std::int32_t>(classes - 1)));
    }
    std::vector<std::int64_t> shape = {samples};
    for (std::size_t axis = 0; axis + 1 < output.rank(); ++axis) shape.push_back(output[axis]);
    return {"label", Tensor(std::move(labels), Shape(shape))};
  }
  std::vector<float> values;
  for (const double value : hidden) {
    for (std::int64_t k = 0; k < output.elements(); ++k) {
      double target = k % 2 == 0 ? value : 1 - value;
      if (loss == Loss::binary_cross_entropy) target = std::round(target);
      if (loss == Loss::kl_divergence) target = 1 / static_cast<double>(output[output.rank() - 1]);
      values.push_back(static_cast<float>(target));
    }
  }
  return {"value", Tensor(std::move(values), output.batched(samples))};
}

void draw_normal(std::span<float> values, std::mt19937_64& random) {
  for (std::size_t i = 0; i < values.size(); i += 2) {
    const std::uint64_t word = random();
    const auto pair =
        normal_pair(static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32U));
    values[i] = pair[0];
    if (i + 1 < values.size()) values[i + 1] = pair[1];
  }
}

/// Normal numbers and ids of equal frequency, in the shapes of any network's inputs.
Dataset draw_any(const NetworkDefinition& network, Loss loss, std::int64_t count,
                 std::uint64_t seed) {
  require(network.outputs.size() == 1,
          "cannot make synthetic data for a network of {} outputs; expected one",
          network.outputs.size());
  std::mt19937_64 random(seed);
  std::vector<Column> inputs;
  std::vector<double> hidden;
  for (std::size_t place = 0; place < network.inputs.size(); ++place) {
    const NetworkInput& input = network.inputs[place];
    const bool ids = input.dtype == DType::i32;
    const std::optional<std::size_t> sequences = network.sequences_of(place);
    const std::int64_t first = sequences ? 1 : 0;  // a sequence has a step at least
    const std::int64_t below = sequences ? network.inputs[*sequences].sample[0] + 1
                               : ids     ? rows_for(network, input)
                                         : 0;
    Tensor drawn(ids ? DType::i32 : DType::f32, input.sample.batched(count));
    if (ids) {
      for (std::int32_t& id : drawn.as_writable<std::int32_t>()) {
        const auto some = static_cast<std::uint64_t>(below - first);
        id = static_cast<std::int32_t>(first + static_cast<std::int64_t>(random() % some));
      }
    } else {
      draw_normal(drawn.as_writable<float>(), random);
    }
    if (hidden.empty()) hidden = hidden_values(drawn, below);
    inputs.push_back({input.name, std::move(drawn)});
  }
  Column target = targets_for(hidden, network.output_sample(), loss);
  const bool labels = target.data.dtype() == DType::i32;
  const Shape output = network.output_sample();
  return Dataset(std::move(inputs), {std::move(target)},
                 {.name = "synthetic",
                  .classes = labels ? numbered_names(output[output.rank() - 1])
                                    : std::vector<std::string>{}});
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
  if (definition.inputs.size() > 1 || definition.outputs.size() > 1) {
    return draw_any(definition, loss, samples, seed);
  }
  const NetworkInput& input = definition.inputs[0];
  const Shape output = network.output_shape();
  const std::int64_t outputs = output.elements();
  const bool classes = takes_labels(loss) && output.rank() == 1 && outputs > 1;
  if (input.dtype == DType::i32 && input.sample.rank() == 1 && classes) {
    return draw_sequences(samples, input.sample, outputs, rows_for(definition, input), seed);
  }
  const bool image = input.dtype != DType::i32 && input.sample.rank() == 3 &&
                     std::min(input.sample[0], input.sample[1]) >= kDigit;
  const bool several = loss == Loss::binary_cross_entropy && output.rank() == 1;
  if (image && (classes || several)) {
    const Dataset drawn_digits = digits(samples, 0, seed).train;
    const auto drawn = drawn_digits.inputs()[0].data.as<std::uint8_t>();
    const Column images{"image", draw_images(drawn, samples, input.sample)};
    if (several) {
      return Dataset({images}, {{"value", answers(labels_of(drawn_digits), outputs)}},
                     {.name = "synthetic"});
    }
    return Dataset({images}, {{"label", class_labels(labels_of(drawn_digits), outputs)}},
                   {.name = "synthetic", .classes = numbered_names(outputs)});
  }
  if (input.dtype == DType::i32 || input.sample.rank() != 1 || outputs > 1 ||
      loss == Loss::binary_cross_entropy) {
    return draw_any(definition, loss, samples, seed);
  }
  Dataset points = rosenbrock(samples, 0, input.sample[0], seed).train;
  points.set_info({.name = "synthetic"});
  return points;
}

}  // namespace linnet
