// SPDX-License-Identifier: Apache-2.0
// Losses of scores (N, C, ...) by targets (N, ...), as ONNX defines them.
#include "onnx/losses.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/utf8.h"

namespace linnet::onnx {
namespace {

Attribute type_attribute(Type type) {
  return integer_attribute("to", static_cast<std::int64_t>(type));
}

/// The nodes of one loss.
class Loss {
 public:
  Loss(const NodeProto& node, Additions& additions) : node_(node), additions_(additions) {
    for (const Attribute& a : node.attributes) {
      if (a.name == "reduction") reduction_ = a.s;
      if (a.name == "ignore_index") ignored_ = a.i;
    }
  }

  void add() {
    std::string_view scores = node_.inputs[0];
    if (node_.op_type == kSoftmaxLoss) {
      const bool given = node_.outputs.size() > 1 && !node_.outputs[1].empty();
      scores = additions_.node("LogSoftmax", {scores},
                               given ? node_.outputs[1] : additions_.name_in(node_, "scores"),
                               {integer_attribute("axis", 1)});
    }
    std::string_view targets =
        step("Cast", {node_.inputs[1]}, "targets", {type_attribute(Type::i64)});
    if (ignored_) {
      skipped_ = step("Equal", {targets, additions_.integer(*ignored_)}, "skipped");
      targets = step("Where", {skipped_, additions_.integer(0), targets}, "classes");
    }
    const std::string_view axis = additions_.integer(1, {1});
    const std::string_view columns = step("Unsqueeze", {targets, axis}, "columns");
    const std::string_view picked =
        step("GatherElements", {scores, columns}, "picked", {integer_attribute("axis", 1)});
    std::string_view losses =
        step("Neg", {step("Squeeze", {picked, axis}, "likelihoods")}, "losses");
    const std::string_view weights = add_weights(scores, targets);
    if (!weights.empty()) losses = step("Mul", {losses, weights}, "weighted");
    losses = without_skipped(losses, "counted");
    reduce(losses, weights);
  }

 private:
  std::string_view step(std::string_view op, std::vector<std::string_view> inputs,
                        std::string_view role, std::vector<Attribute> attributes = {}) {
    return additions_.node(op, std::move(inputs), additions_.name_in(node_, role),
                           std::move(attributes));
  }

  std::string_view without_skipped(std::string_view values, std::string_view role) {
    return skipped_.empty() ? values
                            : step("Where", {skipped_, additions_.number(0), values}, role);
  }

  /// Returns the weight of each target; empty: all count alike.
  std::string_view add_weights(std::string_view scores, std::string_view targets) {
    if (node_.inputs.size() > 2 && !node_.inputs[2].empty()) {
      additions_.weigh({fmt::format("[{} '{}']", escaped(node_.op_type), escaped(node_.name)),
                        scores, node_.inputs[2]});
      return without_skipped(step("Gather", {node_.inputs[2], targets}, "class_weights"),
                             "weights");
    }
    if (skipped_.empty()) return {};
    return step("Cast", {step("Not", {skipped_}, "kept")}, "weights", {type_attribute(Type::f32)});
  }

  void reduce(std::string_view losses, std::string_view weights) {
    const std::vector<Attribute> flat{integer_attribute("keepdims", 0)};
    const std::string_view result = node_.outputs[0];
    if (reduction_ == "none") {
      additions_.node("Identity", {losses}, result, {}, node_.name);
    } else if (reduction_ == "sum") {
      additions_.node("ReduceSum", {losses}, result, flat, node_.name);
    } else if (weights.empty()) {
      additions_.node("ReduceMean", {losses}, result, flat, node_.name);
    } else {
      const std::string_view sum = step("ReduceSum", {losses}, "sum", flat);
      const std::string_view all = step("ReduceSum", {weights}, "all_weights", flat);
      additions_.node("Div", {sum, all}, result, {}, node_.name);
    }
  }

  const NodeProto& node_;
  Additions& additions_;
  std::string_view reduction_ = "mean";
  std::optional<std::int64_t> ignored_;
  std::string_view skipped_;  ///< whether a target is ignored_; empty: none is
};

}  // namespace

bool is_loss(const NodeProto& node) {
  return is_of_onnx(node) && (node.op_type == kLikelihoodLoss || node.op_type == kSoftmaxLoss);
}

void add_loss(const NodeProto& node, std::int64_t opset, Additions& additions) {
  const std::size_t most = node.op_type == kSoftmaxLoss ? 2 : 1;
  const bool all = (node.inputs.size() == 2 || node.inputs.size() == 3) &&
                   !node.inputs[0].empty() && !node.inputs[1].empty() && !node.outputs.empty() &&
                   node.outputs.size() <= most && !node.outputs[0].empty();
  require<DataError>(all, "[{} '{}'] expected 2 or 3 inputs and at most {} outputs; got {} and {}",
                     escaped(node.op_type), escaped(node.name), most, node.inputs.size(),
                     node.outputs.size());
  for (const Attribute& a : node.attributes) {
    require<DataError>(a.name != "reduction" || a.s == "none" || a.s == "sum" || a.s == "mean",
                       "[{} '{}'] expected the reduction none, sum or mean; got '{}'",
                       escaped(node.op_type), escaped(node.name), escaped(a.s));
  }
  require<DataError>(opset > 12, "[{} '{}'] expected a model of opset 13 or later; got {}",
                     escaped(node.op_type), escaped(node.name), opset);
  Loss(node, additions).add();
}

}  // namespace linnet::onnx
