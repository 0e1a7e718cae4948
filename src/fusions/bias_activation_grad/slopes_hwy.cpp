// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set by Highway; the best one is taken at run time. The loops are
// the compiler's: without fused multiply-adds every instruction set gives the same bits.
#include "backend/cpu/vector_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fusions/bias_activation_grad/slopes_hwy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fusions/bias_activation_grad/slopes_cpu.h"
#include "ops/activation/formulas_cpu.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::cpu {
namespace HWY_NAMESPACE {

void WriteSlopes(Activation kind, const float* dy, const float* row, const float* saved,
                 std::int64_t rows, std::int64_t channels, float* dx) {
  with_activation(kind, [&]<Activation kKind>() HWY_ATTR {
    for (std::int64_t r = 0; r < rows; ++r, saved += channels, dx += channels) {
      if (row != nullptr) {
        const float factor = dy[r];
        for (std::int64_t c = 0; c < channels; ++c) {
          dx[c] = activation_gradient<kKind>(factor * row[c], saved[c]);
        }
      } else {
        const float* own = dy + r * channels;
        for (std::int64_t c = 0; c < channels; ++c) {
          dx[c] = activation_gradient<kKind>(own[c], saved[c]);
        }
      }
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace linnet::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet::cpu {

HWY_EXPORT(WriteSlopes);

void write_slopes(Activation kind, const float* dy, const float* row, const float* saved,
                  std::int64_t rows, std::int64_t channels, float* dx) {
  HWY_DYNAMIC_DISPATCH(WriteSlopes)(kind, dy, row, saved, rows, channels, dx);
}

}  // namespace linnet::cpu
#endif
