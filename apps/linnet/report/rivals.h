// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>
#include <linnet/metrics.h>
#include <linnet/model.h>
#include <linnet/series_task.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/html_plot.h"
#include "report/json.h"

namespace linnet::command {

/// The samples that a model is measured on.
struct HeldOut {
  std::string part = {};  ///< "test" or "validation"
  std::string what = {};  ///< how several samples are called: "rows", "images", "texts", "samples"
  Dataset data = {};
  std::vector<float> predictions = {};     ///< of the model
  std::optional<Metrics> metrics = {};     ///< of the model; nothing for series
  std::vector<std::int64_t> numbers = {};  ///< rows in a table's file, from 1; empty: no table
};

/// What simpler answers are worth on the same samples.
struct Rivals {
  std::string verdict = {};  ///< how good the model is, beside them; empty: there are none
  /// Where the model is not better than an answer that looks at no input; else empty.
  std::string worse = {};
  Json json = Json::object();  ///< "trivial" and "linear", as summary.json has them
  ReportTable table = {};
};

/// Measures the most frequent class of the training set, or the mean of its values, and for a
/// model of a table a linear model. Nothing for data that have neither labels nor values.
Rivals rivals_of(const Model& model, const HeldOut& held, const Dataset& train,
                 std::optional<std::int32_t> ignore_index);

/// Says how good forecasts are beside the last value and that of a season ago. `part`: "test".
Rivals rivals_of(const std::vector<SeriesScore>& scores, const std::string& part,
                 std::int64_t windows);

}  // namespace linnet::command
