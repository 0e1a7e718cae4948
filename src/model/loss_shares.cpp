// SPDX-License-Identifier: Apache-2.0
#include "model/loss_shares.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/check.h"
#include "ops/gather_batch/record_index.h"

namespace linnet {
namespace {

/// Whether each row of the target counts as much as its label.
bool counts_labels(const StepData& data, std::size_t target) {
  const TargetLoss& loss = data.targets[target];
  const LossOptions& options = loss.how.options;
  return !loss.how.custom && !loss.how.target && !data.augment.mix &&
         data.parts[loss.part].record.dtype == DType::i32 &&
         (!options.class_weights.empty() || options.ignore_index);
}

double counted(const LossOptions& options, std::int32_t label) {
  if (options.ignore_index && *options.ignore_index == label) return 0;
  if (options.class_weights.empty()) return 1;
  const auto at = static_cast<std::size_t>(label);
  return at < options.class_weights.size() ? options.class_weights[at] : 0;
}

/// Whether the loss is no plain mean over rows.
bool weighs(const StepData& data, std::size_t target) {
  return data.weights || data.targets[target].lengths || counts_labels(data, target);
}

template <class T>
T element(const StepData::Part& part, std::uint64_t index) {
  T value{};
  std::memcpy(&value, part.bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

/// The weights of a sample's steps up to the end of its sequence, or its one weight.
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

}  // namespace

std::size_t share_of(const StepData& data, std::size_t target) {
  if (!weighs(data, target)) return 0;
  std::size_t share = 1;
  for (std::size_t i = 0; i < target; ++i) share += weighs(data, i) ? 1 : 0;
  require(share < kShares,
          "gradients of several batches are added for at most {} outputs whose losses weigh "
          "samples or labels",
          kShares - 1);
  return share;
}

double counted_weight(const StepData& data, std::size_t target) {
  double sum = 0;
  for (std::int64_t i = 0; i < data.samples; ++i) {
    sum += weight_of(data, data.targets[target], static_cast<std::uint64_t>(i));
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
    const TargetLoss& target = data.targets[i];
    for (std::uint64_t row = 0; row < count; ++row) {
      const std::uint64_t record = index(static_cast<std::int64_t>(row));
      double weight = weight_of(data, target, record);
      if (counts_labels(data, i)) {
        weight *=
            counted(target.how.options, element<std::int32_t>(data.parts[target.part], record));
      }
      sums[share] += weight;
    }
  }
  return sums;
}

}  // namespace linnet
