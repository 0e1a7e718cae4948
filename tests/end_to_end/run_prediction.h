// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "fixtures.h"
#include "model/model_state.h"

namespace linnet::testing {

/// Outputs of 8 samples by a prediction's graph, with the weights of a model on any device.
inline std::vector<float> run_prediction(Model& model, Graph graph,
                                         const std::vector<float>& samples,
                                         const PlanOptions& options = {}) {
  ModelState& state = model.state();
  const auto program = state.backend->prepare(std::move(graph), options);
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
  const auto input = state.backend->allocate(samples.size() * sizeof(float));
  const auto output = state.backend->allocate(outputs.size() * sizeof(float));
  state.backend->upload(*input, 0, std::as_bytes(std::span(samples)));
  program->bind(0, input->data());
  program->bind(1, output->data());
  program->run({.samples = 8});
  output->read(0, std::as_writable_bytes(std::span(outputs)));
  return outputs;
}

}  // namespace linnet::testing
