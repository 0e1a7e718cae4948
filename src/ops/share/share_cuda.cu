// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/device.cuh"
#include "backend/cuda/kernel.h"
#include "ops/share/share.h"

namespace linnet::cuda {
namespace {

__global__ void share_kernel(const StepInfo* step, std::size_t index, std::int64_t elements,
                             const float* x, float* y) {
  const float share = step->shares[index];
  for (std::int64_t i = first_item(); i < elements; i += grid_stride()) y[i] = share * x[i];
}

std::optional<Kernel> prepare(const NodeView& node, const Context& /*context*/) {
  using In = ShareOp::In;
  using Out = ShareOp::Out;
  const auto index = static_cast<std::size_t>(node.attrs<ShareOp>().index);
  const std::int64_t elements = node.in(In::x).elements();
  return Kernel{.enqueue = [=](const Args& args) {
    if (elements == 0) return;
    launch(args.stream, "share", for_items(elements), share_kernel, args.step, index, elements,
           args.in(In::x), args.out(Out::y));
  }};
}

}  // namespace

void register_share(Registry& registry) { registry.add(ShareOp::kName, prepare); }

}  // namespace linnet::cuda
