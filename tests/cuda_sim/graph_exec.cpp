// SPDX-License-Identifier: Apache-2.0
// Instantiated graphs: copies that are replayed node after node.
#include <fmt/format.h>

#include <random>
#include <stdexcept>
#include <utility>

#include "cuda_sim/block.h"
#include "cuda_sim/machine.h"

namespace sim = linnet::cuda::sim;
using sim::answer;
using sim::machine;

namespace {

/// A graph as it was when instantiated.
struct Instance {
  struct Node {
    std::shared_ptr<CUgraphNode_st> node;
    std::vector<std::size_t> dependencies;
    std::vector<Instance> bodies;
  };
  std::vector<Node> nodes;
};

}  // namespace

struct CUgraphExec_st {
  Instance instance;
  std::vector<cudaGraphConditionalHandle> handles;
  std::mt19937_64 random;
};

namespace {

/// Bodies of conditional nodes take no host functions, no events and no copies of memory that can
/// be paged.
bool allowed_in_body(const CUgraphNode_st& node) {
  return node.type != cudaGraphNodeTypeHost && node.type != cudaGraphNodeTypeEventRecord &&
         !node.pageable;
}

cudaError_t instantiate(const CUgraph_st& graph, bool in_body, CUgraphExec_st& exec,
                        Instance& instance) {
  std::map<const CUgraphNode_st*, std::size_t> indices;
  for (const auto& node : graph.nodes) {
    if (in_body && !allowed_in_body(*node)) return cudaErrorNotSupported;
    Instance::Node copy{.node = node, .dependencies = {}, .bodies = {}};
    for (const CUgraphNode_st* before : node->dependencies) {
      copy.dependencies.push_back(indices.at(before));
    }
    const bool conditional = node->type == cudaGraphNodeTypeConditional;
    if (conditional) {
      // One instantiation at a time, as for CUDA.
      if (machine().conditionals.at(node->handle).exec != nullptr) return cudaErrorNotSupported;
      exec.handles.push_back(node->handle);
    }
    for (const auto& body : node->bodies) {
      copy.bodies.emplace_back();
      const auto status = instantiate(*body, in_body || conditional, exec, copy.bodies.back());
      if (status != cudaSuccess) return status;
    }
    indices[node.get()] = instance.nodes.size();
    instance.nodes.push_back(std::move(copy));
  }
  return cudaSuccess;
}

/// Returns an order that the edges allow: as captured, or drawn from `random` where threads are
/// shuffled.
std::vector<std::size_t> order_of(const Instance& instance, std::mt19937_64& random) {
  const std::size_t count = instance.nodes.size();
  std::vector<std::size_t> order;
  if (machine().device.shuffle_seed == 0) {
    for (std::size_t i = 0; i < count; ++i) order.push_back(i);
    return order;
  }
  std::vector<std::size_t> missing(count);
  std::vector<std::vector<std::size_t>> after(count);
  std::vector<std::size_t> ready;
  for (std::size_t i = 0; i < count; ++i) {
    missing[i] = instance.nodes[i].dependencies.size();
    for (const std::size_t before : instance.nodes[i].dependencies) after[before].push_back(i);
    if (missing[i] == 0) ready.push_back(i);
  }
  while (!ready.empty()) {
    std::swap(ready[random() % ready.size()], ready.back());
    order.push_back(ready.back());
    ready.pop_back();
    for (const std::size_t next : after[order.back()]) {
      if (--missing[next] == 0) ready.push_back(next);
    }
  }
  return order;
}

/// Returns the value that decides; throws where neither the launch nor a kernel has given one.
unsigned condition(cudaGraphConditionalHandle handle) {
  const std::lock_guard lock(machine().mutex);
  const sim::Conditional& conditional = machine().conditionals.at(handle);
  if (!conditional.set) {
    throw std::runtime_error(fmt::format(
        "[CUDA sim] conditional handle {} decides before it has a value: it was created without "
        "cudaGraphCondAssignDefault, and no kernel of this launch has set it",
        handle));
  }
  return conditional.value;
}

void run(const Instance& instance, std::mt19937_64& random);

void run_conditional(const Instance::Node& node, std::mt19937_64& random) {
  const auto handle = node.node->handle;
  if (node.node->condition == cudaGraphCondTypeWhile) {
    const std::uint64_t limit = machine().device.while_limit;
    for (std::uint64_t round = 0; condition(handle) != 0; ++round) {
      if (round == limit) {
        throw std::runtime_error(
            fmt::format("[CUDA sim] a WHILE node has not ended after {} rounds", limit));
      }
      {
        const std::lock_guard lock(machine().mutex);
        ++machine().counters.while_rounds;
      }
      run(node.bodies[0], random);
    }
    return;
  }
  const unsigned value = condition(handle);
  const std::size_t body =
      node.node->condition == cudaGraphCondTypeIf ? (value != 0 ? 0U : 1U) : value;
  if (body < node.bodies.size()) run(node.bodies[body], random);
}

void run(const Instance& instance, std::mt19937_64& random) {
  for (const std::size_t i : order_of(instance, random)) {
    const Instance::Node& node = instance.nodes[i];
    if (node.node->type == cudaGraphNodeTypeConditional) {
      run_conditional(node, random);
    } else if (node.node->type == cudaGraphNodeTypeGraph) {
      run(node.bodies[0], random);
    } else if (node.node->run) {
      node.node->run();
    }
  }
}

void set_defaults(const CUgraphExec_st& exec) {
  const std::lock_guard lock(machine().mutex);
  for (const auto handle : exec.handles) {
    sim::Conditional& conditional = machine().conditionals.at(handle);
    conditional.set = conditional.assign_default;
    conditional.value = conditional.default_value;
  }
}

}  // namespace

void sim::drop_dead_conditionals() {
  std::erase_if(machine().conditionals, [](const auto& entry) {
    return entry.second.graph == nullptr && entry.second.exec == nullptr;
  });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                 unsigned long long flags) {
  const std::lock_guard lock(machine().mutex);
  if (exec == nullptr || !machine().graphs.contains(graph) || graph->is_body || flags > 15) {
    return answer(cudaErrorInvalidValue);
  }
  auto made = std::make_unique<CUgraphExec_st>();
  made->random.seed(machine().device.shuffle_seed);
  const auto status = instantiate(*graph, false, *made, made->instance);
  if (status != cudaSuccess) return answer(status);
  for (const auto handle : made->handles) machine().conditionals.at(handle).exec = made.get();
  machine().execs.insert(made.get());
  *exec = made.release();
  return answer(cudaSuccess);
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                          unsigned long long flags) {
  return cudaGraphInstantiate(exec, graph, flags);
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  const std::lock_guard lock(machine().mutex);
  if (!machine().execs.contains(exec)) return answer(cudaErrorInvalidValue);
  if (!sim::is_stream(stream)) return answer(cudaErrorInvalidResourceHandle);
  if (const auto capture = sim::capture_of(stream)) {
    capture->invalid = true;
    return answer(cudaErrorStreamCaptureUnsupported);
  }
  return answer(cudaSuccess);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  {
    const std::lock_guard lock(machine().mutex);
    if (!machine().execs.contains(exec)) return answer(cudaErrorInvalidValue);
    if (!sim::is_stream(stream)) return answer(cudaErrorInvalidResourceHandle);
    if (const auto capture = sim::capture_of(stream)) {
      capture->invalid = true;  // CUDA makes a child graph of it; nobody here needs that
      return answer(cudaErrorNotSupported);
    }
    ++machine().counters.graph_launches;
  }
  return answer(sim::enqueue(stream, "a graph", cudaGraphNodeTypeGraph, [exec] {
    set_defaults(*exec);
    run(exec->instance, exec->random);
  }));
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  if (machine().device.lazy) sim::finish_all();  // CUDA keeps what still runs by itself
  const std::lock_guard lock(machine().mutex);
  if (machine().execs.erase(exec) == 0) return answer(cudaErrorInvalidValue);
  for (const auto handle : exec->handles) machine().conditionals.at(handle).exec = nullptr;
  sim::drop_dead_conditionals();
  delete exec;
  return answer(cudaSuccess);
}

void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value) {
  if (!sim::BlockRunner::current().running()) {
    throw std::runtime_error("[CUDA sim] cudaGraphSetConditional is for kernels");
  }
  const std::lock_guard lock(machine().mutex);
  const auto found = machine().conditionals.find(handle);
  if (found == machine().conditionals.end() || found->second.exec == nullptr) {
    throw std::runtime_error(
        fmt::format("[CUDA sim] cudaGraphSetConditional: handle {} is in no instantiated graph",
                    handle));
  }
  found->second.value = value;
  found->second.set = true;
}
