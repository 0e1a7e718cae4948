// SPDX-License-Identifier: Apache-2.0
// Graphs, as captures fill them and as they are built by hand.
#include <algorithm>
#include <utility>

#include "cuda_sim/machine.h"

namespace sim = linnet::cuda::sim;
using sim::answer;
using sim::machine;

namespace {

bool is_graph(const cudaGraph_t graph) { return machine().graphs.contains(graph); }

bool conditional_nodes_exist() {
  return machine().device.conditional_nodes && machine().device.driver_version >= 12040;
}

/// Returns a copy for a child-graph node; null where it holds a conditional node, which CUDA
/// refuses.
std::unique_ptr<CUgraph_st> clone(const CUgraph_st& graph) {
  auto copy = std::make_unique<CUgraph_st>();
  copy->is_body = true;
  std::map<const CUgraphNode_st*, CUgraphNode_st*> copies;
  for (const auto& node : graph.nodes) {
    if (node->type == cudaGraphNodeTypeConditional) return nullptr;
    auto same = std::make_shared<CUgraphNode_st>();
    same->type = node->type;
    same->run = node->run;
    same->pageable = node->pageable;
    for (const auto* before : node->dependencies) same->dependencies.push_back(copies.at(before));
    for (const auto& body : node->bodies) {
      same->bodies.push_back(clone(*body));
      if (same->bodies.back() == nullptr) return nullptr;
    }
    copies[node.get()] = same.get();
    copy->nodes.push_back(std::move(same));
  }
  return copy;
}

cudaError_t add_conditional(cudaGraph_t graph, CUgraphNode_st& node,
                            cudaConditionalNodeParams& parameters) {
  if (!conditional_nodes_exist()) return cudaErrorNotSupported;
  const auto found = machine().conditionals.find(parameters.handle);
  if (found == machine().conditionals.end() || found->second.graph != graph || found->second.used) {
    return cudaErrorInvalidValue;
  }
  const auto [most, known] = [&]() -> std::pair<unsigned, bool> {
    switch (parameters.type) {
      case cudaGraphCondTypeIf: return {2, true};
      case cudaGraphCondTypeWhile: return {1, true};
      case cudaGraphCondTypeSwitch: return {1U << 20, true};
    }
    return {0, false};
  }();
  if (!known || parameters.size < 1 || parameters.size > most) return cudaErrorInvalidValue;
  found->second.used = true;
  node.handle = parameters.handle;
  node.condition = parameters.type;
  for (unsigned i = 0; i < parameters.size; ++i) {
    node.bodies.push_back(std::make_unique<CUgraph_st>());
    node.bodies.back()->is_body = true;
    node.body_handles.push_back(node.bodies.back().get());
    machine().graphs.insert(node.bodies.back().get());
  }
  parameters.phGraph_out = node.body_handles.data();
  return cudaSuccess;
}

void forget(CUgraph_st* graph) {
  machine().graphs.erase(graph);
  for (const auto& node : graph->nodes) {
    for (const auto& body : node->bodies) forget(body.get());
  }
  for (auto& [handle, conditional] : machine().conditionals) {
    if (conditional.graph == graph) conditional.graph = nullptr;
  }
  sim::drop_dead_conditionals();
}

}  // namespace

void sim::destroy_graph(CUgraph_st* graph) {
  forget(graph);
  delete graph;
}

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  const std::lock_guard lock(machine().mutex);
  if (const auto status = sim::device_status(); status != cudaSuccess) return answer(status);
  if (graph == nullptr || flags != 0) return answer(cudaErrorInvalidValue);
  auto made = std::make_unique<CUgraph_st>();
  machine().graphs.insert(made.get());
  *graph = made.release();
  return answer(cudaSuccess);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  const std::lock_guard lock(machine().mutex);
  if (!is_graph(graph) || graph->is_body) return answer(cudaErrorInvalidValue);
  for (const auto& capture : machine().captures) {
    if (capture->graph == graph) return answer(cudaErrorInvalidValue);
  }
  sim::destroy_graph(graph);
  return answer(cudaSuccess);
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  const std::lock_guard lock(machine().mutex);
  if (!is_graph(graph) || count == nullptr) return answer(cudaErrorInvalidValue);
  const std::size_t have = graph->nodes.size();
  if (nodes != nullptr) {
    for (std::size_t i = 0; i < *count; ++i) {
      nodes[i] = i < have ? graph->nodes[i].get() : nullptr;
    }
    *count = std::min(*count, have);
  } else {
    *count = have;
  }
  return answer(cudaSuccess);
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  if (node == nullptr || type == nullptr) return answer(cudaErrorInvalidValue);
  *type = node->type;
  return answer(cudaSuccess);
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph,
                             const cudaGraphNode_t* dependencies,
                             const cudaGraphEdgeData* /*edges*/, std::size_t count,
                             cudaGraphNodeParams* parameters) {
  const std::lock_guard lock(machine().mutex);
  if (node == nullptr || !is_graph(graph) || parameters == nullptr) {
    return answer(cudaErrorInvalidValue);
  }
  auto made = std::make_shared<CUgraphNode_st>();
  made->type = parameters->type;
  for (std::size_t i = 0; i < count; ++i) {
    const auto own = [&](const auto& other) { return other.get() == dependencies[i]; };
    if (std::none_of(graph->nodes.begin(), graph->nodes.end(), own)) {
      return answer(cudaErrorInvalidValue);
    }
    made->dependencies.push_back(dependencies[i]);
  }
  switch (parameters->type) {
    case cudaGraphNodeTypeEmpty: break;
    case cudaGraphNodeTypeGraph: {
      if (!is_graph(parameters->graph.graph)) return answer(cudaErrorInvalidValue);
      made->bodies.push_back(clone(*parameters->graph.graph));
      if (made->bodies.back() == nullptr) return answer(cudaErrorNotSupported);
      break;
    }
    case cudaGraphNodeTypeConditional: {
      const auto status = add_conditional(graph, *made, parameters->conditional);
      if (status != cudaSuccess) return answer(status);
      break;
    }
    default: return answer(cudaErrorNotSupported);
  }
  *node = made.get();
  graph->nodes.push_back(std::move(made));
  return answer(cudaSuccess);
}

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle, cudaGraph_t graph,
                                             unsigned default_value, unsigned flags) {
  const std::lock_guard lock(machine().mutex);
  if (!conditional_nodes_exist()) return answer(cudaErrorNotSupported);
  if (handle == nullptr || !is_graph(graph) || flags > cudaGraphCondAssignDefault) {
    return answer(cudaErrorInvalidValue);
  }
  *handle = machine().next_conditional++;
  sim::Conditional& made = machine().conditionals[*handle];
  made.default_value = default_value;
  made.assign_default = flags == cudaGraphCondAssignDefault;
  made.graph = graph;
  return answer(cudaSuccess);
}
