// SPDX-License-Identifier: Apache-2.0
// Operators that derivatives add to a network: jacobian(), gradient() and their like.
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <type_traits>

#include "base/check.h"
#include "core/dims.h"
#include "graph/add.h"
#include "onnx/export_nodes.h"
#include "ops/activation/activation.h"
#include "ops/dense/dense.h"
#include "ops/reduce/reduce.h"
#include "ops/slice/slice.h"
#include "ops/softmax/softmax.h"
#include "ops/unary/unary.h"

namespace linnet::onnx {
namespace {

using Text = std::string;

/// Functions of ONNX's operators, by which slopes are written as they read.
struct Terms {
  Nodes n;
  Text add(const Text& a, const Text& b) { return n("Add", {a, b}); }
  Text mul(const Text& a, const Text& b) { return n("Mul", {a, b}); }
  Text exp(const Text& x) { return n("Exp", {x}); }
  Text logistic(const Text& x) { return n("Sigmoid", {x}); }
  Text square(const Text& x) { return mul(x, x); }
  Text rest(const Text& x) { return n.plus(n.times(x, -1), 1); }  // 1 - x
  /// 1 where x is true, else 0.
  Text truth(const Text& x) {
    return n("Cast", {x}, {{"to", static_cast<std::int64_t>(Type::f32)}});
  }
  Text above(const Text& x, double bound) { return truth(n("Greater", {x, n.number(bound)})); }
  Text below(const Text& x, double bound) { return truth(n("Less", {x, n.number(bound)})); }
  Text within(const Text& x, double low, double high) { return mul(above(x, low), below(x, high)); }
  /// a where x is above 0, else b.
  Text by_sign(const Text& x, const Text& a, const Text& b) {
    return n("Where", {n("Greater", {x, n.number(0)}), a, b});
  }
  /// exp(-factor x²).
  Text bell(const Text& x, double factor) { return exp(n.times(square(x), -factor)); }
};

Text slope_of(Terms& t, Activation kind, const Text& saved) {
  Nodes& n = t.n;
  switch (kind) {
    case Activation::none: break;
    case Activation::relu: return t.above(saved, 0);
    case Activation::tanh: return t.rest(t.square(saved));
    case Activation::sigmoid: return t.mul(saved, t.rest(saved));
    case Activation::gelu: {
      const Text below =
          n.times(n.plus(n("Erf", {n.times(saved, 1 / std::numbers::sqrt2)}), 1), 0.5);
      const double factor = 1 / std::sqrt(2 * std::numbers::pi);
      return t.add(below, t.mul(saved, n.times(t.bell(saved, 0.5), factor)));
    }
  }
  return n.number(1);
}

/// Returns f'(x), as UnaryGradOp defines it: `x` is y for kinds of slope_from_output().
Text slope_of(Terms& t, const UnaryAttrs& a, const Text& x) {
  Nodes& n = t.n;
  switch (a.kind) {
    case Unary::exp: return x;
    case Unary::log: return n("Reciprocal", {x});
    case Unary::log1p: return n("Reciprocal", {n.plus(x, 1)});
    case Unary::sqrt: return n.times(n("Reciprocal", {x}), 0.5);
    case Unary::rsqrt: return n.times(t.mul(t.square(x), x), -0.5);
    case Unary::square: return n.times(x, 2);
    case Unary::abs: return n("Sign", {x});
    case Unary::sin: return n("Cos", {x});
    case Unary::cos: return n.times(n("Sin", {x}), -1);
    case Unary::reciprocal: return n.times(t.square(x), -1);
    case Unary::pow: return n.times(n("Pow", {x, n.number(a.alpha - 1)}), a.alpha);
    case Unary::clip: return t.within(x, a.alpha, a.beta);
    case Unary::leaky_relu: return t.by_sign(x, n.number(1), n.number(a.alpha));
    case Unary::elu: return t.by_sign(x, n.number(1), n.times(t.exp(x), a.alpha));
    case Unary::selu:
      return t.by_sign(x, n.number(kSeluScale), n.times(t.exp(x), kSeluScale * kSeluAlpha));
    case Unary::silu: {
      const Text s = t.logistic(x);
      return t.mul(s, n.plus(t.mul(x, t.rest(s)), 1));
    }
    case Unary::softplus: return t.logistic(n.times(x, a.alpha));
    case Unary::hard_sigmoid: return n.times(t.within(x, -3, 3), 1.0 / 6);
    case Unary::hard_swish:
      return t.add(t.mul(t.within(x, -3, 3), n.plus(n.times(x, 1.0 / 3), 0.5)),
                   t.rest(t.below(x, 3)));
    case Unary::gelu_tanh: {
      const double c = 2 * std::sqrt(2 / std::numbers::pi);
      const Text square = t.square(x);
      const Text s = t.logistic(t.mul(x, n.plus(n.times(square, c * 0.044715), c)));
      const Text inner = n.plus(n.times(square, 3 * c * 0.044715), c);
      return t.add(s, t.mul(t.mul(x, t.mul(s, t.rest(s))), inner));
    }
    case Unary::expm1: return t.exp(x);
    case Unary::erf: return n.times(t.bell(x, 1), 2 * std::numbers::inv_sqrtpi);
    case Unary::sign:
    case Unary::floor:
    case Unary::ceil:
    case Unary::round: break;  // no gradient goes on
  }
  return n.number(0);
}

/// Writes dx = dy times the slope at the second operand.
template <class O>
void times_slope(Exporter& e, const Node& node, const Op& op) {
  Terms t{Nodes(e, node)};
  const Text saved = e.in(node.inputs[O::In::saved], Form::plain);
  const Text dy = e.in(node.inputs[O::In::dy], Form::plain);
  Text slope;
  if constexpr (std::is_same_v<O, ActivationGradOp>) {
    slope = slope_of(t, dynamic_cast<const O&>(op).attrs().kind, saved);
  } else {
    slope = slope_of(t, dynamic_cast<const O&>(op).attrs(), saved);
  }
  e.set(node.outputs.front(), Form::plain, t.mul(dy, slope));
}

/// The sum of the last axis, which stays.
Text row_sums(Exporter& e, Nodes& n, const Node& node, const Text& x) {
  return n("ReduceSum", {x, e.integers(node, "axes", {-1})}, {{"keepdims", std::int64_t{1}}});
}

void softmax_grad(Exporter& e, const Node& node, const Op& op) {
  Terms t{Nodes(e, node)};
  const Text dy = e.in(node.inputs[SoftmaxGradOp::In::dy], Form::plain);
  const Text y = e.in(node.inputs[SoftmaxGradOp::In::y], Form::plain);
  const bool of_log = op.name() == LogSoftmaxGradOp::kName;
  const Text dx = of_log ? t.n("Sub", {dy, t.mul(t.exp(y), row_sums(e, t.n, node, dy))})
                         : t.mul(y, t.n("Sub", {dy, row_sums(e, t.n, node, t.mul(dy, y))}));
  e.set(node.outputs.front(), Form::plain, dx);
}

/// dy repeated along the axes that a sum or a mean has reduced.
void reduce_grad(Exporter& e, const Node& node, const Op& op) {
  Nodes n(e, node);
  const ReduceGradAttrs& a = dynamic_cast<const ReduceGradOp&>(op).attrs();
  Text dy = e.in(node.inputs.front(), Form::plain);
  if (!a.keep_dims) dy = n("Unsqueeze", {dy, e.integers(node, "axes", a.axes)});
  Dims dims(e.shape(node.outputs.front()).rank(), 1);
  double count = 1;
  for (std::size_t i = 0; i < a.axes.size(); ++i) {
    dims[static_cast<std::size_t>(a.axes[i])] = a.dims[i];
    count *= static_cast<double>(a.dims[i]);
  }
  const Text repeated = n("Expand", {dy, e.integers(node, "shape", dims)});
  e.set(node.outputs.front(), Form::plain,
        a.kind == Reduction::mean ? n.times(repeated, 1 / count) : repeated);
}

/// dy with zeros around it along one axis.
void slice_grad(Exporter& e, const Node& node, const Op& op) {
  const SliceGradAttrs& a = dynamic_cast<const SliceGradOp&>(op).attrs();
  const Shape& dy = e.shape(node.inputs.front());
  Dims pads(2 * dy.rank(), 0);
  const auto axis = static_cast<std::size_t>(a.axis);
  pads[axis] = a.begin;
  pads[dy.rank() + axis] = a.dim - a.begin - dy[a.axis];
  e.set(node.outputs.front(), Form::plain,
        e.file().node("Pad",
                      {e.in(node.inputs.front(), Form::plain), e.integers(node, "pads", pads)},
                      node.name));
}

}  // namespace

void add_gradient_export(ExportOperators& all) {
  all["activation_grad"] = times_slope<ActivationGradOp>;
  all["unary_grad"] = times_slope<UnaryGradOp>;
  all["softmax_grad"] = softmax_grad;
  all["log_softmax_grad"] = softmax_grad;
  all["reduce_grad"] = reduce_grad;
  all["slice_grad"] = slice_grad;
  all["dense_grad_input"] = [](Exporter& e, const Node& node, const Op& /*op*/) {
    e.set(node.outputs.front(), Form::plain,
          e.file().node("MatMul",
                        {e.in(node.inputs[DenseGradInputOp::In::dz], Form::plain),
                         e.in(node.inputs[DenseGradInputOp::In::w], Form::plain)},
                        node.name));
  };
  all["add"] = [](Exporter& e, const Node& node, const Op& /*op*/) {
    Nodes n(e, node);
    combine(e, node, [&](const Text& a, const Text& b) { return n("Add", {a, b}); });
  };
}

}  // namespace linnet::onnx
