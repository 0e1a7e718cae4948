// SPDX-License-Identifier: Apache-2.0
#include "model/check_values.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/finite.h"
#include "data/lengths.h"
#include "model/bind_columns.h"
#include "model/id_limits.h"
#include "model/loss_shares.h"

namespace linnet {
namespace {

/// Checks a column in memory, but for padding, which may hold anything.
void check_finite(const Column& column, const std::filesystem::path& file, std::string_view what,
                  const Dataset& data) {
  if (column.source != nullptr || column.dtype() != DType::f32) return;
  for_each_counted<float>(column, [&](std::span<const float> values, std::size_t first) {
    const std::size_t bad = first_not_finite(values);
    if (bad == values.size()) return false;
    fail<DataError>("{} is {}; expected finite numbers",
                    place_of(first + bad, column.record(), file, what, data), values[bad]);
  });
}

/// Returns whether any label counts in a loss.
bool counts(std::span<const std::int32_t> labels, const LossOptions& options) {
  return std::ranges::any_of(labels, [&](std::int32_t label) {
    if (label == options.ignore_index) return false;
    const std::vector<double>& weights = options.class_weights;
    const auto at = static_cast<std::size_t>(label);  // of padding: perhaps no class
    return weights.empty() || (at < weights.size() && weights[at] > 0);
  });
}

}  // namespace

std::string place_of(std::size_t index, const Shape& record, std::string_view owner) {
  const auto width = static_cast<std::size_t>(std::max<std::int64_t>(record.elements(), 1));
  std::vector<std::size_t> column(record.dims().size());
  std::size_t rest = index % width;
  for (std::size_t axis = column.size(); axis-- > 0;) {
    const auto dim = static_cast<std::size_t>(record.dims()[axis]);
    column[axis] = rest % dim;
    rest /= dim;
  }
  const std::string where = column.empty() ? ""
                            : column.size() > 1
                                ? fmt::format(", column ({})", fmt::join(column, ", "))
                                : fmt::format(", column {}", column[0]);
  return fmt::format("row {}{} of {} (counted from 0)", index / width, where, owner);
}

std::string place_of(std::size_t index, const Shape& record, const std::filesystem::path& file,
                     std::string_view what, const Dataset& data) {
  return place_of(index, record,
                  file.empty() ? fmt::format("the {} of '{}'", what, data.info().name)
                               : fmt::format("'{}'", file.string()));
}

std::string name_of_input(const Column& column, const Dataset& data) {
  return data.inputs().size() == 1 ? "samples" : fmt::format("column '{}'", column.name);
}

std::string name_of_target(const Column& column, const Dataset& data) {
  return data.targets().size() == 1 ? "targets" : fmt::format("column '{}'", column.name);
}

std::filesystem::path file_of_input(const Dataset& data) {
  return data.inputs().size() == 1 ? data.info().samples_file : std::filesystem::path();
}

std::filesystem::path file_of_target(const Dataset& data) {
  return data.targets().size() == 1 ? data.info().targets_file : std::filesystem::path();
}

void check_training_values(const NetworkDefinition& network, const Dataset& data) {
  const std::vector<const Column*> inputs = bind_inputs(network, data);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (network.sequences_of(i)) continue;
    check_finite(*inputs[i], file_of_input(data), name_of_input(*inputs[i], data), data);
  }
  for (const Column& column : data.targets()) {
    check_finite(column, file_of_target(data), name_of_target(column, data), data);
  }
  for (const IdLimit& limit : id_limits(network)) {
    const Column& column = *inputs[limit.input];
    if (network.sequences_of(limit.input)) continue;
    if (column.source != nullptr || column.dtype() != DType::i32) continue;
    const std::span<const std::int32_t> ids = column.data.as<std::int32_t>();
    const std::size_t bad = first_outside(ids, limit);
    if (bad == ids.size()) continue;
    refuse_id(limit, ids[bad],
              place_of(bad, network.inputs[limit.input].sample, file_of_input(data),
                       name_of_input(column, data), data));
  }
}

void check_counted_labels(const StepData& step, const Dataset& data, std::string_view part) {
  if (step.weights) {
    const std::span<const float> weights = data.weights().as<float>();
    require<DataError>(
        std::ranges::any_of(weights, [](float weight) { return weight > 0; }),
        "the weights of all {} {} samples of '{}' are 0; expected at least one above 0",
        data.size(), part, data.info().name);
  }
  for (std::size_t i = 0; i < step.targets.size(); ++i) {
    const OutputLoss& loss = step.targets[i].how;
    if (loss.target) continue;
    require<DataError>(!step.targets[i].lengths || counted_weight(step, i) > 0,
                       "the lengths{} of the targets of the {} {} samples of '{}' leave no step "
                       "that counts; expected at least one",
                       step.weights ? " and weights" : "", data.size(), part, data.info().name);
    const StepData::Part& target = step.parts[step.targets[i].part];
    if (target.record.dtype != DType::i32 || loss.custom) continue;
    const std::span labels(reinterpret_cast<const std::int32_t*>(target.bytes.data()),
                           target.bytes.size() / sizeof(std::int32_t));
    if (counts(labels, loss.options)) continue;
    const bool ignored =
        loss.options.ignore_index &&
        std::ranges::count(labels, *loss.options.ignore_index) == std::ssize(labels);
    require<DataError>(!ignored,
                       "all {} labels of the {} samples of '{}' are {}, which the loss ignores "
                       "(ignore_index); expected at least one other label",
                       labels.size(), part, data.info().name,
                       loss.options.ignore_index.value_or(0));
    fail<DataError>(
        "all of the {} labels of the {} samples of '{}' are ignored or have class weight 0; "
        "expected at least one that counts",
        labels.size(), part, data.info().name);
  }
}

}  // namespace linnet
