// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set by Highway; the best one is taken at run time.
#include "backend/cpu/vector_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/products/panel_product_hwy.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "backend/cpu/products/panel_product.h"
#include "backend/cpu/products/panel_vectors_hwy.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::cpu {
namespace HWY_NAMESPACE {

/// Terms that are summed at once. Their rows of a panel come from the L2 cache with vectors of 16
/// lanes, which is fast enough: loading and storing sums more often costs more. Else from L1.
constexpr std::int64_t kBlockTerms = HWY_TARGET <= HWY_AVX3 ? 1024 : 384;

/// A smaller panel is not worth fetching before its time.
constexpr std::int64_t kFetchedFloats = 4096;

/// Rows from `first` on of `rows`, whose addresses stand in a list. After the last one it is
/// read again, and not written.
struct ListedPlaces {
  HWY_INLINE std::int64_t row(int i) const { return std::min(first + i, rows - 1); }
  HWY_INLINE float* at(int i) const { return list[row(i)] + offset; }
  HWY_INLINE bool has(int i) const { return first + i < rows; }
  float* const* list;
  std::int64_t first, rows, offset;
};

template <int kRows>
struct RowAddresses {
  template <class D>
  HWY_INLINE hn::Vec<D> factor(int row, std::int64_t term) const {
    return hn::Set(D(), rows[row][term]);
  }
  const float* rows[kRows];
};

/// Two neighbouring terms of a row, in turns.
template <int kRows>
struct PairAddresses {
  template <class D>
  HWY_INLINE hn::Vec<D> factor(int row, std::int64_t term) const {
    using Pairs = hn::RepartitionToWide<D>;
    double pair;  // of two floats
    std::memcpy(&pair, rows[row] + term, sizeof pair);
    return hn::BitCast(D(), hn::Set(Pairs(), pair));
  }
  const float* rows[kRows];
};

/// A term that has no neighbour, and zeros.
template <int kRows>
struct LastTerm {
  template <class D>
  HWY_INLINE hn::Vec<D> factor(int row, std::int64_t term) const {
    return hn::OddEven(hn::Zero(D()), hn::Set(D(), rows[row][term]));
  }
  const float* rows[kRows];
};

/// A block of terms: parts of segments, begun `offset` floats into a row.
struct TermBlock {
  std::int64_t offset;
  std::int64_t panel_row;
  std::int64_t segments;
  std::int64_t length;
  std::int64_t terms() const { return segments * length; }
};

/// Whole segments as far as they fit, else a part of one.
HWY_INLINE TermBlock next_block(const SegmentedRows& a, const Panels& b, std::int64_t begin) {
  const std::int64_t segment = begin / a.length;
  const std::int64_t inside = begin % a.length;
  const std::int64_t panel_row = b.first + segment * b.stride + inside;
  if (a.length > kBlockTerms) {
    const std::int64_t parts = (a.length + kBlockTerms - 1) / kBlockTerms;
    const std::int64_t part = (a.length + parts - 1) / parts;
    return {segment * a.stride + inside, panel_row, 1, std::min(part, a.length - inside)};
  }
  return {segment * a.stride, panel_row, std::min(a.segments - segment, kBlockTerms / a.length),
          a.length};
}

/// What is fetched while a tile is summed: rows `rows` floats after its own, if not 0, and with
/// each of the next `panel_rows` rows of its panel the one `panel` floats after it.
struct Ahead {
  std::int64_t rows = 0;
  std::int64_t panel = 0;
  std::int64_t panel_rows = 0;
};

/// Adds terms [begin, end) of kRows rows and of the panel at `b`; returns where that ends.
template <bool kFetch, int kRows, class D, int kVectors>
HWY_INLINE const float* add_terms(Sums<kRows, D, kVectors>& sums, const RowAddresses<kRows>& from,
                                  std::int64_t begin, std::int64_t end, Ahead& ahead,
                                  const float* b) {
  using Row = Vectors<D, kVectors>;
  constexpr std::int64_t kMostLines = (kVectors * hn::MaxLanes(D()) + kLine - 1) / kLine;
  const std::int64_t width = kVectors * lanes<D>();
  std::int64_t t = begin;
  if constexpr (kFetch) {
    const std::int64_t fetching = std::min(begin + ahead.panel_rows, end);
    ahead.panel_rows -= fetching - begin;
    for (; t < fetching; ++t, b += width) {
      for (std::int64_t i = 0; i < kMostLines; ++i) hwy::Prefetch(b + ahead.panel + i * kLine);
      sums.add(from, t, Row::load(b));
    }
  }
  for (; t < end; ++t, b += width) sums.add(from, t, Row::load(b));
  return b;
}

/// Adds `length` terms; fetches the panel that follows if kFetch.
template <bool kFetch, int kRows, class D, int kVectors>
HWY_INLINE const float* add_segment(Sums<kRows, D, kVectors>& sums, const RowAddresses<kRows>& from,
                                    std::int64_t length, Ahead& ahead, const float* b) {
  std::int64_t t = 0;
  if (ahead.rows != 0) {
    for (; t + kLine <= length; t += kLine) {
      for (const float* row : from.rows) hwy::Prefetch(row + t + ahead.rows);
      b = add_terms<kFetch>(sums, from, t, t + kLine, ahead, b);
    }
  }
  return add_terms<kFetch>(sums, from, t, length, ahead, b);
}

/// Calls f with a height in (kMost / 2, kMost] that is known when compiling, and is `height` or
/// the next above it.
template <int kMost, class F, int kHeight = kMost>
HWY_INLINE void for_height(std::int64_t height, F&& f) {
  if constexpr (kHeight > kMost / 2 + 1) {
    if (height < kHeight) return for_height<kMost, F, kHeight - 1>(height, std::forward<F>(f));
  }
  f(std::integral_constant<int, kHeight>());
}

/// A panel and a block of terms for all rows.
struct PanelCall {
  const SegmentedRows& a;
  TermBlock block;
  std::int64_t rows;
  const float* panel = nullptr;
  const float* next = nullptr;  ///< the panel that follows
  std::int64_t skipped;         ///< rows of the panel that lie between two segments
  std::int64_t columns = 0;
  const float* start;
  float* const* c;
  std::int64_t c_offset = 0;  ///< the panel's first column
  bool first, last;           ///< of the blocks of terms
  const PanelTail& tail;
};

/// Fetches a row that the next tile writes, while this one is summed. (Inlined: GCC drops calls of
/// functions that only fetch.)
HWY_INLINE void fetch_to_write(const float* row, std::int64_t columns) {
  for (std::int64_t j = 0; j < columns; j += kLine) __builtin_prefetch(row + j, 1);
}

/// Where the rows of a tile are read and written: where they lie, or in `parts` where they are not
/// `width` columns, or after the last row. (One function for all heights, for its size.)
template <int kMostRows, std::size_t kMostWidth>
struct TileRows {
  HWY_NOINLINE void find(const PanelCall& call, std::int64_t first, int height,
                         std::int64_t width) {
    const ListedPlaces places{call.c, first, call.rows, call.c_offset};
    const bool whole = call.columns == width;
    const bool fetches = call.first && call.tail.distant;
    for (int i = 0; i < height; ++i) {
      float* at = places.at(i);
      if (fetches && places.has(i + height)) fetch_to_write(places.at(i + height), call.columns);
      sums[i] = at;
      if (!whole || !places.has(i)) {
        sums[i] = parts[0] + i * width;
        if (!call.first) copy_part(at, call.columns, sums[i], width);
      }
      if (!call.last || call.tail.residual == nullptr) continue;
      residual[i] = call.tail.residual + (at - call.tail.of);
      for (std::int64_t j = 0; j < call.columns; j += kLine) hwy::Prefetch(residual[i] + j);
    }
  }
  /// Before the residual of rows that are not whole is added.
  HWY_NOINLINE void fill_residual(const PanelCall& call, int height, std::int64_t width) {
    for (int i = 0; i < height; ++i) {
      float* part = parts[1] + i * width;
      copy_part(residual[i], call.columns, part, width);
      residual[i] = part;
    }
  }
  /// Writes rows that are not whole.
  HWY_NOINLINE void write(const PanelCall& call, std::int64_t first, int height,
                          std::int64_t width) const {
    const ListedPlaces places{call.c, first, call.rows, call.c_offset};
    for (int i = 0; i < height && places.has(i); ++i) {
      std::copy_n(parts[0] + i * width, call.columns, places.at(i));
    }
  }

  static void copy_part(const float* from, std::int64_t columns, float* to, std::int64_t width) {
    std::fill(std::copy_n(from, columns, to), to + width, 0.0F);
  }

  float* sums[kMostRows];
  const float* residual[kMostRows];
  HWY_ALIGN float parts[2][kMostRows * kMostWidth];
};

template <class Kind>
struct PanelPass {
  using D = typename Kind::Tag;
  static constexpr int kVectors = Kind::kVectors;

  void operator()(const PanelCall& call) const {
    constexpr int kMost = rows_of(kVectors);
    const std::int64_t tiles = (call.rows + kMost - 1) / kMost;
    for_height<kMost>((call.rows + tiles - 1) / tiles,
                      [&](auto height) HWY_ATTR { run<decltype(height)::value>(call); });
  }

 private:
  using Row = Vectors<D, kVectors>;

  template <int kRows>
  static HWY_INLINE void run(const PanelCall& call) {
    const SegmentedRows& a = call.a;
    const std::int64_t width = kVectors * lanes<D>();
    const bool whole = call.columns == width;
    const bool fetch = call.block.terms() * width >= kFetchedFloats;
    const std::int64_t tiles = (call.rows + kRows - 1) / kRows;
    const std::int64_t share = (call.block.terms() + tiles - 1) / tiles;
    Ahead ahead{.panel = call.next - call.panel};
    const Row begun =
        call.start == nullptr ? Row::zero() : Row::load(call.start + call.c_offset, call.columns);
    TileRows<rows_of(kVectors), Row::kMost> tile;
    for (std::int64_t i0 = 0; i0 < call.rows; i0 += kRows) {
      tile.find(call, i0, kRows, width);
      auto sums = Sums<kRows, D, kVectors>::filled(begun);
      if (!call.first) sums = Sums<kRows, D, kVectors>::load(tile.sums);
      RowAddresses<kRows> from;
      for (int i = 0; i < kRows; ++i) {
        from.rows[i] = a.rows[std::min(i0 + i, call.rows - 1)] + call.block.offset;
      }
      const float* b = call.panel;
      ahead.rows =
          call.c_offset == 0 ? a.rows[std::min(i0 + kRows, call.rows - 1)] - a.rows[i0] : 0;
      ahead.panel_rows = share;
      for (std::int64_t s = 0; s < call.block.segments; ++s) {
        b = fetch ? add_segment<true>(sums, from, call.block.length, ahead, b)
                  : add_segment<false>(sums, from, call.block.length, ahead, b);
        for (auto& address : from.rows) address += a.stride;
        b += call.skipped * width;
      }
      ahead.panel += share * width;
      if (call.last && call.tail.residual != nullptr) {
        if (!whole) tile.fill_residual(call, kRows, width);
        sums.add(tile.residual);
      }
      if (call.last && call.tail.relu) sums.rectify();
      if (call.last && call.tail.streams && whole) {
        sums.stream(tile.sums);
      } else {
        sums.store(tile.sums);
      }
      if (!whole) tile.write(call, i0, kRows, width);
    }
  }
};

#if HWY_TARGET <= HWY_AVX3
/// A panel of half a vector, whose rows are taken two by two: lane 2 j sums the first terms of each
/// pair for column j, lane 2 j + 1 the second ones, and the two are added at the end.
template <>
struct PanelPass<Panel<Half, 1>> {
  using Row = Vectors<Whole, 1>;
  static constexpr int kRows = rows_of(1);

  /// Lanes 0, 8, 1, 9, ...: the two rows of the panel in turns.
  static HWY_INLINE Row in_turns(hn::Vec<Whole> rows) {
    HWY_ALIGN static constexpr std::int32_t kOrder[16] = {0, 8,  1, 9,  2, 10, 3, 11,
                                                          4, 12, 5, 13, 6, 14, 7, 15};
    return {hn::TableLookupLanes(rows, hn::SetTableIndices(Whole(), kOrder)), {}};
  }
  static HWY_INLINE Row with_zeros(hn::Vec<Half> row) {
    return in_turns(hn::ZeroExtendVector(Whole(), row));
  }
  static HWY_INLINE Row begun(const float* from, std::int64_t columns) {
    return with_zeros(Vectors<Half, 1>::load(from, columns).first);
  }

  template <class Sums>
  static HWY_INLINE void add_terms(Sums& sums, PairAddresses<kRows>& from, std::int64_t length,
                                   const float* b) {
    std::int64_t t = 0;
    for (; t + 2 <= length; t += 2, b += 2 * lanes<Half>()) {
      sums.add(from, t, in_turns(hn::LoadU(Whole(), b)));
    }
    if (t == length) return;
    LastTerm<kRows> last;
    std::copy_n(from.rows, kRows, last.rows);
    sums.add(last, t, with_zeros(hn::LoadU(Half(), b)));
  }

  void operator()(const PanelCall& call) const {
    const std::int64_t columns = call.columns;
    const Row filled =
        call.start == nullptr ? Row::zero() : begun(call.start + call.c_offset, columns);
    for (std::int64_t i0 = 0; i0 < call.rows; i0 += kRows) {
      const ListedPlaces places{call.c, i0, call.rows, call.c_offset};
      auto sums = Sums<kRows, Whole, 1>::filled(filled);
      if (!call.first) {
        sums = Sums<kRows, Whole, 1>::made([&](int i)
                                               HWY_ATTR { return begun(places.at(i), columns); });
      }
      PairAddresses<kRows> from;
      for (int i = 0; i < kRows; ++i) {
        from.rows[i] = call.a.rows[places.row(i)] + call.block.offset;
      }
      const float* b = call.panel;
      for (std::int64_t s = 0; s < call.block.segments; ++s) {
        add_terms(sums, from, call.block.length, b);
        for (auto& address : from.rows) address += call.a.stride;
        b += (call.block.length + call.skipped) * lanes<Half>();
      }
      sums.each([&](int i, const Row& row) HWY_ATTR {
        if (!places.has(i)) return;
        const auto both = hn::Add(row.first, hn::Shuffle2301(row.first));
        const auto ends = hn::LowerHalf(Half(), hn::ConcatEven(Whole(), both, both));
        store({ends, {}}, places.at(i), call);
      });
    }
  }

  static HWY_INLINE void store(Vectors<Half, 1> row, float* to, const PanelCall& call) {
    if (call.last) {
      const PanelTail& tail = call.tail;
      if (tail.residual != nullptr) {
        row.add(Vectors<Half, 1>::load(tail.residual + (to - tail.of), call.columns));
      }
      if (tail.relu) row.rectify();
    }
    row.store(to, call.columns);
  }
};
#endif

/// Few rows meet several neighbouring panels at once: sums enough to hide the latency of one, and
/// no row is computed again to fill a tile. The tail is that of plain sums.
constexpr std::int64_t kFewRows = rows_of(2) / 3;

template <int kRows>
struct FewRowsPass {
  static constexpr int kMost = std::min(4, (kSums - 4) / 2 / kRows);  ///< panels at once

  /// `panels` whole ones of two vectors, `stride` floats apart.
  static void run(const PanelCall& call, std::int64_t panels, std::int64_t stride) {
    std::int64_t i = 0;
    for (; i + kMost <= panels; i += kMost) add<kMost>(call, i, stride);
    for (; i < panels; ++i) add<1>(call, i, stride);
  }

 private:
  template <int kPanels>
  static HWY_INLINE void add(const PanelCall& call, std::int64_t first, std::int64_t stride) {
    using Row = Vectors<Whole, 2 * kPanels>;
    using Tile = Sums<kRows, Whole, 2 * kPanels>;
    const std::int64_t width = 2 * lanes();
    const std::int64_t column = call.c_offset + first * width;
    RowAddresses<kRows> from;
    float* to[kRows];
    for (int i = 0; i < kRows; ++i) {
      from.rows[i] = call.a.rows[i] + call.block.offset;
      to[i] = call.c[i] + column;
    }
    auto sums = call.first ? Tile::filled(call.start == nullptr ? Row::zero()
                                                                : Row::load(call.start + column))
                           : Tile::load(to);
    const float* b = call.panel + first * stride;
    for (std::int64_t s = 0; s < call.block.segments; ++s) {
      for (std::int64_t t = 0; t < call.block.length; ++t, b += width) {
        sums.add(from, t, Row::load_pairs(b, stride));
      }
      for (auto& address : from.rows) address += call.a.stride;
      b += call.skipped * width;
    }
    sums.store(to);
  }
};

/// Calls f(FewRowsPass) for `rows` of at most kFewRows.
template <int kRows = kFewRows, class F>
HWY_INLINE void for_few_rows(std::int64_t rows, F&& f) {
  if constexpr (kRows > 1) {
    if (rows < kRows) return for_few_rows<kRows - 1>(rows, std::forward<F>(f));
  }
  f(FewRowsPass<kRows>());
}

void PanelProduct(const SegmentedRows& a, std::int64_t rows, const Panels& b, std::int64_t columns,
                  const float* start, float* const* c, const PanelTail& tail) {
  const std::int64_t terms = a.segments * a.length;
  std::int64_t term = 0;
  do {
    const TermBlock block = next_block(a, b, term);
    const bool first = term == 0;
    term += block.terms();
    PanelWidths widths(columns);
    PanelCall call{.a = a,
                   .block = block,
                   .rows = rows,
                   .skipped = b.stride - a.length,
                   .start = start,
                   .c = c,
                   .first = first,
                   .last = term >= terms,
                   .tail = tail};
    std::int64_t column = 0;
    if (rows <= kFewRows && tail.residual == nullptr && !tail.relu) {
      const std::int64_t width = 2 * lanes();
      const std::int64_t panels = widths.next_pairs(columns / width);
      call.panel = b.data + block.panel_row * width;
      for_few_rows(rows, [&](auto pass) HWY_ATTR { pass.run(call, panels, b.terms * width); });
      column = panels * width;
    }
    while (const PanelWidth width = widths.next()) {
      const float* panel = b.data + column * b.terms + block.panel_row * width.columns();
      const std::int64_t used = std::min(width.columns(), columns - column);
      const std::int64_t end = column + width.columns();
      // The panel after this one, or of the next block of terms, or what lies after all of them.
      const float* next = panel + b.terms * width.columns();
      if (end >= columns) {
        next = term < terms ? b.data + (block.panel_row + block.terms()) * width.columns()
                            : b.data + end * b.terms;
      }
      call.panel = panel;
      call.next = next;
      call.columns = used;
      call.c_offset = column;
      for_width<3>(width, [&](auto kind) { PanelPass<decltype(kind)>()(call); });
      column = end;
    }
  } while (term < terms);
  if (tail.streams) hwy::FlushStream();
}

}  // namespace HWY_NAMESPACE
}  // namespace linnet::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet::cpu {

HWY_EXPORT(PanelProduct);

void panel_product(const SegmentedRows& a, std::int64_t rows, const Panels& b, std::int64_t columns,
                   const float* start, float* const* c, const PanelTail& tail) {
  HWY_DYNAMIC_DISPATCH(PanelProduct)(a, rows, b, columns, start, c, tail);
}

}  // namespace linnet::cpu
#endif
