// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set by Highway; the best one is taken at run time. Vectors run over
// channels; what belongs to a channel is read once for a few rows where they are short.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/batch_norm/batch_norm_hwy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "backend/cpu/row_sum.h"
#include "backend/cpu/row_vectors_hwy.h"
#include "ops/batch_norm/batch_norm_cpu.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::cpu {
namespace HWY_NAMESPACE {

constexpr int kGroup = 4;

/// Calls f(d, RowCount, c, r) for every vector from column c on in row r; RowCount rows from there
/// on are its own.
template <class F>
HWY_INLINE void for_columns_of_groups(std::int64_t rows, std::int64_t channels, F&& f) {
  for_row_groups<kGroup>(rows, channels, [&](auto count, std::int64_t r) HWY_ATTR {
    for_vectors(channels, [&](auto d, std::int64_t c) HWY_ATTR { f(d, count, c, r); });
  });
}

/// Adds squared distances from `mean` to `squares`.
void AddSquares(const PitchedRows& of, std::int64_t channels, const float* mean, float* squares) {
  for_columns_of_groups(of.rows, channels,
                        [&](auto d, auto count, std::int64_t c, std::int64_t r) HWY_ATTR {
                          const auto center = hn::LoadU(d, mean + c);
                          const float* x = of.x + r * of.pitch + c;
                          auto sum = hn::LoadU(d, squares + c);
                          for (int i = 0; i < count.value; ++i, x += of.pitch) {
                            const auto std_dev = hn::Sub(hn::LoadU(d, x), center);
                            sum = hn::MulAdd(std_dev, std_dev, sum);
                          }
                          hn::StoreU(sum, d, squares + c);
                        });
}

void MomentsOf(const PitchedRows& of, std::int64_t channels, const Moments& to) {
  std::fill_n(to.mean, channels, 0.0F);
  std::fill_n(to.squares, channels, 0.0F);
  add_rows(of.x, of.pitch, of.rows, channels, to.mean);
  const float part = 1.0F / static_cast<float>(of.rows);
  for (std::int64_t c = 0; c < channels; ++c) to.mean[c] *= part;
  AddSquares(of, channels, to.mean, to.squares);
}

void MergeMoments(const Moments& from, std::int64_t added, std::int64_t channels, const Moments& to,
                  std::int64_t rows) {
  const float part = static_cast<float>(added) / static_cast<float>(rows + added);
  const float weight = part * static_cast<float>(rows);
  for_vectors(channels, [&](auto d, std::int64_t c) HWY_ATTR {
    const auto mean = hn::LoadU(d, to.mean + c);
    const auto apart = hn::Sub(hn::LoadU(d, from.mean + c), mean);
    const auto squares = hn::Add(hn::LoadU(d, from.squares + c), hn::LoadU(d, to.squares + c));
    hn::StoreU(hn::MulAdd(apart, hn::Set(d, part), mean), d, to.mean + c);
    hn::StoreU(hn::MulAdd(hn::Mul(apart, apart), hn::Set(d, weight), squares), d, to.squares + c);
  });
}

template <bool residual, bool relu>
void normalize(const Normalization& by, const PitchedRows& of, const float* added,
               std::int64_t channels, float* y) {
  for_columns_of_groups(of.rows, channels,
                        [&](auto d, auto count, std::int64_t c, std::int64_t r) HWY_ATTR {
                          const auto mean = hn::LoadU(d, by.mean + c);
                          const auto scale = hn::LoadU(d, by.scale + c);
                          const auto shift = hn::LoadU(d, by.shift + c);
                          const float* x = of.x + r * of.pitch + c;
                          std::int64_t at = r * channels + c;
                          for (int i = 0; i < count.value; ++i, at += channels, x += of.pitch) {
                            auto value = hn::MulAdd(hn::Sub(hn::LoadU(d, x), mean), scale, shift);
                            if constexpr (residual)
                              value = hn::Add(value, hn::LoadU(d, added + at));
                            if constexpr (relu)
                              value = hn::IfThenZeroElse(hn::Lt(value, hn::Zero(d)), value);
                            hn::StoreU(value, d, y + at);
                          }
                        });
}

void NormalizeRows(const Normalization& by, const PitchedRows& of, const float* residual,
                   std::int64_t channels, float* y) {
  if (residual != nullptr) {
    return (by.relu ? normalize<true, true> : normalize<true, false>)(by, of, residual, channels,
                                                                      y);
  }
  (by.relu ? normalize<false, true> : normalize<false, false>)(by, of, nullptr, channels, y);
}

/// Returns dz of column c at element `at`. `apart` is x - mean.
template <GradientMask mask, class D>
HWY_INLINE hn::Vec<D> gradient_at(D d, const GradientRows& of, std::int64_t c, std::int64_t at,
                                  hn::Vec<D> apart) {
  const auto dy = hn::LoadU(d, of.dy + at);
  if constexpr (mask == GradientMask::output) {
    return hn::IfThenElseZero(hn::Gt(hn::LoadU(d, of.y + at), hn::Zero(d)), dy);
  } else if constexpr (mask == GradientMask::input) {  // the very sum that gave y
    const auto y =
        hn::MulAdd(apart, hn::LoadU(d, of.line->scale + c), hn::LoadU(d, of.line->shift + c));
    return hn::IfThenElseZero(hn::Gt(y, hn::Zero(d)), dy);
  } else {
    return dy;
  }
}

template <GradientMask mask, bool residual>
void add_sums(const GradientRows& of, std::int64_t channels, const float* mean, float* products,
              float* sums, float* dz) {
  for_columns_of_groups(of.x.rows, channels,
                        [&](auto d, auto count, std::int64_t c, std::int64_t r) HWY_ATTR {
                          const auto center = hn::LoadU(d, mean + c);
                          auto product = hn::LoadU(d, products + c);
                          auto sum = hn::LoadU(d, sums + c);
                          const float* x = of.x.x + r * of.x.pitch + c;
                          std::int64_t at = r * channels + c;
                          for (int i = 0; i < count.value; ++i, at += channels, x += of.x.pitch) {
                            const auto apart = hn::Sub(hn::LoadU(d, x), center);
                            const auto z = gradient_at<mask>(d, of, c, at, apart);
                            product = hn::MulAdd(z, apart, product);
                            sum = hn::Add(sum, z);
                            if constexpr (residual) hn::StoreU(z, d, dz + at);
                          }
                          hn::StoreU(product, d, products + c);
                          hn::StoreU(sum, d, sums + c);
                        });
}

void AddGradientSums(const GradientRows& of, std::int64_t channels, const float* mean,
                     float* products, float* sums, float* dz) {
  const auto add = [&](auto f) { f(of, channels, mean, products, sums, dz); };
  switch (of.mask()) {
    case GradientMask::all: return add(add_sums<GradientMask::all, false>);
    case GradientMask::input: return add(add_sums<GradientMask::input, false>);
    case GradientMask::output:
      return add(dz == nullptr ? add_sums<GradientMask::output, false>
                               : add_sums<GradientMask::output, true>);
  }
}

template <GradientMask mask>
void write(const GradientRows& of, std::int64_t channels, const GradientLine& by, float* dx) {
  for_columns_of_groups(of.x.rows, channels,
                        [&](auto d, auto count, std::int64_t c, std::int64_t r) HWY_ATTR {
                          const auto mean = hn::LoadU(d, by.mean + c);
                          const auto scale = hn::LoadU(d, by.scale + c);
                          const auto slope = hn::LoadU(d, by.slope + c);
                          const auto shift = hn::LoadU(d, by.shift + c);
                          const float* x = of.x.x + r * of.x.pitch + c;
                          std::int64_t at = r * channels + c;
                          for (int i = 0; i < count.value; ++i, at += channels, x += of.x.pitch) {
                            const auto apart = hn::Sub(hn::LoadU(d, x), mean);
                            const auto line =
                                hn::MulSub(gradient_at<mask>(d, of, c, at, apart), scale, shift);
                            hn::StoreU(hn::NegMulAdd(apart, slope, line), d, dx + at);
                          }
                        });
}

void WriteGradient(const GradientRows& of, std::int64_t channels, const GradientLine& by,
                   float* dx) {
  switch (of.mask()) {
    case GradientMask::all: return write<GradientMask::all>(of, channels, by, dx);
    case GradientMask::output: return write<GradientMask::output>(of, channels, by, dx);
    case GradientMask::input: return write<GradientMask::input>(of, channels, by, dx);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace linnet::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet::cpu {

HWY_EXPORT(MomentsOf);
HWY_EXPORT(MergeMoments);
HWY_EXPORT(NormalizeRows);
HWY_EXPORT(AddGradientSums);
HWY_EXPORT(WriteGradient);

void moments_of(const PitchedRows& of, std::int64_t channels, const Moments& to) {
  HWY_DYNAMIC_DISPATCH(MomentsOf)(of, channels, to);
}

void merge_moments(const Moments& from, std::int64_t added, std::int64_t channels,
                   const Moments& to, std::int64_t rows) {
  HWY_DYNAMIC_DISPATCH(MergeMoments)(from, added, channels, to, rows);
}

void normalize_rows(const Normalization& by, const PitchedRows& of, const float* residual,
                    std::int64_t channels, float* y) {
  HWY_DYNAMIC_DISPATCH(NormalizeRows)(by, of, residual, channels, y);
}

void add_gradient_sums(const GradientRows& of, std::int64_t channels, const float* mean,
                       float* products, float* sums, float* dz) {
  HWY_DYNAMIC_DISPATCH(AddGradientSums)(of, channels, mean, products, sums, dz);
}

void write_gradient(const GradientRows& of, std::int64_t channels, const GradientLine& by,
                    float* dx) {
  HWY_DYNAMIC_DISPATCH(WriteGradient)(of, channels, by, dx);
}

}  // namespace linnet::cpu
#endif
