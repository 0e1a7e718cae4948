// SPDX-License-Identifier: Apache-2.0
#include "ops/cached_attention/cached_attention.h"

#include <algorithm>
#include <limits>

#include "backend/cpu/kernel.h"
#include "ops/softmax/row_softmax_cpu.h"

namespace linnet::cpu {
namespace {

/// Holds the operands of one head.
struct CachedHead {
  const float *q, *k, *v;
  float* keys;    ///< (size, steps), so that scores of neighbouring steps are computed together
  float* values;  ///< (steps, size)
  float* y;
};

/// `weights`: memory of d.steps floats.
void attend(const CachedAttentionDims& d, const CachedHead& head, std::int64_t position,
            float* weights) {
  const std::int64_t seen = position + 1;
  std::copy_n(head.v, d.size, head.values + position * d.size);
  std::fill_n(weights, seen, 0.0F);
  for (std::int64_t i = 0; i < d.size; ++i) {
    float* key = head.keys + i * d.steps;
    key[position] = head.k[i];
    const float q = head.q[i];
    for (std::int64_t t = 0; t < seen; ++t) weights[t] += q * key[t];
  }
  const float all = power_row(weights, seen, weights).sum;
  std::fill_n(head.y, d.size, 0.0F);
  for (std::int64_t t = 0; t < seen; ++t) {
    const float* value = head.values + t * d.size;
    for (std::int64_t i = 0; i < d.size; ++i) head.y[i] += weights[t] * value[i];
  }
  for (std::int64_t i = 0; i < d.size; ++i) head.y[i] /= all;
}

std::optional<Kernel> prepare_cached_attention(const NodeView& node) {
  using In = CachedAttentionOp::In;
  const CachedAttentionDims d(node.in(In::keys));
  const double cost = 0.5 * static_cast<double>(d.size * d.steps);
  Kernel kernel;
  kernel.scratch_bytes = static_cast<std::size_t>(d.steps) * sizeof(float);
  kernel.stages.push_back(
      parallel(tasks_for(d.items, cost), d.items,
               [=](const Args& args, const Task& task, Range range) {
                 const std::int64_t position = args.in<std::int32_t>(In::position)[0];
                 for (std::int64_t item = range.begin; item < range.end; ++item) {
                   const std::int64_t one = item * d.size;
                   const CachedHead head{args.in(In::q) + one,
                                         args.in(In::k) + one,
                                         args.in(In::v) + one,
                                         args.in_out(In::keys) + one * d.steps,
                                         args.in_out(In::values) + one * d.steps,
                                         args.out(CachedAttentionOp::Out::y) + one};
                   if (position < 0 || position >= d.steps) {
                     std::fill_n(head.y, d.size, std::numeric_limits<float>::quiet_NaN());
                   } else {
                     attend(d, head, position, reinterpret_cast<float*>(task.scratch));
                   }
                 }
               }));
  return kernel;
}

}  // namespace

void register_cached_attention(Registry& registry) {
  registry.add(CachedAttentionOp::kName, prepare_cached_attention);
}

}  // namespace linnet::cpu
