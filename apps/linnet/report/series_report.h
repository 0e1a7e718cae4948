// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/series_task.h>

#include <string>
#include <vector>

#include "report/json.h"
#include "report/rivals.h"

namespace linnet::command {

/// What forecasts of a set of windows are worth, in each form.
struct SeriesReport {
  Json json = {};                       ///< {"windows": 724, "season": 365, "targets": [...]}
  std::vector<std::string> lines = {};  ///< a table for each target
  Rivals rivals = {};                   ///< the naive forecasts
  std::string html = {};                ///< sections of report.html: plots, then tables
};

/// Measures the model beside persistence and the seasonal naive forecast. `part`: "test".
SeriesReport report_series(Model& model, const SeriesWindows& windows, const std::string& part);

}  // namespace linnet::command
