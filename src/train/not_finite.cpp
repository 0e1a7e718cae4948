// SPDX-License-Identifier: Apache-2.0
#include "train/not_finite.h"

#include <algorithm>

#include "base/check.h"
#include "train/trainer_state.h"

namespace linnet {

void fail_not_finite(const NotFinite& found) {
  fail(
      "the {} became NaN or infinite in epoch {}, step {} of the training (counted from 0); a "
      "lower "
      "learning rate, gradient clipping or scaled inputs may help; the weights are those before "
      "that step",
      found.where.empty() ? "loss or a gradient" : "output of " + found.where, found.epoch,
      found.step);
}

void TrainerState::check_finite(std::optional<std::uint64_t> step) {
  if (!step) return;
  NotFinite found{.step = *step, .epoch = epochs + 1};
  if (explain) {
    explain(found);
    objectives.front()->updates -= steps - *step;
  }
  for (const auto& objective : objectives) {
    if (!explain && objective->stepper != nullptr) {
      objective->stepper->explain(found);
      objective->updates -= objective->stepper->steps_since(*step);
    }
    clear_stopped(state(), *objective->memory);
  }
  steps = *step;
  epochs = std::min(epochs, found.epoch - 1);
  fail_not_finite(found);
}

}  // namespace linnet
