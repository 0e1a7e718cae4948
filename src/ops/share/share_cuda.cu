// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/element_wise.cuh"
#include "ops/share/share.h"

namespace linnet::cuda {
namespace {

std::optional<Kernel> prepare_share(const NodeView& node, const Context& /*context*/) {
  const auto index = static_cast<std::size_t>(node.attrs<ShareOp>().index);
  return Kernel{.enqueue = [=, elements = node.in(kFirst).elements()](const Args& args) {
    const auto share = [=, step = args.step] __device__(float x) {
      return step->shares[index] * x;
    };
    map_elements(args.stream, "share", share, elements, args.out(kFirst), args.in(kFirst));
  }};
}

}  // namespace

void register_share(Registry& registry) { registry.add(ShareOp::kName, prepare_share); }

}  // namespace linnet::cuda
