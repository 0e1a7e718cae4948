// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set by Highway; the best one is taken at run time. The loops are
// the compiler's: without fused multiply-adds every instruction set gives the same bits.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/activation/epilogue_hwy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/row_vectors_hwy.h"
#include "backend/cpu/stored_hwy.h"
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

/// `to`: the result, or the sums themselves.
template <class Residual, class To>
HWY_INLINE void finish_row(const float* sums, std::int64_t columns, const RowTail& tail,
                           const Residual* residual, bool relu, To* to) {
  for_vectors(columns, [&](auto d, std::int64_t c) HWY_ATTR {
    auto x = hn::LoadU(d, sums + c);
    if (tail.scale != nullptr) x = hn::Mul(x, hn::LoadU(d, tail.scale + c));
    if (tail.bias != nullptr) x = hn::Add(x, hn::LoadU(d, tail.bias + c));
    if (residual != nullptr) x = hn::Add(x, load_floats(d, residual + c));
    if (relu) x = hn::IfThenZeroElse(hn::Lt(x, hn::Zero(d)), x);
    store_floats(x, d, to + c);
  });
}

template <class Residual>
void finish_rows(float* sums, std::int64_t rows, std::int64_t columns, const RowTail& tail,
                 const Residual* residual, std::uint16_t* y, std::int64_t stride) {
  const bool relu = tail.activation == Activation::relu;
  const bool vectors = relu || tail.activation == Activation::none;
  for (std::int64_t r = 0; r < rows; ++r, sums += columns, y += stride) {
    if (vectors) {
      finish_row(sums, columns, tail, residual, relu, y);
    } else {
      finish_row(sums, columns, tail, residual, false, sums);
      AddBiasAndActivate(sums, 1, columns, nullptr, tail.activation, columns, nullptr);
      finish_row<float>(sums, columns, {}, nullptr, false, y);
    }
    if (residual != nullptr) residual += stride;
  }
}

void FinishInBf16(float* sums, std::int64_t rows, std::int64_t columns, const RowTail& tail,
                  std::uint16_t* y, std::int64_t stride) {
  if (tail.residual_is_bf16) {
    finish_rows(sums, rows, columns, tail, static_cast<const std::uint16_t*>(tail.residual), y,
                stride);
  } else {
    finish_rows(sums, rows, columns, tail, static_cast<const float*>(tail.residual), y, stride);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace linnet::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet::cpu {

HWY_EXPORT(AddBiasAndActivate);
HWY_EXPORT(FinishInBf16);

void add_bias_and_activate(float* y, std::int64_t rows, std::int64_t columns, const float* b,
                           Activation activation, std::int64_t stride, const float* residual) {
  if (b == nullptr && residual == nullptr && activation == Activation::none) return;
  HWY_DYNAMIC_DISPATCH(AddBiasAndActivate)
  (y, rows, columns, b, activation, stride > 0 ? stride : columns, residual);
}

void finish_in_bf16(float* sums, std::int64_t rows, std::int64_t columns, const RowTail& tail,
                    std::uint16_t* y, std::int64_t stride) {
  HWY_DYNAMIC_DISPATCH(FinishInBf16)(sums, rows, columns, tail, y, stride);
}

}  // namespace linnet::cpu
#endif
