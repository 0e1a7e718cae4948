// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/metrics.h>

#include <string>
#include <vector>

#include "report/json.h"

namespace linnet::command {

/// Returns the name of a class, or where it has none its number.
std::string class_name(const std::vector<std::string>& names, std::size_t index);

/// metrics.json of a run: what was measured; undefined numbers are null. The names of the classes
/// are those of the data, without them (or for outputs beyond them) numbers.
Json to_json(const Metrics& metrics, const std::vector<std::string>& class_names);

/// Returns what `linnet evaluate` prints and `linnet train` ends with: a line of numbers, and for
/// up to 20 classes the confusion matrix as a table.
std::vector<std::string> metrics_lines(const Metrics& metrics,
                                       const std::vector<std::string>& class_names);

/// Warns on stderr where so large a share of what was measured is of the training set.
void warn_of_seen(double share);

}  // namespace linnet::command
