// SPDX-License-Identifier: Apache-2.0
#include "ops/cached_attention/cached_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "graph/registry.h"

namespace linnet {

std::vector<ValueType> CachedAttentionOp::infer(std::span<const ValueType> inputs) const {
  const auto fits = [&] {
    if (inputs.size() != 6 || inputs[In::keys].shape.rank() != 4) return false;
    const Shape& all = inputs[In::keys].shape;
    const ValueType one{DType::f32, Shape{all[0], all[1], 1, all[2]}};
    return inputs[In::q] == one && inputs[In::k] == one && inputs[In::v] == one &&
           inputs[In::keys].dtype == DType::f32 &&
           inputs[In::values] == ValueType{DType::f32, Shape{all[0], all[1], all[3], all[2]}} &&
           inputs[In::position] == ValueType{DType::i32, Shape{1}};
  };
  require(fits(),
          "expected q, k and v f32 (N, heads, 1, size), keys (N, heads, size, T), values (N, "
          "heads, T, size) and a position i32 (1); got {}",
          to_string({"q", "k", "v", "keys", "values", "position"}, {inputs.begin(), inputs.end()}));
  return {inputs[In::q]};
}

Cost CachedAttentionOp::cost(std::span<const ValueType> inputs,
                             std::span<const ValueType> /*outputs*/) const {
  const auto floats = static_cast<double>(inputs[In::keys].shape.elements());
  return {.flops = 4 * floats, .bytes = 2 * floats * sizeof(float)};
}

void CachedAttentionOp::reference(const ReferenceArgs& args) const {
  const CachedAttentionDims d(args.in(In::keys).shape);
  const auto position = static_cast<std::int64_t>(args.in(In::position)[0]);
  for (std::int64_t item = 0; item < d.items; ++item) {
    const std::int64_t one = item * d.size;
    const std::int64_t cache = one * d.steps;
    if (position < 0 || position >= d.steps) {
      for (std::int64_t i = 0; i < d.size; ++i) {
        args.out(Out::y)[one + i] = std::numeric_limits<double>::quiet_NaN();
      }
      continue;
    }
    for (std::int64_t i = 0; i < d.size; ++i) {
      args.in(In::keys)[cache + i * d.steps + position] = args.in(In::k)[one + i];
      args.in(In::values)[cache + position * d.size + i] = args.in(In::v)[one + i];
    }
    std::vector<double> weights;
    for (std::int64_t t = 0; t <= position; ++t) {
      double& sum = weights.emplace_back(0);
      for (std::int64_t i = 0; i < d.size; ++i) {
        sum += args.in(In::q)[one + i] * args.in(In::keys)[cache + i * d.steps + t];
      }
    }
    const double top = *std::ranges::max_element(weights);
    double all = 0;
    for (double& weight : weights) all += weight = std::exp(weight - top);
    for (std::int64_t i = 0; i < d.size; ++i) {
      double sum = 0;
      for (std::int64_t t = 0; t <= position; ++t) {
        sum += weights[static_cast<std::size_t>(t)] * args.in(In::values)[cache + t * d.size + i];
      }
      args.out(Out::y)[one + i] = sum / all;
    }
  }
}

void register_cached_attention(OpRegistry& registry) { registry.add<CachedAttentionOp>(); }

}  // namespace linnet
