// SPDX-License-Identifier: Apache-2.0
#include "ops/random_normal/random_normal.h"

#include "backend/cpu/kernel.h"

namespace linnet::cpu {
namespace {

std::optional<Kernel> prepare(const NodeView& node) {
  using Out = RandomNormalOp::Out;
  const RandomNormalAttrs attrs = node.attrs<RandomNormalOp>();
  const std::int64_t rows = node.out(Out::y)[0];
  const std::int64_t size = node.out(Out::y).sample().elements();
  return one_stage(rows, 15 * static_cast<double>(size),
                   [=](const Args& args, const Task& task, Range range) {
                     const NormalNoise noise = normal_noise(attrs, *task.step);
                     for (std::int64_t n = range.begin; n < range.end; ++n) {
                       const std::uint64_t row =
                           task.step->first_row + static_cast<std::uint64_t>(n);
                       float* y = args.out(Out::y) + n * size;
                       for (std::int64_t i = 0; i < size; i += 2) {
                         const auto two =
                             noise.operator()<float>(row, static_cast<std::uint64_t>(i / 2));
                         y[i] = two[0];
                         if (i + 1 < size) y[i + 1] = two[1];
                       }
                     }
                   });
}

}  // namespace

void register_random_normal(Registry& registry) { registry.add(RandomNormalOp::kName, prepare); }

}  // namespace linnet::cpu
