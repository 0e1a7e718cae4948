// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/device.cuh"
#include "backend/cuda/kernel.h"
#include "backend/cuda/vectors.cuh"
#include "ops/reshape/reshape.h"

namespace linnet::cuda {
namespace {

/// Copies `vectors` pieces of 16 bytes, then what is left byte by byte.
__global__ void copy_kernel(std::int64_t bytes, std::int64_t vectors, const std::byte* from,
                            std::byte* to) {
  const auto* from_vectors = reinterpret_cast<const uint4*>(from);
  auto* to_vectors = reinterpret_cast<uint4*>(to);
  for (std::int64_t i = first_item(); i < vectors; i += grid_stride()) {
    to_vectors[i] = from_vectors[i];
  }
  for (std::int64_t i = 16 * vectors + first_item(); i < bytes; i += grid_stride()) {
    to[i] = from[i];
  }
}

std::optional<Kernel> prepare(const NodeView& node, const Context& /*context*/) {
  using In = CopyOp::In;
  using Out = CopyOp::Out;
  const auto bytes = static_cast<std::int64_t>(node.inputs[In::x].bytes());
  return Kernel{.enqueue = [=](const Args& args) {
    const auto* from = args.in<std::byte>(In::x);
    auto* to = args.out<std::byte>(Out::y);
    const std::int64_t vectors = vector_aligned(from, to) ? bytes / 16 : 0;
    launch(args.stream, "copy", for_items(std::max(vectors, bytes - 16 * vectors)), copy_kernel,
           bytes, vectors, from, to);
  }};
}

}  // namespace

void register_reshape(Registry& registry) {
  registry.add(ReshapeOp::kName, prepare);
  registry.add(CopyOp::kName, prepare);
}

}  // namespace linnet::cuda
