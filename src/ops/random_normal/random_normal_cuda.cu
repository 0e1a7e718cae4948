// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/device.cuh"
#include "backend/cuda/kernel.h"
#include "ops/random_normal/random_normal.h"

namespace linnet::cuda {
namespace {

/// A thread makes two elements of a row, or its last one. `size`: elements of a row.
__global__ void random_normal_kernel(std::int64_t stream, const StepInfo* step, std::int64_t rows,
                                     std::int64_t size, float* y) {
  const NormalNoise noise{
      random_key(step->seed, RandomStream::normal, static_cast<std::uint64_t>(stream), step->step)};
  const std::int64_t pairs = (size + 1) / 2;
  for (std::int64_t item = first_item(); item < rows * pairs; item += grid_stride()) {
    const std::int64_t n = item / pairs;
    const std::int64_t pair = item % pairs;
    const std::uint64_t row = step->first_row + static_cast<std::uint64_t>(n);
    const auto two = noise.operator()<float>(row, static_cast<std::uint64_t>(pair));
    float* at = y + n * size + 2 * pair;
    at[0] = two[0];
    if (2 * pair + 1 < size) at[1] = two[1];
  }
}

std::optional<Kernel> prepare(const NodeView& node, const Context& /*context*/) {
  using Out = RandomNormalOp::Out;
  const std::int64_t stream = node.attrs<RandomNormalOp>().stream;
  const std::int64_t rows = node.out(Out::y)[0];
  const std::int64_t size = node.out(Out::y).sample().elements();
  return Kernel{.enqueue = [=](const Args& args) {
    if (rows == 0) return;
    launch(args.stream, "random_normal", for_items(rows * ((size + 1) / 2)), random_normal_kernel,
           stream, args.step, rows, size, args.out(Out::y));
  }};
}

}  // namespace

void register_random_normal(Registry& registry) { registry.add(RandomNormalOp::kName, prepare); }

}  // namespace linnet::cuda
