// SPDX-License-Identifier: Apache-2.0
#include "model/loss_shares.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/check.h"
#include "model/loss_graph.h"
#include "ops/gather_batch/record_index.h"

namespace linnet {
namespace {

/// Returns whether each row of the target counts as much as its label.
bool counts_labels(const StepData& data, std::size_t target) {
  const TargetLoss& loss = data.targets[target];
  return !loss.how.custom && !loss.how.target && !data.augment.mix &&
         counts_by_label(loss.how.loss, loss.how.options, data.parts[loss.part].record.dtype);
}

double counted(const LossOptions& options, std::int32_t label) {
  if (options.ignore_index && *options.ignore_index == label) return 0;
  if (options.class_weights.empty()) return 1;
  const auto at = static_cast<std::size_t>(label);
  return at < options.class_weights.size() ? options.class_weights[at] : 0;
}

/// Returns whether the loss is not a plain mean over rows.
bool weighs(const StepData& data, std::size_t target) {
  return data.weights || data.targets[target].lengths || counts_labels(data, target);
}

/// Of how many labels a sample's target is made; 0: of none.
std::int64_t labels_of_sample(const StepData& data, std::size_t target) {
  const TargetLoss& loss = data.targets[target];
  if (loss.how.target || loss.how.loss == Loss::binary_cross_entropy) return 0;
  if (data.parts[loss.part].record.dtype != DType::i32) return 0;
  return data.parts[loss.part].record.shape.sample().elements();
}

template <class T>
T element(const StepData::Part& part, std::uint64_t index) {
  T value{};
  std::memcpy(&value, part.bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

/// Returns the weights of a sample's steps up to the end of its sequence, or its one weight.
double weight_of(const StepData& data, const TargetLoss& target, std::uint64_t record) {
  const std::optional<std::int64_t> length =
      target.lengths ? std::optional(element<std::int32_t>(data.parts[*target.lengths], record))
                     : std::nullopt;
  if (!data.weights) return length ? static_cast<double>(*length) : 1;
  const StepData::Part& weights = data.parts[*data.weights];
  const std::int64_t steps = weights.record.shape.elements();
  if (steps == 1 && weights.record.shape.rank() == 1) {
    return double{element<float>(weights, record)} * static_cast<double>(length.value_or(1));
  }
  double sum = 0;
  for (std::int64_t t = 0; t < std::min(steps, length.value_or(steps)); ++t) {
    sum += element<float>(weights, record * static_cast<std::uint64_t>(steps) +
                                       static_cast<std::uint64_t>(t));
  }
  return sum;
}

/// Returns the weights of a sample's labels (of steps or pixels) up to the end of its sequence,
/// each times what it counts by itself.
double weight_of_labels(const StepData& data, std::size_t index, std::uint64_t record) {
  const TargetLoss& target = data.targets[index];
  const StepData::Part& labels = data.parts[target.part];
  const std::int64_t count = labels_of_sample(data, index);
  const std::int64_t steps = std::max<std::int64_t>(labels.record.shape.sample()[0], 1);
  const std::int64_t end =
      target.lengths ? element<std::int32_t>(data.parts[*target.lengths], record) : steps;
  const std::int64_t weights = data.weights ? data.parts[*data.weights].record.shape.elements() : 0;
  const bool counted_each = counts_labels(data, index);
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t step = i / (count / steps);
    if (step >= end) break;
    double weight = 1;
    if (weights > 0) {
      const auto place = static_cast<std::uint64_t>(weights == 1 ? 0 : step);
      weight = element<float>(data.parts[*data.weights],
                              record * static_cast<std::uint64_t>(weights) + place);
    }
    if (counted_each) {
      const std::uint64_t at =
          record * static_cast<std::uint64_t>(count) + static_cast<std::uint64_t>(i);
      weight *= counted(target.how.options, element<std::int32_t>(labels, at));
    }
    sum += weight;
  }
  return sum;
}

/// Returns what a sample of a target that weighs() counts.
double weight_of(const StepData& data, std::size_t target, std::uint64_t record) {
  // One label a sample; a loss of your own knows no classes' weights.
  if (labels_of_sample(data, target) > 1) return weight_of_labels(data, target, record);
  double weight = weight_of(data, data.targets[target], record);
  if (counts_labels(data, target)) {
    const TargetLoss& loss = data.targets[target];
    weight *= counted(loss.how.options, element<std::int32_t>(data.parts[loss.part], record));
  }
  return weight;
}

}  // namespace

std::size_t share_of(const StepData& data, std::size_t target) {
  if (!weighs(data, target)) return 0;
  std::size_t share = 1;
  for (std::size_t i = 0; i < target; ++i) share += weighs(data, i) ? 1 : 0;
  require(
      share < kShares,
      "an update of several batches takes at most {} outputs whose losses weight samples or labels",
      kShares - 1);
  return share;
}

double counted_weight(const StepData& data, std::size_t target) {
  double sum = 0;
  for (std::int64_t i = 0; i < data.samples; ++i) {
    const auto record = static_cast<std::uint64_t>(i);
    sum += labels_of_sample(data, target) > 1 ? weight_of_labels(data, target, record)
                                              : weight_of(data, data.targets[target], record);
  }
  return sum;
}

std::array<double, kShares> denominators(const StepData& data, const StepInfo& step,
                                         std::uint64_t count, bool shuffle) {
  std::array<double, kShares> sums{};
  sums[0] = static_cast<double>(count);
  const RecordIndex index(step, shuffle);
  for (std::size_t i = 0; i < data.targets.size(); ++i) {
    const std::size_t share = share_of(data, i);
    if (share == 0) continue;
    for (std::uint64_t row = 0; row < count; ++row) {
      sums[share] += weight_of(data, i, index(static_cast<std::int64_t>(row)));
    }
  }
  return sums;
}

}  // namespace linnet
