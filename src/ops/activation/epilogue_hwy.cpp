// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set by Highway; the best one is taken at run time.
#include "backend/cpu/vector_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/activation/epilogue_hwy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/elements_hwy.h"
#include "backend/cpu/joined_rows.h"
#include "ops/activation/epilogue_cpu.h"
#include "ops/activation/formulas_hwy.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::cpu {
namespace HWY_NAMESPACE {

void AddBiasAndActivate(float* y, std::int64_t rows, std::int64_t columns, const float* b,
                        Activation activation, std::int64_t stride, const float* residual) {
  with_activation(activation, [&]<Activation kKind>() HWY_ATTR {
    for_row_vectors(rows, columns, [=](auto at, std::int64_t r, std::int64_t c) HWY_ATTR {
      float* here = y + r * stride + c;
      auto sum = at.load(here);
      if (b != nullptr) sum = hn::Add(sum, at.load(b + c));
      if (residual != nullptr) sum = hn::Add(sum, at.load(residual + r * stride + c));
      at.store(activate<kKind>(at.d, sum), here);
    });
  });
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
  const auto run = HWY_DYNAMIC_DISPATCH(AddBiasAndActivate);
  if (stride > columns) return run(y, rows, columns, b, activation, stride, residual);
  if (b == nullptr) return run(y, 1, rows * columns, b, activation, rows * columns, residual);
  with_joined_rows(rows, columns, b,
                   [=](std::int64_t first, std::int64_t count, std::int64_t width,
                       const float* of) {
                     const std::int64_t at = first * columns;
                     run(y + at, count, width, of, activation, width,
                         residual == nullptr ? nullptr : residual + at);
                   });
}

}  // namespace linnet::cpu
#endif
