// SPDX-License-Identifier: Apache-2.0
#include "train/not_finite.h"

#include <algorithm>

#include "base/check.h"
#include "model/finite.h"
#include "train/trainer_state.h"

namespace linnet {

void fail_not_finite(const NotFinite& found, bool fp16) {
  fail<NotFiniteError>(
      "the {} became NaN or infinite in epoch {}, step {} of the training (counted from 0); a "
      "lower learning rate, gradient clipping or scaled inputs may help{}; the weights are "
      "unchanged since that step began",
      found.where.empty() ? "loss or a gradient" : "output of " + found.where, found.epoch,
      found.step, fp16 ? ", or bf16: fp16 ends at 65504" : "");
}

void fail_overflow(const std::string& weight, std::uint64_t step) {
  fail<NotFiniteError>(
      "the weight '{}' became NaN or infinite in the update of step {} of the training (counted "
      "from 0) or an earlier one; a lower learning rate, gradient clipping or scaled inputs may "
      "help",
      weight, step);
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
    clear_shards(state(), *objective->memory);
  }
  clear_stopped(state(), *memory);
  steps = *step;
  epochs = std::min(epochs, found.epoch - 1);
  check_weights();  // which an update may have ruined before
  fail_not_finite(found, scales_loss(state()));
}

void TrainerState::check_weights() {
  const std::string ruined = ruined_weight(state());
  if (ruined.empty()) return;
  require(steps > 0, "the weight '{}' is NaN or infinite", ruined);
  fail_overflow(ruined, steps - 1);
}

}  // namespace linnet
