// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "ops/batch_norm/statistics.h"
#include "ops/norm_conv2d/norm_conv2d.h"
#include "plan/passes/match.h"
#include "plan/passes/passes.h"

namespace linnet {
namespace {

bool is_pointwise(const Conv2dAttrs& conv, const Shape& w) {
  return conv == Conv2dAttrs{} && w[1] == 1 && w[2] == 1;
}

/// Rewrites nodes that read a batch norm alone, so that they normalise themselves.
class FuseNormConv2d {
 public:
  FuseNormConv2d(Graph& graph, const Supports& supports)
      : graph_(graph), supports_(supports), taken_(graph.nodes().size()) {}

  /// Returns how many of the first `count` nodes are left.
  std::size_t run(std::size_t count) {
    for (std::size_t n = 0; n < taken_.size(); ++n) {
      if (op_as<Conv2dOp>(&node(n)) != nullptr) fuse_forward(n);
      if (op_as<Conv2dGradWeightOp>(&node(n)) != nullptr) fuse_gradient(n);
    }
    graph_.erase_nodes([&](std::size_t n) { return taken_[n]; });
    const auto end = taken_.begin() + static_cast<std::ptrdiff_t>(count);
    return static_cast<std::size_t>(std::count(taken_.begin(), end, false));
  }

 private:
  const Node& node(std::size_t n) const { return graph_.nodes()[n]; }

  void fuse_forward(std::size_t n) {
    using Norm = BatchNormOp::In;
    const std::vector<Value> read = node(n).inputs;
    const Node* norm = sole_producer<BatchNormOp>(graph_, read[Conv2dOp::In::x]);
    if (norm == nullptr ||
        !is_pointwise(op_as<Conv2dOp>(&node(n))->attrs(), graph_.shape(read[Conv2dOp::In::w]))) {
      return;
    }
    const BatchNormAttrs attrs = op_as<BatchNormOp>(norm)->attrs();
    if (attrs.residual) return;
    const std::vector<Value> operands = norm->inputs;
    const Value mean = norm->outputs[BatchNormOp::Out::mean];
    const Value inv_std = norm->outputs[BatchNormOp::Out::inv_std];
    BatchNormAttrs statistics = attrs;
    statistics.activation = Activation::none;
    auto before = std::make_shared<BatchNormStatisticsOp>(statistics);
    auto op = std::make_shared<NormConv2dOp>(NormConv2dAttrs{attrs.activation});
    const std::vector<Value> inputs{operands[Norm::x],
                                    read[Conv2dOp::In::w],
                                    operands[Norm::gamma],
                                    operands[Norm::beta],
                                    mean,
                                    inv_std};
    if (!supported(*before, operands) || !supported(*op, inputs)) return;
    const auto n_norm = static_cast<std::size_t>(graph_.info(mean).producer);
    graph_.rewrite(n_norm, std::move(before), operands, {mean, inv_std});
    graph_.rewrite(n, std::move(op), inputs, node(n).outputs);
  }

  void fuse_gradient(std::size_t n) {
    using In = Conv2dGradWeightOp::In;
    using Norm = BatchNormAgainOp::In;
    const Conv2dGradWeightAttrs conv = op_as<Conv2dGradWeightOp>(&node(n))->attrs();
    const std::vector<Value> read = node(n).inputs;
    const Node* norm = sole_producer<BatchNormAgainOp>(graph_, read[In::x]);
    if (norm == nullptr || !is_pointwise(conv.conv.plain(), graph_.shape(node(n).outputs[0]))) {
      return;
    }
    const BatchNormAgainAttrs attrs = op_as<BatchNormAgainOp>(norm)->attrs();
    if (attrs.residual) return;
    const std::vector<Value>& operands = norm->inputs;
    const std::vector<Value> inputs{operands[Norm::x],     read[In::dz],
                                    operands[Norm::gamma], operands[Norm::beta],
                                    operands[Norm::mean],  operands[Norm::inv_std]};
    auto op = std::make_shared<NormConv2dGradWeightOp>(NormConv2dAttrs{attrs.activation});
    if (!supported(*op, inputs)) return;
    taken_[static_cast<std::size_t>(graph_.info(read[In::x]).producer)] = true;
    graph_.rewrite(n, std::move(op), inputs, node(n).outputs);
  }

  bool supported(const Op& op, const std::vector<Value>& operands) const {
    const std::vector<ValueType> types = graph_.types(operands);
    return supports_(op, types, op.infer(types));
  }

  Graph& graph_;
  const Supports& supports_;
  std::vector<bool> taken_;
};

}  // namespace

void fuse_norm_conv2d(TrainingGraph& training, const Supports& supports) {
  training.backward = FuseNormConv2d(training.graph, supports).run(training.backward);
}

}  // namespace linnet
