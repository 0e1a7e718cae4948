// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "backend/cpu/kernel.h"
#include "backend/cpu/pieces.h"
#include "ops/recurrent/recurrent_cpu.h"

namespace linnet::cpu {

/// The operands that ForwardWeights packs.
inline std::vector<std::size_t> weight_operands(bool bias) {
  using In = RecurrentOp::In;
  if (!bias) return {In::w_ih, In::w_hh};
  return {In::w_ih, In::w_hh, In::b_ih, In::b_hh};
}

/// The packed weights of some units, all of their gates: what a task of a forward kernel reads.
/// gru_original's are those of all units.
struct ForwardWeights {
  ForwardWeights(const RecurrentShape& s, Range units, Pieces& memory) : of(s), units(units) {
    const std::int64_t columns = cell_gates(s.cell) * units.size();
    const bool original = s.cell == Cell::gru_original;
    input = {s.features, columns};
    input.data = memory.take(input.floats());
    first = {s.units, original ? 2 * units.size() : columns};
    first.data = memory.take(first.floats());
    candidate = {s.units, original ? units.size() : 0};
    candidate.data = memory.take(candidate.floats());
    bias = memory.take(columns + units.size());
  }

  void pack_input(const Args& args) const {
    pack_panels(args.in(RecurrentOp::In::w_ih) + units.begin * of.features, 1, of.features, input,
                groups());
  }

  void pack_state(const Args& args, bool has_bias) const {
    const float* w_hh = args.in(RecurrentOp::In::w_hh) + units.begin * of.units;
    pack_panels(w_hh, 1, of.units, first, groups());
    pack_panels(w_hh + 2 * of.units * of.units, 1, of.units, candidate, groups());
    std::fill_n(bias, input.columns + units.size(), 0.0F);
    if (!has_bias) return;
    const float* b_ih = args.in(RecurrentOp::In::b_ih) + units.begin;
    const float* b_hh = args.in(RecurrentOp::In::b_hh) + units.begin;
    for (std::int64_t c = 0; c < input.columns; ++c) {
      const std::int64_t from = c / units.size() * of.units + c % units.size();
      const bool apart = of.cell == Cell::gru && c >= 2 * units.size();
      bias[c] = b_ih[from] + (apart ? 0.0F : b_hh[from]);
      if (apart) bias[c + units.size()] = b_hh[from];
    }
  }

  RecurrentShape of;
  Range units;
  WeightPanels input;      ///< w_ihᵀ
  WeightPanels first;      ///< w_hhᵀ; of gru_original the gates alone
  WeightPanels candidate;  ///< gru_original's w_hnᵀ
  float* bias;             ///< ForwardStep::bias

 private:
  ColumnGroups groups() const { return {units.size(), of.units}; }
};

}  // namespace linnet::cpu
