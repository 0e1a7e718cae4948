// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/device.cuh"
#include "backend/cuda/kernel.h"
#include "ops/one_hot/one_hot.h"

namespace linnet::cuda {
namespace {

__global__ void one_hot_kernel(const std::int32_t* ids, std::int64_t elements, std::int64_t classes,
                               float* y) {
  for (std::int64_t i = first_item(); i < elements; i += grid_stride()) {
    const std::int64_t id = i / classes;
    y[i] = ids[id] == i - id * classes ? 1.0F : 0.0F;
  }
}

std::optional<Kernel> prepare(const NodeView& node, const Context& /*context*/) {
  const std::int64_t classes = node.attrs<OneHotOp>().classes;
  const std::int64_t elements = node.out(OneHotOp::Out::y).elements();
  return Kernel{.enqueue = [=](const Args& args) {
    if (elements == 0) return;
    launch(args.stream, "one_hot", for_items(elements), one_hot_kernel,
           args.in<std::int32_t>(OneHotOp::In::ids), elements, classes, args.out(OneHotOp::Out::y));
  }};
}

}  // namespace

void register_one_hot(Registry& registry) { registry.add(OneHotOp::kName, prepare); }

}  // namespace linnet::cuda
