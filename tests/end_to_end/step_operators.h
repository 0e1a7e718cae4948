// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "backend/null/null_backend.h"
#include "fixtures.h"
#include "model/model_state.h"
#include "runtime/stored_types.h"

// What operators a training step is made of, after the passes.
namespace linnet::testing {

/// On a device that has what `supported` says, at batch 128.
inline std::vector<std::string> launches(const Network& network, NullBackend::Supported supported,
                                         const std::vector<std::string>& disabled = {}) {
  NullBackend null(supported);
  Graph graph =
      training_step(network.definition(), assumed_data(network.definition(), Loss::cross_entropy),
                    {.batch = 128, .optimizer = resolve({}, 1, 1), .disabled_passes = disabled},
                    [&](const Op& op, std::span<const ValueType> in,
                        std::span<const ValueType> out) {
                      return !stores_half({op, in, out, {}}) && null.supports(op, in, out);
                    });
  const auto program = null.prepare(std::move(graph), {});
  verify_plan(program->plan());
  program->run({});
  return null.launches();
}

inline bool everything(const Op&) { return true; }
/// All but a whole network in one.
inline bool layers(const Op& op) { return op.name() != "small_cnn"; }

inline std::vector<std::string> operators(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes()) names.emplace_back(node.op->name());
  return names;
}

/// Of a training step on the CPU.
inline std::vector<std::string> cpu_operators(const Network& network,
                                              const std::vector<std::string>& disabled) {
  Model model(network, {.device = "cpu", .threads = 1});
  return operators(
      training_step(network.definition(), assumed_data(network.definition(), Loss::cross_entropy),
                    {.batch = 4, .optimizer = resolve({}, 1, 1), .disabled_passes = disabled},
                    supports_of(*model.state().backend)));
}

}  // namespace linnet::testing
