// SPDX-License-Identifier: Apache-2.0
// Included once per instruction set, after hwy/foreach_target.h, by sources that Highway compiles
// so: what #pragma once would prevent.
#if defined(LINNET_PANEL_VECTORS_HWY_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LINNET_PANEL_VECTORS_HWY_H
#undef LINNET_PANEL_VECTORS_HWY_H
#else
#define LINNET_PANEL_VECTORS_HWY_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <utility>

// The vectors of panels and of tiles of sums, which stay in registers (panel_product.h).

HWY_BEFORE_NAMESPACE();
namespace linnet::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Whole = hn::ScalableTag<float>;
using Half = hn::Half<Whole>;
const Whole kFloats;

template <class D = Whole>
HWY_INLINE std::int64_t lanes() {
  return static_cast<std::int64_t>(hn::Lanes(D()));
}

/// Sums in registers: 12 of 16 of them, or 24 of 32.
constexpr int kSums = HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64 ? 24 : 12;
/// Rows of a tile whose panel has `vectors`: addresses of more than 10 to 12 rows find no register.
constexpr int rows_of(int vectors) { return vectors == 1 ? 10 : std::min(kSums / vectors, 12); }
constexpr int kTileRows = rows_of(2);
/// Floats of a line of the cache.
constexpr std::int64_t kLine = 16;

/// A panel of vectors, or of half a one.
struct PanelWidth {
  int vectors = 0;
  bool half = false;
  std::int64_t columns() const { return half ? lanes<Half>() : vectors * lanes(); }
  explicit operator bool() const { return vectors > 0; }
};

/// The widths of panel after panel: two vectors, and for an odd rest three, or one; half a vector
/// of 16 columns for a rest that it holds.
class PanelWidths {
 public:
  explicit PanelWidths(std::int64_t columns, bool threes = true)
      : left_(columns / lanes()), threes_(threes) {
    constexpr std::int64_t kLong = 16;
    const std::int64_t rest = columns % lanes();
    half_ = lanes() >= kLong && rest > 0 && rest <= lanes<Half>();
    if (rest > 0 && !half_) ++left_;
  }
  /// None after the last one.
  PanelWidth next() {
    if (left_ == 0) return std::exchange(half_, false) ? PanelWidth{1, true} : PanelWidth{};
    const std::int64_t vectors = threes_ && left_ == 3 ? 3 : std::min<std::int64_t>(left_, 2);
    left_ -= vectors;
    return {static_cast<int>(vectors), false};
  }
  /// Passes by panels of two vectors, at most `most`; returns how many.
  std::int64_t next_pairs(std::int64_t most) {
    const std::int64_t pairs = threes_ && left_ % 2 == 1 ? (left_ - 3) / 2 : left_ / 2;
    const std::int64_t taken = std::clamp<std::int64_t>(pairs, 0, std::max<std::int64_t>(most, 0));
    left_ -= 2 * taken;
    return taken;
  }
  /// Returns the columns of all panels that are left.
  std::int64_t columns() const { return left_ * lanes() + (half_ ? lanes<Half>() : 0); }

 private:
  std::int64_t left_;
  bool threes_;
  bool half_ = false;
};

/// A width that is known when compiling.
template <class D, int kCount>
struct Panel {
  using Tag = D;
  static constexpr int kVectors = kCount;
};

/// Calls f(Panel) for a width of at most kMost vectors.
template <int kMost, class F>
HWY_INLINE void for_width(PanelWidth width, F&& f) {
  if (width.half) return f(Panel<Half, 1>{});
  if (width.vectors == 1) f(Panel<Whole, 1>{});
  if (width.vectors == 2) f(Panel<Whole, 2>{});
  if constexpr (kMost > 2) {
    if (width.vectors == 3) f(Panel<Whole, 3>{});
  }
}

/// Vectors side by side. (Not an array, which GCC would leave in memory.)
template <class D, int kCount>
struct Vectors {
  static constexpr std::size_t kMost = kCount * hn::MaxLanes(D());

  static HWY_INLINE Vectors zero() { return {hn::Zero(D()), Vectors<D, kCount - 1>::zero()}; }
  static HWY_INLINE Vectors load(const float* from) {
    return {hn::LoadU(D(), from), Vectors<D, kCount - 1>::load(from + lanes<D>())};
  }
  /// `columns` floats that need not be followed by others, and zeros.
  static HWY_INLINE Vectors load(const float* from, std::int64_t columns) {
    if (columns == kCount * lanes<D>()) return load(from);
    HWY_ALIGN float padded[kMost] = {};
    std::copy_n(from, std::min(columns, kCount * lanes<D>()), padded);
    return load(padded);
  }
  /// The same row of neighbouring panels of two vectors, `stride` floats apart.
  static HWY_INLINE Vectors load_pairs(const float* panel, std::int64_t stride) {
    constexpr bool kOfNext = kCount % 2 == 1;  // the second vector of a pair is loaded now
    return {hn::LoadU(D(), panel + (kOfNext ? lanes<D>() : 0)),
            Vectors<D, kCount - 1>::load_pairs(panel + (kOfNext ? stride : 0), stride)};
  }
  HWY_INLINE void store(float* to) const {
    hn::StoreU(first, D(), to);
    rest.store(to + lanes<D>());
  }
  HWY_INLINE void stream(float* to) const {
    hn::Stream(first, D(), to);
    rest.stream(to + lanes<D>());
  }
  HWY_INLINE void store(float* to, std::int64_t columns) const {
    if (columns == kCount * lanes<D>()) return store(to);
    HWY_ALIGN float padded[kMost];
    store(padded);
    std::copy_n(padded, std::min(columns, kCount * lanes<D>()), to);
  }
  HWY_INLINE void add(hn::Vec<D> x, const Vectors& b) {
    first = hn::MulAdd(x, b.first, first);
    rest.add(x, b.rest);
  }
  HWY_INLINE void add(const Vectors& b) {
    first = hn::Add(first, b.first);
    rest.add(b.rest);
  }
  /// x < 0 ? 0 : x, so NaN stays.
  HWY_INLINE void rectify() {
    first = hn::IfThenZeroElse(hn::Lt(first, hn::Zero(D())), first);
    rest.rectify();
  }

  hn::Vec<D> first;
  Vectors<D, kCount - 1> rest;
};

template <class D>
struct Vectors<D, 0> {
  static HWY_INLINE Vectors zero() { return {}; }
  static HWY_INLINE Vectors load(const float*) { return {}; }
  static HWY_INLINE Vectors load_pairs(const float*, std::int64_t) { return {}; }
  HWY_INLINE void store(float*) const {}
  HWY_INLINE void stream(float*) const {}
  HWY_INLINE void add(hn::Vec<D>, const Vectors&) {}
  HWY_INLINE void add(const Vectors&) {}
  HWY_INLINE void rectify() {}
};

/// The sums of a tile. `places` tell where its rows lie: at(i), and whether there is one: has(i).
template <int kRows, class D, int kVectors>
struct Sums {
  using Row = Vectors<D, kVectors>;
  using Rest = Sums<kRows - 1, D, kVectors>;

  static HWY_INLINE Sums filled(const Row& row) { return {Rest::filled(row), row}; }
  /// Row i is make(i).
  template <class Make>
  static HWY_INLINE Sums made(Make make) {
    return {Rest::made(make), make(kRows - 1)};
  }
  /// Calls f(i, row).
  template <class F>
  HWY_INLINE void each(F f) const {
    rest.each(f);
    f(kRows - 1, last);
  }
  static HWY_INLINE Sums load(const float* const* from) {
    return {Rest::load(from), Row::load(from[kRows - 1])};
  }
  HWY_INLINE void store(float* const* to) const {
    rest.store(to);
    last.store(to[kRows - 1]);
  }
  HWY_INLINE void stream(float* const* to) const {
    rest.stream(to);
    last.stream(to[kRows - 1]);
  }
  HWY_INLINE void add(const float* const* from) {
    rest.add(from);
    last.add(Row::load(from[kRows - 1]));
  }
  HWY_INLINE void rectify() {
    rest.rectify();
    last.rectify();
  }
  template <class Places>
  static HWY_INLINE Sums load(const Places& places, std::int64_t columns) {
    return {Rest::load(places, columns), Row::load(places.at(kRows - 1), columns)};
  }
  template <class Places>
  HWY_INLINE void store(const Places& places, std::int64_t columns) const {
    rest.store(places, columns);
    if (places.has(kRows - 1)) last.store(places.at(kRows - 1), columns);
  }
  /// One term: a(i, term) times the row of the panel is added to row i.
  template <class A>
  HWY_INLINE void add(const A& a, std::int64_t term, const Row& b) {
    rest.add(a, term, b);
    last.add(a.template factor<D>(kRows - 1, term), b);
  }

  Rest rest;
  Row last;
};

template <class D, int kVectors>
struct Sums<0, D, kVectors> {
  using Row = Vectors<D, kVectors>;

  static HWY_INLINE Sums filled(const Row&) { return {}; }
  template <class Make>
  static HWY_INLINE Sums made(Make) {
    return {};
  }
  template <class F>
  HWY_INLINE void each(F) const {}
  static HWY_INLINE Sums load(const float* const*) { return {}; }
  HWY_INLINE void store(float* const*) const {}
  HWY_INLINE void stream(float* const*) const {}
  HWY_INLINE void add(const float* const*) {}
  HWY_INLINE void rectify() {}
  template <class Places>
  static HWY_INLINE Sums load(const Places&, std::int64_t) {
    return {};
  }
  template <class Places>
  HWY_INLINE void store(const Places&, std::int64_t) const {}
  template <class A>
  HWY_INLINE void add(const A&, std::int64_t, const Row&) {}
};

HWY_INLINE void copy_vectors(const float* from, int vectors, float* to) {
  for (int v = 0; v < vectors; ++v) {
    hn::StoreU(hn::LoadU(kFloats, from + v * lanes()), kFloats, to + v * lanes());
  }
}

HWY_INLINE void copy_panel_row(const float* from, PanelWidth panel, float* to) {
  if (panel.half) return hn::StoreU(hn::LoadU(Half(), from), Half(), to);
  copy_vectors(from, panel.vectors, to);
}

}  // namespace HWY_NAMESPACE
}  // namespace linnet::cpu
HWY_AFTER_NAMESPACE();

#endif
