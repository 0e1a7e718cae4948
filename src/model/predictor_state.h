// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/predictor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "model/model_state.h"
#include "model/prediction_blocks.h"
#include "model/step_graph.h"

namespace linnet {

/// A program of one batch size and type of samples, with its memory; or one of a block of the
/// batch (model/prediction_blocks.h), which runs for all blocks.
class PreparedBatch {
 public:
  PreparedBatch(ModelState& model, std::int64_t batch, DType dtype, OutputForm form,
                bool in_blocks);
  ~PreparedBatch();
  PreparedBatch(const PreparedBatch&) = delete;
  PreparedBatch& operator=(const PreparedBatch&) = delete;

  /// Returns memory of the device for an input or an output, made when it is first asked for.
  const std::shared_ptr<Buffer>& input(std::size_t index = 0) { return memory_of(index); }
  const std::shared_ptr<Buffer>& output(std::size_t index = 0) {
    return memory_of(inputs_ + index);
  }
  /// Samples of the first input; empty: input() again.
  void set_input(Tensor samples);
  /// Returns the device's memory of what is set.
  std::span<const std::byte> first_input();
  /// From set_input()'s memory, or input(), to output().
  void run();
  /// From and to memory that the device reads and writes: the first inputs and outputs as given,
  /// the others, and those that are empty, in memory of this batch. first: see predict_batch().
  void run(std::span<const std::span<const std::byte>> inputs,
           std::span<const std::span<std::byte>> outputs, std::uint64_t first);
  /// Returns the program and its memory, without the model's, which it shares.
  std::size_t bytes() const;
  /// Returns what a run is told; and what runs, bound to the addresses of the last run.
  StepInfo step(std::uint64_t first = 0) const;
  Program& program() { return *made_.program; }

 private:
  /// An input or output: its external slot is its place among them.
  struct Port {
    std::size_t bytes = 0;
    std::shared_ptr<Buffer> memory = nullptr;
  };
  const std::shared_ptr<Buffer>& memory_of(std::size_t port);
  std::shared_ptr<Buffer> arena(const std::function<Graph(std::int64_t)>& graph_of) const;
  void attach_lanes(const std::function<Graph(std::int64_t)>& graph_of);
  void bind(std::size_t port, const std::byte* address);
  void run_bound(std::uint64_t first);

  ModelState& model_;
  std::int64_t batch_;
  std::size_t inputs_;
  std::vector<Port> ports_;
  Memory memory_;
  std::vector<Memory> lanes_;         ///< of blocks that run at the same time; empty: of one run
  std::vector<std::size_t> strides_;  ///< from a block to the next, by port
  Tensor other_input_;                ///< empty: none
  PredictionProgram made_;
  std::uint64_t weights_version_ = 0;  ///< of the model, at the last run
};

struct PredictorState {
  /// The programs of one batch size and type, as many as ever ran at the same time.
  struct Prepared {
    std::vector<std::unique_ptr<PreparedBatch>> all;  ///< the first: what input() and run() use
    std::vector<PreparedBatch*> idle;
    std::uint64_t last_use = 0;  ///< the count of uses at the last one
  };

  ModelState& model;
  OutputForm form = OutputForm::plain;
  std::shared_ptr<ModelState> owner = nullptr;  ///< of `model`; null where that owns this
  std::map<std::pair<std::int64_t, DType>, Prepared> prepared = {};
  std::mutex mutex = {};  ///< over `prepared`; and over a device, which runs one at a time
  std::uint64_t uses = 0;
  bool in_blocks = true;  ///< where the device gains by it

  /// Returns the first program; throws Error for a batch below 1 and a type that the network's
  /// first input does not take.
  PreparedBatch& at(std::int64_t batch, DType dtype) { return *sized(batch, dtype).all.front(); }
  /// Has at least one program; throws as at().
  Prepared& sized(std::int64_t batch, DType dtype);
  /// Keeps the two sizes that were used last, a full batch and a rest, and of the others those that
  /// were used last, while all hold at most so many bytes.
  void keep(std::size_t bytes);
};

/// Returns what predictions of Model are prepared by, in that form: made once, and kept with the
/// model.
PredictorState& predictor_of(ModelState& model, OutputForm form);

/// Host memory to host memory, of all inputs and the first outputs: `count` records of each, the
/// first input's in `dtype`. Outputs that are empty are left out. first: the first one's place in
/// the data set, which keys noise. Threads may call it at the same time.
void predict_batch(PredictorState& state, std::int64_t count, DType dtype,
                   std::span<const std::span<const std::byte>> inputs,
                   std::span<const std::span<std::byte>> outputs, std::uint64_t first = 0);

/// Until the model's device has done all that was enqueued.
void wait_for(const ModelState& model);

}  // namespace linnet
