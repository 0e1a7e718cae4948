// SPDX-License-Identifier: Apache-2.0
#include "ops/conv_transpose2d/conv_transpose2d.h"

#include "graph/registry.h"

namespace linnet {

std::vector<ValueType> ConvTranspose2dOp::infer(std::span<const ValueType> inputs) const {
  const std::string got = to_string({"x", "w"}, {inputs.begin(), inputs.end()});
  require(inputs.size() == 2 && inputs[In::x].shape.rank() == 4 &&
              inputs[In::w].shape.rank() == 4 && inputs[In::x].dtype == DType::f32 &&
              inputs[In::w].dtype == DType::f32,
          "expected x (N, H, W, C_in) and w (C_in, KH, KW, C_out/groups); got {}", got);
  require(attrs().in_h >= 1 && attrs().in_w >= 1,
          "expected an output of at least one pixel; got ({}, {})", attrs().in_h, attrs().in_w);
  const Shape& x = inputs[In::x].shape;
  const Shape& w = inputs[In::w].shape;
  require(x[3] == w[0], "expected {} input channels; got {}", w[0], got);
  const ConvShape s = Conv2dGradInputOp(attrs()).shape(x, w);
  require(x[1] == s.oh && x[2] == s.ow,
          "expected images of ({}, {}) for an output of ({}, {}); got {}", s.oh, s.ow, s.h, s.w,
          got);
  return {{DType::f32, Shape{s.n, s.h, s.w, s.c}}};
}

std::vector<Value> ConvTranspose2dOp::gradient(const GradientArgs& args) const {
  const Node& node = args.node;
  const Value dy = args.output_gradients[Out::y];
  const Conv2dAttrs conv = attrs().conv.plain();
  const std::int64_t kernel_h = args.graph.shape(node.inputs[In::w])[1];
  const std::int64_t kernel_w = args.graph.shape(node.inputs[In::w])[2];
  std::vector<Value> gradients(2);
  if (args.needed[In::x]) {
    gradients[In::x] = args.graph.emit(Conv2dOp(conv), {dy, node.inputs[In::w]}, node.name);
  }
  if (args.needed[In::w]) {
    gradients[In::w] = args.graph.emit(Conv2dGradWeightOp({conv, kernel_h, kernel_w}),
                                       {dy, node.inputs[In::x]}, node.name);
  }
  return gradients;
}

void ConvTranspose2dOp::reference(const ReferenceArgs& args) const {
  Conv2dGradInputOp(attrs()).reference(args);
}

Cost ConvTranspose2dOp::cost(std::span<const ValueType> inputs,
                             std::span<const ValueType> outputs) const {
  return Conv2dGradInputOp(attrs()).cost(inputs, outputs);
}

void register_conv_transpose2d(OpRegistry& registry) { registry.add<ConvTranspose2dOp>(); }

}  // namespace linnet
