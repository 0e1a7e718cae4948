// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/model.h>
#include <linnet/prediction_report.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/html_report.h"
#include "report/json.h"

namespace linnet::command {

/// How samples are called.
struct SampleNames {
  std::vector<std::int64_t> rows = {};  ///< rows in the table's file, from 1; empty: no table
  /// "row" or "sample".
  const char* what() const { return rows.empty() ? "sample" : "row"; }
  std::int64_t number(std::int64_t sample) const {
    return rows.empty() ? sample : rows[static_cast<std::size_t>(sample)];
  }
};

/// A prediction_report() with what it is shown with.
struct ShownReport {
  PredictionReport report = {};
  std::optional<MistakeCost> cost = {};  ///< for which thresholds are chosen
  SampleNames names = {};
};

/// Whether prediction_report() may take the model's outputs for logits of probabilities.
bool has_probabilities(const Model& model);

/// "FP=1,FN=5", in either order. Throws Error for another text.
MistakeCost cost_of(const std::string& text);

/// "report" of `linnet evaluate --json`. Curves have at most 101 points.
Json to_json(const ShownReport& shown);
/// What `linnet evaluate` prints after the metrics.
std::vector<std::string> report_lines(const ShownReport& shown);
/// Adds plots and tables to a page.
void add_predictions(Report& page, const ShownReport& shown);

}  // namespace linnet::command
