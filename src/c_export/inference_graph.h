// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "nn/definition.h"

namespace linnet {

/// A network's inference for one sample, with a place for all that is computed: in arrays of
/// floats, of ids, and of levels, of a type each.
struct InferenceGraph {
  Graph graph;
  std::vector<Value> inputs;      ///< in the network's order
  std::vector<Value> parameters;  ///< likewise
  std::vector<Value> outputs;     ///< likewise

  std::vector<Value> roots;          ///< by value id: whose memory it is
  std::vector<std::size_t> offsets;  ///< by value id of a root, in elements of its array
  std::vector<std::size_t> scratch;  ///< by node: where its `scratch_of` floats begin
  std::size_t floats = 0;            ///< of the first array
  std::size_t ids = 0;               ///< of the second
  std::size_t levels = 0;            ///< of the third
};

/// `language`: that it is written in, for messages. `on_levels`: lets products and poolings of what
/// quantize() has rounded compute on its levels, as the CPU does. Throws Error for a value in
/// between that is none of f32, i32 and levels.
InferenceGraph inference_graph(const NetworkDefinition& network, std::string_view language,
                               bool on_levels = false);

}  // namespace linnet
