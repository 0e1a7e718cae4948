// SPDX-License-Identifier: Apache-2.0
#include "ops/random_uniform/random_uniform.h"

#include "backend/cpu/kernel.h"

namespace linnet::cpu {
namespace {

std::optional<Kernel> prepare(const NodeView& node) {
  const std::int64_t stream = node.attrs<RandomUniformOp>().stream;
  const std::int64_t rows = node.out(RandomUniformOp::Out::y)[0];
  const std::int64_t size = node.out(RandomUniformOp::Out::y).sample().elements();
  return one_stage(rows, 5 * static_cast<double>(size),
                   [=](const Args& args, const Task& task, Range range) {
                     const std::uint64_t key = uniform_key(stream, *task.step);
                     for (std::int64_t n = range.begin; n < range.end; ++n) {
                       const std::uint64_t row =
                           task.step->first_row + static_cast<std::uint64_t>(n);
                       float* y = args.out(RandomUniformOp::Out::y) + n * size;
                       for (std::int64_t i = 0; i < size; i += 4) {
                         const auto four =
                             uniform_block(key, row, static_cast<std::uint64_t>(i / 4));
                         std::copy_n(four.begin(), std::min<std::int64_t>(4, size - i), y + i);
                       }
                     }
                   });
}

}  // namespace

void register_random_uniform(Registry& registry) { registry.add(RandomUniformOp::kName, prepare); }

}  // namespace linnet::cpu
