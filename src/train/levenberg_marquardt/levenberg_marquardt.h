// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/optimizer.h>
#include <linnet/state.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "train/levenberg_marquardt/least_squares.h"

namespace linnet {

/// What an iteration hands to the next one.
struct Damping {
  /// Where the names of save() begin.
  static constexpr std::string_view kPrefix = "levenberg_marquardt/";

  double value = 0;   ///< 0: the first iteration has yet to come
  double growth = 2;  ///< its factor at the next step that does not lower the loss

  void save(State& state) const;
  /// Returns what save() has written; a first one where there is nothing of it. Throws Error for
  /// numbers that it can't have been.
  static Damping of(const State& state);
};

/// Minimises a sum of squares by Levenberg and Marquardt's method, with the damping of Nielsen.
class LevenbergMarquardtSteps {
 public:
  /// Both must outlive it.
  LevenbergMarquardtSteps(LeastSquares& problem, ModelState& model)
      : problem_(problem), model_(model) {}

  /// One iteration from the model's weights on. Returns false, and leaves the weights as they are,
  /// where no step lowers the loss. Throws NotFiniteError for a loss that is not finite at the
  /// model's weights.
  bool run(const LevenbergMarquardt& options, Damping& damping);
  /// Returns the loss where the last iteration has ended, as other trainings report it.
  double loss() const { return reported_; }

 private:
  LeastSquares& problem_;
  ModelState& model_;
  std::optional<std::uint64_t> version_ = {};  ///< the model's weights, of which `value_` is
  double value_ = 0;
  double reported_ = 0;
};

}  // namespace linnet
