// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "backend/cuda/kernel.h"
#include "backend/cuda/vectors.cuh"
#include "ops/copy_all/copy_all.h"

namespace linnet::cuda {
namespace {

constexpr int kMost = 64;                // copies of one launch: they are its parameters
constexpr std::int64_t kOfBlock = 4096;  // elements of one copy that a block takes
constexpr std::int64_t kMostBlocks = 1U << 30U;

template <class X, class Y>
struct Copies {
  const X* from[kMost];
  Y* to[kMost];
  std::int64_t elements[kMost];
  std::int64_t end[kMost];  ///< of their blocks
  bool aligned = true;
};

template <class X, class Y>
__global__ void copy_all_kernel(Copies<X, Y> copies) {
  int i = 0;
  while (blockIdx.x >= copies.end[i]) ++i;
  const std::int64_t block = blockIdx.x - (i > 0 ? copies.end[i - 1] : 0);
  const X* from = copies.from[i];
  Y* to = copies.to[i];
  const std::int64_t elements = copies.elements[i];
  const std::int64_t end = (block + 1) * kOfBlock < elements ? (block + 1) * kOfBlock : elements;
  std::int64_t at = block * kOfBlock + 4 * threadIdx.x;
#pragma unroll 4
  for (; at + 4 <= end; at += 4 * kBlock) {
    store_floats(to + at, load_floats<4>(from + at, copies.aligned), copies.aligned);
  }
  for (; at < end; ++at) to[at] = stored_as<Y>(to_float(from[at]));
}

template <class X, class Y>
Kernel kernel_of(const std::vector<std::int64_t>& elements) {
  return {.enqueue = [=](const Args& args) {
    for (std::size_t i = 0; i < elements.size();) {
      Copies<X, Y> copies{};
      std::int64_t blocks = 0;
      for (std::size_t place = 0; place < kMost; ++place, ++i) {
        if (i < elements.size()) {
          copies.from[place] = args.in<X>(i);
          copies.to[place] = args.out<Y>(i);
          copies.elements[place] = elements[i];
          copies.aligned = copies.aligned && vector_aligned(args.in<X>(i), args.out<Y>(i));
          blocks += (elements[i] + kOfBlock - 1) / kOfBlock;
        }
        copies.end[place] = blocks;
      }
      if (blocks == 0) continue;
      launch(args.stream, "copy_all", {.grid = static_cast<unsigned>(blocks), .block = kBlock},
             copy_all_kernel<X, Y>, copies);
    }
  }};
}

std::optional<Kernel> prepare_copy_all(const NodeView& node, const Context& /*context*/) {
  std::vector<std::int64_t> elements;
  std::int64_t all = 0;
  for (const ValueType& type : node.inputs) {
    elements.push_back(type.shape.elements());
    all += elements.back();
  }
  const DType from = node.inputs[kFirst].dtype;
  const DType to = node.outputs[kFirst].dtype;
  const auto are = [](std::span<const ValueType> types, DType dtype) {
    return std::ranges::all_of(types, [=](const ValueType& type) { return type.dtype == dtype; });
  };
  if (!are(node.inputs, from) || !are(node.outputs, to) || all / kOfBlock >= kMostBlocks) {
    return std::nullopt;
  }
  if (from == DType::f32) {
    return with_element(to, [&]<class Y>() { return kernel_of<float, Y>(elements); });
  }
  if (to != DType::f32) return std::nullopt;
  return with_half(from, [&]<class X>() { return std::optional(kernel_of<X, float>(elements)); });
}

}  // namespace

void register_copy_all(Registry& registry) {
  registry.add(CopyAllOp::kName, prepare_copy_all, Stores::half);
}

}  // namespace linnet::cuda
