// SPDX-License-Identifier: Apache-2.0
#include "data/rosenbrock.h"

#include <cmath>
#include <span>
#include <vector>

#include "base/check.h"
#include "base/random.h"

namespace linnet {
namespace {

constexpr std::int64_t kMostNumbers = std::int64_t{1} << 34;
// Keeps these numbers apart from those that other uses draw with the same seed.
constexpr std::uint64_t kRosenbrockKey = 0x6C696E6E65742D72U;

void draw(std::span<float> x, std::uint64_t seed, std::uint64_t point) {
  for (std::size_t i = 0; i < x.size(); i += 4) {
    const auto words = philox(seed ^ kRosenbrockKey, i / 4, point);
    for (std::size_t k = 0; k < 4 && i + k < x.size(); ++k) x[i + k] = 2 * unit_float(words[k]) - 1;
  }
}

double rosenbrock(std::span<const float> x) {
  double sum = 0;
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    const double here = x[i];
    const double valley = static_cast<double>(x[i + 1]) - here * here;
    sum += 100 * valley * valley + (1 - here) * (1 - here);
  }
  return sum;
}

struct Moments {
  double mean = 0;
  double deviation = 1;
};

Moments moments_of(const std::vector<double>& values) {
  Moments m;
  if (values.empty()) return m;
  const auto count = static_cast<double>(values.size());
  for (double y : values) m.mean += y / count;
  double squares = 0;
  for (double y : values) squares += (y - m.mean) * (y - m.mean);
  if (squares > 0) m.deviation = std::sqrt(squares / count);
  return m;
}

/// The points and, into `values`, their plain function values. Even points are for training and odd
/// ones for testing.
Dataset draw_part(std::int64_t count, std::int64_t features, std::uint64_t seed, std::uint64_t part,
                  std::vector<double>& values) {
  Dataset data;
  data.name = "rosenbrock";
  data.sample_shape = {features};
  data.sample_dtype = DType::f32;
  data.value_shape = {1};
  data.floats.resize(static_cast<std::size_t>(count * features));
  const auto width = static_cast<std::size_t>(features);
  for (std::size_t n = 0; n < static_cast<std::size_t>(count); ++n) {
    const std::span<float> x = std::span(data.floats).subspan(n * width, width);
    draw(x, seed, 2 * n + part);
    values.push_back(rosenbrock(x));
  }
  return data;
}

void standardise(const std::vector<double>& values, const Moments& by, Dataset& data) {
  for (double y : values) {
    data.values.push_back(static_cast<float>((y - by.mean) / by.deviation));
  }
}

}  // namespace

DatasetPair make_rosenbrock(std::int64_t train, std::int64_t test, std::int64_t features,
                            std::uint64_t seed) {
  require(features >= 2, "Rosenbrock's function takes at least two numbers; got {}", features);
  for (std::int64_t count : {train, test}) {
    require(count >= 0 && count <= kMostNumbers / features,
            "rosenbrock: the number of points must lie in [0, {}]; got {}", kMostNumbers / features,
            count);
  }
  std::vector<double> train_values;
  std::vector<double> test_values;
  DatasetPair pair{draw_part(train, features, seed, 0, train_values),
                   draw_part(test, features, seed, 1, test_values)};
  const Moments moments = moments_of(train > 0 ? train_values : test_values);
  standardise(train_values, moments, pair.train);
  standardise(test_values, moments, pair.test);
  return pair;
}

}  // namespace linnet
