// SPDX-License-Identifier: Apache-2.0
#include <linnet/datasets.h>

#include <cmath>
#include <span>
#include <utility>
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
  double std_dev = 1;
};

Moments moments_of(const std::vector<double>& values) {
  Moments m;
  if (values.empty()) return m;
  const auto count = static_cast<double>(values.size());
  for (double y : values) m.mean += y / count;
  double squares = 0;
  for (double y : values) squares += (y - m.mean) * (y - m.mean);
  if (squares > 0) m.std_dev = std::sqrt(squares / count);
  return m;
}

/// Points and their plain function values.
struct Points {
  std::vector<float> x;
  std::vector<double> y;
};

/// Even points are for training and odd ones for testing.
Points draw_points(std::int64_t count, std::int64_t features, std::uint64_t seed,
                   std::uint64_t part) {
  Points points;
  points.x.resize(static_cast<std::size_t>(count * features));
  points.y.reserve(static_cast<std::size_t>(count));
  const auto width = static_cast<std::size_t>(features);
  for (std::size_t n = 0; n < static_cast<std::size_t>(count); ++n) {
    const std::span<float> x = std::span(points.x).subspan(n * width, width);
    draw(x, seed, 2 * n + part);
    points.y.push_back(rosenbrock(x));
  }
  return points;
}

Dataset standardised(Points points, std::int64_t features, const Moments& by) {
  std::vector<float> values;
  values.reserve(points.y.size());
  for (double y : points.y) values.push_back(static_cast<float>((y - by.mean) / by.std_dev));
  const std::int64_t count = std::ssize(values);
  return {{{"x", Tensor(std::move(points.x), {count, features})}},
          {{"value", Tensor(std::move(values), {count, 1})}},
          {.name = "rosenbrock"}};
}

}  // namespace

Splits datasets::rosenbrock(std::int64_t train, std::int64_t test, std::int64_t features,
                            std::uint64_t seed) {
  require(features >= 2, "expected at least two numbers for Rosenbrock's function; got {}",
          features);
  for (std::int64_t count : {train, test}) {
    require(count >= 0 && count <= kMostNumbers / features,
            "rosenbrock: the number of points must lie in [0, {}]; got {}", kMostNumbers / features,
            count);
  }
  Points train_points = draw_points(train, features, seed, 0);
  Points test_points = draw_points(test, features, seed, 1);
  const Moments moments = moments_of(train > 0 ? train_points.y : test_points.y);
  return {.train = standardised(std::move(train_points), features, moments),
          .test = standardised(std::move(test_points), features, moments)};
}

}  // namespace linnet
