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

template <class T>
struct Copies {
  const float* from[kMost];
  T* to[kMost];
  std::int64_t elements[kMost];
  std::int64_t end[kMost];  ///< of their blocks
  bool aligned = true;
};

template <class T>
__global__ void copy_all_kernel(Copies<T> copies) {
  int i = 0;
  while (blockIdx.x >= copies.end[i]) ++i;
  const std::int64_t block = blockIdx.x - (i > 0 ? copies.end[i - 1] : 0);
  const float* from = copies.from[i];
  T* to = copies.to[i];
  const std::int64_t elements = copies.elements[i];
  const std::int64_t end = (block + 1) * kOfBlock < elements ? (block + 1) * kOfBlock : elements;
  std::int64_t at = block * kOfBlock + 4 * threadIdx.x;
#pragma unroll 4
  for (; at + 4 <= end; at += 4 * kBlock) {
    store_floats(to + at, load_vector<4>(from + at, copies.aligned), copies.aligned);
  }
  for (; at < end; ++at) to[at] = stored_as<T>(from[at]);
}

template <class T>
Kernel kernel_of(const std::vector<std::int64_t>& elements) {
  return {.enqueue = [=](const Args& args) {
    for (std::size_t i = 0; i < elements.size();) {
      Copies<T> copies{};
      std::int64_t blocks = 0;
      for (std::size_t place = 0; place < kMost; ++place, ++i) {
        if (i < elements.size()) {
          copies.from[place] = args.in(i);
          copies.to[place] = args.out<T>(i);
          copies.elements[place] = elements[i];
          copies.aligned = copies.aligned && vector_aligned(args.in(i), args.out<T>(i));
          blocks += (elements[i] + kOfBlock - 1) / kOfBlock;
        }
        copies.end[place] = blocks;
      }
      if (blocks == 0) continue;
      launch(args.stream, "copy_all", {.grid = static_cast<unsigned>(blocks), .block = kBlock},
             copy_all_kernel<T>, copies);
    }
  }};
}

std::optional<Kernel> prepare(const NodeView& node, const Context& /*context*/) {
  std::vector<std::int64_t> elements;
  std::int64_t all = 0;
  for (const ValueType& type : node.inputs) {
    elements.push_back(type.shape.elements());
    all += elements.back();
  }
  const DType type = node.outputs[kFirst].dtype;
  const auto alike = [&](const ValueType& output) { return output.dtype == type; };
  const auto is_f32 = [](const ValueType& input) { return input.dtype == DType::f32; };
  if (!std::ranges::all_of(node.outputs, alike) || !std::ranges::all_of(node.inputs, is_f32) ||
      all / kOfBlock >= kMostBlocks) {
    return std::nullopt;
  }
  return with_element(type, [&]<class T>() { return kernel_of<T>(elements); });
}

}  // namespace

void register_copy_all(Registry& registry) {
  registry.add(CopyAllOp::kName, prepare, Stores::half);
}

}  // namespace linnet::cuda
