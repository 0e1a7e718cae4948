// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set by Highway; the best one is taken at run time. Vectors run over
// channels; what belongs to a channel is read once for a few rows where they are short.
#include "backend/cpu/vector_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/batch_norm/batch_norm_hwy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "backend/cpu/products/row_vectors_hwy.h"
#include "backend/cpu/row_sum.h"
#include "backend/cpu/stored_hwy.h"
#include "ops/batch_norm/batch_norm_cpu.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::cpu {
namespace HWY_NAMESPACE {

/// Rows of a group; the oldest processors go without, for the size of the code.
constexpr int kGroup = HWY_TARGET == HWY_SSSE3 ? 1 : 4;

/// Calls f(d, RowCount, c, r) for every vector from column c on in row r; RowCount rows from there
/// on are its own.
template <class F>
HWY_INLINE void for_columns_of_groups(std::int64_t rows, std::int64_t channels, F&& f) {
  for_row_groups<kGroup>(rows, channels, [&](auto count, std::int64_t r) HWY_ATTR {
    for_vectors(channels, [&](auto d, std::int64_t c) HWY_ATTR { f(d, count, c, r); });
  });
}

/// Adds squared distances from `mean` to `squares`.
template <class T>
void add_squares(const PitchedRows<T>& of, std::int64_t channels, const float* mean,
                 float* squares) {
  for_columns_of_groups(of.rows, channels,
                        [&](auto d, auto count, std::int64_t c, std::int64_t r) HWY_ATTR {
                          const auto center = hn::LoadU(d, mean + c);
                          const T* x = of.x + r * of.pitch + c;
                          auto sum = hn::LoadU(d, squares + c);
                          for (int i = 0; i < count.value; ++i, x += of.pitch) {
                            const auto std_dev = hn::Sub(load_floats(d, x), center);
                            sum = hn::MulAdd(std_dev, std_dev, sum);
                          }
                          hn::StoreU(sum, d, squares + c);
                        });
}

void add_up(const PitchedRows<float>& of, std::int64_t channels, float* sums) {
  add_rows(of.x, of.pitch, of.rows, channels, sums);
}
void add_up(const PitchedRows<std::uint16_t>& of, std::int64_t channels, float* sums) {
  const std::int64_t ahead = rows_ahead(channels) * of.pitch;
  for_columns_of_groups(of.rows, channels,
                        [&](auto d, auto count, std::int64_t c, std::int64_t r) HWY_ATTR {
                          const std::uint16_t* x = of.x + r * of.pitch + c;
                          auto sum = hn::LoadU(d, sums + c);
                          for (int i = 0; i < count.value; ++i, x += of.pitch) {
                            hwy::Prefetch(x + ahead);
                            sum = hn::Add(sum, load_floats(d, x));
                          }
                          hn::StoreU(sum, d, sums + c);
                        });
}

template <class T>
void moments(const PitchedRows<T>& of, std::int64_t channels, const Moments& to) {
  std::fill_n(to.mean, channels, 0.0F);
  std::fill_n(to.squares, channels, 0.0F);
  add_up(of, channels, to.mean);
  const float part = 1.0F / static_cast<float>(of.rows);
  for (std::int64_t c = 0; c < channels; ++c) to.mean[c] *= part;
  add_squares(of, channels, to.mean, to.squares);
}

void MomentsOf32(const PitchedRows<float>& of, std::int64_t channels, const Moments& to) {
  moments(of, channels, to);
}
void MomentsOf16(const PitchedRows<std::uint16_t>& of, std::int64_t channels, const Moments& to) {
  where_stored([&](auto) { moments(of, channels, to); });
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

template <bool residual, bool relu, class T>
void normalize(const Normalization& by, const PitchedRows<T>& of, const T* added,
               std::int64_t channels, T* y) {
  const std::int64_t ahead = rows_ahead(channels);
  for_columns_of_groups(of.rows, channels,
                        [&](auto d, auto count, std::int64_t c, std::int64_t r) HWY_ATTR {
                          const auto mean = hn::LoadU(d, by.mean + c);
                          const auto scale = hn::LoadU(d, by.scale + c);
                          const auto shift = hn::LoadU(d, by.shift + c);
                          const T* x = of.x + r * of.pitch + c;
                          std::int64_t at = r * channels + c;
                          for (int i = 0; i < count.value; ++i, at += channels, x += of.pitch) {
                            hwy::Prefetch(x + ahead * of.pitch);
                            if constexpr (residual) hwy::Prefetch(added + at + ahead * channels);
                            auto value = hn::MulAdd(hn::Sub(load_floats(d, x), mean), scale, shift);
                            if constexpr (residual)
                              value = hn::Add(value, load_floats(d, added + at));
                            if constexpr (relu)
                              value = hn::IfThenZeroElse(hn::Lt(value, hn::Zero(d)), value);
                            store_floats(value, d, y + at);
                          }
                        });
}

template <class T>
void normalize_any(const Normalization& by, const PitchedRows<T>& of, const T* residual,
                   std::int64_t channels, T* y) {
  if (residual != nullptr) {
    return (by.relu ? normalize<true, true, T> : normalize<true, false, T>)(by, of, residual,
                                                                            channels, y);
  }
  (by.relu ? normalize<false, true, T> : normalize<false, false, T>)(by, of, nullptr, channels, y);
}

void NormalizeRows32(const Normalization& by, const PitchedRows<float>& of, const float* residual,
                     std::int64_t channels, float* y) {
  normalize_any(by, of, residual, channels, y);
}
void NormalizeRows16(const Normalization& by, const PitchedRows<std::uint16_t>& of,
                     const std::uint16_t* residual, std::int64_t channels, std::uint16_t* y) {
  where_stored([&](auto) { normalize_any(by, of, residual, channels, y); });
}

/// Returns dz of column c at element `at`. `apart` is x - mean.
template <GradientMask mask, class D, class T>
HWY_INLINE hn::Vec<D> gradient_at(D d, const GradientRows<T>& of, std::int64_t c, std::int64_t at,
                                  hn::Vec<D> apart) {
  const auto dy = load_floats(d, of.dy + at);
  if constexpr (mask == GradientMask::output) {
    return hn::IfThenElseZero(hn::Gt(load_floats(d, of.y + at), hn::Zero(d)), dy);
  } else if constexpr (mask == GradientMask::input) {  // the very sum that gave y
    const auto y =
        hn::MulAdd(apart, hn::LoadU(d, of.line->scale + c), hn::LoadU(d, of.line->shift + c));
    return hn::IfThenElseZero(hn::Gt(y, hn::Zero(d)), dy);
  } else {
    return dy;
  }
}

/// Fetches what gradient_at() reads for element `at`, and x.
template <GradientMask mask, class T>
HWY_INLINE void fetch(const GradientRows<T>& of, const T* x, std::int64_t at) {
  hwy::Prefetch(x);
  hwy::Prefetch(of.dy + at);
  if constexpr (mask == GradientMask::output) hwy::Prefetch(of.y + at);
}

template <GradientMask mask, bool residual, class T>
void add_sums(const GradientRows<T>& of, std::int64_t channels, const float* mean, float* products,
              float* sums, T* dz) {
  const std::int64_t ahead = rows_ahead(channels);
  for_columns_of_groups(of.x.rows, channels,
                        [&](auto d, auto count, std::int64_t c, std::int64_t r) HWY_ATTR {
                          const auto center = hn::LoadU(d, mean + c);
                          auto product = hn::LoadU(d, products + c);
                          auto sum = hn::LoadU(d, sums + c);
                          const T* x = of.x.x + r * of.x.pitch + c;
                          std::int64_t at = r * channels + c;
                          for (int i = 0; i < count.value; ++i, at += channels, x += of.x.pitch) {
                            fetch<mask>(of, x + ahead * of.x.pitch, at + ahead * channels);
                            const auto apart = hn::Sub(load_floats(d, x), center);
                            const auto z = gradient_at<mask>(d, of, c, at, apart);
                            product = hn::MulAdd(z, apart, product);
                            sum = hn::Add(sum, z);
                            if constexpr (residual) store_floats(z, d, dz + at);
                          }
                          hn::StoreU(product, d, products + c);
                          hn::StoreU(sum, d, sums + c);
                        });
}

template <class T>
void add_any_sums(const GradientRows<T>& of, std::int64_t channels, const float* mean,
                  float* products, float* sums, T* dz) {
  const auto add = [&](auto f) { f(of, channels, mean, products, sums, dz); };
  switch (of.mask()) {
    case GradientMask::all: return add(add_sums<GradientMask::all, false, T>);
    case GradientMask::input: return add(add_sums<GradientMask::input, false, T>);
    case GradientMask::output:
      return add(dz == nullptr ? add_sums<GradientMask::output, false, T>
                               : add_sums<GradientMask::output, true, T>);
  }
}

void AddGradientSums32(const GradientRows<float>& of, std::int64_t channels, const float* mean,
                       float* products, float* sums, float* dz) {
  add_any_sums(of, channels, mean, products, sums, dz);
}
void AddGradientSums16(const GradientRows<std::uint16_t>& of, std::int64_t channels,
                       const float* mean, float* products, float* sums, std::uint16_t* dz) {
  where_stored([&](auto) { add_any_sums(of, channels, mean, products, sums, dz); });
}

template <GradientMask mask, bool adds, class T>
void write(const GradientRows<T>& of, std::int64_t channels, const GradientLine& by,
           const GradientPlace<T>& to) {
  const std::int64_t ahead = rows_ahead(channels);
  for_columns_of_groups(of.x.rows, channels,
                        [&](auto d, auto count, std::int64_t c, std::int64_t r) HWY_ATTR {
                          const auto mean = hn::LoadU(d, by.mean + c);
                          const auto scale = hn::LoadU(d, by.scale + c);
                          const auto slope = hn::LoadU(d, by.slope + c);
                          const auto shift = hn::LoadU(d, by.shift + c);
                          const T* x = of.x.x + r * of.x.pitch + c;
                          T* dx = to.dx + r * to.pitch + c;
                          std::int64_t at = r * channels + c;
                          for (int i = 0; i < count.value;
                               ++i, at += channels, x += of.x.pitch, dx += to.pitch) {
                            fetch<mask>(of, x + ahead * of.x.pitch, at + ahead * channels);
                            if constexpr (adds) hwy::Prefetch(dx + ahead * to.pitch);
                            const auto apart = hn::Sub(load_floats(d, x), mean);
                            const auto line =
                                hn::MulSub(gradient_at<mask>(d, of, c, at, apart), scale, shift);
                            auto value = hn::NegMulAdd(apart, slope, line);
                            if constexpr (adds) value = hn::Add(load_floats(d, dx), value);
                            store_floats(value, d, dx);
                          }
                        });
}

template <bool adds, class T>
void write_masked(const GradientRows<T>& of, std::int64_t channels, const GradientLine& by,
                  const GradientPlace<T>& to) {
  switch (of.mask()) {
    case GradientMask::all: return write<GradientMask::all, adds>(of, channels, by, to);
    case GradientMask::output: return write<GradientMask::output, adds>(of, channels, by, to);
    case GradientMask::input: return write<GradientMask::input, adds>(of, channels, by, to);
  }
}

template <class T>
void write_any(const GradientRows<T>& of, std::int64_t channels, const GradientLine& by,
               const GradientPlace<T>& to) {
  (to.adds ? write_masked<true, T> : write_masked<false, T>)(of, channels, by, to);
}

void WriteGradient32(const GradientRows<float>& of, std::int64_t channels, const GradientLine& by,
                     const GradientPlace<float>& to) {
  write_any(of, channels, by, to);
}
void WriteGradient16(const GradientRows<std::uint16_t>& of, std::int64_t channels,
                     const GradientLine& by, const GradientPlace<std::uint16_t>& to) {
  where_stored([&](auto) { write_any(of, channels, by, to); });
}

}  // namespace HWY_NAMESPACE
}  // namespace linnet::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet::cpu {

HWY_EXPORT(MomentsOf32);
HWY_EXPORT(MomentsOf16);
HWY_EXPORT(MergeMoments);
HWY_EXPORT(NormalizeRows32);
HWY_EXPORT(NormalizeRows16);
HWY_EXPORT(AddGradientSums32);
HWY_EXPORT(AddGradientSums16);
HWY_EXPORT(WriteGradient32);
HWY_EXPORT(WriteGradient16);

void moments_of(const PitchedRows<float>& of, std::int64_t channels, const Moments& to) {
  HWY_DYNAMIC_DISPATCH(MomentsOf32)(of, channels, to);
}
void moments_of(const PitchedRows<std::uint16_t>& of, std::int64_t channels, const Moments& to) {
  HWY_DYNAMIC_DISPATCH(MomentsOf16)(of, channels, to);
}

void merge_moments(const Moments& from, std::int64_t added, std::int64_t channels,
                   const Moments& to, std::int64_t rows) {
  HWY_DYNAMIC_DISPATCH(MergeMoments)(from, added, channels, to, rows);
}

void normalize_rows(const Normalization& by, const PitchedRows<float>& of, const float* residual,
                    std::int64_t channels, float* y) {
  HWY_DYNAMIC_DISPATCH(NormalizeRows32)(by, of, residual, channels, y);
}
void normalize_rows(const Normalization& by, const PitchedRows<std::uint16_t>& of,
                    const std::uint16_t* residual, std::int64_t channels, std::uint16_t* y) {
  HWY_DYNAMIC_DISPATCH(NormalizeRows16)(by, of, residual, channels, y);
}

void add_gradient_sums(const GradientRows<float>& of, std::int64_t channels, const float* mean,
                       float* products, float* sums, float* dz) {
  HWY_DYNAMIC_DISPATCH(AddGradientSums32)(of, channels, mean, products, sums, dz);
}
void add_gradient_sums(const GradientRows<std::uint16_t>& of, std::int64_t channels,
                       const float* mean, float* products, float* sums, std::uint16_t* dz) {
  HWY_DYNAMIC_DISPATCH(AddGradientSums16)(of, channels, mean, products, sums, dz);
}

void write_gradient(const GradientRows<float>& of, std::int64_t channels, const GradientLine& by,
                    const GradientPlace<float>& to) {
  HWY_DYNAMIC_DISPATCH(WriteGradient32)(of, channels, by, to);
}
void write_gradient(const GradientRows<std::uint16_t>& of, std::int64_t channels,
                    const GradientLine& by, const GradientPlace<std::uint16_t>& to) {
  HWY_DYNAMIC_DISPATCH(WriteGradient16)(of, channels, by, to);
}

}  // namespace linnet::cpu
#endif
