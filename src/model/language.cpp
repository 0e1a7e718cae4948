// SPDX-License-Identifier: Apache-2.0
#include "model/language.h"

#include <algorithm>

#include "nn/definition.h"
#include "ops/gather/gather.h"

namespace linnet {

bool is_language_model(const Model& model) {
  const NetworkDefinition& network = model.network().definition();
  const auto tokens = std::ssize(model.class_names());
  if (tokens < 2 || network.inputs.size() != 1 || network.outputs.size() != 1) return false;
  const NetworkInput& input = network.inputs[0];
  if (input.dtype != DType::i32 || input.sample.rank() != 1 ||
      network.output_sample() != Shape{input.sample[0], tokens}) {
    return false;
  }
  return std::ranges::any_of(network.graph.nodes(), [&](const Node& node) {
    return dynamic_cast<const GatherOp*>(node.op.get()) != nullptr &&
           node.inputs[GatherOp::In::indices] == input.value &&
           network.graph.shape(node.inputs[GatherOp::In::table])[0] == tokens;
  });
}

}  // namespace linnet
