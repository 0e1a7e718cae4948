// SPDX-License-Identifier: Apache-2.0
// Operators in 8 bits ("QOperator" of onnxruntime's quantize_static), as the form QDQ has them.
#include "onnx/decompose.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/utf8.h"
#include "onnx/additions.h"
#include "onnx/losses.h"
#include "onnx/unroll.h"

namespace linnet::onnx {
namespace {

/// Describes an operator whose operands, or some of them, come as levels, a scale and a zero point.
struct LevelsForm {
  std::string_view op;       ///< what it computes of floats
  std::size_t operands = 1;  ///< of three inputs each
  bool weights = false;      ///< whether the second operand has a scale for each of its axis 0
  bool columns = false;      ///< whether operands have scales for each row and each column
  bool of_onnx = false;      ///< whether it is ONNX's own, not onnxruntime's
  bool bias = false;         ///< whether a sum in the scale of a product follows
};

const std::vector<std::pair<std::string_view, LevelsForm>>& levels_forms() {
  static const std::vector<std::pair<std::string_view, LevelsForm>> kAll{
      {"QGemm", {.op = "Gemm", .operands = 2, .columns = true, .bias = true}},
      {"QLinearAdd", {.op = "Add", .operands = 2}},
      {"QLinearAveragePool", {.op = "AveragePool"}},
      {"QLinearConcat", {.op = "Concat", .operands = 0}},
      {"QLinearConv",
       {.op = "Conv", .operands = 2, .weights = true, .of_onnx = true, .bias = true}},
      {"QLinearGlobalAveragePool", {.op = "GlobalAveragePool"}},
      {"QLinearLeakyRelu", {.op = "LeakyRelu"}},
      {"QLinearMatMul", {.op = "MatMul", .operands = 2, .columns = true, .of_onnx = true}},
      {"QLinearMul", {.op = "Mul", .operands = 2}},
      {"QLinearSigmoid", {.op = "Sigmoid"}},
      {"QLinearSoftmax", {.op = "Softmax"}},
      {"ConvInteger", {.op = "Conv", .operands = 2, .weights = true, .of_onnx = true}},
      {"MatMulInteger", {.op = "MatMul", .operands = 2, .columns = true, .of_onnx = true}},
  };
  return kAll;
}

const LevelsForm* levels_form_of(const NodeProto& node) {
  const auto found =
      std::ranges::find(levels_forms(), node.op_type, [](const auto& f) { return f.first; });
  if (found == levels_forms().end()) return nullptr;
  const bool own = found->second.of_onnx ? is_of_onnx(node) : node.domain == kRuntimeDomain;
  return own ? &found->second : nullptr;
}

/// Replaces each operator in 8 bits by nodes on floats, and losses by their parts.
class Decomposition {
 public:
  Decomposition(ModelProto& model, Additions& additions)
      : model_(model), additions_(additions), nodes_(std::move(model.nodes)) {}

  void run() {
    model_.nodes.clear();
    for (NodeProto& node : nodes_) {
      const LevelsForm* form = levels_form_of(node);
      if (is_loss(node)) {
        add_loss(node, model_.opset, additions_);
      } else if (form == nullptr) {
        model_.nodes.push_back(std::move(node));
      } else if (node.op_type.ends_with("Integer")) {
        add_integers(node, *form);
      } else {
        add_levels(node, *form);
      }
    }
  }

 private:
  static std::string_view at(const NodeProto& node, std::size_t i) {
    return i < node.inputs.size() ? node.inputs[i] : std::string_view();
  }

  static void check(const NodeProto& node, std::size_t least, std::size_t most) {
    const bool all = node.outputs.size() == 1 && node.inputs.size() >= least &&
                     node.inputs.size() <= most && !node.outputs[0].empty() &&
                     std::ranges::none_of(node.inputs.begin(),
                                          node.inputs.begin() + static_cast<std::ptrdiff_t>(least),
                                          [](std::string_view input) { return input.empty(); });
    require<DataError>(all, "[{} '{}'] expected {} to {} inputs and one output; got {} and {}",
                       escaped(node.op_type), escaped(node.name), least, most, node.inputs.size(),
                       node.outputs.size());
  }

  /// Adds an operand as floats; returns its name. `axis`: the axis along which its scales
  /// lie.
  std::string_view floats(const NodeProto& node, std::string_view levels, std::string_view scale,
                          std::string_view zero, std::int64_t axis, std::string_view role) {
    std::vector<std::string_view> inputs{levels, scale};
    if (!zero.empty()) inputs.push_back(zero);
    return additions_.node("DequantizeLinear", std::move(inputs), additions_.name_in(node, role),
                           {integer_attribute("axis", axis)});
  }

  static std::int64_t axis_of(const NodeProto& node, const LevelsForm& form, std::size_t operand) {
    if (form.columns && operand == 0) return -2;
    if (form.columns) return is_set(node, "transB") ? -2 : -1;
    return form.weights && operand == 1 ? 0 : 1;
  }

  static bool is_set(const NodeProto& node, std::string_view name) {
    return std::ranges::any_of(node.attributes,
                               [&](const Attribute& a) { return a.name == name && a.i != 0; });
  }

  /// Returns the attributes that the operator of floats has too.
  std::vector<Attribute> kept(const NodeProto& node) const {
    std::vector<Attribute> attributes;
    const bool softmax = node.op_type == "QLinearSoftmax";
    require<DataError>(!softmax || model_.opset > 12,
                       "[QLinearSoftmax '{}'] expected a model of opset 13 or later; got {}",
                       escaped(node.name), model_.opset);
    for (const Attribute& a : node.attributes) {
      require<DataError>(a.name != "alpha" || node.op_type != "QGemm" || a.f == 1,
                         "[QGemm '{}'] expected alpha to be 1; got {}", escaped(node.name), a.f);
      const bool says_nothing =
          (a.name == "channels_last" && a.i == 0) || (softmax && a.name == "opset" && a.i > 12);
      if (!says_nothing) attributes.push_back(a);
    }
    return attributes;
  }

  void add_levels(const NodeProto& node, const LevelsForm& form) {
    const bool concat = form.operands == 0;
    const std::size_t operands = concat ? (node.inputs.size() - 2) / 3 : form.operands;
    const std::size_t first = concat ? 2 : 0;
    // QGemm has its C before the scale of the result, QLinearConv after it.
    const bool gemm = form.op == "Gemm";
    const std::size_t result = concat ? 0 : 3 * operands + (gemm ? 1 : 0);
    if (concat) {
      check(node, 5, node.inputs.size() % 3 == 2 ? node.inputs.size() : 5);
    } else {
      check(node, gemm ? 6 : result + 1, result + (form.bias && !gemm ? 3 : 2));
    }
    std::vector<std::string_view> inputs;
    for (std::size_t i = 0; i < operands; ++i) {
      const std::size_t from = first + 3 * i;
      inputs.push_back(floats(node, at(node, from), at(node, from + 1), at(node, from + 2),
                              axis_of(node, form, i), fmt::format("operand_{}", i)));
    }
    const std::string_view bias = form.bias ? at(node, gemm ? 6 : result + 2) : std::string_view();
    if (!bias.empty()) {
      const std::string_view scale = additions_.node("Mul", {at(node, 1), at(node, 4)},
                                                     additions_.name_in(node, "bias_scale"));
      inputs.push_back(floats(node, bias, scale, {}, gemm ? -1 : 0, "bias"));
    }
    const bool stays = at(node, result).empty();  // QGemm without a scale gives floats
    const std::string_view computed = stays ? node.outputs[0] : additions_.name_in(node, "result");
    additions_.node(form.op, std::move(inputs), computed, kept(node), node.name);
    if (stays) return;
    std::vector<std::string_view> rounded{computed, at(node, result)};
    if (!at(node, result + 1).empty()) rounded.push_back(at(node, result + 1));
    additions_.node("QuantizeLinear", std::move(rounded), node.outputs[0]);
  }

  /// Whole numbers less their zero points, multiplied and added: INT32.
  void add_integers(const NodeProto& node, const LevelsForm& form) {
    check(node, 2, 4);
    std::vector<std::string_view> inputs;
    for (std::size_t i = 0; i < 2; ++i) {
      inputs.push_back(floats(node, at(node, i), additions_.number(1), at(node, i + 2),
                              axis_of(node, form, i), fmt::format("operand_{}", i)));
    }
    const std::string_view result =
        additions_.node(form.op, std::move(inputs), additions_.name_in(node, "result"), kept(node),
                        node.name);
    additions_.node("Cast", {result}, node.outputs[0],
                    {integer_attribute("to", static_cast<std::int64_t>(Type::i32))});
  }

  ModelProto& model_;
  Additions& additions_;
  std::vector<NodeProto> nodes_;
};

}  // namespace

void decompose(ModelProto& model) {
  const auto known = [](const NodeProto& node) {
    return levels_form_of(node) != nullptr || is_loss(node);
  };
  const bool loops = std::ranges::any_of(model.nodes, &is_loop);
  if (!loops && std::ranges::none_of(model.nodes, known)) return;
  Additions additions(model);
  if (loops) unroll(model, additions);
  Decomposition(model, additions).run();
}

std::vector<std::pair<std::string, std::string>> decomposed_operators() {
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto& [name, form] : levels_forms()) {
    const std::string domain = form.of_onnx ? "" : std::string(kRuntimeDomain) + ".";
    all.emplace_back(domain + std::string(name), fmt::format("as {}", form.op));
  }
  all.emplace_back("If", "a condition that does not depend on the inputs");
  for (const std::string_view loss : {kLikelihoodLoss, kSoftmaxLoss}) {
    all.emplace_back(loss, "opset 13 or later; mean and sum not over the batch");
  }
  all.emplace_back("Loop",
                   fmt::format("a constant number of iterations, at most {}", kMostIterations));
  return all;
}

}  // namespace linnet::onnx
