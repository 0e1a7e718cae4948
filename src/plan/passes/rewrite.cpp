// SPDX-License-Identifier: Apache-2.0
#include "plan/passes/rewrite.h"

#include <algorithm>
#include <utility>

namespace linnet {

bool supported(const Graph& graph, const Op& op, const std::vector<Value>& operands,
               const Supports& supports) {
  const std::vector<ValueType> types = graph.types(operands);
  return supports(op, types, op.infer(types));
}

Value written_instead(Graph& graph, Value old, const std::string& name) {
  const Value made = graph.add_output(name, graph.type(old));
  std::swap(graph.info(made).storage, graph.info(old).storage);
  std::swap(graph.info(made).offset, graph.info(old).offset);
  graph.replace_uses(old, made);
  return made;
}

std::size_t erase_marked(Graph& graph, const std::vector<bool>& marked, std::size_t count) {
  graph.erase_nodes([&](std::size_t n) { return marked[n]; });
  const auto end = marked.begin() + static_cast<std::ptrdiff_t>(count);
  return static_cast<std::size_t>(std::count(marked.begin(), end, false));
}

}  // namespace linnet
