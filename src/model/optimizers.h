// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/optimizer.h>
#include <linnet/schedule.h>

#include <cstdint>
#include <span>
#include <string_view>

#include "describe/kinds.h"
#include "ops/optimizer_update/optimizer_update.h"

// Optimizers and schedules, described once: a list of fields each (optimizers.cpp, schedules.cpp),
// from which checks, TOML, JSON, `linnet optimizers` and docs/optimizers.md follow.
namespace linnet {

const Kinds<Optimizer>& optimizers();
/// Returns all but functions, which no file can hold.
const Kinds<Schedule>& schedules();

/// Returns text such as "adam"
std::string_view name_of(const Optimizer& optimizer);
/// Returns text such as "cosine"; "function" of a ScheduleFunction.
std::string_view name_of(const Schedule& schedule);

/// Returns the learning rate; null for an optimizer that has none.
double* learning_rate_of(Optimizer& optimizer);
const double* learning_rate_of(const Optimizer& optimizer);
/// Returns whether an epoch of it is one iteration over all samples, which no step of a batch is
/// part of.
bool is_least_squares(const Optimizer& optimizer);
bool is_least_squares_kind(std::string_view name);

/// A training's length, in which epochs become steps.
struct TrainingLength {
  std::int64_t epochs = 0;
  std::int64_t steps_per_epoch = 0;

  std::int64_t steps(double count) const {
    return static_cast<std::int64_t>(count * static_cast<double>(steps_per_epoch) + 0.5);
  }
};

/// Limits epochs, so that in steps they fit into 64 bits.
inline constexpr double kMostEpochs = 1e9;

/// Checks the fields, and says in the settings of the update what they mean. Throws Error naming
/// the field that is out of its range. The warm-up's steps are set before the schedule.
void set_optimizer(UpdateSettings& to, const Optimizer& optimizer);
void set_schedule(UpdateSettings& to, const Schedule& schedule, const TrainingLength& length);

/// Returns the texts of <linnet/optimizer.h> and <linnet/schedule.h>, as CMake found them.
std::span<const std::string_view> optimizer_headers();

}  // namespace linnet
