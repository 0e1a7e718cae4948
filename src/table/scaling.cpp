// SPDX-License-Identifier: Apache-2.0
#include "table/scaling.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "base/check.h"
#include "base/percentile.h"

namespace linnet {
namespace {

constexpr std::size_t kMostQuantiles = 1000;  // as scikit-learn's QuantileTransformer
constexpr double kLeastShare = 1e-7;          // shares nearer to 0 and 1 count as these

/// log1p where it is defined, and its mirror image for negative numbers.
double signed_log(double x) { return std::copysign(std::log1p(std::abs(x)), x); }

/// The place of x in the quantiles, from 0 to 1; the middle where several are equal.
double share_of(const std::vector<double>& quantiles, double x) {
  const auto [first, last] = std::equal_range(quantiles.begin(), quantiles.end(), x);
  const auto steps = static_cast<double>(quantiles.size() - 1);
  const auto place = [&](auto at) { return static_cast<double>(at - quantiles.begin()); };
  if (first != last) return (place(first) + place(last - 1)) / 2 / steps;
  if (first == quantiles.begin()) return 0;
  if (first == quantiles.end()) return 1;
  const double before = *(first - 1);
  return (place(first - 1) + (x - before) / (*first - before)) / steps;
}

}  // namespace

double mean_of(const std::vector<double>& values) {
  double mean = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    mean += (values[i] - mean) / static_cast<double>(i + 1);
  }
  return mean;
}

double std_of(const std::vector<double>& values, double mean, const std::string& what) {
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  require<DataError>(std::isfinite(sum), "{}: its numbers are too far apart to be standardised",
                     what);
  const double std = std::sqrt(sum / static_cast<double>(values.size()));
  return std > 0 ? std : 1;
}

double most_frequent(const std::vector<double>& sorted) {
  double best = sorted.front();
  std::ptrdiff_t most = 0;
  for (auto at = sorted.begin(); at != sorted.end();) {
    const auto next = std::upper_bound(at, sorted.end(), *at);
    if (next - at > most) {
      most = next - at;
      best = *at;
    }
    at = next;
  }
  return best;
}

void fit_scaling(NumberInput& input, Scaling scaling, const std::vector<double>& sorted,
                 const std::string& what) {
  input.scaling = scaling;
  const auto standardise = [&](const std::vector<double>& values) {
    input.center = mean_of(values);
    input.scale = std_of(values, input.center, what);
  };
  switch (scaling) {
    case Scaling::standard: return standardise(sorted);
    case Scaling::log1p: {
      std::vector<double> logs(sorted.size());
      std::ranges::transform(sorted, logs.begin(), signed_log);
      return standardise(logs);
    }
    case Scaling::min_max:
    case Scaling::robust: {
      const double tail = scaling == Scaling::robust ? 0.25 : 0;
      const double range = percentile(sorted, 1 - tail) - percentile(sorted, tail);
      require<DataError>(std::isfinite(range), "{}: its numbers are too far apart to be scaled",
                         what);
      // Where most values are equal, the others would stay as large as they are.
      if (range == 0) standardise(sorted);
      if (range > 0) input.scale = range;
      input.center = percentile(sorted, scaling == Scaling::robust ? 0.5 : 0);
      return;
    }
    case Scaling::quantile: break;
  }
  const std::size_t count = std::clamp<std::size_t>(sorted.size(), 2, kMostQuantiles);
  input.quantiles.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    input.quantiles[i] =
        percentile(sorted, static_cast<double>(i) / static_cast<double>(count - 1));
  }
  std::ranges::sort(input.quantiles);  // rounding may have swapped equal ones
}

double scaled(const NumberInput& input, double value) {
  if (input.scaling == Scaling::quantile) {
    const double share = share_of(input.quantiles, value);
    return normal_quantile(std::clamp(share, kLeastShare, 1 - kLeastShare));
  }
  if (input.scaling == Scaling::log1p) value = signed_log(value);
  return (value - input.center) / input.scale;
}

double normal_quantile(double p) {
  if (p > 0.5) return -normal_quantile(1 - p);
  // Abramowitz and Stegun, 26.2.23: within 4.5e-4.
  const double t = std::sqrt(-2 * std::log(p));
  double z = -(t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                       (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))));
  // Halley's steps on the distribution, each with three times as many right digits.
  for (int step = 0; step < 2; ++step) {
    const double error = 0.5 * std::erfc(-z / std::numbers::sqrt2) - p;
    const double u = error * std::sqrt(2 * std::numbers::pi) * std::exp(z * z / 2);
    z -= u / (1 + z * u / 2);
  }
  return z;
}

}  // namespace linnet
