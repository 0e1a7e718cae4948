// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>
#include <linnet/export.h>
#include <linnet/tables.h>

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace linnet {
struct TransformRecord;
}

LINNET_API_BEGIN
namespace linnet {

/// Says what stands in for missing numbers, booleans and dates. A column that misses some in the
/// rows that a transform is fitted on gets an indicator beside it, 1 where the value is missing. A
/// missing category is a category of its own.
enum class MissingValues : std::uint8_t {
  mean,           ///< the column's mean
  median,         ///< the column's median
  most_frequent,  ///< the column's most frequent value; of a category too, without a place of its
                  ///< own
  /// Numbers: linear between the values of the nearest rows before and after that have one, in the
  /// order of the rows that are transformed together; before the first and after the last, that
  /// value; the mean where no row has one. Booleans and dates: the mean.
  interpolate,
  drop,  ///< rows with a missing value are left out of trainings; predictions take the mean
};

/// Returns the names of all ways, in the order of MissingValues: "mean", ...
std::vector<std::string_view> missing_values_names();

/// Says how numbers are scaled.
enum class Scaling : std::uint8_t {
  standard,  ///< (x - mean) / std
  min_max,   ///< (x - least) / (most - least), in [0, 1] in the training rows
  /// (x - median) / (third quartile - first quartile); the std instead where the quartiles are
  /// equal
  robust,
  /// The place among at most 1000 quantiles, mapped to a standard normal distribution, within 5.2
  /// of 0; scikit-learn's QuantileTransformer.
  quantile,
  /// log(1 + |x|) with the sign of x, standardised; for numbers over several orders of magnitude
  log1p,
};

/// Returns the names of all scalings, in the order of Scaling: "standard", ...
std::vector<std::string_view> scaling_names();

/// Says what a model learns of its target columns.
enum class TableTarget : std::uint8_t {
  /// Of one column: classes for categories, booleans, and whole numbers that are 2 values, or at
  /// most 20 without a gap from 0 or 1; else a value. Of several: labels for booleans, values for
  /// numbers.
  automatic,
  classes,  ///< one class of several, of one column
  value,    ///< a number of each column
  labels,   ///< yes or no of each column, independently
  /// No column: how badly a network that learned to reproduce the rows reproduces a row, "novelty".
  novelty,
};

/// Names the target columns, each by name or number from 1: "y", or {"low", "high"} for several.
struct TableTargets {
  TableTargets() = default;  ///< Names none.
  // NOLINTBEGIN(*-explicit-*)
  TableTargets(const char* name) : names{name} {}                                ///< Names one.
  TableTargets(std::string name) : names{std::move(name)} {}                     ///< Names one.
  TableTargets(std::vector<std::string> several) : names(std::move(several)) {}  ///< Names several.
  // NOLINTEND(*-explicit-*)
  /// Names several.
  TableTargets(std::initializer_list<std::string> several) : names(several) {}

  std::vector<std::string> names = {};  ///< one column, or several that differ
};

/// Says how TableTransform::fit() turns columns into numbers.
struct TableTransformOptions {
  MissingValues missing = MissingValues::mean;  ///< what stands in for missing values
  Scaling scaling = Scaling::standard;          ///< how numbers are scaled
  /// Other scalings of single columns of numbers, by name or number from 1.
  std::map<std::string, Scaling> column_scaling = {};
  TableTarget target = TableTarget::automatic;  ///< what is learned
  /// Most categories of a column that becomes one input for each (one-hot); one of more becomes ids
  /// for an Embedding. At least 0.
  std::int64_t most_one_hot = 32;
  /// Rows that a category needs to have a place of its own, at least 1; scikit-learn's
  /// min_frequency. Rarer ones share the place of those that are unseen when rows are predicted.
  std::int64_t least_count = 2;
  /// Columns that are left out, by name or number from 1. Constants and identifiers always are.
  std::vector<std::string> ignore = {};
};

/// Turns the rows of tables into samples, as it was fitted on the rows of a training set: numbers
/// scaled, dates standardised (less the mean, divided by the std), booleans 0 and 1, categories
/// one-hot or as ids, missing values filled. It is the ColumnTransformer of scikit-learn
/// for Linnet's models, and model files hold it (Model::set_table()). A cheap handle of something
/// that never changes. May be used by several threads at once.
///
/// Samples have the inputs "numbers", f32 (N, feature_names()), and "categories", i32 (N, columns
/// of ids); the one that would be empty is missing. A date becomes days, standardised, with sine
/// and cosine of the year and the week, and of the day where there are times. The target is classes
/// i32 (N), or f32 (N, targets): values in their columns' units, or 0 and 1 of labels. It has its
/// column's name; several are "targets". Values are less target_offsets().
class TableTransform {
 public:
  /// Makes a transform that is empty: of no columns.
  TableTransform() = default;

  /// Returns the transform of these rows. Nothing but these rows counts, so hand it the training
  /// set alone. A novelty takes no target. Throws DataError naming row and column for numbers that
  /// are not finite; naming the target where it is missing, constant, an identifier or a date; for
  /// several targets that are not all numbers or all booleans, and for more than 16 of numbers; and
  /// where no column is left. Throws Error for options out of range, and for a scaling of a column
  /// that is not a number.
  static TableTransform fit(const Table& rows, const TableTargets& target,
                            const TableTransformOptions& options = {});

  /// Returns the samples of these rows, with inputs and target. Columns belong together by name, or
  /// by place where either table has no header. A label that is known but for a last dot is taken
  /// for the known one, and DatasetInfo::notes says so. Throws DataError naming the column that is
  /// missing; naming row and column for a text where a number was expected, a label that is none of
  /// classes(), and a missing target.
  Dataset transform(const Table& rows) const;
  /// Returns the samples of these rows without a target, which the table may have or lack.
  Dataset inputs(const Table& rows) const;

  /// Returns whether there is nothing to transform.
  bool empty() const { return record_ == nullptr; }
  /// Returns the name of the target column; of several the first one's.
  const std::string& target() const;
  /// Returns the names of all target columns.
  std::vector<std::string> targets() const;
  /// Returns what is learned of them, never `automatic`; `value` for an empty transform.
  TableTarget target_kind() const;
  /// Returns the class names by label; of labels the names of their columns; empty for values.
  const std::vector<std::string>& classes() const;
  /// Returns the mean of each target of values in the training rows; empty for others.
  std::vector<double> target_means() const;
  /// Returns the std of each target of values in the training rows; empty for others.
  std::vector<double> target_stds() const;
  /// Returns what is taken off each target of values before a network learns it: not 0 where its
  /// mean is more than 1000 times its std, so that 32 bits would not tell its values apart. Samples
  /// hold targets less it, networks give outputs less it, and Model::predict() adds it. Empty for
  /// others.
  std::vector<double> target_offsets() const;
  /// Returns the columns that samples are made of, in the table's order.
  std::vector<std::string> input_columns() const;
  /// Returns the names of the inputs "numbers", e.g. "age", "age missing", "sex=male", in order.
  std::vector<std::string> feature_names() const;
  /// Returns the number of columns that become ids.
  std::int64_t id_columns() const;
  /// Returns the number of different ids, over all columns: the vocabulary of an Embedding.
  std::int64_t vocabulary() const;
  /// Returns how a table of such rows is to be read: the texts that stand for missing values, and
  /// that there is no header where there was none.
  TableOptions reading() const;

  /// Returns the transform as JSON, as model files hold it.
  std::string to_json() const;
  /// Returns the transform of a text that to_json() wrote. Throws DataError for any other text.
  static TableTransform from_json(const std::string& text);

  /// @cond
  // For the library.
  explicit TableTransform(std::shared_ptr<const TransformRecord> record);
  const TransformRecord& record() const { return *record_; }
  /// @endcond

 private:
  std::shared_ptr<const TransformRecord> record_;  // null: empty
};

}  // namespace linnet
LINNET_API_END
