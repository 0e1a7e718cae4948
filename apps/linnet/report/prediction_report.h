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

/// How often the intervals of a target held its true values.
struct IntervalScore {
  double wanted = 0;    ///< coverage that was asked for
  double measured = 0;  ///< share of the samples
  double half_width = 0;
};

/// A prediction_report() with what it is shown with.
struct ShownReport {
  PredictionReport report = {};
  std::optional<MistakeCost> cost = {};  ///< for which thresholds are chosen
  SampleNames names = {};
  std::vector<IntervalScore> intervals = {};  ///< of each of `report.values`; empty: not known
};

/// Measures the intervals of coverage 0.9 of a model on the values of a report; empty where the
/// model has no errors of held-out samples, or too few. The report is report_for() of it.
std::vector<IntervalScore> interval_scores(const Model& model, const PredictionReport& report);
/// {"wanted": 0.9, "measured": 0.897, "half_width": 2.31}
Json to_json(const IntervalScore& score);
/// "90 % intervals: ±2.31, hold 89.7 % of 301 values".
std::string interval_line(const IntervalScore& score, std::int64_t samples);

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
