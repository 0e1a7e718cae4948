// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backend/cpu/kernel.h"

namespace linnet::cpu {

/// Computes out[i] = the sum of partials[p * stride + i] over p = 0, 1, ... `count` - 1 in that
/// order, for i in `range`.
inline void add_partials(const float* partials, int count, std::int64_t stride, Range range,
                         float* out) {
  std::copy(partials + range.begin, partials + range.end, out + range.begin);
  for (int p = 1; p < count; ++p) {
    const float* from = partials + p * stride;
    for (std::int64_t i = range.begin; i < range.end; ++i) out[i] += from[i];
  }
}

/// Returns a stage that adds `count` partial results of `elements`, one after the other from the
/// workspace's byte 0 on, into output `output`.
inline Stage add_partials_stage(int count, std::int64_t elements, std::size_t output) {
  // What it reads comes from other cores: tasks are short.
  const int tasks = tasks_for(elements, 0.8 * count);
  return parallel(tasks, elements, [=](const Args& args, Range range) {
    add_partials(args.work(), count, elements, range, args.out(output));
  });
}

}  // namespace linnet::cpu
