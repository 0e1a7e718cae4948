// SPDX-License-Identifier: Apache-2.0
#include <linnet/dataset.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "base/check.h"
#include "base/folder.h"
#include "data/targets.h"
#include "describe/nearest.h"

namespace linnet {
namespace {

using Names = std::vector<std::string>;

bool holds(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Names missing_from(const Names& names, const Names& wanted) {
  Names missing;
  std::copy_if(wanted.begin(), wanted.end(), std::back_inserter(missing),
               [&](const std::string& name) { return !holds(names, name); });
  return missing;
}

/// Numbers that stand for names that nobody gave.
bool are_numbers(const Names& names) {
  return names == numbered_names(static_cast<std::int64_t>(names.size()));
}

/// Returns where each class of the data stands in `names`.
std::vector<std::int32_t> places_of(const Dataset& data, const Names& names) {
  std::vector<std::int32_t> places;
  for (const std::string& name : data.classes()) {
    const auto found = std::find(names.begin(), names.end(), name);
    places.push_back(static_cast<std::int32_t>(found - names.begin()));
  }
  return places;
}

Tensor moved_labels(const Tensor& labels, std::span<const std::int32_t> places) {
  const std::span<const std::int32_t> elements = labels.as<std::int32_t>();
  std::vector<std::int32_t> moved(elements.begin(), elements.end());
  for (std::int32_t& label : moved) {
    if (label >= 0 && label < std::ssize(places)) label = places[static_cast<std::size_t>(label)];
  }
  return {std::move(moved), labels.shape()};
}

Tensor moved_columns(const Dataset& data, std::span<const std::int32_t> places) {
  const std::span<const float> values = values_of(data);
  std::vector<float> moved(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t column = i % places.size();
    moved[i - column + static_cast<std::size_t>(places[column])] = values[i];
  }
  return {std::move(moved), data.targets()[0].data.shape()};
}

/// Returns its targets as `names` counts the classes; the data set itself where the order is the
/// same, and where it has only numbers for names.
Dataset with_targets_by_name(const Dataset& data, const Names& names) {
  if (data.classes().empty() || data.classes() == names) return data;
  const Names unknown = missing_from(names, data.classes());
  if (unknown.size() == data.classes().size() && are_numbers(data.classes())) return data;
  require<DataError>(unknown.empty(),
                     "the data set '{}' has the unknown class{} {}; the model's classes are {}",
                     data.info().name, unknown.size() == 1 ? "" : "es", quoted(unknown),
                     quoted(names));
  const std::vector<std::int32_t> places = places_of(data, names);
  if (!has_class_columns(data)) {
    return with_first_target(data, moved_labels(data.targets()[0].data, places));
  }
  const Names lacking = missing_from(data.classes(), names);
  require<DataError>(lacking.empty(),
                     "the data set '{}' has no values for {}, which the model was trained on",
                     data.info().name, quoted(lacking));
  return with_first_target(data, moved_columns(data, places));
}

}  // namespace

Dataset with_class_names(Dataset data, const Names& class_names) {
  const bool labelled = !all_labels_of(data).empty() || has_class_columns(data);
  if (class_names.empty() || !labelled) return data;
  data = with_targets_by_name(data, class_names);
  if (data.classes().size() <= class_names.size()) data.set_classes(class_names);
  return data;
}

}  // namespace linnet
