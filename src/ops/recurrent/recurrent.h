// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "graph/graph.h"

namespace linnet {

/// With a = w_ih x + b_ih and c = w_hh h + b_hh for x and h of one step, cut into gates of U rows
/// in PyTorch's order, and s the logistic function:
///   tanh, relu    h' = f(a + c)
///   gru           r, z = s(a + c), n = tanh(a_n + r c_n),                     h' = (1 - z) n + z h
///   gru_original  r, z = s(a + c), n = tanh(a_n + w_hn (r h) + b_hn),         h' = (1 - z) n + z h
///   lstm          i, f, o = s(a + c), g = tanh(a_g + c_g), m' = f m + i g,    h' = o tanh(m')
/// gru is what PyTorch and cuDNN compute, gru_original what Cho et al. (2014) wrote; lstm is of
/// Hochreiter and Schmidhuber (1997) with Gers's forget gate.
enum class Cell : std::uint8_t { tanh, relu, gru, gru_original, lstm };
constexpr std::array<std::string_view, 5> enum_names(Cell) {
  return {"tanh", "relu", "gru", "gru_original", "lstm"};
}

/// Gates of a cell: rows of its weights by U. GRU's are r, z, n; LSTM's are i, f, g, o.
constexpr std::int64_t cell_gates(Cell cell) {
  switch (cell) {
    case Cell::gru:
    case Cell::gru_original: return 3;
    case Cell::lstm: return 4;
    default: return 1;
  }
}

/// Returns what a step saves for the gradient, in parts of U: the gates, c_n or r h (GRU) or m'
/// (LSTM), and last the h that the step began with.
constexpr std::int64_t cell_saved(Cell cell) {
  const std::int64_t gates = cell_gates(cell);
  return gates == 1 ? 2 : gates + 2;
}

struct RecurrentAttrs {
  Cell cell = Cell::gru;
  bool bias = true;      ///< whether b_ih and b_hh are operands
  bool reverse = false;  ///< from the last step to the first
  template <class V>
  void fields(V&& visit) {
    visit("cell", cell);
    visit("bias", bias);
    visit("reverse", reverse);
  }
  bool operator==(const RecurrentAttrs&) const = default;
};

/// A recurrent layer over all steps from a state of zeros: x (N, T, F), w_ih (G U, F), w_hh
/// (G U, U), b_ih and b_hh (G U) give y (N, T, U), the state after each step in x's order; last
/// (N, U), the state after the step taken last; saved (N, T, cell_saved() U), for the gradient.
/// G is cell_gates(). f32. Throws Error for T = 0.
class RecurrentOp final : public OpBase<RecurrentOp, RecurrentAttrs> {
 public:
  static constexpr std::string_view kName = "recurrent";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { x, w_ih, w_hh, b_ih, b_hh };
  enum Out : std::uint8_t { y, last, saved };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
};

struct RecurrentGradAttrs {
  Cell cell = Cell::gru;
  bool bias = true;
  bool reverse = false;
  bool y_gradient = false;     ///< whether dy (N, T, U) is an operand
  bool last_gradient = false;  ///< whether dlast (N, U) is one, after it
  template <class V>
  void fields(V&& visit) {
    visit("cell", cell);
    visit("bias", bias);
    visit("reverse", reverse);
    visit("y_gradient", y_gradient);
    visit("last_gradient", last_gradient);
  }
  bool operator==(const RecurrentGradAttrs&) const = default;
};

/// The gradients (dx, dw_ih, dw_hh, and with biases db_ih, db_hh) from x, w_ih, w_hh, [b_ih, b_hh],
/// saved, [dy], [dlast]. Only shapes are read of the biases. An engine may keep something else, and
/// more, in the memory of `saved`, where it computes both operators; and it may write there, though
/// no operand is mutates(), where nobody else reads it (NodeView::alone()).
class RecurrentGradOp final : public OpBase<RecurrentGradOp, RecurrentGradAttrs> {
 public:
  static constexpr std::string_view kName = "recurrent_grad";
  using In = RecurrentOp::In;
  enum Out : std::uint8_t { dx, dw_ih, dw_hh, db_ih, db_hh };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;

  std::size_t saved_input() const { return attrs().bias ? In::b_hh + 1 : In::w_hh + 1; }
  /// Only meaningful where the gradient is an operand.
  std::size_t y_input() const { return saved_input() + 1; }
  std::size_t last_input() const { return saved_input() + (attrs().y_gradient ? 2 : 1); }
};

/// The dimensions of both operators, from x and w_hh.
struct RecurrentShape {
  Cell cell = Cell::gru;
  bool reverse = false;
  std::int64_t n = 0;
  std::int64_t steps = 0;     ///< T
  std::int64_t features = 0;  ///< F
  std::int64_t units = 0;     ///< U

  constexpr std::int64_t columns() const { return cell_gates(cell) * units; }  ///< of the gates
  constexpr std::int64_t saved() const { return cell_saved(cell) * units; }
  /// Returns where in `saved` the state before the step begins.
  constexpr std::int64_t state() const { return saved() - units; }
  /// Width of a step's gradients by all that the cell adds up. GRU's c_n has another one than a_n:
  /// they are laid out c_n, r, z, n, so that those by a and those by c each lie together.
  constexpr std::int64_t slopes() const { return columns() + (cell == Cell::gru ? units : 0); }
  constexpr std::int64_t input_slopes() const { return cell == Cell::gru ? units : 0; }
  /// Returns the step in x's order that is taken as the `index`th.
  constexpr std::int64_t step(std::int64_t index) const {
    return reverse ? steps - 1 - index : index;
  }
};

template <class Attrs>
RecurrentShape recurrent_shape(const Attrs& attrs, const Shape& x, const Shape& w_hh) {
  return {.cell = attrs.cell,
          .reverse = attrs.reverse,
          .n = x[0],
          .steps = x[1],
          .features = x[2],
          .units = w_hh[1]};
}

}  // namespace linnet
