// SPDX-License-Identifier: Apache-2.0
#include "ops/loss_scale/loss_scale.h"

#include "graph/registry.h"

namespace linnet {

std::vector<ValueType> LossScaleOp::infer(std::span<const ValueType> inputs) const {
  // Steps are counted in f32.
  require(attrs().interval >= 1 && attrs().interval <= 1 << 24,
          "expected an interval of 1 to 2^24 steps; got {}", attrs().interval);
  require(inputs.size() == 3 && inputs[In::scale] == ValueType{DType::f32, Shape{kLossScaleSize}} &&
              inputs[In::stopped] == ValueType{DType::f64, Shape{}} &&
              inputs[In::counters].dtype == DType::f64 &&
              inputs[In::counters].shape.elements() >= kCounters,
          "expected f32 ({}), f64 () and f64 counters; got {}", kLossScaleSize,
          to_string({"scale", "stopped", "counters"}, {inputs.begin(), inputs.end()}));
  return {};
}

void LossScaleOp::reference(const ReferenceArgs& args) const {
  update_loss_scale(args.in(In::scale).data.data(), args.in(In::stopped).data.data(),
                    args.in(In::counters).data.data(), attrs().interval, args.step);
}

void register_loss_scale(OpRegistry& registry) { registry.add<LossScaleOp>(); }

}  // namespace linnet
