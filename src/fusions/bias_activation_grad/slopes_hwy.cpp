// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set by Highway; the best one is taken at run time.
#include "backend/cpu/vector_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fusions/bias_activation_grad/slopes_hwy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/elements_hwy.h"
#include "fusions/bias_activation_grad/slopes_cpu.h"
#include "ops/activation/formulas_hwy.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::cpu {
namespace HWY_NAMESPACE {

void WriteSlopes(Activation kind, const float* dy, const float* row, const float* saved,
                 std::int64_t rows, std::int64_t channels, float* dx) {
  if (row == nullptr) {  // neighbouring floats
    channels *= rows;
    rows = 1;
  }
  with_activation(kind, [&]<Activation kKind>() HWY_ATTR {
    for_row_vectors(rows, channels, [=](auto at, std::int64_t r, std::int64_t c) HWY_ATTR {
      const std::int64_t here = r * channels + c;
      auto slope = at.load(row != nullptr ? row + c : dy + here);
      if (row != nullptr) slope = hn::Mul(hn::Set(at.d, dy[r]), slope);
      at.store(activation_gradient<kKind>(at.d, slope, at.load(saved + here)), dx + here);
    });
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
