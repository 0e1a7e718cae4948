// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "fusions/norm_conv2d/norm_conv2d.h"
#include "ops/batch_norm/statistics.h"
#include "ops/update_channels/update_channels.h"
#include "plan/passes/match.h"
#include "plan/passes/passes.h"
#include "plan/passes/rewrite.h"

namespace linnet {
namespace {

bool is_pointwise(const Conv2dAttrs& conv, const Shape& w) {
  return conv == Conv2dAttrs{} && w[1] == 1 && w[2] == 1;
}

struct Statistics {
  Value mean;
  Value variance;
  double epsilon = 0;
};

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
    return erase_marked(graph_, taken_, count);
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
    BatchNormStatisticsAttrs statistics{.norm = attrs};
    statistics.norm.activation = Activation::none;
    std::vector<Value> measured = operands;
    if (const Statistics* known = known_of(operands, attrs); known != nullptr) {
      statistics.known = graph_.shape(known->mean)[0];
      measured.push_back(known->mean);
      measured.push_back(known->variance);
    }
    auto before = std::make_shared<BatchNormStatisticsOp>(statistics);
    auto op = std::make_shared<NormConv2dOp>(NormConv2dAttrs{attrs.activation});
    const std::vector<Value> inputs{operands[Norm::x],
                                    read[Conv2dOp::In::w],
                                    operands[Norm::gamma],
                                    operands[Norm::beta],
                                    mean,
                                    inv_std};
    if (!has(*before, measured) || !has(*op, inputs)) return;
    const auto n_norm = static_cast<std::size_t>(graph_.info(mean).producer);
    const Value variance = graph_.add_output(graph_.info(mean).name, graph_.type(mean));
    statistics_[operands[Norm::x].id] = {mean, variance, attrs.epsilon};
    graph_.rewrite(n_norm, std::move(before), measured, {mean, inv_std, variance});
    graph_.rewrite(n, std::move(op), inputs, node(n).outputs);
  }

  /// What is known of the first channels that a norm reads; null: nothing.
  const Statistics* known_of(const std::vector<Value>& norm, const BatchNormAttrs& attrs) const {
    const Node* producer = graph_.producer(norm[BatchNormOp::In::x]);
    const auto* update = op_as<UpdateChannelsOp>(producer);
    if (update == nullptr || update->attrs().add || attrs.sync) return nullptr;
    const std::int64_t begin = update->attrs().begin;
    const std::int64_t end = begin + graph_.shape(producer->inputs[UpdateChannelsOp::In::part])[-1];
    const auto found = statistics_.find(producer->inputs[UpdateChannelsOp::In::whole].id);
    const bool fits = found != statistics_.end() && found->second.epsilon == attrs.epsilon &&
                      graph_.shape(found->second.mean)[0] == begin &&
                      graph_.shape(norm[BatchNormOp::In::gamma])[0] == end;
    return fits ? &found->second : nullptr;
  }

  void fuse_gradient(std::size_t n) {
    using In = Conv2dGradWeightOp::In;
    using Norm = BatchNormAgainOp::In;
    const Conv2dGradWeightAttrs conv = op_as<Conv2dGradWeightOp>(&node(n))->attrs();
    const std::vector<Value> read = node(n).inputs;
    const Node* norm = sole_producer<BatchNormAgainOp>(graph_, read[In::x]);
    if (norm == nullptr ||
        !is_pointwise(conv.conv.plain(),
                      graph_.shape(node(n).outputs[Conv2dGradWeightOp::Out::dw]))) {
      return;
    }
    const BatchNormAgainAttrs attrs = op_as<BatchNormAgainOp>(norm)->attrs();
    if (attrs.residual) return;
    const std::vector<Value>& operands = norm->inputs;
    const std::vector<Value> inputs{operands[Norm::x],     read[In::dz],
                                    operands[Norm::gamma], operands[Norm::beta],
                                    operands[Norm::mean],  operands[Norm::inv_std]};
    auto op = std::make_shared<NormConv2dGradWeightOp>(NormConv2dAttrs{attrs.activation});
    if (!has(*op, inputs)) return;
    taken_[static_cast<std::size_t>(graph_.info(read[In::x]).producer)] = true;
    graph_.rewrite(n, std::move(op), inputs, node(n).outputs);
  }

  bool has(const Op& op, const std::vector<Value>& operands) const {
    return supported(graph_, op, operands, supports_);
  }

  Graph& graph_;
  const Supports& supports_;
  std::vector<bool> taken_;
  std::map<int, Statistics> statistics_;  ///< by the id of what they are of
};

/// batch_norm -> 1x1 conv2d becomes statistics and a convolution that normalises what it reads, and
/// batch_norm_again -> conv2d_grad_weight one operator, where the backend has that.
void fuse_norm_conv2d(TrainingGraph& training, const Supports& supports) {
  training.backward = FuseNormConv2d(training.graph, supports).run(training.backward);
}

}  // namespace

void register_norm_conv2d_pass(Passes& passes) {
  passes.add({"fuse_norm_conv2d",
              fuse_norm_conv2d,
              {.after = {"recompute_norms", "share_concats", "slice_concats", "join_norms"}}});
}

}  // namespace linnet
