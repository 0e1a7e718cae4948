// SPDX-License-Identifier: Apache-2.0
#include <linnet/training_warnings.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <span>

#include "base/check.h"
#include "data/targets.h"
#include "model/bind_columns.h"
#include "model/model_state.h"
#include "model/step_graph.h"
#include "nn/definition.h"

namespace linnet {
namespace {

constexpr std::size_t kMostHashes = 512;
constexpr std::uint64_t kHashBits = (std::uint64_t{1} << 48) - 1;  // shorter in a model file
constexpr double kSeenShare = 0.1;
constexpr std::int64_t kFewSamples = 3;   // so many equal ones are no chance
constexpr double kLargeInput = 20;        // root mean square of a feature
constexpr std::size_t kLooksAhead = 3;    // operators after an input in which a scaling counts
constexpr std::int64_t kLookedAt = 2000;  // samples

std::uint64_t mixed(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9;
  x ^= x >> 27;
  x *= 0x94d049bb133111eb;
  return x ^ x >> 31;
}

std::uint64_t hashed(std::span<const std::byte> bytes, std::uint64_t hash) {
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, 8);
    hash = mixed(hash ^ word) + 0x9e3779b97f4a7c15;
  }
  std::uint64_t rest = bytes.size();
  for (; at < bytes.size(); ++at) rest = rest << 8 | static_cast<std::uint64_t>(bytes[at]);
  return mixed(hash ^ rest);
}

/// One hash a sample, of all of its inputs. Sources may read files, so there are none where one
/// gives the samples, but for the windows of a model of series.
std::vector<std::uint64_t> hashes_of(const Model& model, const Dataset& data) {
  const auto is_known = [&](const Column& column) {
    return column.source == nullptr || !model.series().empty();
  };
  if (data.size() == 0 || !std::ranges::all_of(data.inputs(), is_known)) return {};
  std::vector<std::uint64_t> hashes(static_cast<std::size_t>(data.size()), 0);
  for (const Column& column : data.inputs()) {
    if (column.source != nullptr) {
      std::vector<std::byte> record(ValueType{column.dtype(), column.record()}.bytes());
      for (std::size_t i = 0; i < hashes.size(); ++i) {
        column.source->read(static_cast<std::int64_t>(i), record);
        hashes[i] = hashed(record, hashes[i]);
      }
      continue;
    }
    const std::span<const std::byte> bytes = column.data.bytes();
    const std::size_t record = bytes.size() / hashes.size();
    for (std::size_t i = 0; i < hashes.size(); ++i) {
      hashes[i] = hashed(bytes.subspan(i * record, record), hashes[i]);
    }
  }
  for (std::uint64_t& hash : hashes) hash &= kHashBits;
  return hashes;
}

void keep_smallest(std::vector<std::uint64_t>& hashes) {
  std::ranges::sort(hashes);
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
  if (hashes.size() > kMostHashes) hashes.resize(kMostHashes);
}

struct Seen {
  std::int64_t found = 0;
  std::int64_t looked_up = 0;
  double share() const {
    return looked_up == 0 ? 0 : static_cast<double>(found) / static_cast<double>(looked_up);
  }
  /// `usual`: the share of samples that another one equals, as in a table of few categories.
  bool warns(double usual) const {
    return found >= std::min(kFewSamples, looked_up) && share() >= kSeenShare + usual;
  }
};

/// Returns the share of hashes that occur more than once.
double repeated_share(std::vector<std::uint64_t> hashes) {
  std::ranges::sort(hashes);
  std::size_t repeated = 0;
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    const bool before = i > 0 && hashes[i] == hashes[i - 1];
    const bool after = i + 1 < hashes.size() && hashes[i] == hashes[i + 1];
    if (before || after) ++repeated;
  }
  return hashes.empty() ? 0 : static_cast<double>(repeated) / static_cast<double>(hashes.size());
}

/// `noted` is sorted.
Seen seen_in(const std::vector<std::uint64_t>& noted, std::span<const std::uint64_t> hashes) {
  Seen seen;
  if (noted.empty()) return seen;
  const std::uint64_t limit =
      noted.size() < kMostHashes ? kHashBits : noted.back();  // all are noted, or the smallest
  for (const std::uint64_t hash : hashes) {
    if (hash > limit) continue;
    ++seen.looked_up;
    if (std::ranges::binary_search(noted, hash)) ++seen.found;
  }
  return seen;
}

bool scales(const Node& node) {
  static constexpr std::array<std::string_view, 3> kScaling{"scale", "channel_scale", "arithmetic"};
  const std::string_view name = node.op->name();
  return std::ranges::any_of(kScaling, [&](std::string_view known) { return name == known; }) ||
         name.find("norm") != std::string_view::npos;
}

/// Returns whether one of the first operators that read an input scales it.
bool is_scaled(const Graph& graph, Value input) {
  std::vector<int> reached{input.id};
  for (std::size_t step = 0; step < kLooksAhead; ++step) {
    std::vector<int> next;
    for (const Node& node : graph.nodes()) {
      const bool reads = std::ranges::any_of(node.inputs, [&](Value value) {
        return std::ranges::find(reached, value.id) != reached.end();
      });
      if (!reads) continue;
      if (scales(node)) return true;
      for (const Value value : node.outputs) next.push_back(value.id);
    }
    reached = std::move(next);
  }
  return false;
}

struct Feature {
  std::size_t index = 0;
  double size = 0;  ///< root mean square
};

template <class T>
Feature largest_feature(std::span<const T> values, std::size_t features) {
  std::vector<double> squares(features, 0.0);
  const std::size_t rows = values.size() / features;
  for (std::size_t i = 0; i < rows * features; ++i) {
    const auto value = static_cast<double>(values[i]);
    squares[i % features] += value * value;
  }
  const auto most = std::ranges::max_element(squares);
  return {static_cast<std::size_t>(most - squares.begin()),
          std::sqrt(*most / static_cast<double>(rows))};
}

/// Pixels count as one feature, the numbers of a row each as its own.
void warn_of_inputs(const Model& model, const Dataset& train, bool crops,
                    std::vector<std::string>& warnings) {
  if (!model.table().empty()) return;
  const NetworkDefinition& network = model.network().definition();
  for (const NetworkInput& input : network.inputs) {
    const auto column = std::ranges::find(train.inputs(), input.name, &Column::name);
    const bool only = network.inputs.size() == 1 && train.inputs().size() == 1;
    const Column* found = column != train.inputs().end() ? &*column
                          : only                         ? &train.inputs()[0]
                                                         : nullptr;
    if (found == nullptr || found->source != nullptr || found->dtype() == DType::i32) continue;
    if (found->record() != input.sample && !crops) continue;  // which the training refuses
    const Tensor rows = found->data.rows(0, std::min(kLookedAt, train.size()));
    const bool numbers = found->record().rank() == 1;
    const auto features = static_cast<std::size_t>(numbers ? found->record()[0] : 1);
    const Feature large = found->dtype() == DType::u8
                              ? largest_feature(rows.as<std::uint8_t>(), features)
                              : largest_feature(rows.as<float>(), features);
    if (!(large.size > kLargeInput) || is_scaled(network.graph, input.value)) continue;
    warnings.push_back(fmt::format(
        "the input '{}' has large numbers (a root mean square of {:.3g}{}) that no layer scales: "
        "begin the network with a normalize or batch_norm layer{}",
        input.name, large.size, numbers ? fmt::format(" in column {}", large.index) : "",
        numbers ? "" : ", or for pixels with rescale"));
  }
}

/// Returns the loss that an output trains with, before Loss::automatic is resolved.
Loss loss_of(const TrainingOptions& options, const std::string& output) {
  for (const OutputLoss& loss : options.output_losses) {
    if (loss.output == output) return loss.custom ? Loss::huber : loss.loss;
  }
  return options.custom_loss ? Loss::huber : options.loss;
}

/// Labels of several classes train as one of them, by a softmax: beyond a last Sigmoid it is one of
/// numbers in [0, 1], which can tell no class with certainty.
void warn_of_sigmoid(const Model& model, const Dataset& train, const TrainingOptions& options,
                     std::vector<std::string>& warnings) {
  const NetworkDefinition& network = model.network().definition();
  for (const NetworkOutput& output : network.outputs) {
    const auto column = std::ranges::find(train.targets(), output.name, &Column::name);
    const bool only = network.outputs.size() == 1 && train.targets().size() == 1;
    const Column* found = column != train.targets().end() ? &*column
                          : only                          ? &train.targets()[0]
                                                          : nullptr;
    const Loss loss = loss_of(options, output.name);
    const bool softmax =
        loss == Loss::automatic || loss == Loss::cross_entropy || loss == Loss::focal;
    if (found == nullptr || found->dtype() != DType::i32 || !softmax ||
        network.graph.shape(output.value)[-1] < 2 ||
        last_layer(network.graph, output.value) != LastLayer::sigmoid) {
      continue;
    }
    warnings.push_back(
        fmt::format("the labels are one class of several, but the output '{}' ends in a sigmoid, "
                    "whose numbers the loss takes as logits of a softmax: leave out the sigmoid",
                    output.name));
  }
}

void warn_of_targets(const Model& model, const Dataset& train, const TrainingOptions& options,
                     std::vector<std::string>& warnings) {
  const Loss loss = loss_of(options, model.network().output_names().front());
  if (loss != Loss::mse && loss != Loss::automatic) return;
  if (loss == Loss::automatic && is_multi_label(train)) return;  // binary cross-entropy
  const std::span<const float> values = values_of(train);
  const bool binary = !values.empty() && std::ranges::all_of(values, [](float value) {
    return value == 0 || value == 1;
  });
  if (!binary) return;
  const bool of_one_column = !model.table().empty() && std::ssize(values) == train.size();
  warnings.push_back(
      fmt::format("the targets of '{}' are all 0 or 1, and the loss is the squared error: {}",
                  train.info().name,
                  of_one_column ? "--task classification learns them as classes"
                                : "the loss binary_cross_entropy learns probabilities of them"));
}

void warn_of_seen(const Model& model, const Splits& data, std::vector<std::string>& warnings) {
  if (data.validation.size() == 0 && data.test.size() == 0) return;
  std::vector<std::uint64_t> training = hashes_of(model, data.train);
  const double usual = repeated_share(training);
  keep_smallest(training);
  for (const auto& [name, part] :
       {std::pair("validation", &data.validation), std::pair("test", &data.test)}) {
    if (has_folds(model.network().definition(), *part)) continue;  // members hold them out
    const std::vector<std::uint64_t> hashes = hashes_of(model, *part);
    if (const Seen seen = seen_in(training, hashes); seen.warns(usual)) {
      warnings.push_back(
          fmt::format("about {:.0f} % of the samples of the {} set of '{}' have the inputs of a "
                      "training sample "
                      "(targets are not compared), so its metrics are too good for new data",
                      100 * seen.share(), name, data.train.info().name));
    } else if (const Seen before = seen_in(model.training_record().seen, hashes);
               before.warns(usual)) {
      warnings.push_back(fmt::format(
          "about {:.0f} % of the samples of the {} set of '{}' have the inputs of a "
          "sample of an earlier training (targets are not compared), so its metrics are "
          "too good for new data",
          100 * before.share(), name, data.train.info().name));
    }
  }
}

}  // namespace

std::vector<std::string> training_warnings(const Model& model, const Splits& data,
                                           const TrainingOptions& options) {
  std::vector<std::string> warnings;
  if (data.train.size() == 0) return warnings;
  warn_of_inputs(model, data.train, options.augment.crops(), warnings);
  warn_of_targets(model, data.train, options, warnings);
  warn_of_sigmoid(model, data.train, options, warnings);
  warn_of_seen(model, data, warnings);
  if ((options.keep_best || options.patience > 0) && data.validation.size() == 0 &&
      data.test.size() > 0) {
    warnings.push_back(
        fmt::format("the test set of '{}' chooses the epoch, since there is no validation set, so "
                    "its metrics are too good for new data",
                    data.train.info().name));
  }
  return warnings;
}

void remember_samples(Model& model, const Dataset& train) {
  const std::vector<std::uint64_t> hashes = hashes_of(model, train);
  if (hashes.empty()) return;
  TrainingRecord record = model.training_record();
  record.seen.insert(record.seen.end(), hashes.begin(), hashes.end());
  keep_smallest(record.seen);
  model.set_training_record(std::move(record));
}

double seen_share(const Model& model, const Dataset& data) {
  const std::vector<std::uint64_t>& noted = model.training_record().seen;
  if (noted.empty() || has_folds(model.network().definition(), data)) return 0;
  const std::vector<std::uint64_t> hashes = hashes_of(model, data);
  const Seen seen = seen_in(noted, hashes);
  return seen.warns(repeated_share(hashes)) ? seen.share() : 0;
}

}  // namespace linnet
