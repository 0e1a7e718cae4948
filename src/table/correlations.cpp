// SPDX-License-Identifier: Apache-2.0
#include "table/correlations.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include "base/percentile.h"
#include "table/survey_table.h"

namespace linnet {
namespace {

constexpr int kMostSteps = 100;
constexpr double kReach = 1.5;

std::vector<double> logs_of(const std::vector<double>& x) {
  std::vector<double> logs(x.size());
  std::ranges::transform(x, logs.begin(), [](double v) { return std::log(v); });
  return logs;
}

/// Returns the numbers with mean 0 and std 1, so that Newton's steps are well scaled.
std::vector<double> standardised(const std::vector<double>& x) {
  const auto count = static_cast<double>(x.size());
  const double mean = std::accumulate(x.begin(), x.end(), 0.0) / count;
  double sum = 0;
  for (const double v : x) sum += (v - mean) * (v - mean);
  const double std = std::sqrt(sum / count);
  std::vector<double> z(x.size());
  std::ranges::transform(x, z.begin(), [&](double v) { return std > 0 ? (v - mean) / std : 0; });
  return z;
}

}  // namespace

Correlation correlation_of(std::string_view form, const std::vector<double>& x,
                           const std::vector<double>& y) {
  Correlation of{.form = form, .r = pearson(x, y)};
  if (x.size() < 4 || std::isnan(of.r)) return of;
  of.r = std::clamp(of.r, -1.0, 1.0);
  const double z = std::atanh(of.r);
  const double half = kNormal95 / std::sqrt(static_cast<double>(x.size()) - 3);
  of.lower = std::tanh(z - half);
  of.upper = std::tanh(z + half);
  return of;
}

std::vector<Correlation> correlations_of_numbers(const std::vector<double>& x,
                                                 const std::vector<double>& y) {
  std::vector<Correlation> all{correlation_of("linear", x, y)};
  const auto positive = [](double v) { return v > 0; };
  const bool log_x = std::ranges::all_of(x, positive);
  const bool log_y = std::ranges::all_of(y, positive);
  if (log_x) all.push_back(correlation_of("logarithmic", logs_of(x), y));
  if (log_y) all.push_back(correlation_of("exponential", x, logs_of(y)));
  if (log_x && log_y) all.push_back(correlation_of("power", logs_of(x), logs_of(y)));
  std::erase_if(all, [](const Correlation& of) { return std::isnan(of.r); });
  return all;
}

Correlation logistic_correlation(const std::vector<double>& x, const std::vector<double>& is_one) {
  // Newton's method on the log likelihood; a little of the squared weights keeps it finite where a
  // threshold parts the classes.
  constexpr double kDecay = 1e-4;
  const std::vector<double> z = standardised(x);
  std::vector<double> p(z.size(), 0.5);
  double bias = 0;
  double slope = 0;
  for (int step = 0; step < kMostSteps; ++step) {
    double g0 = -kDecay * bias;
    double g1 = -kDecay * slope;
    double h00 = kDecay;
    double h01 = 0;
    double h11 = kDecay;
    for (std::size_t i = 0; i < z.size(); ++i) {
      p[i] = 1 / (1 + std::exp(-(bias + slope * z[i])));
      const double rest = is_one[i] - p[i];
      const double weight = p[i] * (1 - p[i]);
      g0 += rest;
      g1 += rest * z[i];
      h00 += weight;
      h01 += weight * z[i];
      h11 += weight * z[i] * z[i];
    }
    const double det = h00 * h11 - h01 * h01;
    if (!(det > 0)) break;
    // A longer step than this overshoots while the sigmoid saturates.
    const double by_bias = std::clamp((h11 * g0 - h01 * g1) / det, -2.0, 2.0);
    const double by_slope = std::clamp((h00 * g1 - h01 * g0) / det, -2.0, 2.0);
    bias += by_bias;
    slope += by_slope;
    if (std::abs(by_bias) + std::abs(by_slope) < 1e-10) break;
  }
  Correlation of = correlation_of("logistic", p, is_one);
  if (slope < 0) {
    of.r = -of.r;
    of.lower = -std::exchange(of.upper, -of.lower);
  }
  return of;
}

Box box_of(const std::vector<double>& values) {
  std::vector<double> sorted;
  std::ranges::copy_if(values, std::back_inserter(sorted),
                       [](double v) { return std::isfinite(v); });
  std::ranges::sort(sorted);
  Box box{.first_quartile = percentile(sorted, 0.25),
          .median = percentile(sorted, 0.5),
          .third_quartile = percentile(sorted, 0.75)};
  const double reach = kReach * (box.third_quartile - box.first_quartile);
  const double least = box.first_quartile - reach;
  const double most = box.third_quartile + reach;
  box.low = *std::ranges::lower_bound(sorted, least);
  box.high = *(std::ranges::upper_bound(sorted, most) - 1);
  for (std::size_t row = 0; row < values.size(); ++row) {
    if (std::isfinite(values[row]) && (values[row] < least || values[row] > most)) {
      box.outliers.push_back(static_cast<std::int64_t>(row));
    }
  }
  return box;
}

}  // namespace linnet
