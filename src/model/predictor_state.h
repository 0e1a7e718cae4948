// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/predictor.h>

#include <map>
#include <memory>
#include <utility>

#include "model/model_state.h"

namespace linnet {

/// A program of one batch size and type of samples, with its memory.
class PreparedBatch {
 public:
  PreparedBatch(ModelState& model, std::int64_t batch, DType dtype, bool probabilities);
  ~PreparedBatch();
  PreparedBatch(const PreparedBatch&) = delete;
  PreparedBatch& operator=(const PreparedBatch&) = delete;

  /// Memory of the device, made when it is first asked for.
  const std::shared_ptr<Buffer>& input();
  const std::shared_ptr<Buffer>& output();
  void set_input(const void* samples, std::shared_ptr<void> owner);
  /// From set_input()'s memory, or input(), to output().
  void run();
  /// From and to memory that the device reads and writes.
  void run(const void* samples, void* outputs);

 private:
  ModelState& model_;
  std::int64_t batch_;
  std::size_t input_bytes_;
  std::size_t output_bytes_;
  Memory memory_;
  std::shared_ptr<Buffer> input_;
  std::shared_ptr<Buffer> output_;
  const void* other_input_ = nullptr;
  std::shared_ptr<void> owner_;
  std::unique_ptr<Program> program_;
  const void* bound_input_ = nullptr;
  const void* bound_output_ = nullptr;
};

struct PredictorState {
  ModelState& model;
  bool probabilities = false;
  std::map<std::pair<std::int64_t, DType>, PreparedBatch> prepared = {};

  /// Throws Error for a batch below 1 and a type that is neither f32 nor u8.
  PreparedBatch& at(std::int64_t batch, DType dtype);
};

/// Until the model's device has done all that was enqueued.
void wait_for(const ModelState& model);

}  // namespace linnet
