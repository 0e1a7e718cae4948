// SPDX-License-Identifier: Apache-2.0
#include "train/levenberg_marquardt/levenberg_marquardt.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "train/not_finite.h"

namespace linnet {
namespace {

const std::string kDamping = std::string(Damping::kPrefix) + "damping";
/// Steps that an iteration tries: the damping grows by 2^55 with ten.
constexpr int kTries = 10;
constexpr double kLeastDamping = 1e-16;
constexpr double kMostDamping = 1e16;

}  // namespace

void Damping::save(State& state) const {
  if (value > 0) state.set(kDamping, Tensor(std::vector<double>{value, growth}));
}

Damping Damping::of(const State& state) {
  const Tensor* found = state.find(kDamping);
  if (found == nullptr) return {};
  const Tensor saved = found->to_host();
  const bool fits = saved.dtype() == DType::f64 && saved.shape() == Shape{2};
  const Damping damping = fits ? Damping{saved.as<double>()[0], saved.as<double>()[1]} : Damping{};
  require(fits && damping.value > 0 && damping.value <= kMostDamping && damping.growth >= 2 &&
              damping.growth <= kMostDamping,
          "expected a damping and its growth as '{}'; got {}", kDamping, to_string(saved));
  return damping;
}

bool LevenbergMarquardtSteps::run(const LevenbergMarquardt& options, Damping& damping) {
  if (damping.value == 0) damping = {.value = options.damping};
  const std::vector<double> start = problem_.weights();
  if (version_ != model_.weights_version) {
    value_ = problem_.value();
    reported_ = problem_.reported();
  }
  require<NotFiniteError>(std::isfinite(value_),
                          "the training loss is NaN or infinite, although all weights are finite: "
                          "the data, or the weights, are too large");
  NormalEquations& equations = problem_.equations();
  // Half the gradient: of the residuals, and of the decays.
  std::vector<double> slope(start.size());
  for (std::size_t i = 0; i < slope.size(); ++i) {
    slope[i] = equations.right_side(i) + problem_.decays()[i] * start[i];
  }
  std::vector<double> added(start.size());
  std::vector<double> trial(start.size());
  for (int tries = 0; tries < kTries && damping.value <= kMostDamping; ++tries) {
    for (std::size_t i = 0; i < added.size(); ++i) added[i] = problem_.decays()[i] + damping.value;
    if (equations.factorize(added)) {
      std::vector<double> step = slope;
      equations.solve(step);
      for (std::size_t i = 0; i < step.size(); ++i) trial[i] = start[i] - step[i];
      problem_.set_weights(trial);
      const double value = problem_.value();
      if (value < value_) {
        const double length = std::inner_product(step.begin(), step.end(), step.begin(), 0.0);
        const double predicted =
            std::inner_product(step.begin(), step.end(), slope.begin(), damping.value * length);
        const double gain = (value_ - value) / predicted;
        // Madsen, Nielsen and Tingleff, "Methods for non-linear least squares problems", 3.2.
        damping.value *= std::max(1.0 / 3, 1 - std::pow(2 * std::min(gain, 1e3) - 1, 3));
        damping = {.value = std::max(damping.value, kLeastDamping)};
        value_ = value;
        reported_ = problem_.reported();
        version_ = model_.weights_version;
        return true;
      }
    }
    damping.value *= damping.growth;
    damping.growth *= 2;
  }
  // A later iteration, perhaps on other data, begins with a damping that is of use.
  damping = {.value = options.damping};
  problem_.set_weights(start);
  version_ = model_.weights_version;
  return false;
}

}  // namespace linnet
