// SPDX-License-Identifier: Apache-2.0
#include "ops/update_channels/update_channels.h"

#include "graph/registry.h"
#include "ops/slice/axis.h"

namespace linnet {

std::vector<ValueType> UpdateChannelsOp::infer(std::span<const ValueType> inputs) const {
  bool fits = inputs.size() == 2 && inputs[In::whole].shape.rank() >= 2 &&
              inputs[In::part].shape.rank() == inputs[In::whole].shape.rank();
  if (fits) {
    const Shape& whole = inputs[In::whole].shape;
    const Shape& part = inputs[In::part].shape;
    fits = with_dim(whole, static_cast<int>(whole.rank()) - 1, part[-1]) == part &&
           attrs().begin >= 0 && attrs().begin <= whole[-1] - part[-1];
  }
  require(fits, "expected a part of the channels from {} on; got {}", attrs().begin,
          to_string({"whole", "part"}, {inputs.begin(), inputs.end()}));
  require_f32(inputs);
  return {inputs[In::whole]};
}

void UpdateChannelsOp::reference(const ReferenceArgs& args) const {
  const ReferenceTensor& part = args.in(In::part);
  const std::int64_t wide = args.in(In::whole).shape[-1];
  const std::int64_t channels = part.shape[-1];
  args.out(Out::y).data = args.in(In::whole).data;
  for (std::int64_t i = 0; i < part.shape.elements(); ++i) {
    double& y = args.out(Out::y)[i / channels * wide + attrs().begin + i % channels];
    y = attrs().add ? y + part[i] : part[i];
  }
}

Cost UpdateChannelsOp::cost(std::span<const ValueType> inputs,
                            std::span<const ValueType> /*outputs*/) const {
  const auto elements = static_cast<double>(inputs[In::part].shape.elements());
  const double moved = static_cast<double>(sizeof(float)) * elements;
  return {.flops = attrs().add ? elements : 0, .bytes = (attrs().add ? 3 : 2) * moved};
}

void register_update_channels(OpRegistry& registry) { registry.add<UpdateChannelsOp>(); }

}  // namespace linnet
