// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/trainer.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "model/session.h"
#include "train/host_schedule.h"

namespace linnet {

struct TrainerState;

/// Steps on batches of one data set, of one size, one call at a time.
class Stepper {
 public:
  /// update: the steps train; else they leave gradients() behind and change nothing else.
  Stepper(TrainerState& trainer, const Batch& batch, bool update);
  /// Whether run() can take the batch.
  bool takes(const Batch& batch) const;
  void run(const Batch& batch);

  /// Without `update`: lets the next run see the model's running statistics.
  void copy_statistics();
  const Buffer& gradients() const { return *memory_->gradients; }
  /// Whether the objective trains the network's parameter of this index.
  bool trains(std::size_t parameter) const { return trains_[parameter]; }

 private:
  TrainerState& trainer_;
  Dataset data_;
  BatchOptions options_;
  StepData read_;
  std::shared_ptr<TrainingMemory> memory_;
  Session session_;
  Sweep sweep_;
  BatchStream* stream_ = nullptr;
  std::vector<bool> trains_;
};

/// What a Trainer is: a model, an objective, the optimizer's memory, and how far it is.
struct TrainerState {
  TrainerState(Model trained, Objective aim, TrainerOptions how);
  ~TrainerState();
  TrainerState(const TrainerState&) = delete;
  TrainerState& operator=(const TrainerState&) = delete;

  ModelState& state() { return model.state(); }
  const NetworkDefinition& network() const { return model.state().definition(); }
  /// The objective's losses, and nothing else.
  TrainingOptions losses(const Augment& augment = {}) const;
  /// The objective's losses over a data set.
  StepData read(const Dataset& data, const Augment& augment = {}) const;
  /// The optimizer, with a schedule of `length` epochs unless it has a length of its own.
  OptimizerAttrs optimizer(std::int64_t length, std::int64_t steps_of_epoch) const;
  /// Moments, zero until the first step, in memory of the device.
  Buffer& moments();

  Model model;
  Objective objective;
  TrainerOptions options;
  HostSchedule schedule;
  std::string key;  ///< begins the keys of programs that are this trainer's alone
  std::shared_ptr<TrainingMemory> memory = std::make_shared<TrainingMemory>();
  /// What gradients() computes in.
  std::shared_ptr<TrainingMemory> gradients = std::make_shared<TrainingMemory>();
  std::uint64_t steps = 0;
  std::int64_t epochs = 0;
  std::optional<State> best = {};  ///< weights
  std::unique_ptr<Stepper> stepper = nullptr;
  std::unique_ptr<Stepper> differentiator = nullptr;
};

/// Trainer::fit().
History fit(TrainerState& trainer, const Dataset& data, const FitOptions& options);

}  // namespace linnet
