// SPDX-License-Identifier: Apache-2.0
#include "fusions/conv2d_pool/conv2d_pool.h"

#include "graph/registry.h"
#include "ops/bias_add/bias_add.h"

namespace linnet {
namespace {

/// Runs the reference of one operator of the composition.
std::vector<ReferenceTensor> evaluate(const Op& op, const std::vector<ReferenceTensor*>& inputs,
                                      const std::vector<ValueType>& types, const StepInfo& step) {
  std::vector<ReferenceTensor> results;
  for (const ValueType& type : op.infer(types)) {
    results.push_back(
        {type.shape, std::vector<double>(static_cast<std::size_t>(type.shape.elements()))});
  }
  std::vector<ReferenceTensor*> outputs;
  for (ReferenceTensor& result : results) outputs.push_back(&result);
  op.reference({inputs, outputs, step});
  return results;
}

ValueType f32(const ReferenceTensor& tensor) { return {DType::f32, tensor.shape}; }

/// Throws Error where gradients of pooled results don't fit the convolution's; `got` ends the
/// message.
void check_pooled(const Conv2dPoolAttrs& attrs, const ConvShape& s, const ValueType& dy,
                  const ValueType& winner, const std::string& got) {
  const PoolShape p = pool_shape(attrs.pool, {s.n, s.oh, s.ow, s.co});
  require(dy.shape == Shape{p.n, p.oh, p.ow, p.c} &&
              winner == ValueType{winner_type(p.attrs), dy.shape},
          "expected dy={}; got {}", to_string(Shape{p.n, p.oh, p.ow, p.c}), got);
}

/// The gradient by the convolution's result.
ReferenceTensor reference_dz(const Conv2dPoolAttrs& attrs, const ConvShape& s,
                             const ReferenceTensor& dy, const ReferenceTensor& y,
                             ReferenceTensor& winner, const StepInfo& step) {
  ReferenceTensor dp = dy;
  for (std::size_t i = 0; i < dp.data.size(); ++i) {
    dp.data[i] *= activation_slope_from_output(attrs.conv.activation, y.data[i]);
  }
  return evaluate(MaxPool2dGradOp({attrs.pool, s.oh, s.ow}), {&dp, &winner},
                  {f32(dp), {winner_type(attrs.pool), winner.shape}}, step)[0];
}

/// Cost of products with the gradients of `dy`, of which only winners carry one.
Cost gradient_cost(const Shape& dy, std::int64_t taps, std::span<const ValueType> inputs,
                   std::span<const ValueType> outputs) {
  Cost cost{.flops = 2.0 * static_cast<double>(dy.elements()) * static_cast<double>(taps)};
  for (const ValueType& type : inputs) cost.bytes += static_cast<double>(type.bytes());
  for (const ValueType& type : outputs) cost.bytes += static_cast<double>(type.bytes());
  return cost;
}

}  // namespace

std::vector<ValueType> Conv2dPoolOp::infer(std::span<const ValueType> inputs) const {
  return MaxPool2dOp(attrs().pool).infer(Conv2dOp(attrs().conv).infer(inputs));
}

std::vector<Value> Conv2dPoolOp::gradient(const GradientArgs& args) const {
  Graph& graph = args.graph;
  const Node& node = args.node;
  const Conv2dAttrs& conv = attrs().conv;
  const Value dy = args.output_gradients[Out::y];
  const Value y = node.outputs[Out::y];
  const Value winner = node.outputs[Out::winner];
  const Value x = node.inputs[In::x];
  const Value w = node.inputs[In::w];
  const Shape kernel = graph.shape(w);
  std::vector<Value> gradients(node.inputs.size());
  if (!args.needed[In::x] && conv.groups == 1) {
    const std::vector<Value> results =
        graph.add(std::make_shared<Conv2dPoolGradOp>(
                      Conv2dPoolGradAttrs{attrs(), kernel[1], kernel[2]}),
                  {x, dy, y, winner}, node.name);
    gradients[In::w] = results[Conv2dPoolGradOp::Out::dw];
    if (conv.bias) gradients[In::b] = results[Conv2dPoolGradOp::Out::db];
    return gradients;
  }
  const Shape image = graph.shape(x);
  const Shape before =
      Conv2dOp(conv).infer(graph.types(node.inputs))[0].shape;  // of the pooled images
  const Value dp = activation_gradient_from_output(graph, conv.activation, dy, y, node.name);
  const Value dz =
      graph.emit(MaxPool2dGradOp({attrs().pool, before[1], before[2]}), {dp, winner}, node.name);
  const Conv2dAttrs plain = conv.plain();
  if (args.needed[In::x]) {
    gradients[In::x] =
        graph.emit(Conv2dGradInputOp({plain, image[1], image[2]}), {dz, w}, node.name);
  }
  if (args.needed[In::w]) {
    gradients[In::w] =
        graph.emit(Conv2dGradWeightOp({plain, kernel[1], kernel[2]}), {x, dz}, node.name);
  }
  if (conv.bias && args.needed[In::b]) gradients[In::b] = graph.emit(BiasGradOp(), {dz}, node.name);
  return gradients;
}

void Conv2dPoolOp::reference(const ReferenceArgs& args) const {
  std::vector<ReferenceTensor*> operands(args.inputs.begin(), args.inputs.end());
  std::vector<ValueType> types;
  for (const ReferenceTensor* operand : operands) types.push_back(f32(*operand));
  ReferenceTensor z = evaluate(Conv2dOp(attrs().conv), operands, types, args.step)[0];
  std::vector<ReferenceTensor> pooled =
      evaluate(MaxPool2dOp(attrs().pool), {&z}, {f32(z)}, args.step);
  args.out(Out::y).data = std::move(pooled[0].data);
  args.out(Out::winner).data = std::move(pooled[1].data);
}

Cost Conv2dPoolOp::cost(std::span<const ValueType> inputs,
                        std::span<const ValueType> outputs) const {
  const ConvShape s = conv_shape(attrs().conv, inputs[In::x].shape, inputs[In::w].shape, "");
  return {.flops = static_cast<double>(s.n) * s.flops_per_sample(),
          .bytes = static_cast<double>(inputs[In::x].bytes() + inputs[In::w].bytes() +
                                       outputs[Out::y].bytes() + outputs[Out::winner].bytes())};
}

ConvShape Conv2dPoolGradOp::shape(const Shape& x, const Shape& dy) const {
  const Shape w{dy[3], attrs().kernel_h, attrs().kernel_w, x[3]};
  return conv_shape(attrs().forward.conv, x, w,
                    "x=" + to_string(x) + ", dy=" + to_string(dy) + ", w=" + to_string(w));
}

std::vector<ValueType> Conv2dPoolGradOp::infer(std::span<const ValueType> inputs) const {
  const std::string got = to_string({"x", "dy", "y", "winner"}, {inputs.begin(), inputs.end()});
  require(inputs.size() == 4 && inputs[In::x].dtype == DType::f32 &&
              inputs[In::x].shape.rank() == 4 && inputs[In::dy].shape.rank() == 4 &&
              inputs[In::dy] == inputs[In::y] && attrs().forward.conv.groups == 1,
          "expected x (N, H, W, C) and dy, y, winner (N, PH, PW, C_out); got {}", got);
  const ConvShape s = shape(inputs[In::x].shape, inputs[In::dy].shape);
  check_pooled(attrs().forward, s, inputs[In::dy], inputs[In::winner], got);
  return {{DType::f32, Shape{s.co, s.kh, s.kw, s.c}}, {DType::f32, Shape{s.co}}};
}

void Conv2dPoolGradOp::reference(const ReferenceArgs& args) const {
  const ConvShape s = shape(args.in(In::x).shape, args.in(In::dy).shape);
  ReferenceTensor dz = reference_dz(attrs().forward, s, args.in(In::dy), args.in(In::y),
                                    args.in(In::winner), args.step);
  const Conv2dGradWeightOp grad_weight({attrs().forward.conv.plain(), s.kh, s.kw});
  ReferenceTensor& x = args.in(In::x);
  args.out(Out::dw).data = evaluate(grad_weight, {&x, &dz}, {f32(x), f32(dz)}, args.step)[0].data;
  args.out(Out::db).data = evaluate(BiasGradOp(), {&dz}, {f32(dz)}, args.step)[0].data;
}

Cost Conv2dPoolGradOp::cost(std::span<const ValueType> inputs,
                            std::span<const ValueType> outputs) const {
  return gradient_cost(inputs[In::dy].shape,
                       attrs().kernel_h * attrs().kernel_w * inputs[In::x].shape[3], inputs,
                       outputs);
}

ConvShape Conv2dPoolGradInputOp::shape(const Shape& dy, const Shape& w) const {
  const Shape x{dy[0], attrs().in_h, attrs().in_w, w[3]};
  return conv_shape(attrs().forward.conv, x, w, "dy=" + to_string(dy) + ", w=" + to_string(w));
}

std::vector<ValueType> Conv2dPoolGradInputOp::infer(std::span<const ValueType> inputs) const {
  const std::string got = to_string({"dy", "y", "winner", "w"}, {inputs.begin(), inputs.end()});
  require(inputs.size() == 4 && inputs[In::w].dtype == DType::f32 &&
              inputs[In::dy].shape.rank() == 4 && inputs[In::w].shape.rank() == 4 &&
              inputs[In::dy] == inputs[In::y] && attrs().forward.conv.groups == 1,
          "expected dy, y, winner (N, PH, PW, C_out) and w (C_out, KH, KW, C); got {}", got);
  const ConvShape s = shape(inputs[In::dy].shape, inputs[In::w].shape);
  check_pooled(attrs().forward, s, inputs[In::dy], inputs[In::winner], got);
  return {{DType::f32, Shape{s.n, s.h, s.w, s.c}}};
}

void Conv2dPoolGradInputOp::reference(const ReferenceArgs& args) const {
  ReferenceTensor& w = args.in(In::w);
  const ConvShape s = shape(args.in(In::dy).shape, w.shape);
  ReferenceTensor dz = reference_dz(attrs().forward, s, args.in(In::dy), args.in(In::y),
                                    args.in(In::winner), args.step);
  const Conv2dGradInputOp grad_input({attrs().forward.conv.plain(), s.h, s.w});
  args.out(Out::dx).data = evaluate(grad_input, {&dz, &w}, {f32(dz), f32(w)}, args.step)[0].data;
}

Cost Conv2dPoolGradInputOp::cost(std::span<const ValueType> inputs,
                                 std::span<const ValueType> outputs) const {
  const Shape& w = inputs[In::w].shape;
  return gradient_cost(inputs[In::dy].shape, w[1] * w[2] * w[3], inputs, outputs);
}

void register_conv2d_pool(OpRegistry& registry) {
  registry.add<Conv2dPoolOp>();
  registry.add<Conv2dPoolGradOp>();
  registry.add<Conv2dPoolGradInputOp>();
}

}  // namespace linnet
