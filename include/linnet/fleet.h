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

/// Reports a fit of a Fleet.
struct FleetHistory {
  /// Each member's own history. That of a member that failed holds the epochs that it finished.
  std::vector<History> members;
  /// Says of each member why it failed, in a sentence that names the member and its seed; empty: it
  /// did not fail.
  std::vector<std::string> failures;
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

  /// Trains every member for FitOptions::epochs more epochs. FitOptions::patience stops each member
  /// by its own numbers: a member that has stopped takes no more time. A member whose loss or
  /// weights are not finite stops alone: FleetHistory::failures names it, and later fits leave it
  /// out. FitOptions::memory_limit is that of all members together. Waits. Throws as Trainer::fit()
  /// does; Error for a callback, checkpoints and `keep_best`, which a fleet doesn't have, for a
  /// memory limit, with the number of members that fit, and when every member has failed.
  FleetHistory fit(const Dataset& data, const FitOptions& options = {});

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
