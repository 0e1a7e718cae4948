// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace linnet {

/// Bounds the labels in files: names are made up to the largest one.
inline constexpr std::int32_t kMostLabels = 1 << 20;

/// Returns the first target where it is one label a sample, (N) class indices; else nothing.
std::span<const std::int32_t> labels_of(const Dataset& data);
/// Returns the first target where it is labels, class indices (N) or of steps or pixels, (N, ...),
/// row-major; else nothing. What lies in padding may be no class.
std::span<const std::int32_t> all_labels_of(const Dataset& data);
/// Returns the first target where it is values in memory, row-major; else nothing.
std::span<const float> values_of(const Dataset& data);
/// Returns the shape of one sample of the first target's values, (1) for single numbers; () for
/// labels, and without targets.
Shape value_shape_of(const Dataset& data);

/// Returns whether the first target is values in memory, a column for each class.
bool has_class_columns(const Dataset& data);
/// Returns whether these values are all 0 or 1: labels of which a sample may have several.
bool is_multi_label(const Dataset& data);

/// Returns one more than the largest label.
std::int64_t classes_of(std::span<const std::int32_t> labels,
                        std::optional<std::int32_t> ignored_label = {});
/// Does the same for a column of labels, but for padding.
std::int64_t classes_of(const Column& labels, std::optional<std::int32_t> ignored_label = {});

/// Returns the records of a column in memory: those that are there, or what a source reads outside
/// of an epoch.
Tensor column_in_memory(const Column& column);

/// Returns the data set with its first target in memory, which a source has read outside of an
/// epoch; the data set itself where it is there already.
Dataset with_first_target_read(const Dataset& data);

/// Returns the data set with another column instead of one of its inputs, or of its first target.
Dataset with_input(const Dataset& data, std::size_t index, Column column);
Dataset with_first_target(const Dataset& data, Tensor values);

}  // namespace linnet
