// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "ops/batch_norm/from_sums.h"
#include "ops/conv2d/norm_conv2d.h"
#include "plan/passes/graph_copy.h"
#include "plan/passes/match.h"
#include "plan/passes/passes.h"

namespace linnet {
namespace {

/// Finds batch norms between two convolutions and writes the graph without them.
class FuseNormConv2d {
 public:
  FuseNormConv2d(const TrainingGraph& training, const Supports& supports)
      : old_(training.graph), backward_(training.backward), supports_(supports) {
    const std::vector<Node>& nodes = old_.nodes();
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      for (Value v : nodes[n].inputs) readers_[v.id].insert(n);
    }
    for (std::size_t n = 0; n < backward_; ++n) find(n);
  }

  bool found() const { return !norms_.empty(); }

  TrainingGraph run(Value loss) {
    TrainingGraph out;
    GraphCopy copy(old_);
    for (std::size_t n = 0; n < old_.nodes().size(); ++n) {
      if (n == backward_) out.backward = copy.made().nodes().size();
      if (norms_.count(n) > 0 || later_.count(n) > 0) continue;
      const Node& node = old_.nodes()[n];
      const auto conv = convs_.find(n);
      const auto gradient = gradients_.find(n);
      if (conv != convs_.end()) {
        add_conv(copy, node, conv->second);
      } else if (gradient != gradients_.end()) {
        add_gradient(copy, *gradient->second);
      } else {
        add_as_it_was(copy, node);
      }
    }
    out.loss = copy.of(loss);
    out.graph = std::move(copy.made());
    return out;
  }

 private:
  /// A norm with the nodes around it.
  struct Norm {
    std::size_t node = 0;
    std::size_t before = 0;    ///< the convolution that computes what is normalised
    std::size_t after = 0;     ///< the one that alone reads the result
    std::size_t gradient = 0;  ///< the norm's
    std::optional<std::size_t> weights = {};  ///< the gradient of `after`'s weights
  };
  /// A convolution with what becomes part of it.
  struct Conv {
    NormConv2dAttrs attrs;
    const Norm* norm = nullptr;  ///< before it; null: none
    Value sums = {};             ///< of the old graph: what its sums stand for
  };

  const Node& node(std::size_t n) const { return old_.nodes()[n]; }
  const std::set<std::size_t>& readers(Value v) const {
    static const std::set<std::size_t> nobody;
    const auto found = readers_.find(v.id);
    return found != readers_.end() ? found->second : nobody;
  }
  bool in_arena(Value v) const { return old_.info(v).storage == Storage::arena; }

  /// Returns whether node n is a convolution alone that a norm may become part of.
  bool is_plain(std::size_t n) const {
    const auto* conv = op_as<Conv2dOp>(&node(n));
    return conv != nullptr && !conv->attrs().bias &&
           conv->attrs().activation == Activation::none &&
           in_arena(node(n).outputs[Conv2dOp::Out::y]);
  }

  Conv conv_at(std::size_t n) const {
    const auto found = convs_.find(n);
    if (found != convs_.end()) return found->second;
    return {.attrs = {.conv = op_as<Conv2dOp>(&node(n))->attrs()}};
  }

  void find(std::size_t n) {
    const auto* op = op_as<BatchNormOp>(&node(n));
    if (op == nullptr) return;
    const std::optional<Norm> norm = around(n, op->attrs());
    if (!norm) return;
    Conv before = conv_at(norm->before);
    Conv after = conv_at(norm->after);
    before.attrs.sums = true;
    before.sums = node(n).outputs[BatchNormOp::Out::mean];
    after.attrs.norm = true;
    after.attrs.activation = op->attrs().activation;
    after.attrs.epsilon = op->attrs().epsilon;
    after.norm = &norms_.emplace(n, *norm).first->second;
    if (!supported(norm->before, before) || !supported(norm->after, after) ||
        !supported(*norm, op->attrs())) {
      norms_.erase(n);
      return;
    }
    convs_[norm->before] = before;
    convs_[norm->after] = after;
    gradients_[norm->gradient] = after.norm;
    if (norm->weights) later_.insert(*norm->weights);
  }

  std::optional<Norm> around(std::size_t n, const BatchNormAttrs& attrs) const {
    using Out = BatchNormOp::Out;
    const Value x = node(n).inputs[BatchNormOp::In::x];
    const Value y = node(n).outputs[Out::y];
    if (attrs.residual || attrs.sync != nullptr || attrs.momentum != 1 || !in_arena(y) ||
        old_.producer(x) == nullptr || old_.shape(x) != old_.shape(y)) {
      return std::nullopt;
    }
    Norm norm{.node = n, .before = static_cast<std::size_t>(old_.info(x).producer)};
    const std::set<std::size_t>& of_mean = readers(node(n).outputs[Out::mean]);
    if (!is_plain(norm.before) || of_mean.size() != 1) return std::nullopt;
    norm.gradient = *of_mean.begin();
    const auto* gradient = op_as<BatchNormGradOp>(&node(norm.gradient));
    if (gradient == nullptr || gradient->attrs().from_input ||
        readers(node(n).outputs[Out::inv_std]) != of_mean ||
        node(norm.gradient).inputs[BatchNormGradOp::In::x] != x) {
      return std::nullopt;
    }
    bool has_after = false;
    for (std::size_t reader : readers(y)) {
      const Node& by = node(reader);
      if (reader == norm.gradient) continue;
      if (reader < backward_ && is_plain(reader) && by.inputs[Conv2dOp::In::x] == y &&
          by.inputs[Conv2dOp::In::w] != y && !has_after) {
        norm.after = reader;
        has_after = true;
      } else if (op_as<Conv2dGradWeightOp>(&by) != nullptr && !norm.weights &&
                 by.inputs[Conv2dGradWeightOp::In::x] == y &&
                 by.inputs[Conv2dGradWeightOp::In::dz] != y && readers(by.outputs[0]).empty()) {
        norm.weights = reader;
      } else {
        return std::nullopt;
      }
    }
    return has_after ? std::optional(norm) : std::nullopt;
  }

  /// Returns the operands that node n of the old graph has as such a convolution. `sums` stands for
  /// those of x.
  std::vector<Value> operands(std::size_t n, const Conv& conv) const {
    std::vector<Value> all = node(n).inputs;
    if (conv.norm == nullptr) return all;
    const std::vector<Value>& norm = node(conv.norm->node).inputs;
    all[NormConv2dOp::In::x] = norm[BatchNormOp::In::x];
    all.insert(all.end(), {node(conv.norm->node).outputs[BatchNormOp::Out::mean],
                           norm[BatchNormOp::In::gamma], norm[BatchNormOp::In::beta]});
    return all;
  }

  ValueType sums_type(const Norm& norm) const {
    return {DType::f32, Shape{2, old_.shape(node(norm.node).inputs[BatchNormOp::In::x])[-1]}};
  }

  bool supported(const Op& op, const std::vector<ValueType>& types) const {
    return supports_(op, types, op.infer(types));
  }
  bool supported(std::size_t n, const Conv& conv) const {
    std::vector<ValueType> types = old_.types(operands(n, conv));
    if (conv.norm != nullptr) types[NormConv2dOp::In::x_sums] = sums_type(*conv.norm);
    return supported(NormConv2dOp(conv.attrs), types);
  }
  bool supported(const Norm& norm, const BatchNormAttrs& attrs) const {
    std::vector<ValueType> types = old_.types(gradient_operands(norm));
    types[BatchNormGradFromSumsOp::In::sums] = sums_type(norm);
    return supported(BatchNormGradFromSumsOp(gradient_attrs(attrs)), types);
  }

  static BatchNormGradFromSumsAttrs gradient_attrs(const BatchNormAttrs& attrs) {
    return {.epsilon = attrs.epsilon, .activation = attrs.activation};
  }

  std::vector<Value> gradient_operands(const Norm& norm) const {
    std::vector<Value> all = node(norm.node).inputs;  // x, gamma, beta, both running statistics
    all.insert(all.begin(), node(norm.gradient).inputs[BatchNormGradOp::In::dy]);
    all.push_back(node(norm.node).outputs[BatchNormOp::Out::mean]);
    return all;
  }

  static std::vector<Value> of(GraphCopy& copy, const std::vector<Value>& old) {
    std::vector<Value> made;
    for (Value v : old) made.push_back(copy.of(v));
    return made;
  }

  static void add_as_it_was(GraphCopy& copy, const Node& node) {
    copy.add(node.op, of(copy, node.inputs), node.name, node.outputs);
  }

  void add_conv(GraphCopy& copy, const Node& node, const Conv& conv) const {
    const auto n = static_cast<std::size_t>(&node - old_.nodes().data());
    std::vector<Value> outputs = node.outputs;
    if (conv.attrs.sums) outputs.push_back(conv.sums);
    copy.add(std::make_shared<NormConv2dOp>(conv.attrs), of(copy, operands(n, conv)), node.name,
             outputs);
  }

  /// The weight gradient reads what the norm's gradient writes, so it follows.
  void add_gradient(GraphCopy& copy, const Norm& norm) const {
    const auto* op = op_as<BatchNormOp>(&node(norm.node));
    std::vector<Value> outputs = node(norm.gradient).outputs;
    outputs.push_back(node(norm.node).outputs[BatchNormOp::Out::y]);
    copy.add(std::make_shared<BatchNormGradFromSumsOp>(gradient_attrs(op->attrs())),
             of(copy, gradient_operands(norm)), node(norm.gradient).name, outputs);
    if (norm.weights) add_as_it_was(copy, node(*norm.weights));
  }

  const Graph& old_;
  std::size_t backward_;
  const Supports& supports_;
  std::map<int, std::set<std::size_t>> readers_;        ///< by the value's id
  std::map<std::size_t, Norm> norms_;                   ///< by their nodes
  std::map<std::size_t, Conv> convs_;                   ///< by their nodes
  std::map<std::size_t, const Norm*> gradients_;        ///< by their nodes
  std::set<std::size_t> later_;                         ///< gradients of weights that are moved
};

}  // namespace

void fuse_norm_conv2d(TrainingGraph& training, const Supports& supports) {
  FuseNormConv2d fuse(training, supports);
  if (fuse.found()) training = fuse.run(training.loss);
}

}  // namespace linnet
