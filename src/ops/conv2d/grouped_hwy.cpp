// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set by Highway; the best one is taken at run time.
#include "backend/cpu/vector_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/conv2d/grouped_hwy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <array>
#include <utility>

#include "ops/conv2d/grouped_cpu.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<float>;
using V = hn::Vec<Tag>;

/// Pixels side by side, whose sums stay in registers.
constexpr int kPixels = 8;

HWY_INLINE std::int64_t lanes() { return static_cast<std::int64_t>(hn::Lanes(Tag())); }

/// Brings the i-th channel of its group to every lane, for i = 0, 1, ... in turn: f(i, lanes).
template <int kEach>
class Spread {
 public:
  template <class F>
  HWY_INLINE void operator()(V x, F f) const {
    each(x, f, std::make_integer_sequence<int, kEach>());
  }

 private:
  template <class F, int... kIndex>
  HWY_INLINE void each(V x, F f, std::integer_sequence<int, kIndex...> /*all*/) const {
    (f(kIndex, channel<kIndex>(x)), ...);
  }
  template <int kIndex>
  HWY_INLINE V channel(V x) const {
#if HWY_TARGET == HWY_SCALAR
    return x;
#else
    if constexpr (kEach == 2) return kIndex == 0 ? hn::DupEven(x) : hn::DupOdd(x);
    if constexpr (kEach == 4) return hn::Broadcast<kIndex % 4>(x);
    return hn::TableLookupLanes(x, from_[kIndex]);
#endif
  }
  using Table = decltype(hn::SetTableIndices(Tag(), static_cast<const std::int32_t*>(nullptr)));
  static std::array<Table, kEach> tables() {
    std::array<Table, kEach> all;
    for (int i = 0; i < kEach; ++i) {
      HWY_ALIGN std::int32_t from[hn::MaxLanes(Tag())];
      for (std::int64_t lane = 0; lane < lanes(); ++lane) {
        const std::int64_t at = lane / kEach * kEach + i;
        from[lane] = static_cast<std::int32_t>(at < lanes() ? at : 0);
      }
      all[static_cast<std::size_t>(i)] = hn::SetTableIndices(Tag(), from);
    }
    return all;
  }
  std::array<Table, kEach> from_ = tables();  ///< where a block of 128 bits is not enough
};

template <int kEach, int kTile>
HWY_INLINE void tile(const Spread<kEach>& spread, std::int64_t channels,
                     const SegmentedRows& patches, const float* const* rows, std::int64_t first,
                     const float* weights, V start, float* const* c) {
  const Tag d;
  V sums[kTile];
  for (V& sum : sums) sum = start;
  for (std::int64_t s = 0; s < patches.segments; ++s) {
    for (std::int64_t at = first; at < patches.length; at += channels) {
      V w[kEach];
      for (int i = 0; i < kEach; ++i, weights += lanes()) w[i] = hn::LoadU(d, weights);
      for (int p = 0; p < kTile; ++p) {
        spread(hn::LoadU(d, rows[p] + s * patches.stride + at),
               [&](int i, V own) HWY_ATTR { sums[p] = hn::MulAdd(own, w[i], sums[p]); });
      }
    }
  }
  for (int p = 0; p < kTile; ++p) hn::StoreU(sums[p], d, c[p] + first);
}

template <int kEach>
void product(std::int64_t channels, const SegmentedRows& patches, std::int64_t rows,
             const float* packed, const float* start, float* const* c) {
  const Tag d;
  const Spread<kEach> spread;
  const std::int64_t weights = patches.segments * (patches.length / channels) * kEach * lanes();
  for (std::int64_t first = 0; first < channels; first += lanes(), packed += weights) {
    const V begin = start == nullptr ? hn::Zero(d) : hn::LoadU(d, start + first);
    std::int64_t r = 0;
    for (; r + kPixels <= rows; r += kPixels) {
      tile<kEach, kPixels>(spread, channels, patches, patches.rows + r, first, packed, begin,
                           c + r);
    }
    for (; r < rows; ++r) {
      tile<kEach, 1>(spread, channels, patches, patches.rows + r, first, packed, begin, c + r);
    }
  }
}

template <int kEach>
void gradient(std::int64_t channels, const SegmentedRows& patches, std::int64_t rows,
              const float* dz, float* packed) {
  const Tag d;
  const Spread<kEach> spread;
  constexpr int kChains = kEach < 8 ? 2 : 1;  // of pixels: sums that do not wait for each other
  for (std::int64_t first = 0; first < channels; first += lanes()) {
    for (std::int64_t s = 0; s < patches.segments; ++s) {
      for (std::int64_t at = first; at < patches.length;
           at += channels, packed += kEach * lanes()) {
        V sums[kChains][kEach];
        for (int i = 0; i < kEach; ++i) {
          sums[0][i] = hn::LoadU(d, packed + i * lanes());
          for (int chain = 1; chain < kChains; ++chain) sums[chain][i] = hn::Zero(d);
        }
        const auto add = [&](std::int64_t r, int chain) HWY_ATTR {
          const V slope = hn::LoadU(d, dz + r * channels + first);
          const V x = hn::LoadU(d, patches.rows[r] + s * patches.stride + at);
          spread(x, [&](int i, V own)
                        HWY_ATTR { sums[chain][i] = hn::MulAdd(own, slope, sums[chain][i]); });
        };
        std::int64_t r = 0;
        for (; r + kChains <= rows; r += kChains) {
          for (int chain = 0; chain < kChains; ++chain) add(r + chain, chain);
        }
        for (; r < rows; ++r) add(r, 0);
        for (int i = 0; i < kEach; ++i) {
          V sum = sums[0][i];
          for (int chain = 1; chain < kChains; ++chain) sum = hn::Add(sum, sums[chain][i]);
          hn::StoreU(sum, d, packed + i * lanes());
        }
      }
    }
  }
}

void Product(const GroupedChannels& of, const SegmentedRows& patches, std::int64_t rows,
             const float* packed, const float* start, float* const* c) {
  switch (of.each) {
    case 2: return product<2>(of.channels, patches, rows, packed, start, c);
    default: return product<4>(of.channels, patches, rows, packed, start, c);
  }
}

void Gradient(const GroupedChannels& of, const SegmentedRows& patches, std::int64_t rows,
              const float* dz, float* packed) {
  switch (of.each) {
    case 2: return gradient<2>(of.channels, patches, rows, dz, packed);
    case 4: return gradient<4>(of.channels, patches, rows, dz, packed);
    default: return gradient<8>(of.channels, patches, rows, dz, packed);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace linnet::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet::cpu {

HWY_EXPORT(Product);
HWY_EXPORT(Gradient);

bool takes_groups(const GroupedChannels& of) {
  const std::int64_t lanes = float_lanes();
  const bool known = of.each == 2 || of.each == 4 || of.each == 8;
  return known && lanes % of.each == 0 && of.channels % lanes == 0;
}

void grouped_product(const GroupedChannels& of, const SegmentedRows& patches, std::int64_t rows,
                     const float* packed, const float* start, float* const* c) {
  HWY_DYNAMIC_DISPATCH(Product)(of, patches, rows, packed, start, c);
}

void add_grouped_gradient(const GroupedChannels& of, const SegmentedRows& patches,
                          std::int64_t rows, const float* dz, float* packed) {
  HWY_DYNAMIC_DISPATCH(Gradient)(of, patches, rows, dz, packed);
}

}  // namespace linnet::cpu
#endif
