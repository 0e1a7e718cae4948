// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/row_sum.h"
#include "ops/bias_add/bias_add.h"

namespace linnet::cpu {
namespace {

std::optional<Kernel> prepare_forward(const NodeView& node) {
  const std::int64_t channels = node.in(1)[0];
  const std::int64_t rows = node.in(0).elements() / std::max<std::int64_t>(channels, 1);
  const int tasks = tasks_for(rows, 0.3 * static_cast<double>(channels));
  Kernel kernel;
  kernel.stages.push_back({tasks, [=](const Args& args, const Task& task) {
                             const Range range = split(rows, tasks, task.index);
                             const float* b = args.in(1);
                             for (std::int64_t r = range.begin; r < range.end; ++r) {
                               const float* x = args.in(0) + r * channels;
                               float* y = args.out(0) + r * channels;
                               for (std::int64_t c = 0; c < channels; ++c) y[c] = x[c] + b[c];
                             }
                           }});
  return kernel;
}

std::optional<Kernel> prepare_gradient(const NodeView& node) {
  const std::int64_t channels = node.out(0)[0];
  const std::int64_t rows = node.in(0).elements() / std::max<std::int64_t>(channels, 1);
  return row_sum(rows, channels, 0.3 * static_cast<double>(channels), 0,
                 [=](const Args& args, Range range, float* sums) {
                   for (std::int64_t r = range.begin; r < range.end; ++r) {
                     const float* dy = args.in(0) + r * channels;
                     for (std::int64_t c = 0; c < channels; ++c) sums[c] += dy[c];
                   }
                 });
}

}  // namespace

void register_bias_add(Registry& registry) {
  registry.add(BiasAddOp::kName, prepare_forward);
  registry.add(BiasGradOp::kName, prepare_gradient);
}

}  // namespace linnet::cpu
