// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/metrics.h>
#include <linnet/model.h>
#include <linnet/prediction_report.h>

#include <cstdint>
#include <optional>
#include <span>

namespace linnet {

/// Returns whether the model predicts values of a table, not probabilities by binary cross-entropy.
/// They are measured as values, even where all that a file holds are 0 or 1.
bool predicts_values(const Model& model);

/// Returns measure() of a model's predictions, by the task that it learned from its table.
Metrics measure_for(const Model& model, std::span<const float> predictions, const Dataset& data,
                    std::optional<std::int32_t> ignore_index = {});
/// Returns prediction_report() of a model's predictions in the same way.
PredictionReport report_for(const Model& model, std::span<const float> predictions,
                            const Dataset& data, const PredictionReportOptions& options = {});

}  // namespace linnet
