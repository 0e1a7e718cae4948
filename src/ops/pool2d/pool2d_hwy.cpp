// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set by Highway; the best one is taken at run time. Vectors run over
// channels.
#include "backend/cpu/vector_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/pool2d/pool2d_hwy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <type_traits>

#include "ops/pool2d/pool2d_cpu.h"
#include "ops/pool2d/window.h"
#include "ops/pool2d/winner_hwy.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// f(d) with the widest vectors of at most 16 lanes that `channels` fill.
template <class F>
HWY_INLINE void with_lanes(std::int64_t channels, F f) {
  if constexpr (hn::MaxLanes(hn::CappedTag<float, 16>()) > 8) {
    if (channels >= 16) return f(hn::CappedTag<float, 16>());
  }
  if (channels >= 8) return f(hn::CappedTag<float, 8>());
  if (channels >= 4) return f(hn::CappedTag<float, 4>());
  if (channels >= 2) return f(hn::CappedTag<float, 2>());
  f(hn::CappedTag<float, 1>());
}

/// f(c) for vectors that begin at channel c and cover all of them. The last one may overlap the one
/// before it: f stores the same there again.
template <class D, class F>
HWY_INLINE void for_channels(D d, std::int64_t channels, F f) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t c = 0;
  for (; c + lanes <= channels; c += lanes) f(c);
  if (c < channels) f(channels - lanes);
}

/// Calls f(n), for the widest vectors as a constant where it is one of kValues: the compiler
/// unrolls its loops. kSmall: whether windows may be so small.
template <bool kSmall, std::int64_t... kValues, class D, class F>
HWY_INLINE void with_constant(D d, std::int64_t n, F f) {
  constexpr std::size_t kWidest = hn::MaxLanes(hn::CappedTag<float, 16>());
  if constexpr (kSmall && kWidest >= 8 && hn::MaxLanes(d) == kWidest) {
    if (((n == kValues && (f(std::integral_constant<std::int64_t, kValues>()), true)) || ...)) {
      return;
    }
  }
  f(n);
}

/// Calls f(index of y's first channel, index of x's first channel, position of that pixel in the
/// window, height, width) for every window of some rows of the output.
template <bool kSmall, class D, class F>
HWY_INLINE void for_windows(D d, const PoolShape& s, Range range, F f) {
  for (std::int64_t r = range.begin; r < range.end; ++r) {
    const Window rows = rows_of(s, r % s.oh);
    const std::int64_t line = (r / s.oh * s.h + rows.begin) * s.w;
    for (std::int64_t j = 0; j < s.ow; ++j) {
      const Window columns = columns_of(s, j);
      const std::int64_t out = (r * s.ow + j) * s.c;
      const std::int64_t in = (line + columns.begin) * s.c;
      const std::int64_t position = rows.skip * s.attrs.size_w + columns.skip;
      if (rows.size == columns.size) {
        with_constant<kSmall, 2, 3>(d, rows.size,
                                    [&](auto size) { f(out, in, position, size, size); });
      } else {
        f(out, in, position, rows.size, columns.size);
      }
    }
  }
}

/// Positions of larger windows do not fit into a byte.
template <class Winner>
inline constexpr bool kSmallWindows = sizeof(Winner) == 1;

template <class Winner>
HWY_INLINE void largest_of_windows(const PoolShape& s, Range range, const float* x, float* y,
                                   Winner* winner) {
  with_lanes(s.c, [&](auto d) {
    const hn::RebindToUnsigned<decltype(d)> integers;
    for_windows<kSmallWindows<Winner>>(
        d, s, range,
        [&](std::int64_t out, std::int64_t in, std::int64_t position, auto height, auto width) {
          for_channels(d, s.c, [&](std::int64_t c) {
            auto best = hn::LoadU(d, x + in + c);
            auto index = hn::Set(integers, static_cast<std::uint32_t>(position));
            for (std::int64_t k = 0; k < height; ++k) {
              const float* line = x + in + k * s.w * s.c + c;
              const std::int64_t first = position + k * s.attrs.size_w;
              for (std::int64_t l = k == 0 ? 1 : 0; l < width; ++l) {
                compete(d, hn::LoadU(d, line + l * s.c), static_cast<std::uint32_t>(first + l),
                        best, index);
              }
            }
            hn::StoreU(best, d, y + out + c);
            store_winner(d, index, winner + out + c);
          });
        });
  });
}

void MaxU8(const PoolShape& s, Range range, const float* x, float* y, std::uint8_t* winner) {
  largest_of_windows(s, range, x, y, winner);
}
void MaxI32(const PoolShape& s, Range range, const float* x, float* y, std::int32_t* winner) {
  largest_of_windows(s, range, x, y, winner);
}

void Average(const PoolShape& s, Range range, float factor, const float* x, float* y) {
  with_lanes(s.c, [&](auto d) {
    for_windows<true>(d, s, range,
                      [&](std::int64_t out, std::int64_t in, std::int64_t /*position*/, auto height,
                          auto width) {
                        for_channels(d, s.c, [&](std::int64_t c) {
                          auto sum = hn::Zero(d);
                          for (std::int64_t k = 0; k < height; ++k) {
                            const float* line = x + in + k * s.w * s.c + c;
                            for (std::int64_t l = 0; l < width; ++l) {
                              sum = hn::Add(sum, hn::LoadU(d, line + l * s.c));
                            }
                          }
                          hn::StoreU(hn::Mul(sum, hn::Set(d, factor)), d, y + out + c);
                        });
                      });
  });
}

/// Where no pixel belongs to two windows: every window's part of a row of the images is
/// written once, then 0 between windows. The arguments are gather()'s.
template <class D, class Load, class Part>
HWY_INLINE void write_row(D d, const PoolShape& s, std::int64_t r, float* dx, Load load,
                          Part part) {
  const Pool2dAttrs& a = s.attrs;
  const std::int64_t row = r % s.h;
  const auto rows = windows_over(row, s.oh, a.size_h, a.stride_h, a.pad_top);
  const std::int64_t windows = rows.begin < rows.end ? s.ow : 0;
  const std::int64_t position = (row + a.pad_top - rows.begin * a.stride_h) * a.size_w;
  std::int64_t column = 0;
  for (std::int64_t j = 0; j < windows; ++j) {
    const Window columns = columns_of(s, j);
    if (column < columns.begin) std::fill(dx + column * s.c, dx + columns.begin * s.c, 0.0F);
    const std::int64_t window = ((r / s.h * s.oh + rows.begin) * s.ow + j) * s.c;
    for_channels(d, s.c, [&](std::int64_t c) {
      const auto gradient = load(d, window + c);
      float* pixel = dx + columns.begin * s.c + c;
      for (std::int64_t l = 0; l < columns.size; ++l) {
        hn::StoreU(part(d, gradient, position + columns.skip + l), d, pixel + l * s.c);
      }
    });
    column = columns.begin + columns.size;
  }
  std::fill(dx + column * s.c, dx + s.w * s.c, 0.0F);
}

/// Every pixel of a row sums its parts of the windows that hold it, in their order.
template <bool kSmall, class D, class Load, class Part>
HWY_INLINE void sum_row(D d, const PoolShape& s, std::int64_t r, float* dx, Load load, Part part) {
  const Pool2dAttrs& a = s.attrs;
  const std::int64_t row = r % s.h;
  const auto rows = windows_over(row, s.oh, a.size_h, a.stride_h, a.pad_top);
  const std::int64_t top = row + a.pad_top - rows.begin * a.stride_h;
  WindowRange<std::int64_t> columns;
  for (std::int64_t column = 0; column < s.w; ++column) {
    advance(columns, column, s.ow, a.size_w, a.stride_w, a.pad_left);
    const std::int64_t left = column + a.pad_left - columns.begin * a.stride_w;
    const std::int64_t window = (r / s.h * s.oh + rows.begin) * s.ow + columns.begin;
    float* pixel = dx + column * s.c;
    with_constant<kSmall, 1, 2, 3>(d, rows.end - rows.begin, [&](auto height) {
      with_constant<kSmall, 1, 2, 3>(d, columns.end - columns.begin, [&](auto width) {
        for_channels(d, s.c, [&](std::int64_t c) {
          auto sum = hn::Zero(d);
          for (std::int64_t i = 0; i < height; ++i) {
            const std::int64_t at = (window + i * s.ow) * s.c + c;
            const std::int64_t position = (top - i * a.stride_h) * a.size_w + left;
            for (std::int64_t j = 0; j < width; ++j) {
              sum = hn::Add(sum, part(d, load(d, at + j * s.c), position - j * a.stride_w));
            }
          }
          hn::StoreU(sum, d, pixel + c);
        });
      });
    });
  }
}

/// load(d, index of y) reads what a window hands down, part(d, that, position) is a pixel's share.
template <bool kSmall, class Load, class Part>
HWY_INLINE void gather(const PoolShape& s, Range range, float* dx, Load load, Part part) {
  with_lanes(s.c, [&](auto d) {
    for (std::int64_t r = range.begin; r < range.end; ++r) {
      float* row = dx + r * s.w * s.c;
      if (s.disjoint()) {
        write_row(d, s, r, row, load, part);
      } else {
        sum_row<kSmall>(d, s, r, row, load, part);
      }
    }
  });
}

template <class Winner>
HWY_INLINE void gather_of_winners(const PoolShape& s, Range range, const float* dy,
                                  const Winner* winner, float* dx) {
  gather<kSmallWindows<Winner>>(
      s, range, dx, [=](auto d, std::int64_t at) { return load_won(d, dy + at, winner + at); },
      [](auto d, const auto& won, std::int64_t position) {
        return won_by(d, won, static_cast<std::int32_t>(position));
      });
}

void MaxGradU8(const PoolShape& s, Range range, const float* dy, const std::uint8_t* winner,
               float* dx) {
  gather_of_winners(s, range, dy, winner, dx);
}
void MaxGradI32(const PoolShape& s, Range range, const float* dy, const std::int32_t* winner,
                float* dx) {
  gather_of_winners(s, range, dy, winner, dx);
}

void AverageGrad(const PoolShape& s, Range range, float factor, const float* dy, float* dx) {
  gather<false>(
      s, range, dx,
      [=](auto d, std::int64_t at) { return hn::Mul(hn::Set(d, factor), hn::LoadU(d, dy + at)); },
      [](auto /*d*/, auto share, std::int64_t /*position*/) { return share; });
}

}  // namespace HWY_NAMESPACE
}  // namespace linnet::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet::cpu {

HWY_EXPORT(MaxU8);
HWY_EXPORT(MaxI32);
HWY_EXPORT(MaxGradU8);
HWY_EXPORT(MaxGradI32);
HWY_EXPORT(Average);
HWY_EXPORT(AverageGrad);

void max_pool(const PoolShape& s, Range rows, const float* x, float* y, std::uint8_t* winner) {
  HWY_DYNAMIC_DISPATCH(MaxU8)(s, rows, x, y, winner);
}

void max_pool(const PoolShape& s, Range rows, const float* x, float* y, std::int32_t* winner) {
  HWY_DYNAMIC_DISPATCH(MaxI32)(s, rows, x, y, winner);
}

void max_pool_grad(const PoolShape& s, Range rows, const float* dy, const std::uint8_t* winner,
                   float* dx) {
  HWY_DYNAMIC_DISPATCH(MaxGradU8)(s, rows, dy, winner, dx);
}

void max_pool_grad(const PoolShape& s, Range rows, const float* dy, const std::int32_t* winner,
                   float* dx) {
  HWY_DYNAMIC_DISPATCH(MaxGradI32)(s, rows, dy, winner, dx);
}

void average_pool(const PoolShape& s, Range rows, float factor, const float* x, float* y) {
  HWY_DYNAMIC_DISPATCH(Average)(s, rows, factor, x, y);
}

void average_pool_grad(const PoolShape& s, Range rows, float factor, const float* dy, float* dx) {
  HWY_DYNAMIC_DISPATCH(AverageGrad)(s, rows, factor, dy, dx);
}

}  // namespace linnet::cpu
#endif
