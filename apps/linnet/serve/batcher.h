// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/error.h>
#include <linnet/predictor.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "serve/server_metrics.h"

namespace linnet::command {

/// One sample: a Tensor (1, ...) of each input, by name.
using Sample = State;

/// Reports a full queue or a timeout, for which the request is not to blame.
class Overloaded : public Error {
 public:
  using Error::Error;
};

/// Says how a Batcher works.
struct BatcherOptions {
  std::int64_t most = 32;                   ///< samples that are predicted at a time
  std::size_t queue = 1024;                 ///< samples that may wait
  std::chrono::milliseconds limit{10'000};  ///< until an answer must be there
};

/// Predicts samples of many threads together: what has come while one batch is computed is the next
/// batch, so that a single request never waits for others. Batches are filled up to the next power
/// of two, so that few programs are compiled; those of other sizes are never.
class Batcher {
 public:
  /// Keeps references to both. Compiles every size of a batch. `type`: of the first input's
  /// samples.
  Batcher(const Model& model, const BatcherOptions& options, bool probabilities, DType type,
          ServerMetrics& metrics);
  Batcher(const Batcher&) = delete;
  Batcher& operator=(const Batcher&) = delete;
  ~Batcher();

  /// Answers what waits, and all that comes, with Overloaded.
  void end();
  /// Returns whether the queue has room for no sample.
  bool full() const;

  /// Returns the first output's row for each sample, in their order. Throws Overloaded where they
  /// don't fit into the queue or take longer than the limit, and what the prediction throws.
  std::vector<std::vector<float>> predict(std::vector<Sample> samples);

 private:
  using Clock = std::chrono::steady_clock;
  struct Waiting {
    Sample sample;
    std::promise<std::vector<float>> answer;
    Clock::time_point latest;
  };

  void work();
  void answer(std::vector<Waiting>& batch);

  Predictor predictor_;
  BatcherOptions options_;
  std::string output_;  ///< name of the network's first output
  ServerMetrics& metrics_;
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Waiting> queue_;
  bool ending_ = false;
  std::thread worker_;  ///< last: it uses all of the above
};

}  // namespace linnet::command
