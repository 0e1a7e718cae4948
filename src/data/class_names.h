// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>

#include <cstdint>
#include <string>
#include <vector>

namespace linnet {

/// Targets of a data set in the order of other class names; what is empty stays as it is.
struct NamedTargets {
  std::vector<std::int32_t> labels = {};
  std::vector<float> values = {};
};

/// Returns the labels of `data` (or, where each class has a column of them, the values) as a model
/// of the classes `names` counts them: by name. Labels outside the classes stay. Empty where the
/// order is the same, and where one of both has no names: none, or for the data only numbers that
/// are none of `names`. Throws Error listing the names that are not among `names`, and for values
/// those that the data lack.
NamedTargets targets_by_name(const Dataset& data, const std::vector<std::string>& names);

}  // namespace linnet
