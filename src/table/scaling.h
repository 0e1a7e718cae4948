// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "table/transform_record.h"

namespace linnet {

/// Returns the mean, which no sum of large numbers overflows.
double mean_of(const std::vector<double>& values);
/// Returns the std, 1 where all are the same. Throws DataError naming `what` where it overflows.
double std_of(const std::vector<double>& values, double mean, const std::string& what);
/// Returns the most frequent value, of several the least. The values are in order.
double most_frequent(const std::vector<double>& sorted);

/// Fits scaling, center, scale and quantiles to values in order, at least one. Throws DataError
/// naming `what` for numbers that are too far apart.
void fit_scaling(NumberInput& input, Scaling scaling, const std::vector<double>& sorted,
                 const std::string& what);
/// Returns the number as the network sees it.
double scaled(const NumberInput& input, double value);

/// Returns the number below which a share p of the standard normal distribution lies, p in
/// [1e-300, 1 - 1e-16]; the relative error is below 1e-13.
double normal_quantile(double p);

}  // namespace linnet
