// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/tables.h>

#include <string>

#include "tasks/task_pages.h"

namespace linnet {

/// Returns types, ranges, missing values and histograms of the columns and, with a target,
/// correlations.
TaskSurvey survey_of_table(const Table& table, const std::string& file, const std::string& target);

/// Returns what is said of the file: columns, and the trainings that fit them.
TaskPage page_of_table(const Table& table, const std::string& file);

}  // namespace linnet
