// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "ops/batch_norm/from_sums.h"
#include "ops/batch_norm/joined.h"
#include "ops/conv2d/norm_conv2d.h"
#include "ops/slice/slice.h"
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
    for (std::size_t n = 0; n < backward_; ++n) find_between(n);
    for (std::size_t n = 0; n < backward_; ++n) find_after(n);
    for (std::size_t n = 0; n < backward_; ++n) find_joined(n);
  }

  bool found() const { return !norms_.empty() || !from_sums_.empty() || !joined_.empty(); }

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
        add_conv(copy, n, conv->second);
      } else if (gradient != gradients_.end()) {
        add_gradient(copy, *gradient->second);
      } else if (from_sums_.count(n) > 0) {
        const auto op = std::make_shared<BatchNormFromSumsOp>(op_as<BatchNormOp>(&node)->attrs());
        copy.add(op, of(copy, operands_from_sums(n), before(n)), node.name, node.outputs);
      } else if (const auto joined = joined_.find(n); joined != joined_.end()) {
        const auto* op = op_as<BatchNormJoinedOp>(&node);
        copy.add(std::make_shared<BatchNormJoinedFromSumsOp>(op->attrs()),
                 of(copy, joined->second, producer(node.inputs[BatchNormJoinedOp::In::part])),
                 node.name, node.outputs);
      } else {
        copy.add_as_it_was(node);
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
    std::size_t before = 0;                   ///< the convolution that computes what is normalised
    std::size_t after = 0;                    ///< the one that alone reads the result
    std::size_t gradient = 0;                 ///< the norm's
    std::optional<std::size_t> weights = {};  ///< the gradient of `after`'s weights
  };
  /// A convolution with what becomes part of it.
  struct Conv {
    NormConv2dAttrs attrs;
    const Norm* norm = nullptr;  ///< before it; null: none
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
    return conv != nullptr && !conv->attrs().bias && conv->attrs().activation == Activation::none &&
           in_arena(node(n).outputs[Conv2dOp::Out::y]);
  }

  Conv conv_at(std::size_t n) const {
    const auto found = convs_.find(n);
    if (found != convs_.end()) return found->second;
    return {.attrs = {.conv = op_as<Conv2dOp>(&node(n))->attrs()}};
  }

  /// Returns the node that computes a value; the number of nodes if there is none.
  std::size_t producer(Value v) const {
    return old_.producer(v) != nullptr ? static_cast<std::size_t>(old_.info(v).producer)
                                       : old_.nodes().size();
  }
  std::size_t before(std::size_t n) const { return producer(node(n).inputs[BatchNormOp::In::x]); }

  /// A norm of a block of concatenations: the layer before it found the statistics of all channels
  /// but the last ones, which a convolution computes.
  void find_joined(std::size_t n) {
    using In = BatchNormJoinedOp::In;
    const auto* op = op_as<BatchNormJoinedOp>(&node(n));
    if (op == nullptr) return;
    const std::size_t from = producer(node(n).inputs[In::part]);
    if (from >= backward_ || !is_plain(from)) return;
    const std::int64_t known =
        old_.shape(node(n).inputs[In::gamma])[-1] - old_.shape(node(n).inputs[In::part])[-1];
    const Node* other = norm_of(node(n).inputs[In::x], known);
    if (other == nullptr || other > &node(n)) return;
    Conv conv = conv_at(from);
    conv.attrs.sums = true;
    std::vector<Value> operands = node(n).inputs;
    operands.insert(operands.end(),
                    {Value{}, other->inputs[In::running_mean], other->inputs[In::running_var]});
    if (!supported(from, conv) ||
        !supported(BatchNormJoinedFromSumsOp(op->attrs()), types(operands, from))) {
      return;
    }
    convs_[from] = conv;
    joined_[n] = operands;
  }

  /// Returns a norm that leaves the batch's statistics of the first `channels` of a wide value as
  /// the running ones; null: there is none.
  const Node* norm_of(Value wide, std::int64_t channels) const {
    const auto fits = [&](const Node& norm, const BatchNormAttrs& attrs) {
      return attrs.momentum == 1 && attrs.sync == nullptr &&
             old_.shape(norm.inputs[BatchNormOp::In::gamma])[-1] == channels;
    };
    const Node* made_by = old_.producer(wide);
    if (const auto* joined = op_as<BatchNormJoinedOp>(made_by)) {
      return fits(*made_by, joined->attrs()) ? made_by : nullptr;
    }
    const auto* begin = op_as<SliceGradOp>(made_by);
    if (begin == nullptr || begin->attrs().begin != 0 ||
        begin->attrs().axis + 1 != static_cast<int>(old_.shape(wide).rank())) {
      return nullptr;
    }
    const Value first = made_by->inputs.front();
    for (std::size_t reader : readers(first)) {
      const auto* norm = op_as<BatchNormOp>(&node(reader));
      if (norm != nullptr && node(reader).inputs[BatchNormOp::In::x] == first &&
          fits(node(reader), norm->attrs())) {
        return &node(reader);
      }
    }
    return nullptr;
  }

  /// Norms that other nodes read as well take their statistics from the convolution before them.
  void find_after(std::size_t n) {
    const auto* op = op_as<BatchNormOp>(&node(n));
    if (op == nullptr || norms_.count(n) > 0 || op->attrs().sync != nullptr ||
        before(n) >= backward_ || !is_plain(before(n))) {
      return;
    }
    Conv conv = conv_at(before(n));
    if (conv.attrs.sums || old_.shape(node(n).inputs[BatchNormOp::In::x])[-1] !=
                               old_.shape(node(n).inputs[BatchNormOp::In::gamma])[-1]) {
      return;
    }
    conv.attrs.sums = true;
    if (!supported(before(n), conv) ||
        !supported(BatchNormFromSumsOp(op->attrs()), types(operands_from_sums(n), before(n)))) {
      return;
    }
    convs_[before(n)] = conv;
    from_sums_.insert(n);
  }

  /// Norms between two convolutions.
  void find_between(std::size_t n) {
    const auto* op = op_as<BatchNormOp>(&node(n));
    if (op == nullptr) return;
    const std::optional<Norm> norm = around(n, op->attrs());
    if (!norm) return;
    Conv before = conv_at(norm->before);
    Conv after = conv_at(norm->after);
    before.attrs.sums = true;
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
                 by.inputs[Conv2dGradWeightOp::In::dz] != y &&
                 readers(by.outputs[Conv2dGradWeightOp::Out::dw]).empty()) {
        norm.weights = reader;
      } else {
        return std::nullopt;
      }
    }
    return has_after ? std::optional(norm) : std::nullopt;
  }

  /// Returns the operands that node n of the old graph has as such a convolution; an empty one is
  /// the sums of x.
  std::vector<Value> operands(std::size_t n, const Conv& conv) const {
    std::vector<Value> all = node(n).inputs;
    if (conv.norm == nullptr) return all;
    const std::vector<Value>& norm = node(conv.norm->node).inputs;
    all[NormConv2dOp::In::x] = norm[BatchNormOp::In::x];
    all.insert(all.end(), {Value{}, norm[BatchNormOp::In::gamma], norm[BatchNormOp::In::beta]});
    return all;
  }
  std::vector<Value> operands_from_sums(std::size_t n) const {
    std::vector<Value> all = node(n).inputs;
    all.emplace_back();
    return all;
  }

  /// Returns types of operands, of which an empty one is the sums that node `from` leaves.
  std::vector<ValueType> types(const std::vector<Value>& operands, std::size_t from) const {
    std::vector<ValueType> all;
    for (Value v : operands) {
      all.push_back(v ? old_.type(v)
                      : ValueType{DType::f32,
                                  Shape{2, old_.shape(node(from).outputs[Conv2dOp::Out::y])[-1]}});
    }
    return all;
  }

  bool supported(const Op& op, const std::vector<ValueType>& types) const {
    return supports_(op, types, op.infer(types));
  }
  bool supported(std::size_t n, const Conv& conv) const {
    return supported(NormConv2dOp(conv.attrs),
                     types(operands(n, conv), conv.norm != nullptr ? conv.norm->before : n));
  }
  bool supported(const Norm& norm, const BatchNormAttrs& attrs) const {
    return supported(BatchNormGradFromSumsOp(gradient_attrs(attrs)),
                     types(gradient_operands(norm), norm.before));
  }

  static BatchNormGradFromSumsAttrs gradient_attrs(const BatchNormAttrs& attrs) {
    return {.epsilon = attrs.epsilon, .activation = attrs.activation};
  }

  std::vector<Value> gradient_operands(const Norm& norm) const {
    std::vector<Value> all = node(norm.node).inputs;  // x, gamma, beta, both running statistics
    all.insert(all.begin(), node(norm.gradient).inputs[BatchNormGradOp::In::dy]);
    all.emplace_back();
    return all;
  }

  /// Returns what stands for operands, of which an empty one is the sums that node `from` leaves.
  std::vector<Value> of(GraphCopy& copy, const std::vector<Value>& old, std::size_t from) const {
    std::vector<Value> made;
    for (Value v : old) made.push_back(v ? copy.of(v) : sums_.at(from));
    return made;
  }

  void add_conv(GraphCopy& copy, std::size_t n, const Conv& conv) {
    const Value y = node(n).outputs[Conv2dOp::Out::y];
    const std::size_t from = conv.norm != nullptr ? conv.norm->before : n;
    const std::vector<Value> made =
        copy.made().add(std::make_shared<NormConv2dOp>(conv.attrs),
                        of(copy, operands(n, conv), from), node(n).name);
    copy.made().info(made[NormConv2dOp::Out::y]).name = old_.info(y).name;
    copy.set(y, made[NormConv2dOp::Out::y]);
    if (conv.attrs.sums) sums_[n] = made[NormConv2dOp::Out::sums];
  }

  /// The weight gradient reads what the norm's gradient writes, so it follows.
  void add_gradient(GraphCopy& copy, const Norm& norm) const {
    const auto* op = op_as<BatchNormOp>(&node(norm.node));
    std::vector<Value> outputs = node(norm.gradient).outputs;
    outputs.push_back(node(norm.node).outputs[BatchNormOp::Out::y]);
    copy.add(std::make_shared<BatchNormGradFromSumsOp>(gradient_attrs(op->attrs())),
             of(copy, gradient_operands(norm), norm.before), node(norm.gradient).name, outputs);
    if (norm.weights) copy.add_as_it_was(node(*norm.weights));
  }

  const Graph& old_;
  std::size_t backward_;
  const Supports& supports_;
  std::map<int, std::set<std::size_t>> readers_;  ///< by the value's id
  std::map<std::size_t, Norm> norms_;             ///< by their nodes
  std::map<std::size_t, Conv> convs_;             ///< by their nodes
  std::map<std::size_t, const Norm*> gradients_;  ///< by their nodes
  std::set<std::size_t> later_;                   ///< gradients of weights that are moved
  std::set<std::size_t> from_sums_;  ///< norms that stay, but read the sums of what is before them
  std::map<std::size_t, std::vector<Value>> joined_;  ///< operands of such norms in concatenations
  std::map<std::size_t, Value> sums_;  ///< of the new graph, by the old one's convolutions
};

}  // namespace

void fuse_norm_conv2d(TrainingGraph& training, const Supports& supports) {
  FuseNormConv2d fuse(training, supports);
  if (fuse.found()) training = fuse.run(training.loss);
}

}  // namespace linnet
