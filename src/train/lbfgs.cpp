// SPDX-License-Identifier: Apache-2.0
#include "train/lbfgs.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "model/options.h"

namespace linnet {
namespace {

using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

double largest(const Vector& x) {
  double most = 0;
  for (const double value : x) most = std::max(most, std::abs(value));
  return most;
}

bool all_finite(const Vector& x) {
  return std::ranges::all_of(x, [](double value) { return std::isfinite(value); });
}

/// A point on a line: how far along, and value and slope there.
struct Point {
  double step = 0;
  double value = 0;
  double slope = 0;
};

/// Returns where the cubic through both points with their slopes is least; NaN if nowhere.
double cubic_minimum(const Point& a, const Point& b) {
  const double d1 = a.slope + b.slope - 3 * (a.value - b.value) / (a.step - b.step);
  const double square = d1 * d1 - a.slope * b.slope;
  if (square < 0) return NAN;
  const double d2 = std::copysign(std::sqrt(square), b.step - a.step);
  return b.step - (b.step - a.step) * (b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2);
}

/// Holds what is evaluated: a function along a line from a point.
class Line {
 public:
  Line(const Differentiable& f, const Vector& from, const Vector& direction)
      : f_(f), from_(from), direction_(direction), x_(from.size()), gradient_(from.size()) {}

  Point at(double step) {
    for (std::size_t i = 0; i < x_.size(); ++i) x_[i] = from_[i] + step * direction_[i];
    ++evaluations_;
    const double value = f_(x_, gradient_);
    if (!std::isfinite(value) || !all_finite(gradient_)) return {step, INFINITY, 0};
    return {step, value, dot(gradient_, direction_)};
  }
  std::int64_t evaluations() const { return evaluations_; }
  /// Of the point that was evaluated last.
  Vector& x() { return x_; }
  Vector& gradient() { return gradient_; }

 private:
  const Differentiable& f_;
  const Vector& from_;
  const Vector& direction_;
  Vector x_;
  Vector gradient_;
  std::int64_t evaluations_ = 0;
};

/// Nocedal and Wright, algorithms 3.5 (bracket) and 3.6 (zoom).
class LineSearch {
 public:
  LineSearch(Line& line, const Point& start, const LBFGS& options)
      : line_(line), start_(start), options_(options) {}

  /// Returns a point that fulfils the strong Wolfe conditions, or else the lowest one that was
  /// found; it was evaluated last. Its step is 0 where none is lower than the start.
  Point from(double step) {
    Point before = start_;
    while (left()) {
      const Point here = line_.at(step);
      if (too_high(here) || (before.step > 0 && here.value >= before.value)) {
        return zoom(before, here);
      }
      if (is_flat(here)) return here;
      if (here.slope >= 0) return zoom(here, before);
      const double most = 10 * here.step;
      const double least = here.step + 0.01 * (here.step - before.step);
      const double guess = cubic_minimum(before, here);
      step = std::isfinite(guess) ? std::clamp(guess, least, most) : most;
      before = here;
    }
    return before;
  }

 private:
  bool left() const { return line_.evaluations() < options_.evaluations; }
  bool too_high(const Point& p) const {
    return !(p.value <= start_.value + options_.sufficient_decrease * p.step * start_.slope);
  }
  bool is_flat(const Point& p) const {
    return std::abs(p.slope) <= -options_.curvature * start_.slope;
  }

  /// Between the lowest point so far and one on the other side of a minimum.
  Point zoom(Point low, Point high) {
    while (left()) {
      const double width = high.step - low.step;
      // Nothing lies between them in the precision of a step.
      if (std::abs(width) <= 1e-12 * std::max(low.step, high.step)) break;
      double step = std::isfinite(high.value) ? cubic_minimum(low, high) : NAN;
      const auto [first, last] = std::minmax({low.step + 0.1 * width, high.step - 0.1 * width});
      if (!(step >= first && step <= last)) step = low.step + 0.5 * width;
      const Point here = line_.at(step);
      if (too_high(here) || here.value >= low.value) {
        high = here;
        continue;
      }
      if (is_flat(here)) return here;
      if (here.slope * width >= 0) high = low;
      low = here;
    }
    return low.step > 0 ? line_.at(low.step) : low;
  }

  Line& line_;
  const Point start_;
  const LBFGS& options_;
};

void subtract(Vector& from, double factor, const Vector& other) {
  for (std::size_t i = 0; i < from.size(); ++i) from[i] -= factor * other[i];
}

void check(const LBFGS& o) {
  description_of<LBFGS>().check(&o, "");
  require(
      0 < o.sufficient_decrease && o.sufficient_decrease < o.curvature && o.curvature < 1,
      "[lbfgs] expected 0 < sufficient decrease < curvature < 1 (Wolfe conditions); got {} and {}",
      o.sufficient_decrease, o.curvature);
}

Vector difference(const Vector& a, const Vector& b) {
  Vector d(a.size());
  std::ranges::transform(a, b, d.begin(), std::minus<>());
  return d;
}

constexpr const char* kSteps = "lbfgs/steps";
constexpr const char* kChanges = "lbfgs/changes";

}  // namespace

void LbfgsMemory::save(State& state) const {
  if (pairs_.empty()) return;
  const Shape shape{std::ssize(pairs_), std::ssize(pairs_.front().step)};
  Vector steps;
  Vector changes;
  for (const Pair& pair : pairs_) {
    steps.insert(steps.end(), pair.step.begin(), pair.step.end());
    changes.insert(changes.end(), pair.change.begin(), pair.change.end());
  }
  state.set(kSteps, Tensor(std::move(steps), shape));
  state.set(kChanges, Tensor(std::move(changes), shape));
}

LbfgsMemory LbfgsMemory::of(const State& state) {
  LbfgsMemory memory;
  const Tensor* steps = state.find(kSteps);
  const Tensor* changes = state.find(kChanges);
  if (steps == nullptr && changes == nullptr) return memory;
  require(steps != nullptr && changes != nullptr && steps->dtype() == DType::f64 &&
              changes->dtype() == DType::f64 && steps->shape().rank() == 2 &&
              steps->shape() == changes->shape(),
          "expected '{}' and '{}' as f64 (steps, variables); got {} and {}", kSteps, kChanges,
          steps != nullptr ? to_string(*steps) : "none",
          changes != nullptr ? to_string(*changes) : "none");
  for (std::int64_t i = 0; i < steps->shape()[0]; ++i) {
    const Tensor step = steps->rows(i, i + 1).to_host();
    const Tensor change = changes->rows(i, i + 1).to_host();
    const auto s = step.as<double>();
    const auto c = change.as<double>();
    memory.add({s.begin(), s.end()}, {c.begin(), c.end()});
  }
  return memory;
}

void LbfgsMemory::limit(std::size_t variables, std::size_t most) {
  if (!pairs_.empty() && pairs_.front().step.size() != variables) pairs_.clear();
  while (pairs_.size() > most) pairs_.pop_front();
}

void LbfgsMemory::add(Vector step, Vector change) {
  const double curvature = dot(step, change);
  if (!(curvature > 1e-10 * dot(change, change))) return;
  pairs_.push_back({std::move(step), std::move(change), 1 / curvature});
}

Vector LbfgsMemory::direction(const Vector& gradient) const {
  Vector q = gradient;
  Vector alpha(pairs_.size());
  for (std::size_t i = pairs_.size(); i-- > 0;) {
    alpha[i] = pairs_[i].rho * dot(pairs_[i].step, q);
    subtract(q, alpha[i], pairs_[i].change);
  }
  if (!pairs_.empty()) {
    const Pair& newest = pairs_.back();
    const double scale = 1 / (newest.rho * dot(newest.change, newest.change));
    for (double& value : q) value *= scale;
  }
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    const double beta = pairs_[i].rho * dot(pairs_[i].change, q);
    subtract(q, beta - alpha[i], pairs_[i].step);
  }
  for (double& value : q) value = -value;
  return q;
}

std::string_view to_string(MinimumReason reason) {
  switch (reason) {
    case MinimumReason::small_gradient: return "the gradient is small";
    case MinimumReason::small_decrease: return "the loss changes too little";
    case MinimumReason::iterations: return "all iterations are done";
    case MinimumReason::no_lower_loss: return "the line search found no lower loss";
  }
  throw InternalError("an unknown reason");
}

Minimum minimize(const Differentiable& f, std::vector<double>& x, const LBFGS& options,
                 LbfgsMemory& memory) {
  check(options);
  const auto most = static_cast<std::size_t>(options.history);
  memory.limit(x.size(), most);
  Minimum result;
  Vector gradient(x.size());
  double value = f(x, gradient);
  result.evaluations = 1;
  require(std::isfinite(value) && all_finite(gradient),
          "[lbfgs] expected a finite loss and gradient at the start; the loss is {}", value);
  result.losses.push_back(value);
  for (std::int64_t i = 0; i < options.iterations; ++i) {
    if (largest(gradient) <= options.gradient_tolerance) {
      result.reason = MinimumReason::small_gradient;
      break;
    }
    Vector direction = memory.direction(gradient);
    if (dot(gradient, direction) >= 0) {  // rounding has spoilt the estimate
      memory.clear();
      direction = memory.direction(gradient);
    }
    Line line(f, x, direction);
    const Point start{0, value, dot(gradient, direction)};
    const double norm = std::sqrt(dot(gradient, gradient));
    const Point found =
        LineSearch(line, start, options).from(memory.empty() ? std::min(1.0, 1 / norm) : 1);
    result.evaluations += line.evaluations();
    if (!(found.value < value)) {
      if (line.evaluations() > 0) static_cast<void>(line.at(0));  // back to where it was
      result.reason = MinimumReason::no_lower_loss;
      break;
    }
    memory.add(difference(line.x(), x), difference(line.gradient(), gradient));
    memory.limit(x.size(), most);
    const double decrease = value - found.value;
    const double scale = std::max({std::abs(value), std::abs(found.value), 1.0});
    x = line.x();
    gradient = line.gradient();
    value = found.value;
    result.losses.push_back(value);
    if (decrease <= options.loss_tolerance * scale) {
      result.reason = MinimumReason::small_decrease;
      break;
    }
  }
  result.loss = value;
  return result;
}

}  // namespace linnet
