// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/model.h>
#include <linnet/tables.h>

#include <cstdint>
#include <string>
#include <vector>

LINNET_API_BEGIN
namespace linnet {

/// Says between which values optimize_inputs() searches a column of the raw table.
struct SearchColumn {
  std::string name = {};                  ///< of the column
  double low = 0;                         ///< least value of a number
  double high = 0;                        ///< largest value of a number
  bool integer = false;                   ///< whether only whole numbers are searched
  std::vector<std::string> choices = {};  ///< values of a column that is not a number; else empty
};

/// Returns the columns that a table's model reads, each with the values that occur in `rows`: the
/// range of numbers, the categories that the model knows, the values of booleans and dates. Throws
/// Error for a model that learned from other data, and DataError for a column that is missing or
/// has no values.
std::vector<SearchColumn> search_columns(const Model& model, const Table& rows);

/// Returns the same of the rows that the model was trained on: the range of numbers, the
/// categories, 0 and 1 for booleans. Throws Error for a model that learned from other data; for a
/// column of dates, whose values a model does not keep; and for a model that an older version
/// wrote, without ranges.
std::vector<SearchColumn> search_columns(const Model& model);

/// Says what is wanted of the outputs.
struct SearchGoal {
  /// Names what is done with the number.
  enum class Kind : std::uint8_t { minimize, maximize, target };
  Kind kind = Kind::minimize;  ///< target: the distance from `value` is minimised
  /// A linear expression of outputs and columns, e.g. "y" or "2*y - x1". Outputs have the names of
  /// the targets; those of classes are the probabilities, named as the classes.
  std::string of = {};
  double value = 0;  ///< of a target
};

/// Says how optimize_inputs() searches.
struct OptimizeOptions {
  std::vector<SearchGoal> goals = {};  ///< one, or two for a Pareto front
  /// Linear equations and inequalities of columns and outputs, "x1 + 2*x2 <= 3", "y = 5"; of
  /// categories "island = Biscoe", "island != Dream"; and "count(x1, x2, x3) <= 2": at most two of
  /// these columns of numbers, whose ranges hold 0, differ from 0. "x1 <= 1 or x1 >= 3" is met
  /// where one of its alternatives is; several constraints are all met. Names that are not words
  /// are quoted ("bill length"). An equation of outputs holds within a thousandth of the std of its
  /// sides' difference over random inputs, all others within rounding.
  std::vector<std::string> constraints = {};
  std::int64_t population = 100;   ///< inputs in each generation, at least 4
  std::int64_t generations = 100;  ///< at least 1
  std::uint64_t seed = 0;          ///< seed of the search; equal seeds give equal results
};

/// Holds inputs that were found.
struct OptimizedInputs {
  std::vector<std::string> inputs = {};  ///< by column: the text of its value
  std::vector<double> outputs = {};      ///< the model's outputs, probabilities of classes
  std::vector<double> goals = {};        ///< by goal: the value of its expression
};

/// Holds what optimize_inputs() found.
struct OptimizeResult {
  std::vector<std::string> columns = {};   ///< names of the inputs
  std::vector<std::string> outputs = {};   ///< names of the outputs
  std::vector<OptimizedInputs> best = {};  ///< one, or the Pareto front by the first goal
  std::int64_t evaluations = 0;            ///< inputs for which the model was asked
};

/// Searches raw inputs for which the outputs of a table's model are as wanted: an evolutionary
/// search (NSGA-II; Deb et al., 2002), which needs no gradients and takes numbers, whole numbers
/// and categories; the best of a single goal is then refined by a pattern search. Linear
/// constraints of inputs are met by projection, those of outputs, and alternatives that speak of
/// outputs, by selection. Waits. Throws Error for an expression that cannot be read or is not
/// linear, an unknown name (with the nearest one), no goal or more than two, and where no inputs
/// are found that meet the constraints, naming the one that is violated most.
OptimizeResult optimize_inputs(Model& model, const std::vector<SearchColumn>& columns,
                               const OptimizeOptions& options);

}  // namespace linnet
LINNET_API_END
