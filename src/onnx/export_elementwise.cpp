// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "base/check.h"
#include "core/dims.h"
#include "onnx/exporter.h"
#include "ops/activation/activation.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/bias_add/bias_add.h"
#include "ops/channel_scale/channel_scale.h"
#include "ops/compare/compare.h"
#include "ops/quantize/quantize.h"
#include "ops/select/select.h"
#include "ops/unary/unary.h"

namespace linnet::onnx {
namespace {

/// Adds nodes of one layer, whose values keep the order of their operand's axes.
class Nodes {
 public:
  Nodes(Exporter& e, const Node& node) : e_(e), node_(node) {}
  std::string operator()(std::string_view op, const std::vector<std::string>& inputs,
                         AttributeList attributes = {}) {
    return e_.file().node(op, inputs, node_.name, std::move(attributes));
  }
  std::string number(double value) { return e_.file().number(node_.name + ".number", value); }
  std::string times(const std::string& x, double by) { return (*this)("Mul", {x, number(by)}); }
  std::string plus(const std::string& x, double by) { return (*this)("Add", {x, number(by)}); }

 private:
  Exporter& e_;
  const Node& node_;
};

/// Writes an operator of one operand; `f` returns the result's name.
template <class F>
void keep_axes(Exporter& e, const Node& node, F f) {
  const Value x = node.inputs[0];
  const Form form = e.parameter(x) != nullptr ? Form::plain : e.form_of(x);
  e.set(node.outputs[0], form, f(e.in(x, form)));
  if (form == Form::flat) e.set_image(node.outputs[0], e.image_of(x));
}

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
    case Unary::hard_swish: return n("HardSwish", {x});
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

/// Two operands under the axes of the first; the second one's are its last ones, or 1.
struct Both {
  Form form = Form::plain;
  std::string a;
  std::string b;
};

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

template <class F>
void combine(Exporter& e, const Node& node, F f) {
  const Value a = node.inputs[0];
  const Both both = both_of(e, a, node.inputs[1]);
  e.set(node.outputs[0], both.form, f(both.a, both.b));
  if (both.form == Form::flat) e.set_image(node.outputs[0], e.image_of(a));
}

void arithmetic(Exporter& e, const Node& node, const Op& op) {
  Nodes n(e, node);
  const auto name = [&]() -> std::string_view {
    switch (dynamic_cast<const ArithmeticOp&>(op).attrs().kind) {
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

std::string compared(Nodes& n, Comparison kind, const std::string& a, const std::string& b) {
  switch (kind) {
    case Comparison::greater: return n("Greater", {a, b});
    case Comparison::greater_equal: return n("GreaterOrEqual", {a, b});
    case Comparison::less: return n("Less", {a, b});
    case Comparison::less_equal: return n("LessOrEqual", {a, b});
    case Comparison::equal: return n("Equal", {a, b});
    default: return n("Not", {n("Equal", {a, b})});
  }
}

void compare(Exporter& e, const Node& node, const Op& op) {
  Nodes n(e, node);
  const CompareAttrs& attrs = dynamic_cast<const CompareOp&>(op).attrs();
  const auto numbers = [&](const std::string& truth) {
    return n("Cast", {truth}, {{"to", static_cast<std::int64_t>(Type::f32)}});
  };
  if (node.inputs.size() == 1) {
    keep_axes(e, node, [&](const std::string& x) {
      return numbers(compared(n, attrs.kind, x, n.number(attrs.value)));
    });
    return;
  }
  combine(e, node, [&](const std::string& a, const std::string& b) {
    return numbers(compared(n, attrs.kind, a, b));
  });
}

void select(Exporter& e, const Node& node, const Op& op) {
  Nodes n(e, node);
  const SelectAttrs& attrs = dynamic_cast<const SelectOp&>(op).attrs();
  // All in one order of axes.
  Form form = Form::plain;
  for (const Value v : node.inputs) {
    if (e.parameter(v) == nullptr && e.has(v, Form::channels)) form = Form::channels;
  }
  for (const Value v : node.inputs) {
    if (e.parameter(v) != nullptr || !e.is_batched(v)) form = Form::plain;
  }
  std::vector<std::string> in;
  for (const Value v : node.inputs) in.push_back(e.in(v, form));
  const std::string truth = n("Cast", {in[0]}, {{"to", static_cast<std::int64_t>(Type::boolean)}});
  const std::string other = in.size() == 3 ? in[2] : n.number(attrs.value);
  e.set(node.outputs[0], form,
        attrs.when ? n("Where", {truth, in[1], other}) : n("Where", {truth, other, in[1]}));
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
  all["compare"] = compare;
  all["select"] = select;
  all["channel_scale"] = channel_scale;
}

}  // namespace linnet::onnx
