// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/metrics.h>
#include <linnet/model.h>
#include <linnet/tables.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

LINNET_API_BEGIN
namespace linnet {

/// Says how permutation_importance() measures.
struct ImportanceOptions {
  std::int64_t repeats = 5;  ///< permutations of each column, at least 1
  std::uint64_t seed = 0;    ///< seed of the permutations
  std::int64_t batch = 256;  ///< samples computed at a time
  /// Asked before each permutation, which go in rounds of one of each column; false ends the
  /// measurement with the rounds that are whole. Empty: all of them are measured.
  std::function<bool(std::int64_t round, std::int64_t column)> goes_on = {};
};

/// Says how much a column of the raw table matters.
struct ColumnImportance {
  std::string column = {};          ///< its name
  double mean = 0;                  ///< mean loss of score over the permutations
  double std = 0;                   ///< their standard deviation (of a population)
  std::vector<double> losses = {};  ///< the score less that of each permutation
};

/// Holds the importance of the columns that a model reads.
struct Importance {
  std::string score = {};  ///< what was measured: "accuracy", "ROC AUC" or "R²"
  double baseline = 0;     ///< score of the rows as they are
  std::vector<ColumnImportance> columns = {};  ///< in the order of the transform
};

/// Measures how much of a table model's score is lost when a column's values are permuted among the
/// rows (Breiman, 2001; scikit-learn's permutation_importance). A whole column of the raw table is
/// permuted: all of its features together. The score is the accuracy of classes, the mean ROC AUC
/// of values that are 0 or 1, else R². Rows that the training has not seen tell what generalises.
/// Waits. Throws Error for a model that learned from other data than a table and for a score that
/// is undefined, and DataError where the rows do not fit, as TableTransform::transform() does.
Importance permutation_importance(Model& model, const Table& rows,
                                  const ImportanceOptions& options = {});

/// Says how partial_dependence() chooses values and rows.
struct PartialDependenceOptions {
  std::int64_t points = 20;  ///< most values of the column, at least 2
  /// Quantiles between which the values of a number lie; scikit-learn's percentiles.
  double low = 0.05;
  double high = 0.95;             ///< above `low`, at most 1
  std::int64_t most_rows = 1000;  ///< rows that count, evenly chosen of more; 0: all
  std::int64_t batch = 256;       ///< samples computed at a time
};

/// Holds what a model predicts on average, by the value of one column.
struct PartialDependence {
  std::string column = {};                      ///< its name
  std::vector<std::string> texts = {};          ///< by point: the column's value
  std::vector<double> values = {};              ///< by point, of a column of numbers; else empty
  std::vector<std::string> outputs = {};        ///< class names, or the target's name
  std::vector<std::vector<double>> means = {};  ///< (points, outputs): mean prediction
};

/// Returns the mean prediction over the rows, with the column set to each of several values in all
/// of them (Friedman, 2001; scikit-learn's partial_dependence, method "brute"): probabilities of
/// classes and labels, else the outputs. A number takes equally spaced values between two
/// quantiles, or all of its values where they are fewer than `points`; a date takes dates of the
/// rows at about equal distances, in the order of time; other columns take their values, the most
/// frequent ones. Waits. Throws Error for an unknown column and options out of
/// range, and as permutation_importance() does.
PartialDependence partial_dependence(Model& model, const Table& rows, const std::string& column,
                                     const PartialDependenceOptions& options = {});

}  // namespace linnet
LINNET_API_END
