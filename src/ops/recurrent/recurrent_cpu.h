// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ops/recurrent/recurrent.h"

namespace linnet::cpu {

/// Rows of buffers that whole vectors are read from and written to: a multiple of the widest.
constexpr std::int64_t padded(std::int64_t floats) { return (floats + 15) / 16 * 16; }

/// A matrix (terms, columns) for multiply_panels(): its columns in panels of two or three vectors,
/// or of a single one that holds all, each panel's terms one after the other; zeros fill the last
/// vector.
struct WeightPanels {
  std::int64_t terms = 0;
  std::int64_t columns = 0;
  float* data = nullptr;  ///< room for terms * padded(columns)
  std::int64_t floats() const { return terms * padded(columns); }
};

/// Which columns of a matrix are packed: groups of `size`, whose first ones are `apart` columns
/// from each other.
struct ColumnGroups {
  std::int64_t size = 0;
  std::int64_t apart = 0;
};

/// Takes element (k, c) from w[k * along + g * across], g being the c'th column of the groups.
void pack_panels(const float* w, std::int64_t along, std::int64_t across,
                 const WeightPanels& panels, ColumnGroups groups = {1, 1});

/// Some steps of some samples.
struct StepRows {
  std::int64_t samples = 0;
  std::int64_t steps = 1;
};

/// Where the row of each of them lies.
template <class T>
struct StepPlaces {
  T* data = nullptr;
  std::int64_t sample = 0;  ///< elements from one sample to the next
  std::int64_t step = 0;
};

/// Computes out = a panels, or out += a panels: rows of a have `terms`, those of out `columns`.
/// Sums in the terms' order.
void multiply_panels(StepRows rows, StepPlaces<const float> a, const WeightPanels& panels,
                     StepPlaces<float> out, bool add);

/// Computes c[i][j] += the sum over all rows of a[i] b[j], sample by sample. Both are read where
/// they lie; c (a_columns, b_columns) is dense.
void add_row_sums(StepRows rows, StepPlaces<const float> a, std::int64_t a_columns,
                  StepPlaces<const float> b, std::int64_t b_columns, float* c);

/// Arguments of a cell's step for some samples. Every pointer stands at the first sample; rows of
/// padded(units) where no stride is named.
struct ForwardStep {
  Cell cell = Cell::gru;
  std::int64_t rows = 0;
  std::int64_t units = 0;        ///< which may be some of the layer's
  const float* input = nullptr;  ///< w_ih x
  std::int64_t input_stride = 0;
  std::int64_t input_gate = 0;  ///< floats from one gate's units to the next one's
  float* saved = nullptr;       ///< what the cell saves; may be `input`
  std::int64_t saved_stride = 0;
  std::int64_t saved_gate = 0;
  const float* sums = nullptr;  ///< w_hh h, `units` a gate
  std::int64_t sums_stride = 0;
  const float* bias = nullptr;  ///< of a + c; after it the one of GRU's c_n
  float* h = nullptr;
  float* m = nullptr;   ///< lstm
  float* rh = nullptr;  ///< gru_original: r h
  float* y = nullptr;   ///< null: nobody reads it
  std::int64_t y_stride = 0;
};
/// All of a step; for gru_original what follows the gates.
void forward_step(const ForwardStep& step);
/// gru_original: r, z and r h, from the first 2 U sums.
void forward_gates(const ForwardStep& step);

struct BackwardStep {
  Cell cell = Cell::gru;
  std::int64_t rows = 0;
  std::int64_t units = 0;  ///< which may be some of the layer's
  std::int64_t gate = 0;   ///< floats from one gate's units to the next one's, saved and slopes
  const float* saved = nullptr;
  const float* m_before = nullptr;  ///< lstm, with saved's stride; null in the first step
  std::int64_t saved_stride = 0;
  std::int64_t next_saved = 0;  ///< floats to what the next call reads, which is fetched
  const float* dy = nullptr;    ///< added to dh; null: none
  std::int64_t dy_stride = 0;
  float* dh = nullptr;         ///< becomes what reaches the state before directly
  float* dm = nullptr;         ///< lstm
  const float* drh = nullptr;  ///< gru_original, backward_reset() alone
  float* slopes = nullptr;     ///< as RecurrentShape::slopes()
  std::int64_t slopes_stride = 0;
};
/// All of a step; for gru_original all but r.
void backward_step(const BackwardStep& step);
/// gru_original: r's slopes and dh's part through r h.
void backward_reset(const BackwardStep& step);

}  // namespace linnet::cpu
