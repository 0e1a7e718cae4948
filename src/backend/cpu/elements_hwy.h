// SPDX-License-Identifier: Apache-2.0
// Included once per instruction set, after hwy/foreach_target.h, by sources that Highway compiles
// so: what #pragma once would prevent.
#if defined(LINNET_ELEMENTS_HWY_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LINNET_ELEMENTS_HWY_H
#undef LINNET_ELEMENTS_HWY_H
#else
#define LINNET_ELEMENTS_HWY_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace linnet::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The first `count` lanes, zeros after them; touches no memory after them.
template <class D>
HWY_INLINE hn::Vec<D> load_first(D d, const float* from, std::int64_t count) {
#if HWY_TARGET > HWY_AVX2 || !HWY_ARCH_X86  // without masks
  HWY_ALIGN float padded[hn::MaxLanes(D())] = {};
  std::copy_n(from, count, padded);
  return hn::Load(d, padded);
#else
  return hn::MaskedLoad(hn::FirstN(d, static_cast<std::size_t>(count)), d, from);
#endif
}
template <class D>
HWY_INLINE void store_first(hn::Vec<D> v, D d, float* to, std::int64_t count) {
#if HWY_TARGET > HWY_AVX2 || !HWY_ARCH_X86
  HWY_ALIGN float padded[hn::MaxLanes(D())];
  hn::Store(v, d, padded);
  std::copy_n(padded, count, to);
#else
  hn::BlendedStore(v, hn::FirstN(d, static_cast<std::size_t>(count)), d, to);
#endif
}

/// Whole vectors of a row.
struct Whole {
  const hn::ScalableTag<float> d = {};
  HWY_INLINE auto load(const float* from) const { return hn::LoadU(d, from); }
  /// Returns v with `other` where nothing was loaded.
  template <class V>
  HWY_INLINE V kept(V v, V /*other*/) const {
    return v;
  }
  template <class V>
  HWY_INLINE void store(V v, float* to) const {
    hn::StoreU(v, d, to);
  }
};
/// The last vector of a row, cut off.
struct Rest {
  std::int64_t count;
  const hn::ScalableTag<float> d = {};
  HWY_INLINE auto load(const float* from) const { return load_first(d, from, count); }
  template <class V>
  HWY_INLINE V kept(V v, V other) const {
    return hn::IfThenElse(hn::FirstN(d, static_cast<std::size_t>(count)), v, other);
  }
  template <class V>
  HWY_INLINE void store(V v, float* to) const {
    store_first(v, d, to, count);
  }
};

/// Calls f(access, row, column) for all vectors of all rows.
template <class F>
HWY_INLINE void for_row_vectors(std::int64_t rows, std::int64_t columns, F&& f) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<float>()));
  const Rest rest{columns % lanes};
  for (std::int64_t row = 0; row < rows; ++row) {
    std::int64_t c = 0;
    for (; c + lanes <= columns; c += lanes) f(Whole{}, row, c);
    if (c < columns) f(rest, row, c);
  }
}

/// Returns the vectors f(access, i) of `count` elements joined by join(a, b), in a fixed order,
/// four by four; lanes beyond the end are `neutral`.
template <class V, class F, class Join>
HWY_INLINE V fold_elements(std::int64_t count, V neutral, F&& f, Join&& join) {
  constexpr int kAtOnce = 4;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<float>()));
  V all[kAtOnce] = {neutral, neutral, neutral, neutral};
  std::int64_t i = 0;
  for (; i + kAtOnce * lanes <= count; i += kAtOnce * lanes) {
    for (int k = 0; k < kAtOnce; ++k) all[k] = join(all[k], f(Whole{}, i + k * lanes));
  }
  V one = join(join(all[0], all[1]), join(all[2], all[3]));
  for (; i + lanes <= count; i += lanes) one = join(one, f(Whole{}, i));
  if (i < count) {
    const Rest rest{count - i};
    one = join(one, rest.kept(f(rest, i), neutral));
  }
  return one;
}

/// Returns the sum over i of f(access, i) of `count` elements.
template <class F>
HWY_INLINE float sum_of_elements(std::int64_t count, F&& f) {
  const hn::ScalableTag<float> d;
  const auto sum =
      fold_elements(count, hn::Zero(d), f, [](auto a, auto b) HWY_ATTR { return hn::Add(a, b); });
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

/// Computes y[i] = f(d, x[i], ...) of `count` elements; y may be one of the operands. Shorter code
/// than for_row_vectors(): the last vector goes through the same instructions.
template <class F, class... Operands>
HWY_INLINE void for_elements(std::int64_t count, float* y, F&& f, const Operands*... operands) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t i = 0; i < count; i += lanes) {
    const std::int64_t left = count - i;
    const auto load = [&](const float* x) HWY_ATTR {
      return HWY_LIKELY(left >= lanes) ? hn::LoadU(d, x + i) : load_first(d, x + i, left);
    };
    const auto result = f(d, load(operands)...);
    if (HWY_LIKELY(left >= lanes)) {
      hn::StoreU(result, d, y + i);
    } else {
      store_first(result, d, y + i, left);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace linnet::cpu
HWY_AFTER_NAMESPACE();

#endif
