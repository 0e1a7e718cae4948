// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/series_task.h>

#include <string>

#include "tasks/task_report.h"

namespace linnet {

/// Measures the model beside persistence and the seasonal naive forecast. JSON: {"windows": 724,
/// "season": 365, "targets": [...]}; lines: a table for each target; HTML: plots, then tables.
/// `part`: "test".
TaskReport report_series(Model& model, const SeriesWindows& windows, const std::string& part);

}  // namespace linnet
