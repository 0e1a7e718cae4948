// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "nn/definition.h"

namespace linnet {

/// A network's inference for one sample, with a place in one array of floats for all that is
/// computed.
struct InferenceGraph {
  Graph graph;
  std::vector<Value> inputs;      ///< in the network's order
  std::vector<Value> parameters;  ///< likewise
  std::vector<Value> outputs;     ///< likewise

  std::vector<Value> roots;          ///< by value id: whose memory it is
  std::vector<std::size_t> offsets;  ///< by value id of a root, in floats
  std::vector<std::size_t> scratch;  ///< by node: where its `scratch_of` floats begin
  std::size_t floats = 0;            ///< of the array
};

/// `language`: that it is written in, for messages. Throws Error for a value in between that is not
/// f32.
InferenceGraph inference_graph(const NetworkDefinition& network, std::string_view language);

}  // namespace linnet
