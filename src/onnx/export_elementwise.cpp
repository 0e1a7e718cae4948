// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "base/check.h"
#include "core/dims.h"
#include "onnx/export_nodes.h"
#include "ops/activation/activation.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/bias_add/bias_add.h"
#include "ops/channel_scale/channel_scale.h"
#include "ops/quantize/quantize.h"
#include "ops/unary/unary.h"

namespace linnet::onnx {

Both both_of(Exporter& e, Value a, Value b) {
  const Shape& shape = e.shape(a);
  const Shape& other = e.shape(b);
  const Form form = e.parameter(a) != nullptr ? Form::plain : e.form_of(a);
  const bool batched = e.is_batched(b);
  if (form == Form::channels && batched && other.rank() == shape.rank()) {
    return {form, e.in(a, form), e.in(b, form)};
  }
  if (form == Form::channels && !batched && other.rank() < shape.rank()) {
    // (..., C) under as many axes as a sample, then the channels first.
    Dims view(shape.rank() - 1 - other.rank(), 1);
    for (const std::int64_t dim : other.dims()) view.push_back(dim);
    std::vector<std::int64_t> order = {static_cast<std::int64_t>(view.size()) - 1};
    Dims dims = {view.back()};
    for (std::size_t i = 0; i + 1 < view.size(); ++i) {
      order.push_back(static_cast<std::int64_t>(i));
      dims.push_back(view[i]);
    }
    return {form, e.in(a, form), e.weight(b, view, order, dims)};
  }
  if (form == Form::flat && batched && e.has(b, Form::flat) && e.image_of(a) == e.image_of(b)) {
    return {form, e.in(a, form), e.in(b, form)};
  }
  return {Form::plain, e.in(a, Form::plain), e.in(b, Form::plain)};
}

namespace {

std::string gelu(Nodes& n, const std::string& x) {
  const std::string erf = n("Erf", {n.times(x, 0.70710678118654752440)});
  return n("Mul", {n.times(x, 0.5), n.plus(erf, 1)});
}

void activation(Exporter& e, const Node& node, const Op& op) {
  Nodes n(e, node);
  const Activation kind = dynamic_cast<const ActivationOp&>(op).attrs().kind;
  keep_axes(e, node, [&](const std::string& x) {
    switch (kind) {
      case Activation::relu: return n("Relu", {x});
      case Activation::tanh: return n("Tanh", {x});
      case Activation::sigmoid: return n("Sigmoid", {x});
      case Activation::gelu: return gelu(n, x);
      default: return n("Identity", {x});
    }
  });
}

std::string unary_of(Nodes& n, const UnaryAttrs& a, const std::string& x) {
  switch (a.kind) {
    case Unary::exp: return n("Exp", {x});
    case Unary::log: return n("Log", {x});
    case Unary::log1p: return n("Log", {n.plus(x, 1)});
    case Unary::sqrt: return n("Sqrt", {x});
    case Unary::rsqrt: return n("Reciprocal", {n("Sqrt", {x})});
    case Unary::square: return n("Mul", {x, x});
    case Unary::abs: return n("Abs", {x});
    case Unary::sign: return n("Sign", {x});
    case Unary::sin: return n("Sin", {x});
    case Unary::cos: return n("Cos", {x});
    case Unary::reciprocal: return n("Reciprocal", {x});
    case Unary::pow: return n("Pow", {x, n.number(a.alpha)});
    case Unary::clip: return n("Clip", {x, n.number(a.alpha), n.number(a.beta)});
    case Unary::leaky_relu: return n("LeakyRelu", {x}, {{"alpha", a.alpha}});
    case Unary::elu: return n("Elu", {x}, {{"alpha", a.alpha}});
    case Unary::selu: return n("Selu", {x});
    case Unary::silu: return n("Mul", {x, n("Sigmoid", {x})});
    case Unary::softplus:
      if (a.alpha == 1) return n("Softplus", {x});
      return n.times(n("Softplus", {n.times(x, a.alpha)}), 1 / a.alpha);
    case Unary::hard_sigmoid: return n("HardSigmoid", {x}, {{"alpha", 1.0 / 6}, {"beta", 0.5}});
    case Unary::hard_swish:
      if (n.opset() >= 14) return n("HardSwish", {x});
      return n("Mul", {x, n("HardSigmoid", {x}, {{"alpha", 1.0 / 6}, {"beta", 0.5}})});
    case Unary::gelu_tanh: {
      const std::string cube = n("Mul", {n("Mul", {x, x}), x});
      const std::string inner =
          n.times(n("Add", {x, n.times(cube, 0.044715)}), 0.79788456080286536);
      return n("Mul", {n.times(x, 0.5), n.plus(n("Tanh", {inner}), 1)});
    }
    case Unary::expm1: return n.plus(n("Exp", {x}), -1);
    case Unary::erf: return n("Erf", {x});
    case Unary::floor: return n("Floor", {x});
    case Unary::ceil: return n("Ceil", {x});
    case Unary::round: return n("Round", {x});
  }
  throw InternalError("an unknown element-wise function");
}

void arithmetic(Exporter& e, const Node& node, const Op& op) {
  Nodes n(e, node);
  const Arithmetic kind = dynamic_cast<const ArithmeticOp&>(op).attrs().kind;
  if (kind == Arithmetic::exceeds) {  // 1, 1/2 where they are equal, or 0
    return combine(e, node, [&](const std::string& a, const std::string& b) {
      return n.plus(n.times(n("Sign", {n("Sub", {a, b})}), 0.5), 0.5);
    });
  }
  const auto name = [&]() -> std::string_view {
    switch (kind) {
      case Arithmetic::add: return "Add";
      case Arithmetic::subtract: return "Sub";
      case Arithmetic::multiply: return "Mul";
      case Arithmetic::divide: return "Div";
      case Arithmetic::maximum: return "Max";
      case Arithmetic::minimum: return "Min";
      default: Exporter::refuse(node, "ONNX has no such operator");
    }
  }();
  combine(e, node, [&](const std::string& a, const std::string& b) { return n(name, {a, b}); });
}

void channel_scale(Exporter& e, const Node& node, const Op& op) {
  Nodes n(e, node);
  const ChannelScaleAttrs& attrs = dynamic_cast<const ChannelScaleOp&>(op).attrs();
  const Value x = node.inputs[0];
  const Form form = e.has(x, Form::channels) ? Form::channels : Form::plain;
  Dims dims(form == Form::channels ? e.shape(x).rank() - 1 : 1, 1);
  dims.front() = static_cast<std::int64_t>(attrs.scale.size());
  const auto floats = [&](const std::vector<double>& values, const char* name) {
    const std::vector<float> each(values.begin(), values.end());
    return e.file().floats(fmt::format("{}.{}", node.name, name), dims, each);
  };
  const std::string scaled = n("Mul", {e.in(x, form), floats(attrs.scale, "scale")});
  e.set(node.outputs[0], form, n("Add", {scaled, floats(attrs.shift, "shift")}));
}

}  // namespace

void add_elementwise_export(ExportOperators& all) {
  all["activation"] = activation;
  all["unary"] = [](Exporter& e, const Node& node, const Op& op) {
    Nodes n(e, node);
    const UnaryAttrs& attrs = dynamic_cast<const UnaryOp&>(op).attrs();
    keep_axes(e, node, [&](const std::string& x) { return unary_of(n, attrs, x); });
  };
  all["scale"] = [](Exporter& e, const Node& node, const Op& op) {
    Nodes n(e, node);
    const ScaleAttrs& attrs = dynamic_cast<const ScaleOp&>(op).attrs();
    keep_axes(e, node, [&](const std::string& x) {
      const std::string scaled = attrs.alpha == 1 && attrs.beta != 0 ? x : n.times(x, attrs.alpha);
      return attrs.beta == 0 ? scaled : n.plus(scaled, attrs.beta);
    });
  };
  all["arithmetic"] = arithmetic;
  all["bias_add"] = [](Exporter& e, const Node& node, const Op& /*op*/) {
    Nodes n(e, node);
    combine(e, node, [&](const std::string& a, const std::string& b) { return n("Add", {a, b}); });
  };
  all["quantize"] = [](Exporter& e, const Node& node, const Op& op) {
    Nodes n(e, node);
    const LevelsAttrs& attrs = dynamic_cast<const QuantizeOp&>(op).attrs();
    const std::string scale = e.file().number(node.name + ".scale", attrs.scale);
    const std::string zero =
        e.file().uint8(node.name + ".zero", static_cast<std::uint8_t>(attrs.zero));
    keep_axes(e, node, [&](const std::string& x) {
      return n("DequantizeLinear", {n("QuantizeLinear", {x, scale, zero}), scale, zero});
    });
  };
  all["quantize_weights"] = [](Exporter& e, const Node& node, const Op& /*op*/) {
    if (e.rounded_weight(node.outputs[0]) == nullptr) {
      Exporter::refuse(node, "only weights are rounded so");
    }  // They are written where they are read, in the order of axes that is read.
  };
  all["channel_scale"] = channel_scale;
}

}  // namespace linnet::onnx
