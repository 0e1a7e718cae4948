// SPDX-License-Identifier: Apache-2.0
#include "ops/channel_scale/channel_scale.h"

#include "graph/registry.h"

namespace linnet {

std::vector<ValueType> ChannelScaleOp::infer(std::span<const ValueType> inputs) const {
  const std::vector<ValueType> types(inputs.begin(), inputs.end());
  require(inputs.size() == 1 && inputs[In::x].dtype == DType::f32 &&
              inputs[In::x].shape.rank() >= 1,
          "expected one f32 operand with an axis; got {}", to_string({"x"}, types));
  const std::int64_t channels = inputs[In::x].shape[-1];
  require(channels <= kMostChannels, "expected at most {} channels; got {}", kMostChannels,
          to_string({"x"}, types));
  require(std::ssize(attrs().scale) == channels && std::ssize(attrs().shift) == channels,
          "expected a scale and a shift for each of {} channels; got {} and {}", channels,
          attrs().scale.size(), attrs().shift.size());
  return {inputs[In::x]};
}

std::vector<Value> ChannelScaleOp::gradient(const GradientArgs& args) const {
  const ChannelScaleAttrs plain{.scale = attrs().scale,
                                .shift = std::vector<double>(attrs().scale.size(), 0)};
  return {args.graph.emit(ChannelScaleOp(plain), {args.output_gradients[Out::y]}, args.node.name)};
}

void ChannelScaleOp::reference(const ReferenceArgs& args) const {
  for (std::int64_t i = 0; i < args.in(In::x).shape.elements(); ++i) {
    const auto c = static_cast<std::size_t>(i) % attrs().scale.size();
    args.out(Out::y)[i] = attrs().scale[c] * args.in(In::x)[i] + attrs().shift[c];
  }
}

void register_channel_scale(OpRegistry& registry) { registry.add<ChannelScaleOp>(); }

}  // namespace linnet
