// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/device.cuh"
#include "backend/cuda/kernel.h"
#include "ops/random_uniform/random_uniform.h"

namespace linnet::cuda {
namespace {

/// A thread makes up to four elements of a row. `size`: elements of a row.
__global__ void random_uniform_kernel(std::int64_t stream, const StepInfo* step, std::int64_t rows,
                                      std::int64_t size, float* y) {
  const std::uint64_t key = uniform_key(stream, *step);
  const std::int64_t blocks = (size + 3) / 4;
  for (std::int64_t item = first_item(); item < rows * blocks; item += grid_stride()) {
    const std::int64_t n = item / blocks;
    const std::int64_t block = item - n * blocks;
    const auto four = uniform_block(key, step->first_row + static_cast<std::uint64_t>(n),
                                    static_cast<std::uint64_t>(block));
    for (std::int64_t k = 0; k < 4 && 4 * block + k < size; ++k) {
      y[n * size + 4 * block + k] = four[static_cast<std::size_t>(k)];
    }
  }
}

std::optional<Kernel> prepare(const NodeView& node, const Context& /*context*/) {
  const std::int64_t stream = node.attrs<RandomUniformOp>().stream;
  const std::int64_t rows = node.out(RandomUniformOp::Out::y)[0];
  const std::int64_t size = node.out(RandomUniformOp::Out::y).sample().elements();
  return Kernel{.enqueue = [=](const Args& args) {
    if (rows == 0) return;
    launch(args.stream, "random_uniform", for_items(rows * ((size + 3) / 4)), random_uniform_kernel,
           stream, args.step, rows, size, args.out(RandomUniformOp::Out::y));
  }};
}

}  // namespace

void register_random_uniform(Registry& registry) { registry.add(RandomUniformOp::kName, prepare); }

}  // namespace linnet::cuda
