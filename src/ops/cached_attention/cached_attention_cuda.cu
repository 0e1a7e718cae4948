// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "backend/cuda/element_wise.cuh"
#include "ops/cached_attention/cached_attention.h"

namespace linnet::cuda {
namespace {

/// Holds the operands of one head.
struct CachedHead {
  const float *q, *k, *v;
  float *keys, *values;
};

/// Returns element i of a head's result, and appends that of its key and value. No thread reads
/// what another one appends: the newest step comes from k and v.
__device__ float attended(const CachedAttentionDims& d, const CachedHead& head,
                          std::int64_t position, std::int64_t i) {
  head.keys[i * d.steps + position] = head.k[i];
  head.values[position * d.size + i] = head.v[i];
  float top = 0;
  for (std::int64_t j = 0; j < d.size; ++j) top += head.q[j] * head.k[j];
  float all = 1;
  float sum = head.v[i];
  for (std::int64_t t = 0; t < position; ++t) {
    float score = 0;
    for (std::int64_t j = 0; j < d.size; ++j) score += head.q[j] * head.keys[j * d.steps + t];
    const float next = ::fmaxf(top, score);
    const float old = ::expf(top - next);
    const float weight = ::expf(score - next);
    all = all * old + weight;
    sum = sum * old + weight * head.values[t * d.size + i];
    top = next;
  }
  return sum / all;
}

std::optional<Kernel> prepare_cached_attention(const NodeView& node, const Context& /*context*/) {
  using In = CachedAttentionOp::In;
  const CachedAttentionDims d(node.in(In::keys));
  return Kernel{.enqueue = [=](const Args& args) {
    const CachedHead all{args.in(In::q), args.in(In::k), args.in(In::v), args.in_out(In::keys),
                         args.in_out(In::values)};
    for_each_item(
        args.stream, "cached_attention", d.items * d.size,
        [=] __device__(std::int64_t i, float* y, const std::int32_t* position) {
          const std::int64_t one = i / d.size * d.size;
          const CachedHead head{all.q + one, all.k + one, all.v + one, all.keys + one * d.steps,
                                all.values + one * d.steps};
          const std::int64_t at = *position;
          y[i] = at < 0 || at >= d.steps ? std::numeric_limits<float>::quiet_NaN()
                                         : attended(d, head, at, i - one);
        },
        args.out(CachedAttentionOp::Out::y), args.in<std::int32_t>(In::position));
  }};
}

}  // namespace

void register_cached_attention(Registry& registry) {
  registry.add(CachedAttentionOp::kName, prepare_cached_attention);
}

}  // namespace linnet::cuda
