// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set by Highway; vectors of 16 floats, over filters, are what it has
// loops for.
#include "backend/cpu/vector_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fusions/small_cnn/small_cnn_hwy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fusions/small_cnn/small_cnn_cpu.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET <= HWY_AVX3

using Tag = hn::CappedTag<float, 16>;
using V = hn::Vec<Tag>;

constexpr std::int64_t kLanes = 16;

HWY_INLINE V load_pixels(const float* x) { return hn::LoadU(Tag(), x); }
HWY_INLINE V load_pixels(const std::uint8_t* x) {
  const hn::Rebind<std::uint8_t, Tag> bytes;
  const hn::RebindToSigned<Tag> integers;
  return hn::ConvertTo(Tag(), hn::PromoteTo(integers, hn::LoadU(bytes, x)));
}

template <class T>
HWY_INLINE void put_image(const T* x, std::int64_t rows, std::int64_t width, float scale,
                          float shift, float* to, std::int64_t row) {
  const Tag d;
  const V factor = hn::Set(d, scale);
  const V offset = hn::Set(d, shift);
  for (std::int64_t i = 0; i < rows; ++i, x += width, to += row) {
    if (width < kLanes) {
      for (std::int64_t j = 0; j < width; ++j) to[j] = static_cast<float>(x[j]) * scale + shift;
      continue;
    }
    for (std::int64_t j = 0; j < width; j += kLanes) {  // the last one may overlap the one before
      const std::int64_t at = j < width - kLanes ? j : width - kLanes;
      hn::StoreU(hn::Add(hn::Mul(load_pixels(x + at), factor), offset), d, to + at);
    }
  }
}

void PutBytes(const std::uint8_t* x, std::int64_t rows, std::int64_t width, float scale,
              float shift, float* to, std::int64_t row) {
  put_image(x, rows, width, scale, shift, to, row);
}
void PutFloats(const float* x, std::int64_t rows, std::int64_t width, float scale, float shift,
               float* to, std::int64_t row) {
  put_image(x, rows, width, scale, shift, to, row);
}

/// The points of 16 windows side by side, by point.
struct WindowPoints {
  HWY_ALIGN float of[kSmallCnnPoints][kLanes];
};

/// Transforms the pixels of 16 windows, of four lines from x on.
HWY_INLINE void transform(const float* x, std::int64_t row, WindowPoints& points) {
  const Tag d;
  // A line's pixels as windows see them: 16 windows begin at 32 pixels, and the next two matter.
  struct Line {
    V low, high, next_low, next_high;
  };
  const auto line = [&](int r) HWY_ATTR {
    const float* from = x + r * row;
    return Line{hn::LoadU(d, from), hn::LoadU(d, from + kLanes), hn::LoadU(d, from + 2),
                hn::LoadU(d, from + kLanes + 2)};
  };
  const auto store = [&](int r, V low, V high, V next_low, V next_high) HWY_ATTR {
    const V first = hn::ConcatEven(d, high, low);
    const V second = hn::ConcatOdd(d, high, low);
    const V third = hn::ConcatEven(d, next_high, next_low);
    const V fourth = hn::ConcatOdd(d, next_high, next_low);
    hn::Store(hn::Sub(first, third), d, points.of[4 * r]);
    hn::Store(hn::Add(second, third), d, points.of[4 * r + 1]);
    hn::Store(hn::Sub(third, second), d, points.of[4 * r + 2]);
    hn::Store(hn::Sub(second, fourth), d, points.of[4 * r + 3]);
  };
  const Line a = line(0);
  const Line b = line(1);
  const Line c = line(2);
  const Line e = line(3);
  const auto subtract = [&](int r, const Line& p, const Line& q) HWY_ATTR {
    store(r, hn::Sub(p.low, q.low), hn::Sub(p.high, q.high), hn::Sub(p.next_low, q.next_low),
          hn::Sub(p.next_high, q.next_high));
  };
  subtract(0, a, c);
  store(1, hn::Add(b.low, c.low), hn::Add(b.high, c.high), hn::Add(b.next_low, c.next_low),
        hn::Add(b.next_high, c.next_high));
  subtract(2, c, b);
  subtract(3, b, e);
}

/// One window of 16 filters, whose points begin at `points`, 16 floats apart.
HWY_INLINE void pool_window(bool relu, const float* points, const V (&kernels)[kSmallCnnPoints],
                            V bias, float* y, std::uint8_t* winner) {
  const Tag d;
  const hn::RebindToSigned<Tag> integers;
  const hn::Rebind<std::uint8_t, Tag> bytes;
  V left[4];
  V right[4];
  HWY_UNROLL(4)
  for (int r = 0; r < 4; ++r) {
    const auto point = [&](int t) HWY_ATTR { return hn::Set(d, points[(4 * r + t) * kLanes]); };
    const V second = hn::Mul(point(1), kernels[4 * r + 1]);
    const V third = hn::Mul(point(2), kernels[4 * r + 2]);
    left[r] = hn::MulAdd(point(0), kernels[4 * r], hn::Add(second, third));
    right[r] = hn::NegMulAdd(point(3), kernels[4 * r + 3], hn::Sub(second, third));
  }
  const V z0 = hn::Add(left[0], hn::Add(left[1], left[2]));
  const V z1 = hn::Add(right[0], hn::Add(right[1], right[2]));
  const V z2 = hn::Sub(hn::Sub(left[1], left[2]), left[3]);
  const V z3 = hn::Sub(hn::Sub(right[1], right[2]), right[3]);
  const V top = hn::Max(z0, z1);
  const V bottom = hn::Max(z2, z3);
  const auto of_top =
      hn::IfThenElseZero(hn::RebindMask(integers, hn::Gt(z1, z0)), hn::Set(integers, 1));
  const auto of_bottom = hn::IfThenElse(hn::RebindMask(integers, hn::Gt(z3, z2)),
                                        hn::Set(integers, 5), hn::Set(integers, 4));
  const auto won = hn::IfThenElse(hn::RebindMask(integers, hn::Gt(bottom, top)), of_bottom, of_top);
  V best = hn::Add(hn::Max(top, bottom), bias);
  if (relu) best = hn::Max(hn::Zero(d), best);  // of a NaN the second operand, the NaN
  hn::StoreU(best, d, y);
  hn::StoreU(hn::TruncateTo(bytes, hn::BitCast(hn::RebindToUnsigned<Tag>(), won)), bytes, winner);
}

void Pool(const SmallCnnLoops& loops, const float* image, const float* points, const float* b,
          float* y, std::uint8_t* winner) {
  const Tag d;
  const SmallCnnLoops s = loops;  // which stores of winners cannot change
  WindowPoints windows;
  for (std::int64_t i = 0; i < s.pooled_h; ++i) {
    for (std::int64_t j = 0; j < s.pooled_w; j += kLanes) {
      transform(image + 2 * i * s.row + 2 * j, s.row, windows);
      const std::int64_t count = s.pooled_w - j < kLanes ? s.pooled_w - j : kLanes;
      for (std::int64_t c = 0; c < s.filters; c += kLanes) {
        V kernels[kSmallCnnPoints];
        HWY_UNROLL(16)
        for (int t = 0; t < kSmallCnnPoints; ++t) {
          kernels[t] = hn::LoadU(d, points + c * kSmallCnnPoints + t * kLanes);
        }
        const V bias = hn::LoadU(d, b + c);
        std::int64_t at = (i * s.pooled_w + j) * s.filters + c;
        for (std::int64_t n = 0; n < count; ++n, at += s.filters) {
          pool_window(s.relu, &windows.of[0][n], kernels, bias, y + at, winner + at);
        }
      }
    }
  }
}

/// Adds what the gradient of one window's 16 filters gives to the kernel's nine taps: of the 4x4
/// pixels, one vector, each filter looks up its winner's.
HWY_INLINE void add_taps(const float* x, std::int64_t row, V gradient, const std::uint8_t* winner,
                         V (&taps)[9]) {
  const Tag d;
  const hn::RebindToSigned<Tag> integers;
  const hn::Rebind<std::uint8_t, Tag> bytes;
  const hn::CappedTag<float, 4> line;
  const hn::Half<Tag> half;
  const V patch =
      hn::Combine(d, hn::Combine(half, hn::LoadU(line, x + 3 * row), hn::LoadU(line, x + 2 * row)),
                  hn::Combine(half, hn::LoadU(line, x + row), hn::LoadU(line, x)));
  const auto first = hn::PromoteTo(integers, hn::LoadU(bytes, winner));
  HWY_UNROLL(9)
  for (int t = 0; t < 9; ++t) {
    const auto pixel = hn::Add(first, hn::Set(integers, t / 3 * 4 + t % 3));
    taps[t] =
        hn::MulAdd(gradient, hn::TableLookupLanes(patch, hn::IndicesFromVec(d, pixel)), taps[t]);
  }
}

/// Window by window, and filters [c, c + 16) of each: the dense layer's two gradients by the same
/// operands, and from the gradient of the window, which stays in registers, the convolution's.
template <int kCount>
HWY_INLINE void backward_filters(const SmallCnnLoops& loops, const SmallCnnBlock& block,
                                 std::int64_t c, const float* v, bool first,
                                 const SmallCnnSums& sums) {
  const Tag d;
  const SmallCnnLoops s = loops;
  const std::int64_t features = s.features();
  V taps[9];
  for (int t = 0; t < 9; ++t) taps[t] = hn::LoadU(d, sums.dw + t * s.filters + c);
  V bias = hn::LoadU(d, sums.db + c);
  std::int64_t at = c;
  for (std::int64_t i = 0; i < s.pooled_h; ++i) {
    for (std::int64_t j = 0; j < s.pooled_w; ++j, at += s.filters) {
      V y[kCount];
      V dy[kCount];
      HWY_UNROLL(8)
      for (int n = 0; n < kCount; ++n) {
        y[n] = hn::LoadU(d, block.y + n * features + at);
        dy[n] = hn::Zero(d);
      }
      HWY_UNROLL(1)
      for (std::int64_t k = 0; k < s.classes; ++k) {
        const V weight = hn::LoadU(d, v + k * features + at);
        float* to = sums.dv + k * features + at;
        const float* slopes = block.dz + k * kSmallCnnSamples;
        V sum[2] = {first ? hn::Zero(d) : hn::LoadU(d, to), hn::Zero(d)};
        HWY_UNROLL(8)
        for (int n = 0; n < kCount; ++n) {
          const V slope = hn::Set(d, slopes[n]);
          sum[n % 2] = hn::MulAdd(slope, y[n], sum[n % 2]);
          dy[n] = hn::MulAdd(slope, weight, dy[n]);
        }
        hn::StoreU(hn::Add(sum[0], sum[1]), d, to);
      }
      HWY_UNROLL(8)
      for (int n = 0; n < kCount; ++n) {
        V g = dy[n];
        if (s.relu) g = hn::IfThenElseZero(hn::Gt(y[n], hn::Zero(d)), g);
        bias = hn::Add(bias, g);
        add_taps(block.images + n * s.image + 2 * i * s.row + 2 * j, s.row, g,
                 block.winners + n * features + at, taps);
      }
    }
  }
  for (int t = 0; t < 9; ++t) hn::StoreU(taps[t], d, sums.dw + t * s.filters + c);
  hn::StoreU(bias, d, sums.db + c);
}

template <int kCount>
void backward(const SmallCnnLoops& loops, const SmallCnnBlock& block, const float* v, bool first,
              const SmallCnnSums& sums) {
  for (std::int64_t c = 0; c < loops.filters; c += kLanes) {
    backward_filters<kCount>(loops, block, c, v, first, sums);
  }
}

void Backward(const SmallCnnLoops& loops, const SmallCnnBlock& block, const float* v, bool first,
              const SmallCnnSums& sums) {
  switch (block.count) {
    case 8: return backward<8>(loops, block, v, first, sums);
    case 4: return backward<4>(loops, block, v, first, sums);
    case 2: return backward<2>(loops, block, v, first, sums);
    default: return backward<1>(loops, block, v, first, sums);
  }
}

bool Has() { return true; }

#else

void PutBytes(const std::uint8_t* /*x*/, std::int64_t /*rows*/, std::int64_t /*width*/,
              float /*scale*/, float /*shift*/, float* /*to*/, std::int64_t /*row*/) {}
void PutFloats(const float* /*x*/, std::int64_t /*rows*/, std::int64_t /*width*/, float /*scale*/,
               float /*shift*/, float* /*to*/, std::int64_t /*row*/) {}
void Pool(const SmallCnnLoops& /*loops*/, const float* /*image*/, const float* /*points*/,
          const float* /*b*/, float* /*y*/, std::uint8_t* /*winner*/) {}
void Backward(const SmallCnnLoops& /*loops*/, const SmallCnnBlock& /*block*/, const float* /*v*/,
              bool /*first*/, const SmallCnnSums& /*sums*/) {}
bool Has() { return false; }

#endif

}  // namespace HWY_NAMESPACE
}  // namespace linnet::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet::cpu {

HWY_EXPORT(Has);
HWY_EXPORT(PutBytes);
HWY_EXPORT(PutFloats);
HWY_EXPORT(Pool);
HWY_EXPORT(Backward);

bool small_cnn_has() { return HWY_DYNAMIC_DISPATCH(Has)(); }

void small_cnn_points(const float* w, std::int64_t filters, float* points) {
  for (std::int64_t f = 0; f < filters; ++f, w += 9) {
    float rows[4][3];  // transformed by columns
    for (int t = 0; t < 3; ++t) {
      const float outer = 0.5F * (w[t] + w[6 + t]);
      rows[0][t] = w[t];
      rows[1][t] = outer + 0.5F * w[3 + t];
      rows[2][t] = outer - 0.5F * w[3 + t];
      rows[3][t] = w[6 + t];
    }
    float* to = points + f / 16 * 16 * kSmallCnnPoints + f % 16;
    for (int r = 0; r < 4; ++r, to += std::int64_t{4} * 16) {
      const float outer = 0.5F * (rows[r][0] + rows[r][2]);
      to[0] = rows[r][0];
      to[16] = outer + 0.5F * rows[r][1];
      to[32] = outer - 0.5F * rows[r][1];
      to[48] = rows[r][2];
    }
  }
}

void small_cnn_image(const std::uint8_t* x, std::int64_t rows, std::int64_t width, float scale,
                     float shift, float* to, std::int64_t row) {
  HWY_DYNAMIC_DISPATCH(PutBytes)(x, rows, width, scale, shift, to, row);
}
void small_cnn_image(const float* x, std::int64_t rows, std::int64_t width, float scale,
                     float shift, float* to, std::int64_t row) {
  HWY_DYNAMIC_DISPATCH(PutFloats)(x, rows, width, scale, shift, to, row);
}

void small_cnn_pool(const SmallCnnLoops& loops, const float* image, const float* points,
                    const float* b, float* y, std::uint8_t* winner) {
  HWY_DYNAMIC_DISPATCH(Pool)(loops, image, points, b, y, winner);
}

void small_cnn_backward(const SmallCnnLoops& loops, const SmallCnnBlock& block, const float* v,
                        bool first, const SmallCnnSums& sums) {
  HWY_DYNAMIC_DISPATCH(Backward)(loops, block, v, first, sums);
}

}  // namespace linnet::cpu
#endif
