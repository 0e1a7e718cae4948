// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/trainer.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace linnet::command {

/// Median, least and most of some numbers; zeros of none.
struct Spread {
  double median = 0;
  double min = 0;
  double max = 0;
};
Spread spread_of(std::vector<double> values);

/// Whole epochs on a clock: what comes before them is not on it.
struct TimedRun {
  std::vector<double> seconds;  ///< of each timed epoch
  std::int64_t samples = 0;     ///< in an epoch, its last incomplete batch included
  double startup_seconds = 0;   ///< compiling, preparing and allocating
  std::size_t planned_bytes = 0;
  std::int64_t shards = 1;
  std::vector<EpochReport> epochs = {};  ///< of training, the warm-up included
  std::vector<std::string> notes = {};
  std::string failed = {};  ///< why what was timed is worth nothing; else empty
};

/// A training up to the first epoch after which a part of the test set is right.
struct Race {
  TimedRun run;             ///< `seconds` of each epoch, the evaluations left out
  double accuracy = 0;      ///< of the test set, after the last epoch
  double test_seconds = 0;  ///< of the evaluations
};

/// Told how many passes of how many are done, outside of the clock.
using PassProgress = std::function<void(std::int64_t done, std::int64_t all)>;

/// Trains `warmup` epochs and then `options.epochs` timed ones, over shuffled data. Failed if the
/// loss does not fall from the first epoch to the last, or within the epoch if there is but one.
/// `test`, if not null, is evaluated after each epoch, off the clock.
TimedRun time_training(Model& model, const Dataset& data, TrainingOptions options,
                       std::int64_t warmup, const Dataset* test, const PassProgress& progress = {});

/// Trains until the accuracy on `test` is at least `wanted`, for options.epochs at most; failed if
/// it is not reached. Throws Error for data without classes.
Race time_to_accuracy(Model& model, const Dataset& data, const TrainingOptions& options,
                      const Dataset& test, double wanted, const PassProgress& progress = {});

/// Predicts the data in batches, in stored order, `warmup` and then `epochs` times. Resident: from
/// device memory to device memory; that is the data set on the CPU, and its first batch again and
/// again on a GPU. `streamed`: each batch from host memory, and its outputs back. Failed if an
/// output is not finite.
TimedRun time_inference(Model& model, const Dataset& data, std::int64_t batch, bool streamed,
                        std::int64_t warmup, std::int64_t epochs,
                        const PassProgress& progress = {});

}  // namespace linnet::command
