// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "model/model_state.h"
#include "model/step_graph.h"

namespace linnet {

/// A pass over `samples` samples in batches: a program for the full batches and one for the rest,
/// which share everything but their shapes.
struct Sweep {
  Program* full = nullptr;  ///< null if there is no full batch
  Program* rest = nullptr;  ///< null if the batch divides the samples
  std::uint64_t batch = 0;
  std::uint64_t samples = 0;

  std::uint64_t full_steps() const { return samples / batch; }
  std::uint64_t steps() const { return full_steps() + (rest != nullptr ? 1 : 0); }
  /// Runs steps [begin, end) of the pass; `first` describes the pass's step 0.
  void run(const StepInfo& first, std::uint64_t begin, std::uint64_t end) const;
  /// Binds a slot in both programs.
  void bind(std::size_t slot, const void* address) const;
};

/// The counters that metrics add up on the device.
struct Counters {
  double loss = 0;
  double correct = 0;
  double samples = 0;
  double not_finite = 0;
  double last_loss = 0;
  /// Means; the accuracy is NaN unless `classification`.
  Evaluation evaluation(bool classification) const;
};

/// Programs of one model that share its weights, one arena, and gradients and moments if they
/// train.
class Session {
 public:
  explicit Session(ModelState& model) : model_(model) {}

  /// Builds the programs of a sweep: `graph_of(batch)` is asked for the full and the last batch.
  Sweep add_sweep(std::int64_t samples, std::int64_t batch,
                  const std::function<Graph(std::int64_t)>& graph_of);
  /// Allocates what all programs need and hands it out; call once, after the last add_sweep.
  void attach();

  /// Memory of weights, arena, gradients, moments, statistics and what programs hold themselves.
  std::size_t planned_bytes() const;
  Supports supports() const;

  void reset_counters();
  Counters counters() const;

 private:
  Program* add(Graph graph);

  ModelState& model_;
  std::vector<std::unique_ptr<Program>> programs_;
  Memory memory_;
};

}  // namespace linnet
