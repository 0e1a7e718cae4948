// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/model.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tasks/task.h"

namespace linnet::command {

/// `linnet predict` of a model of series: the steps after the rows of tables, as CSV.
struct ForecastRequest {
  std::vector<std::string> tables = {};
  std::string sheet = {};   ///< of a spreadsheet; empty: the first
  std::string output = {};  ///< a file instead of standard output
  bool json = false;
  bool safe = false;    ///< no field begins like a formula
  double interval = 0;  ///< coverage of the intervals around values; 0: none
};
int print_forecast(const Task& task, Model& model, const ForecastRequest& request);

/// `linnet evaluate` of a model of series on all windows of a table, or of its sheet.
int print_series_scores(const Task& task, Model& model, const std::string& table,
                        const std::string& sheet, bool json);

/// Prints what a task measured in its own way. `seen`: seen_share() of the samples.
int print_own_scores(const TaskReport& report, const std::string& data, double seen, bool json);

}  // namespace linnet::command
