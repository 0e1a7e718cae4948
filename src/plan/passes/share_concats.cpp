// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "graph/add.h"
#include "ops/slice/slice.h"
#include "ops/update_channels/update_channels.h"
#include "plan/passes/concat_chains.h"
#include "plan/passes/graph_copy.h"
#include "plan/passes/match.h"
#include "plan/passes/passes.h"

namespace linnet {
namespace {

/// The first channels of a wider value.
struct Prefix {
  Value wide;
  std::int64_t channels = 0;
};

int last_axis(const Graph& graph, Value v) { return static_cast<int>(graph.shape(v).rank()) - 1; }

/// Writes a graph anew: the results of a chain of concatenations, and the gradients of these, lie
/// in one value that each step updates.
class ShareConcats {
 public:
  ShareConcats(const TrainingGraph& training, std::vector<ConcatChain> chains)
      : old_(training.graph),
        backward_(training.backward),
        chains_(std::move(chains)),
        new_(training.graph) {
    for (std::size_t c = 0; c < chains_.size(); ++c) {
      for (std::size_t n : chains_[c].nodes) chain_of_[n] = c;
    }
    readers_.resize(old_.value_count());
    for (std::size_t n = 0; n < old_.nodes().size(); ++n) {
      for (Value v : old_.nodes()[n].inputs) readers_[static_cast<std::size_t>(v.id)].push_back(n);
    }
  }

  TrainingGraph run(Value loss) {
    TrainingGraph out;
    for (std::size_t n = 0; n < old_.nodes().size(); ++n) {
      if (n == backward_) out.backward = new_.made().nodes().size();
      if (chain_of_.count(n) > 0) {
        concatenate(n);
      } else if (n < backward_ || !(is_merged_slice(n) || accumulate(n))) {
        copy(n);
      }
    }
    out.loss = new_.of(loss);
    out.graph = std::move(new_.made());
    return out;
  }

 private:
  void concatenate(std::size_t n) {
    const Node& node = old_.nodes()[n];
    ConcatChain& chain = chains_[chain_of_.at(n)];
    const Value first = node.inputs.front();
    std::int64_t channels = old_.shape(first)[-1];
    if (n == chain.nodes.front()) {
      const Value start = operand(n, kFirst);
      const SliceGradOp widen({.axis = last_axis(old_, first), .begin = 0, .dim = chain.channels});
      chain.shared = new_.made().emit(widen, {start}, node.name);
      if (!new_.has(first)) new_.set(first, start);
      in_chain_[first.id] = {chain_of_.at(n), channels};
    }
    for (std::size_t i = 1; i < node.inputs.size(); ++i) {
      chain.shared = new_.made().emit(UpdateChannelsOp({.begin = channels}),
                                      {chain.shared, operand(n, i)}, node.name);
      channels += old_.shape(node.inputs[i])[-1];
    }
    in_chain_[node.outputs.front().id] = {chain_of_.at(n), channels};
  }

  void copy(std::size_t n) {
    const Node& node = old_.nodes()[n];
    std::vector<Value> inputs;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) inputs.push_back(operand(n, i));
    new_.add(node.op, std::move(inputs), node.name, node.outputs);
  }

  /// Returns operand i of node n in the new graph.
  Value operand(std::size_t n, std::size_t i) {
    const Node& node = old_.nodes()[n];
    const Value v = node.inputs[i];
    const std::optional<Prefix> prefix = prefix_of(v);
    if (!prefix) return new_.of(v);
    if (prefix->channels == new_.made().shape(prefix->wide)[-1]) return prefix->wide;
    if (reads_first_channels(*node.op, i)) return prefix->wide;
    if (new_.has(v)) return new_.of(v);  // the first operand of a chain
    const auto* slice = op_as<SliceOp>(&node);
    if (slice != nullptr && slice->attrs().axis == last_axis(old_, v)) return prefix->wide;
    const SliceOp copy({.axis = last_axis(old_, v), .begin = 0, .end = prefix->channels});
    new_.set(v, new_.made().emit(copy, {prefix->wide}, old_.info(v).name));
    return new_.of(v);
  }

  std::optional<Prefix> prefix_of(Value v) const {
    if (const auto wide = wide_.find(v.id); wide != wide_.end()) return wide->second;
    const auto place = in_chain_.find(v.id);
    if (place == in_chain_.end()) return std::nullopt;
    return Prefix{chains_[place->second.first].shared, place->second.second};
  }

  /// Returns the addition in which the gradient of a chain's next link joins that of node n's, a
  /// slice of the former: there the slice need not be copied. No node if it is another slice.
  std::optional<std::size_t> joined_at(std::size_t n) const {
    const Node& node = old_.nodes()[n];
    const auto* slice = op_as<SliceOp>(&node);
    const Value from = node.inputs.empty() ? Value{} : node.inputs.front();
    if (slice == nullptr || slice->attrs().begin != 0 ||
        slice->attrs().axis != last_axis(old_, from) || !in_arena(from)) {
      return std::nullopt;
    }
    const std::vector<std::size_t>& readers = readers_of(node.outputs.front());
    if (readers.size() != 1) return std::nullopt;
    const std::size_t sum = readers.front();
    if (op_as<AddOp>(&old_.nodes()[sum]) == nullptr ||
        !in_arena(old_.nodes()[sum].outputs.front())) {
      return std::nullopt;
    }
    const auto is_other_piece = [&](std::size_t reader) {
      const auto* piece = op_as<SliceOp>(&old_.nodes()[reader]);
      return reader == n ||
             (piece != nullptr && reader < sum && piece->attrs().axis == slice->attrs().axis &&
              piece->attrs().begin >= slice->attrs().end);
    };
    const std::vector<std::size_t>& all = readers_of(from);
    if (!std::all_of(all.begin(), all.end(), is_other_piece)) return std::nullopt;
    const std::vector<std::size_t>& next = readers_of(old_.nodes()[sum].outputs.front());
    const bool continues = std::any_of(next.begin(), next.end(), [&](std::size_t reader) {
      const auto* piece = op_as<SliceOp>(&old_.nodes()[reader]);
      return piece != nullptr && piece->attrs().axis == slice->attrs().axis;
    });
    return continues || wide_.count(from.id) > 0 ? std::optional(sum) : std::nullopt;
  }

  /// Leaves a slice out that joins another gradient; that is written then.
  bool is_merged_slice(std::size_t n) {
    const std::optional<std::size_t> sum = joined_at(n);
    if (!sum) return false;
    const Node& node = old_.nodes()[n];
    const std::optional<Prefix> prefix = prefix_of(node.inputs.front());
    const Value wide = prefix ? prefix->wide : new_.of(node.inputs.front());
    merged_[*sum] = {node.outputs.front(), {wide, old_.shape(node.outputs.front())[-1]}};
    return true;
  }

  bool accumulate(std::size_t n) {
    const auto found = merged_.find(n);
    if (found == merged_.end()) return false;
    const auto& [slice, prefix] = found->second;
    const Node& node = old_.nodes()[n];
    const std::size_t other = node.inputs[kFirst] == slice ? kSecond : kFirst;
    const Value sum = new_.made().emit(UpdateChannelsOp({.begin = 0, .add = true}),
                                       {prefix.wide, operand(n, other)}, node.name);
    wide_[node.outputs.front().id] = {sum, prefix.channels};
    return true;
  }

  bool in_arena(Value v) const { return old_.info(v).storage == Storage::arena; }
  const std::vector<std::size_t>& readers_of(Value v) const {
    return readers_[static_cast<std::size_t>(v.id)];
  }

  const Graph& old_;
  std::size_t backward_;
  std::vector<ConcatChain> chains_;
  std::map<std::size_t, std::size_t> chain_of_;    ///< by node
  std::vector<std::vector<std::size_t>> readers_;  ///< nodes, by value
  GraphCopy new_;
  std::map<int, std::pair<std::size_t, std::int64_t>> in_chain_;  ///< chain and channels
  std::map<int, Prefix> wide_;                              ///< gradients that were accumulated
  std::map<std::size_t, std::pair<Value, Prefix>> merged_;  ///< by the node of the addition
};

}  // namespace

void share_concats(TrainingGraph& training, const Supports& supports) {
  std::vector<ConcatChain> chains = concat_chains(training.graph, training.backward, supports);
  if (chains.empty()) return;
  TrainingGraph made = ShareConcats(training, std::move(chains)).run(training.loss);
  training = std::move(made);
}

}  // namespace linnet
