// SPDX-License-Identifier: Apache-2.0
#include "data/class_names.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.h"
#include "data/folder.h"

namespace linnet {
namespace {

using Names = std::vector<std::string>;

constexpr std::size_t kNamed = 20;  // of a list of names in a message

std::string listed(const Names& names) {
  const std::size_t shown = std::min(names.size(), kNamed);
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    text += fmt::format("{}'{}'", i > 0 ? ", " : "", names[i]);
  }
  return text + (shown < names.size() ? fmt::format(" and {} more", names.size() - shown) : "");
}

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

bool has_columns_of_classes(const Dataset& data) {
  return !data.values.empty() && data.value_shape.rank() == 1 &&
         data.value_shape[0] == data.classes();
}

/// Where each class of the data stands in `names`.
std::vector<std::int32_t> places_of(const Dataset& data, const Names& names) {
  std::vector<std::int32_t> places;
  for (const std::string& name : data.class_names) {
    const auto found = std::find(names.begin(), names.end(), name);
    places.push_back(static_cast<std::int32_t>(found - names.begin()));
  }
  return places;
}

}  // namespace

NamedTargets targets_by_name(const Dataset& data, const Names& names) {
  const bool columns = has_columns_of_classes(data);
  if (names.empty() || data.class_names.empty() || data.class_names == names ||
      (data.labels.empty() && !columns)) {
    return {};
  }
  const Names unknown = missing_from(names, data.class_names);
  if (unknown.size() == data.class_names.size() && are_numbers(data.class_names)) return {};
  require(unknown.empty(),
          "the data set '{}' has the class{} {}, which the model does not know; its classes are {}",
          data.name, unknown.size() == 1 ? "" : "es", listed(unknown), listed(names));
  const std::vector<std::int32_t> places = places_of(data, names);
  NamedTargets targets;
  if (!columns) {
    targets.labels = data.labels;
    for (std::int32_t& label : targets.labels) {
      if (label >= 0 && label < data.classes()) label = places[static_cast<std::size_t>(label)];
    }
    return targets;
  }
  const Names lacking = missing_from(data.class_names, names);
  require(lacking.empty(), "the data set '{}' has no values for {}, which the model was trained on",
          data.name, listed(lacking));
  targets.values.resize(data.values.size());
  for (std::size_t i = 0; i < data.values.size(); ++i) {
    const std::size_t column = i % places.size();
    targets.values[i - column + static_cast<std::size_t>(places[column])] = data.values[i];
  }
  return targets;
}

Dataset with_class_names(Dataset data, const Names& class_names) {
  NamedTargets targets = targets_by_name(data, class_names);
  if (!targets.labels.empty()) data.labels = std::move(targets.labels);
  if (!targets.values.empty()) data.values = std::move(targets.values);
  const bool labelled = !data.labels.empty() || has_columns_of_classes(data);
  if (labelled && data.class_names.size() <= class_names.size()) data.class_names = class_names;
  return data;
}

}  // namespace linnet
