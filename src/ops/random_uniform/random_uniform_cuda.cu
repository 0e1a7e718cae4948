// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/element_wise.cuh"
#include "ops/random_uniform/random_uniform.h"

namespace linnet::cuda {
namespace {

/// A thread makes up to four elements of a row.
std::optional<Kernel> prepare_random_uniform(const NodeView& node, const Context& /*context*/) {
  const std::int64_t stream = node.attrs<RandomUniformOp>().stream;
  const std::int64_t size = node.out(kFirst).sample().elements();  // of a row
  const std::int64_t blocks = (size + 3) / 4;
  const auto four_of = [=] __device__(std::int64_t item, const StepInfo* step, float* y) {
    const std::int64_t n = item / blocks;
    const std::int64_t block = item - n * blocks;
    const auto four =
        uniform_block(uniform_key(stream, *step), step->first_row + static_cast<std::uint64_t>(n),
                      static_cast<std::uint64_t>(block));
    for (std::int64_t k = 0; k < 4 && 4 * block + k < size; ++k) {
      y[n * size + 4 * block + k] = four[static_cast<std::size_t>(k)];
    }
  };
  return Kernel{.enqueue = [=, items = node.out(kFirst)[0] * blocks](const Args& args) {
    for_each_item(args.stream, "random_uniform", items, four_of, args.step, args.out(kFirst));
  }};
}

}  // namespace

void register_random_uniform(Registry& registry) {
  registry.add(RandomUniformOp::kName, prepare_random_uniform);
}

}  // namespace linnet::cuda
