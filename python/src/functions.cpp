// SPDX-License-Identifier: Apache-2.0
#include <linnet/functions.h>
#include <nanobind/stl/string_view.h>

#include "bind.h"
#include "docstrings.h"
#include "expressions.h"
#include "shapes.h"

namespace linnet::python {
namespace {

using One = Expression (*)(const Expression&);
using Two = Expression (*)(const Expression&, const Expression&);
using Number = Expression (*)(const Expression&, double);
using Reduction = Expression (*)(const Expression&, Axes, bool);
using Along = Expression (*)(const Expression&, std::int64_t);

void one(nb::module_& m, const char* name, One f) {
  m.def(
      name, [f](const Traced& x) { return x.with(f(x.get())); }, nb::arg("x"), doc(name));
}
void two(nb::module_& m, const char* name, Two f) {
  m.def(
      name, [f](const Traced& a, const Traced& b) { return a.with(f(a.get(), b.get())); },
      nb::arg("a"), nb::arg("b"), doc(name));
}
void two(nb::module_& m, const char* name, Two f, Number g) {
  two(m, name, f);
  m.def(
      name, [g](const Traced& a, double b) { return a.with(g(a.get(), b)); }, nb::arg("a"),
      nb::arg("b"));
}
void number(nb::module_& m, const char* name, const char* argument, Number f, double otherwise) {
  m.def(
      name, [f](const Traced& x, double value) { return x.with(f(x.get(), value)); }, nb::arg("x"),
      nb::arg(argument) = otherwise, doc(name));
}
void reduction(nb::module_& m, const char* name, Reduction f) {
  m.def(
      name,
      [f](const Traced& x, const AxesArg& axes, bool keep_dims) {
        return x.with(f(x.get(), axes_of(axes), keep_dims));
      },
      nb::arg("x"), nb::arg("axes") = nb::none(), nb::arg("keep_dims") = false, doc(name));
}
using Spread = Expression (*)(const Expression&, Axes, bool, double);
void spread(nb::module_& m, const char* name, Spread f) {
  m.def(
      name,
      [f](const Traced& x, const AxesArg& axes, bool keep_dims, double correction) {
        return x.with(f(x.get(), axes_of(axes), keep_dims, correction));
      },
      nb::arg("x"), nb::arg("axes") = nb::none(), nb::arg("keep_dims") = false,
      nb::arg("correction") = 1, doc(name));
}
void along(nb::module_& m, const char* name, Along f) {
  m.def(
      name, [f](const Traced& x, std::int64_t axis) { return x.with(f(x.get(), axis)); },
      nb::arg("x"), nb::arg("axis") = -1, doc(name));
}

void bind_elementwise(nb::module_& m) {
  two(m, "maximum", maximum, maximum);
  two(m, "minimum", minimum, minimum);
  for (const auto& [name, f] : {std::pair<const char*, One>{"exp", exp},
                                {"expm1", expm1},
                                {"log", log},
                                {"log1p", log1p},
                                {"sqrt", sqrt},
                                {"rsqrt", rsqrt},
                                {"square", square},
                                {"reciprocal", reciprocal},
                                {"abs", abs},
                                {"sign", sign},
                                {"sin", sin},
                                {"cos", cos},
                                {"erf", erf},
                                {"floor", floor},
                                {"ceil", ceil},
                                {"round", round},
                                {"logical_not", logical_not},
                                {"relu", relu},
                                {"selu", selu},
                                {"silu", silu},
                                {"tanh", tanh},
                                {"sigmoid", sigmoid},
                                {"hard_sigmoid", hard_sigmoid},
                                {"hard_swish", hard_swish}}) {
    one(m, name, f);
  }
  m.def(
      "pow", [](const Traced& x, double e) { return x.with(pow(x.get(), e)); }, nb::arg("x"),
      nb::arg("exponent"), doc("pow"));
  m.def(
      "clip",
      [](const Traced& x, double low, double high) { return x.with(clip(x.get(), low, high)); },
      nb::arg("x"), nb::arg("low"), nb::arg("high"), doc("clip"));
  m.def(
      "hard_tanh",
      [](const Traced& x, double low, double high) {
        return x.with(hard_tanh(x.get(), low, high));
      },
      nb::arg("x"), nb::arg("low") = -1, nb::arg("high") = 1, doc("hard_tanh"));
  two(m, "equal", equal, equal);
  two(m, "not_equal", not_equal, not_equal);
  two(m, "logical_and", logical_and);
  two(m, "logical_or", logical_or);
  number(m, "leaky_relu", "slope", leaky_relu, 0.01);
  number(m, "elu", "alpha", elu, 1);
  number(m, "softplus", "beta", softplus, 1);
  m.def(
      "gelu", [](const Traced& x, bool tanh_form) { return x.with(gelu(x.get(), tanh_form)); },
      nb::arg("x"), nb::arg("tanh_form") = false, doc("gelu"));
  m.def(
      "where",
      [](const Traced& c, const Traced& a, const Traced& b) {
        return c.with(where(c.get(), a.get(), b.get()));
      },
      nb::arg("condition"), nb::arg("a"), nb::arg("b"), doc("where"));
  m.def(
      "where",
      [](const Traced& c, const Traced& a, double b) { return c.with(where(c.get(), a.get(), b)); },
      nb::arg("condition"), nb::arg("a"), nb::arg("b"));
  m.def(
      "where",
      [](const Traced& c, double a, const Traced& b) { return c.with(where(c.get(), a, b.get())); },
      nb::arg("condition"), nb::arg("a"), nb::arg("b"));
  m.def(
      "dropout", [](const Traced& x, double rate) { return x.with(dropout(x.get(), rate)); },
      nb::arg("x"), nb::arg("rate"), doc("dropout"));
  m.def(
      "causal_mask",
      [](const Traced& x, double fill) { return x.with(causal_mask(x.get(), fill)); },
      nb::arg("scores"), nb::arg("fill") = -1e30, doc("causal_mask"));
}

void bind_reductions(nb::module_& m) {
  for (const auto& [name, f] : {std::pair<const char*, Reduction>{"sum", sum},
                                {"mean", mean},
                                {"max", max},
                                {"min", min},
                                {"prod", prod},
                                {"log_sum_exp", log_sum_exp},
                                {"any", any},
                                {"all", all}}) {
    reduction(m, name, f);
  }
  spread(m, "var", var);
  spread(m, "stddev", stddev);
  for (const auto& [name, f] : {std::pair<const char*, Along>{"softmax", softmax},
                                {"log_softmax", log_softmax},
                                {"argmax", argmax},
                                {"argmin", argmin},
                                {"flip", flip}}) {
    along(m, name, f);
  }
  m.def(
      "cumsum",
      [](const Traced& x, std::int64_t axis, bool reverse) {
        return x.with(cumsum(x.get(), axis, reverse));
      },
      nb::arg("x"), nb::arg("axis"), nb::arg("reverse") = false, doc("cumsum"));
  m.def(
      "layer_norm",
      [](const Traced& x, double epsilon) { return x.with(layer_norm(x.get(), epsilon)); },
      nb::arg("x"), nb::arg("epsilon") = 1e-5, doc("layer_norm"));
  m.def(
      "layer_norm",
      [](const Traced& x, const Traced& weight, const Traced& bias, double epsilon) {
        return x.with(layer_norm(x.get(), weight.get(), bias.get(), epsilon));
      },
      nb::arg("x"), nb::arg("weight"), nb::arg("bias"), nb::arg("epsilon") = 1e-5);
  m.def(
      "group_norm",
      [](const Traced& x, std::int64_t groups, const Traced& weight, const Traced& bias,
         double epsilon) {
        return x.with(group_norm(x.get(), groups, weight.get(), bias.get(), epsilon));
      },
      nb::arg("x"), nb::arg("groups"), nb::arg("weight"), nb::arg("bias"),
      nb::arg("epsilon") = 1e-5, doc("group_norm"));
}

void bind_shapes(nb::module_& m) {
  m.def(
      "reshape",
      [](const Traced& x, const ShapeArg& sample) {
        return x.with(reshape(x.get(), shape_of(sample)));
      },
      nb::arg("x"), nb::arg("sample"), doc("reshape"));
  m.def(
      "transpose",
      [](const Traced& x, const Dims& permutation) {
        return x.with(transpose(x.get(), permutation));
      },
      nb::arg("x"), nb::arg("permutation"), doc("transpose"));
  m.def(
      "expand",
      [](const Traced& x, const ShapeArg& sample) {
        return x.with(expand(x.get(), shape_of(sample)));
      },
      nb::arg("x"), nb::arg("sample"), doc("expand"));
  m.def(
      "slice",
      [](const Traced& x, std::int64_t axis, std::int64_t begin, std::optional<std::int64_t> end,
         std::int64_t step) {
        return x.with(slice(x.get(), axis, begin, end.value_or(kToEnd), step));
      },
      nb::arg("x"), nb::arg("axis"), nb::arg("begin"), nb::arg("end") = nb::none(),
      nb::arg("step") = 1, doc("slice"));
  m.def(
      "split",
      [](const Traced& x, const Dims& sizes, std::int64_t axis) {
        std::vector<Traced> parts;
        for (const Expression& part : split(x.get(), sizes, axis)) parts.push_back(x.with(part));
        return parts;
      },
      nb::arg("x"), nb::arg("sizes"), nb::arg("axis"), doc("split"));
  using Join = Expression (*)(const std::vector<Expression>&, std::int64_t);
  for (const auto& [name, f] : {std::pair<const char*, Join>{"concat", concat}, {"stack", stack}}) {
    m.def(
        name,
        [f = f](const std::vector<Traced>& parts, std::int64_t axis) {
          require(!parts.empty(), "expected at least one expression; got none");
          return parts.front().with(f(expressions_of(parts), axis));
        },
        nb::arg("parts"), nb::arg("axis"), doc(name));
  }
  m.def(
      "pad",
      [](const Traced& x, std::int64_t axis, std::int64_t before, std::int64_t after,
         double value) { return x.with(pad(x.get(), axis, before, after, value)); },
      nb::arg("x"), nb::arg("axis"), nb::arg("before"), nb::arg("after"), nb::arg("value") = 0,
      doc("pad"));
  m.def(
      "gather",
      [](const Traced& x, const Traced& ids, std::int64_t axis) {
        return x.with(gather(x.get(), ids.get(), axis));
      },
      nb::arg("x"), nb::arg("ids"), nb::arg("axis") = 0, doc("gather"));
  m.def(
      "take_along_axis",
      [](const Traced& x, const Traced& ids, std::int64_t axis) {
        return x.with(take_along_axis(x.get(), ids.get(), axis));
      },
      nb::arg("x"), nb::arg("ids"), nb::arg("axis"), doc("take_along_axis"));
  m.def(
      "one_hot",
      [](const Traced& ids, std::int64_t classes) { return ids.with(one_hot(ids.get(), classes)); },
      nb::arg("ids"), nb::arg("classes"), doc("one_hot"));
}

void bind_products(nb::module_& m) {
  m.def(
      "matmul",
      [](const Traced& a, const Traced& b, bool transpose_a, bool transpose_b) {
        return a.with(matmul(a.get(), b.get(), {transpose_a, transpose_b}));
      },
      nb::arg("a"), nb::arg("b"), nb::arg("transpose_a") = false, nb::arg("transpose_b") = false,
      doc("matmul"));
  m.def(
      "linear",
      [](const Traced& x, const Traced& weight) { return x.with(linear(x.get(), weight.get())); },
      nb::arg("x"), nb::arg("weight"), doc("linear"));
  m.def(
      "einsum",
      [](std::string_view equation, const std::vector<Traced>& operands) {
        require(!operands.empty(), "expected at least one operand; got none");
        return operands.front().with(einsum(equation, expressions_of(operands)));
      },
      nb::arg("equation"), nb::arg("operands"), doc("einsum"));
  m.def(
      "conv2d",
      [](const Traced& x, const Traced& weight, const SizeArg& stride, const PaddingArg& padding,
         const SizeArg& dilation, std::int64_t groups) {
        return x.with(conv2d(x.get(), weight.get(),
                             {size_of(stride), padding_of(padding), size_of(dilation), groups}));
      },
      nb::arg("x"), nb::arg("weight"), nb::arg("stride") = 1, nb::arg("padding") = "valid",
      nb::arg("dilation") = 1, nb::arg("groups") = 1, doc("conv2d"));
  m.def(
      "conv_transpose2d",
      [](const Traced& x, const Traced& weight, const SizeArg& stride, const PaddingArg& padding,
         const SizeArg& output_padding, const SizeArg& dilation, std::int64_t groups) {
        return x.with(conv_transpose2d(x.get(), weight.get(),
                                       {size_of(stride), padding_of(padding),
                                        size_of(output_padding), size_of(dilation), groups}));
      },
      nb::arg("x"), nb::arg("weight"), nb::arg("stride") = 1, nb::arg("padding") = "valid",
      nb::arg("output_padding") = 0, nb::arg("dilation") = 1, nb::arg("groups") = 1,
      doc("conv_transpose2d"));
  using Pool = Expression (*)(const Expression&, Size2d, Size2d, Padding2d);
  for (const auto& [name, f] :
       {std::pair<const char*, Pool>{"max_pool2d", max_pool2d}, {"avg_pool2d", avg_pool2d}}) {
    m.def(
        name,
        [f = f](const Traced& x, const SizeArg& size, const SizeArg& stride,
                const PaddingArg& padding) {
          return x.with(f(x.get(), size_of(size), size_of(stride), padding_of(padding)));
        },
        nb::arg("x"), nb::arg("size"), nb::arg("stride") = 0, nb::arg("padding") = "valid",
        doc(name));
  }
  m.def(
      "adaptive_avg_pool2d",
      [](const Traced& x, const SizeArg& output) {
        return x.with(adaptive_avg_pool2d(x.get(), size_of(output)));
      },
      nb::arg("x"), nb::arg("output"), doc("adaptive_avg_pool2d"));
  m.def(
      "resize2d",
      [](const Traced& x, const SizeArg& size, bool bilinear) {
        return x.with(resize2d(x.get(), size_of(size), bilinear));
      },
      nb::arg("x"), nb::arg("size"), nb::arg("bilinear") = false, doc("resize2d"));
}

}  // namespace

void bind_functions(nb::module_& m) {
  bind_elementwise(m);
  bind_reductions(m);
  bind_shapes(m);
  bind_products(m);
}

}  // namespace linnet::python
