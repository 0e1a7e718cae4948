// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set by Highway; the best one is taken at run time. The loops are
// the compiler's: without fused multiply-adds every instruction set gives the same bits.
#include "backend/cpu/vector_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/activation/epilogue_hwy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "ops/activation/epilogue_cpu.h"
#include "ops/activation/formulas_cpu.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::cpu {
namespace HWY_NAMESPACE {

void AddBiasAndActivate(float* y, std::int64_t rows, std::int64_t columns, const float* b,
                        Activation activation, std::int64_t stride, const float* residual) {
  for (std::int64_t r = 0; r < rows; ++r) {
    float* row = y + r * stride;
    if (b != nullptr) {
      for (std::int64_t c = 0; c < columns; ++c) row[c] += b[c];
    }
    if (residual != nullptr) {
      const float* added = residual + r * stride;
      for (std::int64_t c = 0; c < columns; ++c) row[c] += added[c];
    }
    with_activation(activation, [&]<Activation kKind>() HWY_ATTR {
      if constexpr (kKind != Activation::none) {
        for (std::int64_t c = 0; c < columns; ++c) row[c] = activate<kKind>(row[c]);
      }
    });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace linnet::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet::cpu {

HWY_EXPORT(AddBiasAndActivate);

void add_bias_and_activate(float* y, std::int64_t rows, std::int64_t columns, const float* b,
                           Activation activation, std::int64_t stride, const float* residual) {
  if (b == nullptr && residual == nullptr && activation == Activation::none) return;
  HWY_DYNAMIC_DISPATCH(AddBiasAndActivate)
  (y, rows, columns, b, activation, stride > 0 ? stride : columns, residual);
}

}  // namespace linnet::cpu
#endif
