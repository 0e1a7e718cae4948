// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/schedule.h>
#include <linnet/state.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/finite.h"
#include "graph/step.h"
#include "model/optimizers.h"

namespace linnet {

/// Throws Error for a schedule that is as long as the training: in a loop of step() nobody says how
/// long that is.
inline void require_own_length(const Schedule& schedule) {
  std::visit(
      [&]<class S>(const S& s) {
        if constexpr (requires { s.epochs; }) {
          require(s.epochs > 0,
                  "step() needs a {} schedule with its number of epochs; set its epochs",
                  name_of(Schedule(s)));
        }
      },
      schedule);
}

/// Computes the host's share of a schedule: the factor of Plateau, which changes between epochs,
/// and that of a function, which may change with every step. It goes into StepInfo::rate_factor;
/// other schedules are the device's, and their factor here is 1.
class HostSchedule {
 public:
  explicit HostSchedule(Schedule schedule) : schedule_(std::move(schedule)) {}

  /// What a function is told; it is not asked before so many steps of warm-up.
  void set_steps(std::int64_t warmup_steps, std::int64_t steps_per_epoch) {
    warmup_steps_ = static_cast<std::uint64_t>(warmup_steps);
    steps_per_epoch_ = static_cast<double>(steps_per_epoch);
  }

  /// Returns whether every step has a factor of its own, so that the host runs one at a time.
  bool every_step() const { return std::holds_alternative<ScheduleFunction>(schedule_); }

  /// Returns the factor of a step. Throws Error where the user's function gives no factor.
  double factor(const StepInfo& step) const {
    const auto* function = std::get_if<ScheduleFunction>(&schedule_);
    if (function == nullptr) return factor_;
    if (step.schedule_step() < warmup_steps_) return 1;
    const double epoch = static_cast<double>(step.schedule_step()) / steps_per_epoch_;
    const std::uint64_t update = step.update;
    const double factor = (*function)(epoch, update);
    require(factor >= 0 && std::isfinite(factor),
            "expected a finite factor of at least 0 from the schedule's function; got {} at epoch "
            "{}, step {}",
            factor, epoch, update);
    return factor;
  }

  /// Tells the loss that Plateau watches, after so many steps of the schedule. As PyTorch's
  /// ReduceLROnPlateau, but an epoch of a warm-up is not one without improvement: decays begin
  /// after it.
  void end_epoch(double loss, std::uint64_t steps) {
    const auto* plateau = std::get_if<Plateau>(&schedule_);
    if (plateau == nullptr) return;
    if (loss < best_ * (1 - plateau->threshold)) {
      best_ = loss;
      waited_ = 0;
    } else if (steps > warmup_steps_ && ++waited_ > plateau->patience) {
      factor_ = std::max(factor_ * plateau->factor, plateau->floor);
      waited_ = 0;
    }
  }

  /// What Plateau remembers, as part of a training's state.
  void save(State& state) const {
    if (!std::holds_alternative<Plateau>(schedule_)) return;
    state.set(kPlateau, Tensor(std::vector<double>{factor_, best_, static_cast<double>(waited_)}));
  }
  /// Throws Error unless load() can take the state.
  void check(const State& state) const {
    if (!std::holds_alternative<Plateau>(schedule_)) return;
    const std::span<const double> remembered = state[kPlateau].as<double>();
    require(remembered.size() == 3, "expected three numbers as '{}'; got {}", kPlateau,
            remembered.size());
    require(remembered[0] > 0 && remembered[0] <= 1 && !std::isnan(remembered[1]) &&
                is_count(remembered[2]),
            "expected a factor of at most 1, a loss and a count as '{}'; got {}, {} and {}",
            kPlateau, remembered[0], remembered[1], remembered[2]);
  }
  void load(const State& state) {
    if (!std::holds_alternative<Plateau>(schedule_)) return;
    const std::span<const double> remembered = state[kPlateau].as<double>();
    factor_ = remembered[0];
    best_ = remembered[1];
    waited_ = static_cast<std::int64_t>(remembered[2]);
  }

 private:
  static constexpr const char* kPlateau = "schedule/plateau";  // factor, best loss, epochs waited

  Schedule schedule_;
  std::uint64_t warmup_steps_ = 0;
  double steps_per_epoch_ = 1;
  double factor_ = 1;  ///< of Plateau, with what it remembers
  double best_ = std::numeric_limits<double>::infinity();
  std::int64_t waited_ = 0;
};

}  // namespace linnet
