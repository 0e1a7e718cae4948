// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/trainer.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "commands/train_watcher.h"
#include "config/named_data.h"
#include "config/workloads.h"
#include "report/json.h"
#include "report/metrics.h"
#include "report/run_folder.h"

namespace linnet::command {

/// summary.json; `test`: of the test set, if there is one.
Json summary_json(const Job& job, const Model& model, const History& history,
                  const LoadedData& data, const std::optional<Metrics>& test,
                  const RunFolder& folder);

/// Returns text such as "test accuracy 98.31 %" or "test R² 0.8123"; of the training where no
/// samples are held out for a test.
std::string test_result(const Json& summary);

/// report.html; `sections`: further ones, as HTML.
void write_report(const Job& job, const Json& summary, const History& history, const Model& model,
                  const LoadedData& data, std::span<const float> predictions,
                  const std::optional<Metrics>& metrics, const std::string& sections,
                  const RunFolder& folder);

/// Returns the model's outputs for a data set; none for one without samples.
std::vector<float> predictions_of(Model& model, const Job& job, const Dataset& data);

/// Returns what they are worth, if there are any.
std::optional<Metrics> measured(const Job& job, const Model& model,
                                std::span<const float> predictions, const Dataset& data);

/// metrics.json (of the test set, and of a validation set in it), and its lines on the terminal.
void report_metrics(const Job& job, Model& model, const std::optional<Metrics>& test,
                    const Splits& splits, const RunFolder& folder, Watcher& watcher);

}  // namespace linnet::command
