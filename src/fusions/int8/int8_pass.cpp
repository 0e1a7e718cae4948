// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <optional>

#include "fusions/conv2d_norm/conv2d_norm.h"
#include "fusions/int8/conv2d_int8.h"
#include "fusions/int8/pool_int8.h"
#include "ops/dense/dense.h"
#include "ops/global_pool/global_pool.h"
#include "ops/reshape/reshape.h"
#include "plan/passes/match.h"
#include "plan/passes/passes.h"

namespace linnet {
namespace {

/// A product of one graph as the operator on levels.
struct Product {
  Conv2dInt8Attrs attrs;
  std::vector<Value> operands;  ///< w, [b], the norm's
  Value x;
  Value residual;  ///< none: an empty Value
};

/// Returns a convolution with its norm, a convolution or a dense layer whose weights are quantized.
std::optional<Product> product_of(const Graph& graph, const Node& node) {
  Product product;
  std::size_t end = node.inputs.size();
  if (const auto* norm = op_as<Conv2dNormOp>(&node)) {
    product.attrs = {.conv = norm->attrs().conv,
                     .norm = true,
                     .epsilon = norm->attrs().norm.epsilon,
                     .residual = norm->attrs().norm.residual};
    product.attrs.conv.activation = norm->attrs().norm.activation;
    if (product.attrs.residual) product.residual = node.inputs[--end];
  } else if (const auto* conv = op_as<Conv2dOp>(&node)) {
    product.attrs.conv = conv->attrs();
  } else if (const auto* dense = op_as<DenseOp>(&node)) {
    product.attrs.conv.bias = dense->attrs().bias;
    product.attrs.conv.activation = dense->attrs().activation;
  } else {
    return std::nullopt;
  }
  const Node* weights = graph.producer(node.inputs[Conv2dOp::In::w]);
  if (op_as<QuantizeWeightsOp>(weights) == nullptr) return std::nullopt;
  const Conv2dAttrs& conv = product.attrs.conv;
  if (conv.groups != 1 || conv.dilation_h != 1 || conv.dilation_w != 1) return std::nullopt;
  product.x = node.inputs[Conv2dOp::In::x];
  product.operands.push_back(weights->inputs[QuantizeWeightsOp::In::w]);
  product.operands.insert(product.operands.end(), node.inputs.begin() + Conv2dOp::In::b,
                          node.inputs.begin() + static_cast<std::ptrdiff_t>(end));
  return product;
}

/// Maxima and other shapes of levels are levels.
bool keeps_levels(const Graph& graph, const Node& node) {
  if (op_as<MaxPool2dOp>(&node) != nullptr) {
    return graph.uses(node.outputs[MaxPool2dOp::Out::winner]) == 0;
  }
  return op_as<ReshapeOp>(&node) != nullptr;
}

class Rewriting {
 public:
  Rewriting(Graph& graph, const Supports& supports) : graph_(graph), supports_(supports) {}

  void run() {
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) rewrite(n);
    write_levels();
    remove_dead(graph_, supports_);
  }

 private:
  struct Levels {
    Value value;  ///< u8
    LevelsAttrs attrs;
  };

  /// Returns the levels that stand for an f32 value.
  std::optional<Levels> levels_of(Value value) const {
    if (const auto found = levels_.find(value.id); found != levels_.end()) return found->second;
    const Node* node = graph_.producer(value);
    const auto* quantize = op_as<QuantizeOp>(node);
    if (quantize == nullptr || node->outputs[QuantizeOp::Out::y] != value) return std::nullopt;
    return Levels{node->outputs[QuantizeOp::Out::levels], quantize->attrs()};
  }

  bool product_takes(const Node& node, const LevelsAttrs& x_levels) const {
    std::optional<Product> product = product_of(graph_, node);
    if (!product) return false;
    product->attrs.x = x_levels;
    std::vector<ValueType> types{{DType::u8, graph_.shape(product->x)}};
    for (const Value v : product->operands) types.push_back(graph_.type(v));
    if (product->residual) types.push_back(graph_.type(product->residual));
    const std::vector<ValueType> outputs{graph_.type(node.outputs[kFirst])};
    return supports_(Conv2dInt8Op(product->attrs), types, outputs);
  }

  /// Returns whether all that read an f32 value would read levels instead.
  bool all_take_levels(Value value, const LevelsAttrs& attrs) const {
    if (graph_.info(value).storage != Storage::arena) return false;
    return std::ranges::all_of(graph_.nodes(), [&](const Node& node) {
      if (std::ranges::find(node.inputs, value) == node.inputs.end()) return true;
      if (keeps_levels(graph_, node)) return all_take_levels(node.outputs[kFirst], attrs);
      const std::optional<Product> product = product_of(graph_, node);
      if (!product) return op_as<GlobalAvgPoolOp>(&node) != nullptr;
      if (product->x == value) return product_takes(node, attrs);
      const auto own = levels_of(product->x);
      return product->residual == value && own && product_takes(node, own->attrs);
    });
  }

  void rewrite(std::size_t n) {
    const Node node = graph_.nodes()[n];
    const std::optional<Levels> x =
        node.inputs.empty() ? std::nullopt : levels_of(node.inputs[kFirst]);
    if (!x) return;
    if (keeps_levels(graph_, node)) {
      keep_levels(n, node, *x);
    } else if (op_as<GlobalAvgPoolOp>(&node) != nullptr) {
      auto mean = std::make_shared<GlobalAvgPoolInt8Op>(x->attrs);
      const std::vector<Value> inputs{x->value};
      if (supports_(*mean, graph_.types(inputs), graph_.types(node.outputs))) {
        graph_.rewrite(n, std::move(mean), inputs, node.outputs);
      }
    } else if (product_takes(node, x->attrs)) {
      multiply_levels(n, node, *x);
    }
  }

  void keep_levels(std::size_t n, const Node& node, const Levels& x) {
    const Value y = node.outputs[kFirst];
    if (!all_take_levels(y, x.attrs)) return;
    OpPtr op = node.op;
    if (const auto* pool = op_as<MaxPool2dOp>(&node)) {
      op = std::make_shared<MaxPoolInt8Op>(pool->attrs());
    }
    const ValueType type{DType::u8, graph_.shape(y)};
    const std::vector<ValueType> inputs = graph_.types(std::vector<Value>{x.value});
    if (!op->is_view() && !supports_(*op, inputs, std::vector<ValueType>{type})) return;
    const Value made = graph_.add_output(node.name, type);
    graph_.rewrite(n, std::move(op), {x.value}, {made});
    levels_.emplace(y.id, Levels{made, x.attrs});
  }

  void multiply_levels(std::size_t n, const Node& node, const Levels& x) {
    Product product = *product_of(graph_, node);
    product.attrs.x = x.attrs;
    std::vector<Value> inputs{x.value};
    inputs.insert(inputs.end(), product.operands.begin(), product.operands.end());
    if (product.residual) {
      const std::optional<Levels> residual = levels_of(product.residual);
      product.attrs.residual_u8 = residual.has_value();
      if (residual) product.attrs.residual_levels = residual->attrs;
      inputs.push_back(residual ? residual->value : product.residual);
    }
    graph_.rewrite(n, std::make_shared<Conv2dInt8Op>(product.attrs), std::move(inputs),
                   {node.outputs[kFirst]});
  }

  /// A product whose result is only rounded to levels writes these itself.
  void write_levels() {
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
      const Node node = graph_.nodes()[n];
      const auto* quantize = op_as<QuantizeOp>(&node);
      if (quantize == nullptr || graph_.uses(node.outputs[QuantizeOp::Out::y]) > 0 ||
          graph_.info(node.outputs[QuantizeOp::Out::y]).storage != Storage::arena) {
        continue;
      }
      const Node* product = sole_producer<Conv2dInt8Op>(graph_, node.inputs[QuantizeOp::In::x]);
      if (product == nullptr || !op_as<Conv2dInt8Op>(product)->rounds_activation()) continue;
      Conv2dInt8Attrs attrs = op_as<Conv2dInt8Op>(product)->attrs();
      attrs.to_levels = true;
      attrs.y = quantize->attrs();
      const auto at = static_cast<std::size_t>(product - graph_.nodes().data());
      std::vector<Value> inputs = product->inputs;
      graph_.erase_nodes([&](std::size_t i) { return i == n; });
      graph_.rewrite(at, std::make_shared<Conv2dInt8Op>(attrs), std::move(inputs),
                     {node.outputs[QuantizeOp::Out::levels]});
      --n;
    }
  }

  Graph& graph_;
  const Supports& supports_;
  std::map<int, Levels> levels_;  ///< of f32 values that nothing writes any more
};

/// Lets convolutions, dense layers and poolings of what quantize has rounded compute on its levels
/// at inference, and write levels where only these are read, where the backend has that.
void use_int8(Graph& graph, const Supports& supports) { Rewriting(graph, supports).run(); }

}  // namespace

void register_int8_pass(Passes& passes) { passes.add(Phase::inference, {"use_int8", use_int8}); }

}  // namespace linnet
