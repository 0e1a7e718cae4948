// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/model.h>
#include <linnet/optimizer.h>

#include <string>
#include <vector>

namespace linnet {

enum class Loss : std::uint8_t {
  automatic,      ///< cross_entropy for labels, mse for values
  cross_entropy,  ///< integer labels; logits, or probabilities if the network ends in Softmax
  mse,
  mae,
  binary_cross_entropy,  ///< logits against values in [0, 1]
};

struct TrainingOptions {
  std::int64_t epochs = 5;
  std::int64_t batch = 128;
  Optimizer optimizer = {};
  Loss loss = Loss::automatic;
  double validation = 0;  ///< part of the training data that is held out, in [0, 1)
  /// Stops when the held-out (or else test) loss has not improved for so many epochs; 0: never.
  std::int64_t patience = 0;
  bool shuffle = true;
  std::uint64_t seed = 0;  ///< of shuffle, split and dropout
  /// Leaves the data set in host memory: each batch is copied to the device while that computes the
  /// one before, in `pool` buffers (at least 1). The same results to the bit; for data sets that
  /// don't fit. Changes nothing on the CPU, which reads host memory.
  bool streamed = false;
  std::int64_t pool = 3;
  /// Graph passes to leave out, by name as `linnet plan` prints them; for diagnosis.
  std::vector<std::string> disabled_passes = {};
};

/// Loss (mean over the samples) and accuracy (NaN for regression).
struct Evaluation {
  double loss = 0;
  double accuracy = 0;
  std::int64_t samples = 0;
};

struct EpochReport {
  std::int64_t epoch = 0;  ///< from 1
  Evaluation train;        ///< over the epoch, while the weights changed
  Evaluation validation;   ///< held-out part; no samples if there is none
  Evaluation test;         ///< no samples if no test data was given
  /// Of the epoch's steps in their order; the newest 4096 where they are more.
  std::vector<float> step_losses = {};
  double learning_rate = 0;  ///< of the epoch's last step
  double seconds = 0;        ///< of training alone, without the evaluations
  double samples_per_second = 0;
};

/// The state of a running epoch.
struct Progress {
  std::int64_t epoch = 0;  ///< from 1
  std::int64_t epochs = 0;
  std::int64_t samples_done = 0;
  std::int64_t samples = 0;  ///< in an epoch
  double loss = 0;           ///< mean over the epoch so far
  double accuracy = 0;
  double samples_per_second = 0;  ///< over the epoch so far
  double seconds_left = 0;        ///< of the whole training, estimated
};

/// Watches a training; every function is called on the thread that trains, between steps.
class Callback {
 public:
  virtual ~Callback() = default;
  /// Several times a second.
  virtual void on_progress(const Progress& /*progress*/) {}
  virtual void on_epoch(const EpochReport& /*report*/) {}
  /// Asked as often as on_progress; true ends the training after the current step.
  virtual bool stop_requested() { return false; }
};

struct History {
  std::vector<EpochReport> epochs;
  bool stopped_early = false;      ///< patience ran out
  bool interrupted = false;        ///< a callback asked to stop; the last epoch is incomplete
  double startup_seconds = 0;      ///< from the call to the first step: compiling and preparing
  std::size_t planned_bytes = 0;   ///< all memory of training, decided before the first step
  std::vector<std::string> notes;  ///< sentences on what the device could not do
};

/// Trains `model` on `data`. The last incomplete batch of an epoch is trained on as it is. Results
/// depend on the options, the seeds and the data alone, not on threads.
/// Throws Error for data that do not fit the network, and when the loss is no longer finite.
History train(Model& model, const Dataset& data, const TrainingOptions& options = {},
              const Dataset* test = nullptr, Callback* callback = nullptr);

/// Loss and accuracy over a data set, in inference mode.
Evaluation evaluate(Model& model, const Dataset& data, Loss loss = Loss::automatic,
                    std::int64_t batch = 256);

}  // namespace linnet
