// SPDX-License-Identifier: Apache-2.0
#include "fusions/int8/conv2d_int8.h"

#include <algorithm>

#include "graph/registry.h"

namespace linnet {

ConvShape Conv2dInt8Op::shape(const Shape& x, const Shape& w) const {
  const bool dense = x.rank() == 2 && w.rank() == 2;
  const auto as_image = [](const Shape& s) { return Shape{s[0], 1, 1, s[1]}; };
  return conv_shape(attrs().conv, dense ? as_image(x) : x, dense ? as_image(w) : w,
                    fmt::format("x={}, w={}", to_string(x), to_string(w)));
}

std::vector<ValueType> Conv2dInt8Op::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == operands(), "expected {} operands; got {}", operands(), inputs.size());
  require(inputs[In::x].dtype == DType::u8 && inputs[In::w].dtype == DType::f32,
          "expected x of u8 and w of f32; got {}",
          to_string({"x", "w"}, {inputs.begin(), inputs.begin() + 2}));
  const Conv2dAttrs& conv = attrs().conv;
  require(conv.groups == 1 && conv.dilation_h == 1 && conv.dilation_w == 1,
          "expected neither groups nor dilation");
  require(!attrs().to_levels || rounds_activation(),
          "expected no activation but relu before levels");
  check_levels(attrs().x);
  check_levels(attrs().y);
  check_levels(attrs().residual_levels);
  const ConvShape s = shape(inputs[In::x].shape, inputs[In::w].shape);
  for (std::size_t i = In::b; i < residual_input(); ++i) {
    require(inputs[i] == ValueType{DType::f32, Shape{s.co}},
            "expected a bias or statistic of {} channels; got {}", s.co, to_string(inputs[i]));
  }
  const Shape y = inputs[In::x].shape.rank() == 2 ? Shape{s.n, s.co} : Shape{s.n, s.oh, s.ow, s.co};
  if (attrs().residual) {
    const ValueType& residual = inputs[residual_input()];
    const ValueType expected{attrs().residual_u8 ? DType::u8 : DType::f32, y};
    require(residual == expected, "expected a residual of {}; got {}", to_string(expected),
            to_string(residual));
  }
  return {{attrs().to_levels ? DType::u8 : DType::f32, y}};
}

void Conv2dInt8Op::reference(const ReferenceArgs& args) const {
  const ReferenceTensor& levels = args.in(In::x);
  const ReferenceTensor& weights = args.in(In::w);
  const ConvShape s = shape(levels.shape, weights.shape);
  ReferenceTensor x{Shape{s.n, s.h, s.w, s.c}, levels.data};
  for (double& level : x.data) level = attrs().x.value_of(level);
  ReferenceTensor w{Shape{s.co, s.kh, s.kw, s.c}, weights.data};
  ReferenceTensor rounded = w;
  QuantizeWeightsOp().reference({std::array{&w}, std::array{&rounded}, args.step});
  ReferenceTensor sums{Shape{s.n, s.oh, s.ow, s.co},
                       std::vector<double>(static_cast<std::size_t>(s.n * s.out_pixels() * s.co))};
  Conv2dOp(attrs().conv.plain())
      .reference({std::array{&x, &rounded}, std::array{&sums}, args.step});
  for (std::int64_t i = 0; i < args.out(Out::y).shape.elements(); ++i) {
    const std::int64_t c = i % s.co;
    double v = sums[i] + (attrs().conv.bias ? args.in(In::b)[c] : 0);
    if (attrs().norm) {
      const auto of = [&](Norm operand) { return args.in(norm_input(operand))[c]; };
      v = (v - of(running_mean)) / std::sqrt(of(running_var) + attrs().epsilon) * of(gamma) +
          of(beta);
    }
    if (attrs().residual) {
      const double r = args.in(residual_input())[i];
      v += attrs().residual_u8 ? attrs().residual_levels.value_of(r) : r;
    }
    v = activate(attrs().conv.activation, v);
    args.out(Out::y)[i] = attrs().to_levels ? attrs().y.level_of(v) : v;
  }
}

Cost Conv2dInt8Op::cost(std::span<const ValueType> inputs,
                        std::span<const ValueType> outputs) const {
  const ConvShape s = shape(inputs[In::x].shape, inputs[In::w].shape);
  Cost cost{.flops = static_cast<double>(s.n) * s.flops_per_sample(),
            .bytes = static_cast<double>(outputs[Out::y].bytes())};
  for (const ValueType& type : inputs) cost.bytes += static_cast<double>(type.bytes());
  return cost;
}

void register_conv2d_int8(OpRegistry& registry) { registry.add<Conv2dInt8Op>(); }

}  // namespace linnet
