// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/element_wise.cuh"
#include "ops/select/select.h"

namespace linnet::cuda {
namespace {

struct WithValue {
  bool when;
  float value;
  __device__ float operator()(float condition, float a) const {
    return (condition != 0) == when ? a : value;
  }
};
struct WithOperand {
  __device__ float operator()(float condition, float a, float b) const {
    return condition != 0 ? a : b;
  }
};

std::optional<Kernel> prepare(const NodeView& node, const Context& /*context*/) {
  const SelectAttrs attrs = node.attrs<SelectOp>();
  const std::int64_t elements = node.out(SelectOp::Out::y).elements();
  if (node.inputs.size() == 2) {
    return zip("select", elements, WithValue{attrs.when, static_cast<float>(attrs.value)});
  }
  return Kernel{.enqueue = [=](const Args& args) {
    map_elements(args.stream, "select", WithOperand{}, elements, args.out(SelectOp::Out::y),
                 args.in(SelectOp::In::condition), args.in(SelectOp::In::a),
                 args.in(SelectOp::In::b));
  }};
}

}  // namespace

void register_select(Registry& registry) { registry.add(SelectOp::kName, prepare); }

}  // namespace linnet::cuda
