// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backend/cuda/cuda_api.h"

namespace linnet::cuda {

/// Computes to[i] = from[i] for `elements` bfloat16 values, exactly. `from` is 8-byte aligned, `to`
/// 16-byte.
void enqueue_widening(const Queue& stream, const void* from, float* to, std::int64_t elements);

}  // namespace linnet::cuda
