// SPDX-License-Identifier: Apache-2.0
#include "plan/passes/concat_chains.h"

#include <algorithm>
#include <map>

#include "ops/batch_norm/batch_norm.h"
#include "ops/concat/concat.h"
#include "ops/update_channels/update_channels.h"
#include "plan/passes/match.h"

namespace linnet {
namespace {

bool is_of_channels(const Graph& graph, const Node& node) {
  const auto* concat = op_as<ConcatOp>(&node);
  return concat != nullptr && node.inputs.size() >= 2 &&
         concat->attrs().axis == static_cast<int>(graph.shape(node.inputs[kFirst]).rank()) - 1 &&
         graph.info(node.outputs.front()).storage == Storage::arena;
}

/// Returns by value: whether anything reads it that needs it by itself and is not a concatenation's
/// first operand.
std::vector<bool> needed_dense(const Graph& graph) {
  std::vector<bool> needed(graph.value_count(), false);
  for (const Node& node : graph.nodes()) {
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const bool continues = i == 0 && is_of_channels(graph, node);
      if (continues || reads_first_channels(*node.op, i)) continue;
      needed[static_cast<std::size_t>(node.inputs[i].id)] = true;
    }
  }
  return needed;
}

}  // namespace

bool reads_first_channels(const Op& op, std::size_t operand) {
  const bool norm = dynamic_cast<const BatchNormOp*>(&op) != nullptr ||
                    dynamic_cast<const BatchNormAgainOp*>(&op) != nullptr;
  return (norm && operand == BatchNormOp::In::x) ||
         (dynamic_cast<const BatchNormGradOp*>(&op) != nullptr &&
          operand == BatchNormGradOp::In::x);
}

std::vector<ConcatChain> concat_chains(const Graph& graph, std::size_t backward,
                                       const Supports& supports) {
  const std::vector<bool> dense = needed_dense(graph);
  std::vector<ConcatChain> chains;
  std::map<int, std::size_t> ends;  // the chain that ends in a value
  for (std::size_t n = 0; n < backward; ++n) {
    const Node& node = graph.nodes()[n];
    if (!is_of_channels(graph, node)) continue;
    const Value first = node.inputs.front();
    const auto before = ends.find(first.id);
    const bool continues = before != ends.end() && !dense[static_cast<std::size_t>(first.id)];
    const std::size_t chain = continues ? before->second : chains.size();
    if (continues) {
      ends.erase(before);  // a second concatenation of it begins anew
    } else {
      chains.emplace_back();
    }
    chains[chain].nodes.push_back(n);
    chains[chain].channels = graph.shape(node.outputs.front())[-1];
    ends[node.outputs.front().id] = chain;
  }
  const auto is_useless = [&](const ConcatChain& chain) {
    const Node& last = graph.nodes()[chain.nodes.back()];
    const std::vector<ValueType> types{graph.type(last.outputs.front()),
                                       graph.type(last.inputs[kSecond])};
    return chain.nodes.size() < 2 ||
           !supports(UpdateChannelsOp(), types, std::span(types).first(1));
  };
  chains.erase(std::remove_if(chains.begin(), chains.end(), is_useless), chains.end());
  return chains;
}

}  // namespace linnet
