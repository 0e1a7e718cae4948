// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "plan/plan.h"
#include "runtime/node_view.h"

namespace linnet {

/// Returns the kernels of a graph's nodes, in their order; a view has an empty one. `prepare` gives
/// an optional Kernel for a NodeView. Throws Error naming the operator and layer that has none on
/// `device`. fixed_weights: as PlanOptions.
template <class Kernel, class Prepare>
std::vector<Kernel> prepare_kernels(const Graph& graph, std::string_view device,
                                    const Prepare& prepare, bool fixed_weights = false) {
  std::vector<Kernel> kernels;
  kernels.reserve(graph.nodes().size());
  if (fixed_weights) fixed_weights = !writes_weights(graph);
  for (const Node& node : graph.nodes()) {
    const std::vector<ValueType> inputs = graph.types(node.inputs);
    const std::vector<ValueType> outputs = graph.types(node.outputs);
    std::optional<Kernel> kernel =
        prepare(NodeView{*node.op, inputs, outputs, outputs_read(graph, node),
                         fixed_weights ? inputs_fixed(graph, node) : std::vector<bool>{},
                         inputs_alone(graph, node)});
    require(kernel.has_value() || node.op->is_view(), "[{} '{}'] has no kernel on {} for {} {}",
            node.op->name(), node.name, device, to_string({}, inputs),
            to_string(node.op->attributes()));
    kernels.push_back(kernel ? std::move(*kernel) : Kernel{});
  }
  return kernels;
}

/// make_plan() with the workspaces that the nodes' kernels want.
template <class Kernel>
Plan plan_for(Graph graph, const std::vector<Kernel>& kernels, const PlanOptions& options) {
  std::size_t next = 0;
  return make_plan(
      std::move(graph), [&](const Node&) { return kernels[next++].workspace_bytes; }, options);
}

}  // namespace linnet
