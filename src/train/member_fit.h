// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/checkpoint.h>
#include <linnet/dataset.h>
#include <linnet/trainer.h>

#include <memory>
#include <optional>

#include "train/checkpoint_writer.h"

namespace linnet {

struct TrainerState;

/// A fit of a fleet's member that is ready to run: its programs are compiled, and the checkpoint
/// that it continues is loaded.
class MemberFit {
 public:
  virtual ~MemberFit() = default;
  /// Hands over a checkpoint of the place where the fit is.
  virtual void save() = 0;
  /// Trains to the end: Trainer::fit().
  virtual History run() = 0;
};

/// Prepares a fit, whose callback is not called for batches. saved: the checkpoint that it
/// continues, if there is one; take: gets its checkpoints, if options.checkpoints name a folder.
/// Throws as Trainer::fit() does before the first step.
std::unique_ptr<MemberFit> prepare_member(TrainerState& trainer, const Dataset& data,
                                          const FitOptions& options,
                                          const std::optional<SavedCheckpoint>& saved,
                                          TakeCheckpoint take);

}  // namespace linnet
