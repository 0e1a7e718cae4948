// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/tables.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "table/correlations.h"

namespace linnet {

inline constexpr std::size_t kHistogramBins = 10;

/// What the values of a column are.
struct ColumnSurvey {
  std::string name;
  ColumnType type = ColumnType::number;
  std::int64_t missing = 0;
  std::int64_t distinct = 0;
  // Of numbers that are finite; of dates as days since 1970.
  bool numbers = false;
  double least = 0;
  double most = 0;
  double mean = 0;
  double std = 0;
  std::array<std::int64_t, kHistogramBins> histogram = {};  ///< from least to most, equally wide
  std::int64_t not_finite = 0;
  Box box = {};
  std::string first = {};  ///< text of the least and the most date; else empty
  std::string last = {};
  /// The most frequent texts of a category or boolean, at most 10, with their counts.
  std::vector<std::pair<std::string, std::int64_t>> frequent = {};
  // With the target; NaN where there is none.
  double pearson = std::numeric_limits<double>::quiet_NaN();   ///< of two numbers
  double spearman = std::numeric_limits<double>::quiet_NaN();  ///< of two numbers, by mid-ranks
  /// Cramér's V (1946, without a correction): of two categories, or of a category and a number in
  /// tenths of its rows.
  double cramers_v = std::numeric_limits<double>::quiet_NaN();
  /// Of two numbers, every form that is defined; of a number and two classes, "logistic" alone.
  std::vector<Correlation> correlations = {};
};

/// Surveys all columns. `target`: a column, or npos for no correlations.
std::vector<ColumnSurvey> survey_table(const Table& table, std::size_t target);

/// Pearson's correlation of numbers in pairs; NaN where either is constant.
double pearson(const std::vector<double>& x, const std::vector<double>& y);
/// Ranks from 1; equal numbers have the mean of theirs.
std::vector<double> mid_ranks(const std::vector<double>& x);
/// Cramér's V of two labels in pairs; NaN where either is constant.
double cramers_v(const std::vector<int>& x, const std::vector<int>& y);

}  // namespace linnet
