// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tasks/data_settings.h"

namespace linnet::command {

/// Prints what `linnet data info FILE.csv` shows: types, ranges, missing values, histograms and,
/// with a target, correlations. Returns the exit status.
int table_info(const std::string& file, const std::string& target, const DataSettings& reading,
               bool json);

}  // namespace linnet::command
