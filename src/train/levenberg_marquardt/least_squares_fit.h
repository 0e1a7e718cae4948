// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/trainer.h>

#include <cstddef>
#include <cstdint>

#include "model/session.h"
#include "ops/optimizer_update/optimizer_update.h"
#include "train/levenberg_marquardt/levenberg_marquardt.h"

namespace linnet {

struct ObjectiveState;

/// The updates of a fit by LevenbergMarquardt, each of which goes through all samples.
class LeastSquaresFit {
 public:
  /// Adds its programs to the session. objective and data must outlive it; optimizer: resolved for
  /// the data. Throws Error for settings that have no meaning here, and as LeastSquares does.
  LeastSquaresFit(Session& session, ObjectiveState& objective, const StepData& data,
                  std::int64_t samples, const FitOptions& options, const TrainerOptions& trainer,
                  const OptimizerAttrs& optimizer);

  /// After the session's attach(). Throws Error where it needs more than FitOptions::memory_limit.
  void bind(Session& session);
  /// Returns bytes of memory beside the session's.
  std::size_t bytes() const { return problem_.bytes(); }

  /// Does update `step`, and leaves the counters of an epoch that is this update alone.
  void run(const StepInfo& step);
  /// Returns whether the last update found no lower loss.
  bool ended() const { return ended_; }

 private:
  ObjectiveState& objective_;
  std::int64_t samples_;
  std::size_t memory_limit_;
  LeastSquares problem_;
  LevenbergMarquardtSteps steps_;
  bool ended_ = false;
};

}  // namespace linnet
