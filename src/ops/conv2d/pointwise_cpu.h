// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "ops/batch_norm/batch_norm_cpu.h"
#include "ops/conv2d/engine_cpu.h"

namespace linnet::cpu {

/// The batch norm between x and a 1x1 convolution: which operands it has.
struct NormalizedOperand {
  std::int64_t pitch = 0;  ///< floats from pixel to pixel of x
  bool relu = false;
  std::size_t gamma = 0;
  std::size_t beta = 0;
  std::size_t mean = 0;
  std::size_t inv_std = 0;

  /// Returns what happens to these channels; `scale` holds theirs.
  Normalization of(const Args& args, Range channels, float* scale) const {
    const std::int64_t first = channels.begin;
    for (std::int64_t c = 0; c < channels.size(); ++c) {
      scale[c] = args.in(inv_std)[first + c] * args.in(gamma)[first + c];
    }
    return {args.in(mean) + first, scale, args.in(beta) + first, relu};
  }
};

/// Weight gradient of a 1x1 convolution whose x is normalised again, block by block; null where
/// rows are not multiplied faster where they lie.
std::optional<Kernel> normalized_weight_gradient(const ConvShape& shape,
                                                 const NormalizedOperand& operand);

}  // namespace linnet::cpu
