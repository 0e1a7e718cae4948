// SPDX-License-Identifier: Apache-2.0
#include "ops/conv2d/conv2d.h"

#include <algorithm>

#include "graph/registry.h"
#include "ops/bias_add/bias_add.h"

namespace linnet {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 31;  // a file may say anything; no overflow

std::string operands(std::vector<std::string> names, std::span<const ValueType> inputs) {
  return to_string(names, {inputs.begin(), inputs.end()});
}

bool images(std::span<const ValueType> inputs) {
  return inputs.size() >= 2 && inputs[kFirst].shape.rank() == 4 &&
         inputs[kSecond].shape.rank() == 4;
}

Cost conv_cost(const ConvShape& s, std::span<const ValueType> inputs,
               std::span<const ValueType> outputs) {
  Cost cost{.flops = static_cast<double>(s.n) * s.flops_per_sample()};
  for (const ValueType& type : inputs) cost.bytes += static_cast<double>(type.bytes());
  for (const ValueType& type : outputs) cost.bytes += static_cast<double>(type.bytes());
  return cost;
}

}  // namespace

Conv2dAttrs Conv2dAttrs::plain() const {
  Conv2dAttrs attrs = *this;
  attrs.bias = false;
  attrs.activation = Activation::none;
  return attrs;
}

ConvShape conv_shape(const Conv2dAttrs& a, const Shape& x, const Shape& w,
                     const std::string& operands) {
  require(a.stride_h >= 1 && a.stride_w >= 1 && a.dilation_h >= 1 && a.dilation_w >= 1 &&
              a.groups >= 1,
          "expected strides, dilations and groups of at least 1; got strides ({}, {}), dilations "
          "({}, {}), {} groups",
          a.stride_h, a.stride_w, a.dilation_h, a.dilation_w, a.groups);
  require(a.pad_top >= 0 && a.pad_bottom >= 0 && a.pad_left >= 0 && a.pad_right >= 0,
          "expected no negative padding; got top {}, bottom {}, left {}, right {}", a.pad_top,
          a.pad_bottom, a.pad_left, a.pad_right);
  require(std::max({a.stride_h, a.stride_w, a.dilation_h, a.dilation_w, a.pad_top, a.pad_bottom,
                    a.pad_left, a.pad_right, a.groups, x[1], x[2], w[1], w[2], w[3]}) < kMost,
          "expected strides, dilations, padding, groups, image and kernel below {}; got {}", kMost,
          operands);
  require(w.elements() > 0, "expected a kernel with elements; got {}", operands);
  require(x[3] == w[3] * a.groups, "expected {} input channels; got {}", w[3] * a.groups, operands);
  require(w[0] % a.groups == 0, "expected a multiple of {} output channels (groups); got {}",
          a.groups, operands);
  const std::int64_t height = x[1] + a.pad_top + a.pad_bottom;
  const std::int64_t width = x[2] + a.pad_left + a.pad_right;
  const std::int64_t reach_h = (w[1] - 1) * a.dilation_h + 1;
  const std::int64_t reach_w = (w[2] - 1) * a.dilation_w + 1;
  require(reach_h <= height && reach_w <= width,
          "kernel ({}, {}) is larger than the padded input ({}, {}); got {}", reach_h, reach_w,
          height, width, operands);
  return {.n = x[0],
          .h = x[1],
          .w = x[2],
          .c = x[3],
          .oh = (height - reach_h) / a.stride_h + 1,
          .ow = (width - reach_w) / a.stride_w + 1,
          .co = w[0],
          .kh = w[1],
          .kw = w[2],
          .attrs = a.plain()};
}

std::vector<ValueType> Conv2dOp::infer(std::span<const ValueType> inputs) const {
  const std::string got = operands({"x", "w", "b"}, inputs);
  require(images(inputs), "expected x (N, H, W, C) and w (C_out, KH, KW, C/groups); got {}", got);
  const ConvShape s = conv_shape(attrs(), inputs[In::x].shape, inputs[In::w].shape, got);
  require(inputs.size() == (attrs().bias ? 3U : 2U) &&
              (!attrs().bias || inputs[In::b].shape == Shape{s.co}),
          "expected {} of {} channels; got {}", attrs().bias ? "a bias" : "no bias", s.co, got);
  require_f32(inputs);
  return {{DType::f32, Shape{s.n, s.oh, s.ow, s.co}}};
}

std::vector<Value> Conv2dOp::gradient(const GradientArgs& args) const {
  Graph& graph = args.graph;
  const Node& node = args.node;
  const Shape x = graph.shape(node.inputs[In::x]);
  const Shape w = graph.shape(node.inputs[In::w]);
  const Value dz =
      activation_gradient_from_output(graph, attrs().activation, args.output_gradients[Out::y],
                                      node.outputs[Out::y], node.name);
  const Conv2dAttrs plain = attrs().plain();
  std::vector<Value> gradients(node.inputs.size());
  if (attrs().bias && args.needed[In::b])
    gradients[In::b] = graph.emit(BiasGradOp(), {dz}, node.name);
  if (args.needed[In::w]) {
    gradients[In::w] =
        graph.emit(Conv2dGradWeightOp({plain, w[1], w[2]}), {node.inputs[In::x], dz}, node.name);
  }
  if (args.needed[In::x]) {
    gradients[In::x] =
        graph.emit(Conv2dGradInputOp({plain, x[1], x[2]}), {dz, node.inputs[In::w]}, node.name);
  }
  return gradients;
}

Cost Conv2dOp::cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const {
  return conv_cost(conv_shape(attrs(), inputs[In::x].shape, inputs[In::w].shape, ""), inputs,
                   outputs);
}

ConvShape Conv2dGradInputOp::shape(const Shape& dz, const Shape& w) const {
  const std::int64_t groups = attrs().conv.groups;
  require(groups >= 1 && groups < kMost && w[3] < kMost, "expected 1 to {} groups; got {}", kMost,
          groups);
  const Shape x{dz[0], attrs().in_h, attrs().in_w, w[3] * groups};
  return conv_shape(attrs().conv, x, w,
                    "dz=" + to_string(dz) + ", w=" + to_string(w) + ", x=" + to_string(x));
}

std::vector<ValueType> Conv2dGradInputOp::infer(std::span<const ValueType> inputs) const {
  const std::string got = operands({"dz", "w"}, inputs);
  require(images(inputs) && inputs.size() == 2,
          "expected dz (N, OH, OW, C_out) and w (C_out, KH, KW, C/groups); got {}", got);
  const ConvShape s = shape(inputs[In::dz].shape, inputs[In::w].shape);
  require(inputs[In::dz].shape == Shape{s.n, s.oh, s.ow, s.co}, "expected dz={}; got {}",
          to_string(Shape{s.n, s.oh, s.ow, s.co}), got);
  require_f32(inputs);
  return {{DType::f32, Shape{s.n, s.h, s.w, s.c}}};
}

std::vector<Value> Conv2dGradInputOp::gradient(const GradientArgs& args) const {
  const Node& node = args.node;
  const Value g = args.output_gradients[Out::dx];
  const Value w = node.inputs[In::w];
  const Conv2dAttrs plain = attrs().conv.plain();
  std::vector<Value> gradients(2);
  if (args.needed[In::dz]) {
    gradients[In::dz] = args.graph.emit(Conv2dOp(plain), {g, w}, node.name);
  }
  if (args.needed[In::w]) {
    const Shape kernel = args.graph.shape(w);
    gradients[In::w] = args.graph.emit(Conv2dGradWeightOp({plain, kernel[1], kernel[2]}),
                                       {g, node.inputs[In::dz]}, node.name);
  }
  return gradients;
}

Cost Conv2dGradInputOp::cost(std::span<const ValueType> inputs,
                             std::span<const ValueType> outputs) const {
  return conv_cost(shape(inputs[In::dz].shape, inputs[In::w].shape), inputs, outputs);
}

ConvShape Conv2dGradWeightOp::shape(const Shape& x, const Shape& dz) const {
  const std::int64_t groups = std::max<std::int64_t>(attrs().conv.groups, 1);
  const Shape w{dz[3], attrs().kernel_h, attrs().kernel_w, x[3] / groups};
  return conv_shape(attrs().conv, x, w,
                    "x=" + to_string(x) + ", dz=" + to_string(dz) + ", w=" + to_string(w));
}

std::vector<ValueType> Conv2dGradWeightOp::infer(std::span<const ValueType> inputs) const {
  const std::string got = operands({"x", "dz"}, inputs);
  require(images(inputs) && inputs.size() == 2,
          "expected x (N, H, W, C) and dz (N, OH, OW, C_out); got {}", got);
  const ConvShape s = shape(inputs[In::x].shape, inputs[In::dz].shape);
  require(inputs[In::dz].shape == Shape{s.n, s.oh, s.ow, s.co}, "expected dz={}; got {}",
          to_string(Shape{s.n, s.oh, s.ow, s.co}), got);
  require_f32(inputs);
  return {{DType::f32, Shape{s.co, s.kh, s.kw, s.group_in()}}};
}

std::vector<Value> Conv2dGradWeightOp::gradient(const GradientArgs& args) const {
  const Node& node = args.node;
  const Value g = args.output_gradients[Out::dw];
  const Conv2dAttrs plain = attrs().conv.plain();
  std::vector<Value> gradients(2);
  if (args.needed[In::x]) {
    const Shape x = args.graph.shape(node.inputs[In::x]);
    gradients[In::x] = args.graph.emit(Conv2dGradInputOp({plain, x[1], x[2]}),
                                       {node.inputs[In::dz], g}, node.name);
  }
  if (args.needed[In::dz]) {
    gradients[In::dz] = args.graph.emit(Conv2dOp(plain), {node.inputs[In::x], g}, node.name);
  }
  return gradients;
}

Cost Conv2dGradWeightOp::cost(std::span<const ValueType> inputs,
                              std::span<const ValueType> outputs) const {
  return conv_cost(shape(inputs[In::x].shape, inputs[In::dz].shape), inputs, outputs);
}

void register_conv2d(OpRegistry& registry) {
  registry.add<Conv2dOp>();
  registry.add<Conv2dGradInputOp>();
  registry.add<Conv2dGradWeightOp>();
}

}  // namespace linnet
