// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/element_wise.cuh"
#include "ops/select/select.h"

namespace linnet::cuda {
namespace {

std::optional<Kernel> prepare_select(const NodeView& node, const Context& /*context*/) {
  using In = SelectOp::In;
  const std::int64_t elements = node.out(SelectOp::Out::y).elements();
  if (node.inputs.size() == 2) {
    const bool when = node.attrs<SelectOp>().when;
    const auto value = static_cast<float>(node.attrs<SelectOp>().value);
    return zip("select", elements, [=] __device__(float condition, float a) {
      return (condition != 0) == when ? a : value;
    });
  }
  return Kernel{.enqueue = [=](const Args& args) {
    const auto choose = [] __device__(float condition, float a, float b) {
      return condition != 0 ? a : b;
    };
    map_elements(args.stream, "select", choose, elements, args.out(SelectOp::Out::y),
                 args.in(In::condition), args.in(In::a), args.in(In::b));
  }};
}

}  // namespace

void register_select(Registry& registry) { registry.add(SelectOp::kName, prepare_select); }

}  // namespace linnet::cuda
