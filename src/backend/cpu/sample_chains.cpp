// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/sample_chains.h"

#include <algorithm>
#include <set>

namespace linnet::cpu {
namespace {

/// Nodes between two of a chain, which run after it. More would keep memory alive for long.
constexpr std::size_t kMostBetween = 4;

/// Returns how many samples a chain computes at once: of `bytes` that it writes of each sample as
/// many as half of a core's L2 cache holds, and not fewer than products take together.
std::int64_t block_of(std::size_t bytes) {
  constexpr std::size_t kHalfOfL2 = std::size_t{512} << 10;
  constexpr std::int64_t kFewest = 4;
  const auto most = static_cast<std::int64_t>(kHalfOfL2 / std::max<std::size_t>(bytes, 1));
  return std::max(most / kFewest * kFewest, kFewest);
}

/// A chain that grows node by node.
class Growing {
 public:
  Growing(const Graph& graph, const std::vector<Kernel>& kernels)
      : graph_(graph), kernels_(kernels) {}

  bool begin(std::size_t n) {
    const Stage* stage = sample_stage_of(kernels_[n]);
    if (stage == nullptr) return false;
    chain_.samples = stage->by_sample->samples;
    return join(n);
  }

  bool join(std::size_t n) { return graph_.nodes()[n].op->is_view() ? view(n) : member(n); }

  /// The node runs after the chain.
  void postpone(std::size_t n) {
    const Node& node = graph_.nodes()[n];
    for (Value output : node.outputs) later_.insert(output.id);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.op->mutates(i)) later_.insert(node.inputs[i].id);
    }
  }

  SampleChain chain() const {
    SampleChain chain = chain_;
    const auto samples = static_cast<std::size_t>(std::max<std::int64_t>(chain.samples, 1));
    chain.block = block_of(written_ / samples);
    return chain;
  }

 private:
  bool view(std::size_t n) {
    const Node& node = graph_.nodes()[n];
    const Value output = node.outputs.front();
    if (!by_sample_.contains(node.inputs.front().id)) return false;
    if (graph_.info(output).storage != Storage::arena) return false;  // a copy
    const Shape& shape = graph_.shape(output);
    if (shape.rank() == 0 || shape[0] != chain_.samples) return false;
    by_sample_.insert(output.id);
    return true;
  }

  bool member(std::size_t n) {
    const Stage* stage = sample_stage_of(kernels_[n]);
    if (stage == nullptr || stage->by_sample->samples != chain_.samples) return false;
    const Node& node = graph_.nodes()[n];
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const bool listed = std::ranges::count(stage->by_sample->inputs, i) > 0;
      const Value input = node.inputs[i];
      if (later_.contains(input.id)) return false;
      // What is read whole stands before the chain, and is memory that no node of it takes over.
      if (!listed && graph_.info(input).storage == Storage::arena) return false;
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const bool listed = std::ranges::count(stage->by_sample->outputs, i) > 0;
      (listed ? by_sample_ : later_).insert(node.outputs[i].id);
      if (listed) written_ += graph_.type(node.outputs[i]).bytes();
    }
    chain_.nodes.push_back(n);
    return true;
  }

  const Graph& graph_;
  const std::vector<Kernel>& kernels_;
  SampleChain chain_;
  std::size_t written_ = 0;
  std::set<int> by_sample_;  ///< values that stand block by block
  std::set<int> later_;      ///< values that stand once the chain has run
};

SampleChain longest_chain(const Graph& graph, const std::vector<Kernel>& kernels,
                          std::size_t begin) {
  Growing chain(graph, kernels);
  if (!chain.begin(begin)) return {};
  std::size_t between = 0;
  for (std::size_t n = begin + 1; n < graph.nodes().size() && between <= kMostBetween; ++n) {
    if (chain.join(n)) {
      between = 0;
    } else {
      chain.postpone(n);
      ++between;
    }
  }
  return chain.chain();
}

}  // namespace

const Stage* sample_stage_of(const Kernel& kernel) {
  const auto found = std::ranges::find_if(kernel.stages, [](const Stage& stage) {
    return stage.by_sample != nullptr;
  });
  return found == kernel.stages.end() ? nullptr : &*found;
}

std::vector<SampleChain> find_sample_chains(const Graph& graph,
                                            const std::vector<Kernel>& kernels) {
  std::vector<SampleChain> chains;
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    SampleChain chain = longest_chain(graph, kernels, n);
    if (chain.nodes.size() < 2) continue;
    n = chain.nodes.back();
    chains.push_back(std::move(chain));
  }
  return chains;
}

}  // namespace linnet::cpu
