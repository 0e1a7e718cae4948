// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set by Highway; the best one is taken at run time.
#include "backend/cpu/vector_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/recurrent/recurrent_hwy.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "backend/cpu/elements_hwy.h"
#include "backend/cpu/vector_math_hwy.h"
#include "ops/recurrent/recurrent_cpu.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<float>;
using V = hn::Vec<Tag>;

constexpr int kRows = 4;     // of a tile: with three vectors and one factor they fill 16 registers
constexpr int kVectors = 3;  // of a panel, at most
/// Rows of a tile where there are 32 registers.
constexpr int kMostRows = HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64 ? 8 : kRows;

HWY_INLINE std::int64_t lanes() { return static_cast<std::int64_t>(hn::Lanes(Tag())); }
HWY_INLINE V set(float x) { return hn::Set(Tag(), x); }

/// Calls f(first column, vectors) for the panels of `columns`. (A single vector has too few sums to
/// keep the processor busy.)
template <class F>
HWY_INLINE void for_panels(std::int64_t columns, F f) {
  const std::int64_t all = (columns + lanes() - 1) / lanes();
  for (std::int64_t v = 0; v < all;) {
    const std::int64_t vectors =
        all - v == kVectors + 1 ? 2 : std::min<std::int64_t>(kVectors, all - v);
    f(v * lanes(), vectors);
    v += vectors;
  }
}

void Pack(const float* w, std::int64_t along, std::int64_t across, const WeightPanels& panels,
          ColumnGroups groups) {
  float* to = panels.data;
  for_panels(panels.columns, [&](std::int64_t first, std::int64_t vectors) {
    const std::int64_t width = vectors * lanes();
    for (std::int64_t c = 0; c < width; ++c) {
      const std::int64_t column = first + c;
      const float* from = w + (column / groups.size * groups.apart + column % groups.size) * across;
      const bool used = column < panels.columns;
      for (std::int64_t k = 0; k < panels.terms; ++k) {
        to[k * width + c] = used ? from[k * along] : 0.0F;
      }
    }
    to += panels.terms * width;
  });
}

/// Terms of a tile: `outer` groups of `inner` terms, a row of the right operand each.
struct Terms {
  std::int64_t outer;
  std::int64_t inner;
  std::int64_t a_outer, a_inner;  ///< floats from one to the next in the left operand
  std::int64_t b_outer, b_inner;  ///< in the right one
};

/// Computes c = a b, or c += a b, of a few rows: a's are `a_row` floats apart, c's `c_row`. The
/// last vector of c has `last` columns; that of b, too, if kCut.
template <int kTileRows, int kTileVectors, bool kCut>
HWY_INLINE void tile(const Terms terms, const float* a, std::int64_t a_row, const float* b,
                     float* c, std::int64_t c_row, std::int64_t last, bool add) {
  const Tag d;
  V sums[kTileRows][kTileVectors];
  for (int r = 0; r < kTileRows; ++r) {
    for (int v = 0; v < kTileVectors; ++v) {
      const float* at = c + r * c_row + v * lanes();
      sums[r][v] = !add                   ? hn::Zero(d)
                   : v + 1 < kTileVectors ? hn::LoadU(d, at)
                                          : load_first(d, at, last);
    }
  }
  for (std::int64_t o = 0; o < terms.outer; ++o) {
    const float* factors = a + o * terms.a_outer;
    const float* row = b + o * terms.b_outer;
    for (std::int64_t i = 0; i < terms.inner; ++i) {
      V values[kTileVectors];
      for (int v = 0; v < kTileVectors; ++v) {
        values[v] = kCut && v + 1 == kTileVectors ? load_first(d, row + v * lanes(), last)
                                                  : hn::LoadU(d, row + v * lanes());
      }
      for (int r = 0; r < kTileRows; ++r) {
        const V factor = set(factors[r * a_row]);
        for (int v = 0; v < kTileVectors; ++v) {
          sums[r][v] = hn::MulAdd(factor, values[v], sums[r][v]);
        }
      }
      factors += terms.a_inner;
      row += terms.b_inner;
    }
  }
  for (int r = 0; r < kTileRows; ++r) {
    for (int v = 0; v < kTileVectors; ++v) {
      float* at = c + r * c_row + v * lanes();
      if (v + 1 < kTileVectors) {
        hn::StoreU(sums[r][v], d, at);
      } else {
        store_first(sums[r][v], d, at, last);
      }
    }
  }
}

/// The same of any number of rows.
template <int kTileVectors, bool kCut>
void tiles(std::int64_t rows, const Terms& terms, const float* a, std::int64_t a_row,
           const float* b, float* c, std::int64_t c_row, std::int64_t last, bool add) {
  std::int64_t r = 0;
  for (; r + kMostRows <= rows; r += kMostRows) {
    tile<kMostRows, kTileVectors, kCut>(terms, a + r * a_row, a_row, b, c + r * c_row, c_row, last,
                                        add);
  }
  for (; r + kRows <= rows; r += kRows) {
    tile<kRows, kTileVectors, kCut>(terms, a + r * a_row, a_row, b, c + r * c_row, c_row, last,
                                    add);
  }
  a += r * a_row;
  c += r * c_row;
  if (rows - r == 3) tile<3, kTileVectors, kCut>(terms, a, a_row, b, c, c_row, last, add);
  if (rows - r == 2) tile<2, kTileVectors, kCut>(terms, a, a_row, b, c, c_row, last, add);
  if (rows - r == 1) tile<1, kTileVectors, kCut>(terms, a, a_row, b, c, c_row, last, add);
}

/// Columns from `first` on in `vectors` vectors: of the last one, those that there are.
HWY_INLINE std::int64_t columns_of_last(std::int64_t columns, std::int64_t first,
                                        std::int64_t vectors) {
  return std::min(lanes(), columns - first - (vectors - 1) * lanes());
}

void Multiply(StepRows of, StepPlaces<const float> a, const WeightPanels& panels,
              StepPlaces<float> out, bool add) {
  if (of.steps == 1) {  // one row of each sample: the samples are the rows
    of = {1, of.samples};
    a = {a.data, 0, a.sample};
    out = {out.data, 0, out.sample};
  }
  const float* panel = panels.data;
  for_panels(panels.columns, [&](std::int64_t first, std::int64_t vectors) {
    const auto run = vectors == 3   ? tiles<3, false>
                     : vectors == 2 ? tiles<2, false>
                                    : tiles<1, false>;
    const Terms terms{1, panels.terms, 0, 1, 0, vectors * lanes()};
    const std::int64_t last = columns_of_last(panels.columns, first, vectors);
    for (std::int64_t i = 0; i < of.samples; ++i) {
      run(of.steps, terms, a.data + i * a.sample, a.step, panel, out.data + i * out.sample + first,
          out.step, last, add);
    }
    panel += panels.terms * vectors * lanes();
  });
}

void AddRowSums(StepRows of, StepPlaces<const float> a, std::int64_t a_columns,
                StepPlaces<const float> b, std::int64_t b_columns, float* c) {
  const Terms terms{of.samples, of.steps, a.sample, a.step, b.sample, b.step};
  for_panels(b_columns, [&](std::int64_t first, std::int64_t vectors) {
    const std::int64_t last = columns_of_last(b_columns, first, vectors);
    const bool cut = last < lanes();
    const auto run = vectors == 3   ? (cut ? tiles<3, true> : tiles<3, false>)
                     : vectors == 2 ? (cut ? tiles<2, true> : tiles<2, false>)
                                    : tiles<1, true>;
    run(a_columns, terms, a.data, 1, b.data + first, c + first, b_columns, last, true);
  });
}

HWY_INLINE V logistic(V x) { return vm::logistic(Tag(), x); }
HWY_INLINE V tanh(V x) { return vm::tanh(Tag(), x); }

/// x (1 - x), the logistic function's slope
HWY_INLINE V slope(V x) { return hn::NegMulAdd(x, x, x); }
/// 1 - x², tanh's
HWY_INLINE V tanh_slope(V x) { return hn::NegMulAdd(x, x, set(1.0F)); }

template <Cell kCell>
HWY_INLINE void forward(const ForwardStep& s) {
  const std::int64_t u = s.units;
  const std::int64_t width = padded(u);
  for_row_vectors(s.rows, u, [&](auto at, std::int64_t row, std::int64_t j) {
    const float* from = s.input + row * s.input_stride + j;
    float* saved = s.saved + row * s.saved_stride + j;
    const float* sums = s.sums + row * s.sums_stride + j;
    const float* bias = s.bias + j;
    float* h = s.h + row * width + j;
    const auto input = [&](std::int64_t gate) {
      return hn::Add(at.load(from + gate * s.input_gate), at.load(bias + gate * u));
    };
    const auto save = [&](std::int64_t part, V value) {
      at.store(value, saved + part * s.saved_gate);
    };
    const auto sum = [&](std::int64_t gate) {
      return hn::Add(input(gate), at.load(sums + gate * u));
    };
    const V before = at.load(h);
    V state = before;
    if constexpr (kCell == Cell::tanh || kCell == Cell::relu) {
      const V x = sum(0);
      state = kCell == Cell::tanh ? tanh(x) : hn::IfThenElse(hn::Lt(x, set(0)), set(0), x);
      save(0, state);
      save(1, before);
    } else if constexpr (kCell == Cell::gru || kCell == Cell::gru_original) {
      V z;
      V n;
      if constexpr (kCell == Cell::gru) {
        const V r = logistic(sum(0));
        z = logistic(sum(1));
        const V c = hn::Add(at.load(sums + 2 * u), at.load(bias + 3 * u));
        n = tanh(hn::MulAdd(r, c, input(2)));
        save(0, r);
        save(1, z);
        save(3, c);
      } else {
        z = at.load(saved + s.saved_gate);
        n = tanh(sum(2));
        save(3, at.load(s.rh + row * width + j));
      }
      state = hn::MulAdd(z, hn::Sub(before, n), n);
      save(2, n);
      save(4, before);
    } else {
      float* m = s.m + row * width + j;
      const V i = logistic(sum(0));
      const V f = logistic(sum(1));
      const V g = tanh(sum(2));
      const V o = logistic(sum(3));
      const V memory = hn::MulAdd(f, at.load(m), hn::Mul(i, g));
      state = hn::Mul(o, tanh(memory));
      save(0, i);
      save(1, f);
      save(2, g);
      save(3, o);
      save(4, memory);
      save(5, before);
      at.store(memory, m);
    }
    at.store(state, h);
    if (s.y != nullptr) at.store(state, s.y + row * s.y_stride + j);
  });
}

void Forward(const ForwardStep& s) {
  switch (s.cell) {
    case Cell::tanh: return forward<Cell::tanh>(s);
    case Cell::relu: return forward<Cell::relu>(s);
    case Cell::gru: return forward<Cell::gru>(s);
    case Cell::gru_original: return forward<Cell::gru_original>(s);
    case Cell::lstm: return forward<Cell::lstm>(s);
  }
}

void ForwardGates(const ForwardStep& s) {
  const std::int64_t u = s.units;
  for_row_vectors(s.rows, u, [&](auto at, std::int64_t row, std::int64_t j) {
    const float* from = s.input + row * s.input_stride + j;
    float* saved = s.saved + row * s.saved_stride + j;
    const auto gate = [&](std::int64_t k) {
      const V a = hn::Add(at.load(from + k * s.input_gate), at.load(s.bias + k * u + j));
      return logistic(hn::Add(a, at.load(s.sums + row * s.sums_stride + k * u + j)));
    };
    const V r = gate(0);
    const std::int64_t here = row * padded(u) + j;
    at.store(gate(1), saved + s.saved_gate);
    at.store(r, saved);
    at.store(hn::Mul(r, at.load(s.h + here)), s.rh + here);
  });
}

template <Cell kCell>
HWY_INLINE void backward(const BackwardStep& s) {
  const std::int64_t u = s.units;
  for_row_vectors(s.rows, u, [&](auto at, std::int64_t row, std::int64_t j) {
    const float* saved = s.saved + row * s.saved_stride + j;
    float* slopes = s.slopes + row * s.slopes_stride + j;
    for (std::int64_t part = 0; part < cell_saved(kCell); ++part) {
      hwy::Prefetch(saved + s.next_saved + part * s.gate);
    }
    float* dh = s.dh + row * padded(u) + j;
    const auto put = [&](std::int64_t part, V value) { at.store(value, slopes + part * s.gate); };
    V d = at.load(dh);
    if (s.dy != nullptr) d = hn::Add(d, at.load(s.dy + row * s.dy_stride + j));
    V direct = set(0);
    if constexpr (kCell == Cell::tanh || kCell == Cell::relu) {
      const V h = at.load(saved);
      put(0, kCell == Cell::tanh ? hn::Mul(d, tanh_slope(h))
                                 : hn::IfThenElseZero(hn::Gt(h, set(0)), d));
    } else if constexpr (kCell == Cell::gru || kCell == Cell::gru_original) {
      const V z = at.load(saved + s.gate);
      const V n = at.load(saved + 2 * s.gate);
      const V before = at.load(saved + 4 * s.gate);
      direct = hn::Mul(d, z);
      const V dz = hn::Mul(hn::Mul(d, hn::Sub(before, n)), slope(z));
      const V dn = hn::Mul(hn::Sub(d, direct), tanh_slope(n));
      if constexpr (kCell == Cell::gru) {
        const V r = at.load(saved);
        put(0, hn::Mul(dn, r));
        put(1, hn::Mul(hn::Mul(dn, at.load(saved + 3 * s.gate)), slope(r)));
        put(2, dz);
        put(3, dn);
      } else {
        put(1, dz);
        put(2, dn);
      }
    } else {
      float* dm = s.dm + row * padded(u) + j;
      const V i = at.load(saved);
      const V f = at.load(saved + s.gate);
      const V g = at.load(saved + 2 * s.gate);
      const V o = at.load(saved + 3 * s.gate);
      const V t = tanh(at.load(saved + 4 * s.gate));
      const V all = hn::MulAdd(hn::Mul(d, o), tanh_slope(t), at.load(dm));
      const V m = s.m_before == nullptr ? set(0) : at.load(s.m_before + row * s.saved_stride + j);
      put(0, hn::Mul(hn::Mul(all, g), slope(i)));
      put(1, hn::Mul(hn::Mul(all, m), slope(f)));
      put(2, hn::Mul(hn::Mul(all, i), tanh_slope(g)));
      put(3, hn::Mul(hn::Mul(d, t), slope(o)));
      at.store(hn::Mul(all, f), dm);
    }
    at.store(direct, dh);
  });
}

void Backward(const BackwardStep& s) {
  switch (s.cell) {
    case Cell::tanh: return backward<Cell::tanh>(s);
    case Cell::relu: return backward<Cell::relu>(s);
    case Cell::gru: return backward<Cell::gru>(s);
    case Cell::gru_original: return backward<Cell::gru_original>(s);
    case Cell::lstm: return backward<Cell::lstm>(s);
  }
}

void BackwardReset(const BackwardStep& s) {
  const std::int64_t u = s.units;
  for_row_vectors(s.rows, u, [&](auto at, std::int64_t row, std::int64_t j) {
    const float* saved = s.saved + row * s.saved_stride + j;
    const V r = at.load(saved);
    const V drh = at.load(s.drh + row * padded(u) + j);
    const V dr = hn::Mul(hn::Mul(drh, at.load(saved + 4 * s.gate)), slope(r));
    float* dh = s.dh + row * padded(u) + j;
    at.store(hn::MulAdd(drh, r, at.load(dh)), dh);
    at.store(dr, s.slopes + row * s.slopes_stride + j);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace linnet::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet::cpu {

HWY_EXPORT(Pack);
HWY_EXPORT(Multiply);
HWY_EXPORT(AddRowSums);
HWY_EXPORT(Forward);
HWY_EXPORT(ForwardGates);
HWY_EXPORT(Backward);
HWY_EXPORT(BackwardReset);

void pack_panels(const float* w, std::int64_t along, std::int64_t across,
                 const WeightPanels& panels, ColumnGroups groups) {
  HWY_DYNAMIC_DISPATCH(Pack)(w, along, across, panels, groups);
}

void multiply_panels(StepRows rows, StepPlaces<const float> a, const WeightPanels& panels,
                     StepPlaces<float> out, bool add) {
  HWY_DYNAMIC_DISPATCH(Multiply)(rows, a, panels, out, add);
}

void add_row_sums(StepRows rows, StepPlaces<const float> a, std::int64_t a_columns,
                  StepPlaces<const float> b, std::int64_t b_columns, float* c) {
  HWY_DYNAMIC_DISPATCH(AddRowSums)(rows, a, a_columns, b, b_columns, c);
}

void forward_step(const ForwardStep& step) { HWY_DYNAMIC_DISPATCH(Forward)(step); }
void forward_gates(const ForwardStep& step) { HWY_DYNAMIC_DISPATCH(ForwardGates)(step); }
void backward_step(const BackwardStep& step) { HWY_DYNAMIC_DISPATCH(Backward)(step); }
void backward_reset(const BackwardStep& step) { HWY_DYNAMIC_DISPATCH(BackwardReset)(step); }

}  // namespace linnet::cpu
#endif
