// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace linnet {

/// A correlation of two columns, with the limits between which it lies with 95 % (Fisher's z
/// transform, 1921); NaN of fewer than four pairs.
struct Correlation {
  std::string_view form;  ///< "linear", "logarithmic", "exponential", "power" or "logistic"
  double r = 0;
  double lower = std::numeric_limits<double>::quiet_NaN();
  double upper = std::numeric_limits<double>::quiet_NaN();
};

/// Returns Pearson's correlation of numbers in pairs, with limits.
Correlation correlation_of(std::string_view form, const std::vector<double>& x,
                           const std::vector<double>& y);

/// Returns the correlations of two numbers in pairs, of every form that is defined: linear;
/// logarithmic, of log x and y, where all x are positive; exponential, of x and log y; power, of
/// both logarithms.
std::vector<Correlation> correlations_of_numbers(const std::vector<double>& x,
                                                 const std::vector<double>& y);

/// Returns the correlation of 0 and 1 with the probabilities that a logistic regression gives them
/// by x, with the sign of its slope; r is NaN where either is constant.
Correlation logistic_correlation(const std::vector<double>& x, const std::vector<double>& is_one);

/// What a box plot shows: quartiles, and the last values within 1.5 times their distance of them
/// (Tukey, 1977).
struct Box {
  double low = 0;
  double first_quartile = 0;
  double median = 0;
  double third_quartile = 0;
  double high = 0;
  std::vector<std::int64_t> outliers = {};  ///< rows of the values beyond, from 0, in order
};

/// Returns the box plot of a column's numbers, at least one of which is finite; others are passed
/// over.
Box box_of(const std::vector<double>& values);

}  // namespace linnet
