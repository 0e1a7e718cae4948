// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.h"

namespace linnet {

template <class O>
const O* op_as(const Node* node) {
  return node == nullptr ? nullptr : dynamic_cast<const O*>(node->op.get());
}

/// Returns the node that writes `value`, if it is an O, `value` is its first output, stays in the
/// arena, and has no reader but one: so that it can fuse into that reader.
template <class O>
const Node* sole_producer(const Graph& graph, Value value) {
  const Node* node = graph.producer(value);
  const bool match = op_as<O>(node) != nullptr && node->outputs.front() == value &&
                     graph.info(value).storage == Storage::arena && graph.uses(value) == 1;
  return match ? node : nullptr;
}

}  // namespace linnet
