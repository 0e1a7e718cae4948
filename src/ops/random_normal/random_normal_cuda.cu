// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/element_wise.cuh"
#include "ops/random_normal/random_normal.h"

namespace linnet::cuda {
namespace {

/// A thread makes two elements of a row, or its last one.
std::optional<Kernel> prepare_random_normal(const NodeView& node, const Context& /*context*/) {
  const auto stream = static_cast<std::uint64_t>(node.attrs<RandomNormalOp>().stream);
  const std::int64_t size = node.out(kFirst).sample().elements();  // of a row
  const std::int64_t pairs = (size + 1) / 2;
  const auto two_of = [=] __device__(std::int64_t item, const StepInfo* step, float* y) {
    const NormalNoise noise{random_key(step->seed, RandomStream::normal, stream, step->step)};
    const std::int64_t n = item / pairs;
    const std::int64_t pair = item % pairs;
    const std::uint64_t row = step->first_row + static_cast<std::uint64_t>(n);
    const auto two = noise.operator()<float>(row, static_cast<std::uint64_t>(pair));
    float* at = y + n * size + 2 * pair;
    at[0] = two[0];
    if (2 * pair + 1 < size) at[1] = two[1];
  };
  return Kernel{.enqueue = [=, items = node.out(kFirst)[0] * pairs](const Args& args) {
    for_each_item(args.stream, "random_normal", items, two_of, args.step, args.out(kFirst));
  }};
}

}  // namespace

void register_random_normal(Registry& registry) {
  registry.add(RandomNormalOp::kName, prepare_random_normal);
}

}  // namespace linnet::cuda
