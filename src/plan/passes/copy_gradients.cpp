// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <vector>

#include "ops/conv2d/conv2d.h"
#include "ops/copy_all/copy_all.h"
#include "plan/access.h"
#include "plan/passes/graph_copy.h"
#include "plan/passes/match.h"
#include "plan/passes/passes.h"

namespace linnet {
namespace {

/// Bytes of gradients, as f32, that one node copies; they are in memory twice until then.
constexpr std::size_t kMostBytes = 16 << 20;
/// Gradients that one node copies.
constexpr std::size_t kMost = 16;

/// Returns whether a node finds the gradient of a convolution's weight, which its kernel gives in
/// 16 bits too and copy_all takes.
bool gives_half(const Graph& graph, const Supports& supports, const Node& node) {
  if (op_as<Conv2dGradWeightOp>(&node) == nullptr) return false;
  const ValueInfo& gradient = graph.info(node.outputs.front());
  if (gradient.storage != Storage::gradient || node.outputs.size() != 1) return false;
  return std::ranges::any_of(std::array{DType::bf16, DType::f16}, [&](DType half) {
    std::vector<ValueType> operands = graph.types(node.inputs);
    for (ValueType& type : operands) type.dtype = half;
    ValueType stored = gradient.type;
    stored.dtype = half;
    return supports(*node.op, operands, {&stored, 1}) &&
           supports(CopyAllOp(), {&stored, 1}, {&gradient.type, 1});
  });
}

Access written(const ValueInfo& gradient) {
  return {gradient.storage, gradient.offset, gradient.offset + gradient.type.bytes(), true};
}

/// Copies a graph with its gradients on their way.
class GradientCopies {
 public:
  explicit GradientCopies(const Graph& old) : old_(old), copy_(old) { copy_.add_unwritten(); }

  /// Adds an old node, and first what it would read or write over; `later`: its gradient is copied.
  void add(const Node& node, bool later) {
    if (touches_waiting(node)) copy_waiting();
    copy_.add_as_it_was(node);
    if (!later) return;
    const Value gradient = node.outputs.front();
    ValueInfo& found = copy_.made().info(copy_.of(gradient));
    found.storage = Storage::arena;
    found.offset = 0;
    waiting_.push_back(gradient);
    bytes_ += found.type.bytes();
    if (waiting_.size() == kMost || bytes_ >= kMostBytes) copy_waiting();
  }
  void copy_waiting() {
    if (waiting_.empty()) return;
    std::vector<Value> found;
    for (const Value gradient : waiting_) found.push_back(copy_.of(gradient));
    copy_.add(std::make_shared<CopyAllOp>(), std::move(found), "gradients", waiting_);
    waiting_.clear();
    bytes_ = 0;
  }
  Graph take() { return std::move(copy_.made()); }

 private:
  bool touches_waiting(const Node& node) const {
    const auto touches = [&](const std::vector<Value>& values) {
      return std::ranges::any_of(values, [&](Value value) {
        return std::ranges::any_of(waiting_, [&](Value gradient) {
          return written(old_.info(gradient)).conflicts(written(old_.info(value)));
        });
      });
    };
    return touches(node.inputs) || touches(node.outputs);
  }

  const Graph& old_;
  GraphCopy copy_;
  std::vector<Value> waiting_;  ///< the old graph's
  std::size_t bytes_ = 0;
};

}  // namespace

void copy_gradients(Graph& graph, const Supports& supports) {
  std::vector<bool> later;
  for (const Node& node : graph.nodes()) later.push_back(gives_half(graph, supports, node));
  if (std::ranges::none_of(later, [](bool copied) { return copied; })) return;
  GradientCopies copies(graph);
  for (std::size_t n = 0; n < later.size(); ++n) copies.add(graph.nodes()[n], later[n]);
  copies.copy_waiting();
  graph = copies.take();
}

}  // namespace linnet
