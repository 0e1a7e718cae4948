// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/callback.h>
#include <linnet/dataset.h>
#include <linnet/export.h>
#include <linnet/model.h>
#include <linnet/network.h>
#include <linnet/tensor.h>
#include <linnet/trainer.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace linnet {
struct FleetState;
}

LINNET_API_BEGIN
namespace linnet {

/// Says in what the members of a Fleet differ.
struct FleetOptions {
  /// Seed of each member's initial weights, and of its training unless `data_seed` is set; empty:
  /// 0, 1, 2, ...
  std::vector<std::uint64_t> seeds = {};
  /// Seed of shuffling, dropout, augmentation and noise that all members share: they see the same
  /// batches in the same order. Without it each member has an order of its own, by its seed.
  std::optional<std::uint64_t> data_seed = {};
  /// Losses, optimizer and schedule: of all members, or one for each.
  std::vector<Objective> objectives = {Objective{}};
  std::vector<CustomMetric> metrics = {};  ///< custom metrics: TrainerOptions::metrics
  int threads = 0;  ///< threads that members are dealt over; 0: all processors of the process
};

/// Watches a fit of a Fleet: derive from it, override what you need, and pass it to Fleet::fit().
/// The threads that train call its functions, one call at a time, between steps of the member whose
/// index they name. A function must not use the fleet or its members. An exception that one throws
/// ends the fit and reaches the caller.
class FleetCallback {
 public:
  virtual ~FleetCallback() = default;
  /// Called after the evaluations of a member's epoch.
  virtual void on_epoch(std::int64_t /*member*/, const EpochReport& /*report*/) {}
  /// Returns true to end the member's training: before its first step, or after the current step or
  /// evaluation. Called several times a second for each member that trains. The default returns
  /// false.
  virtual bool stop_requested(std::int64_t /*member*/) { return false; }
  /// Called before the first step of a member that continues a fit that was stopped.
  virtual void on_resume(std::int64_t /*member*/, const ResumeReport& /*report*/) {}
  /// Called after each checkpoint of the fleet, also one that could not be written. Its epoch is
  /// the lowest of the members', 0 before a member's first one; its step is the sum over the
  /// members.
  virtual void on_checkpoint(const CheckpointReport& /*report*/) {}
};

/// Reports a fit of a Fleet.
struct FleetHistory {
  /// Each member's own history. That of a member that failed holds the epochs that it finished.
  std::vector<History> members;
  /// Says of each member why it failed, in a sentence that names the member and its seed; empty: it
  /// did not fail.
  std::vector<std::string> failures;
  /// Sentences on checkpoints: newer ones that were damaged, and those that were not written.
  std::vector<std::string> notes;
};

/// Trains many models of one network on one data set, on the CPU. Each member computes on one
/// thread, without waiting for another, so small networks train faster than one after the other
/// on all threads. Each member has the bits that it has alone, as
/// @code
/// Model model(network, {.device = "cpu", .seed = seeds[k]});
/// Trainer trainer(model, objectives[k], {.seed = data_seed or seeds[k]});
/// trainer.fit(data, options);
/// @endcode
/// at any number of threads. A shared handle, as a Trainer is. Not thread-safe.
class Fleet {
 public:
  /// Makes `members` members, with initial weights by their seeds. Compiles nothing. Throws Error
  /// for fewer than one member, and unless there is a seed for each and one objective or one for
  /// each; and as Trainer's constructor does.
  Fleet(const Network& network, std::int64_t members, FleetOptions options = {});
  /// Makes a fleet of copies of these models, e.g. to train them further. Throws Error, naming the
  /// member, unless all have the network of the first one; and as the form above does.
  explicit Fleet(const std::vector<Model>& members, FleetOptions options = {});

  /// Returns the number of members.
  std::int64_t size() const;
  /// Returns a member, which shares its weights with the fleet and computes on one thread.
  /// Model::copy() makes an independent model of it, with other threads too. Throws Error for an
  /// index out of range.
  Model member(std::int64_t index) const;
  /// Returns another model with the weights of a member's best epoch in the last fit with
  /// FitOptions::keep_best: Trainer::best(). Waits. Throws Error for an index out of range and for
  /// a member without such weights.
  Model best(std::int64_t index) const;

  /// Trains every member for FitOptions::epochs more epochs. FitOptions::patience stops each member
  /// by its own numbers: a member that has stopped takes no more time. A member whose loss or
  /// weights are not finite stops alone: FleetHistory::failures names it, and later fits leave it
  /// out. FitOptions::memory_limit is that of all members together, and `keep_best` keeps each
  /// member's own best epoch.
  ///
  /// A checkpoint (FitOptions::checkpoints) holds all members in one file, each at the place where
  /// it was last saved: members don't wait for each other. By epochs or steps a file is written
  /// when as many have been saved as members are left to train, by time at once. A fit that is
  /// killed and continued by a fleet that was made alike has the bits of one that was not: members
  /// that have ended stay so, the others continue from their places.
  ///
  /// Waits. Throws as Trainer::fit() does; Error for FitOptions::callback, which belongs to one
  /// trainer, for a memory limit, with the number of members that fit, for a checkpoint of another
  /// fleet, and when every member has failed.
  FleetHistory fit(const Dataset& data, const FitOptions& options = {},
                   FleetCallback* callback = nullptr);

  /// Returns each member's loss, accuracy and custom metrics over a data set: Trainer::evaluate().
  /// Those of a member that failed are NaN, over no samples. Waits.
  std::vector<Evaluation> evaluate(const Dataset& data, std::int64_t batch = 256);
  /// Returns the first output of every member for every sample, f32 (members, N, outputs...). Rows
  /// of a member that failed are NaN. Waits. Throws as Model::predict() does.
  Tensor predict_members(const Dataset& data, std::int64_t batch = 256);
  /// Returns the mean of the first output over the members that did not fail, f32 (N, outputs...),
  /// summed in double precision in the order of the members. Waits.
  Tensor predict(const Dataset& data, std::int64_t batch = 256);
  /// Returns the mean of the members' probabilities (Model::predict_probabilities()), f32 (N,
  /// outputs...). Waits.
  Tensor predict_probabilities(const Dataset& data, std::int64_t batch = 256);
  /// Returns quantiles over the members that did not fail, f32 (levels, N, outputs...): NumPy's
  /// default, linear between members. Waits. Throws Error for no level, and for levels outside
  /// [0, 1].
  Tensor predict_quantiles(const Dataset& data, const std::vector<double>& levels,
                           std::int64_t batch = 256);

 private:
  std::shared_ptr<FleetState> state_;
};

}  // namespace linnet
LINNET_API_END
