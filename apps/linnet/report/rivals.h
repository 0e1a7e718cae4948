// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>
#include <linnet/metrics.h>
#include <linnet/model.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/prediction_report.h"
#include "tasks/task_report.h"

namespace linnet::command {

/// The samples that a model is measured on.
struct HeldOut {
  std::string part = {};  ///< "test" or "validation"
  std::string what = {};  ///< how several samples are called: "rows", "images", "texts", "samples"
  Dataset data = {};
  std::vector<float> predictions = {};     ///< of the model
  std::optional<Metrics> metrics = {};     ///< of the model; nothing for series
  std::vector<std::int64_t> numbers = {};  ///< rows in a table's file, from 1; empty: no table
  std::optional<ShownReport> shown = {};   ///< where there are metrics
};

/// Measures the most frequent class of the training set, or the mean of its values, and for a
/// model of a table a linear model. Nothing for data that have neither labels nor values.
Rivals rivals_of(const Model& model, const HeldOut& held, const Dataset& train,
                 std::optional<std::int32_t> ignore_index);

}  // namespace linnet::command
