// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "fixtures.h"
#include "model/model_state.h"

namespace linnet::testing {

/// Outputs of 8 samples by a prediction's graph, with the weights of a model.
inline std::vector<float> run_prediction(Model& model, Graph graph,
                                         const std::vector<float>& samples) {
  ModelState& state = model.state();
  const auto program = state.backend->prepare(std::move(graph), {});
  Memory memory;
  const auto buffer = [&](Storage storage) -> std::shared_ptr<Buffer>& {
    return memory.buffers[static_cast<std::size_t>(storage)];
  };
  buffer(Storage::parameter) = state.parameters;
  buffer(Storage::state) = state.statistics;
  buffer(Storage::arena) =
      state.backend->allocate(program->plan().bytes[static_cast<std::size_t>(Storage::arena)]);
  program->attach(memory);
  std::vector<float> outputs(80);
  program->bind(0, samples.data());
  program->bind(1, outputs.data());
  program->run({.samples = 8});
  return outputs;
}

}  // namespace linnet::testing
