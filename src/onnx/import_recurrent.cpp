// SPDX-License-Identifier: Apache-2.0
#include <linnet/functions.h>
#include <linnet/layers/recurrent.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/ascii.h"
#include "base/check.h"
#include "onnx/node_import.h"
#include "ops/recurrent/recurrent.h"

namespace linnet::onnx {
namespace {

constexpr std::int64_t kMostSteps = 256;  // that are computed one by one

/// Returns the operator's order of gates in Linnet's: of ONNX's iofc and zrh, Linnet has ifgo and
/// rzn.
std::vector<std::int64_t> gate_order(Cell cell) {
  switch (cell) {
    case Cell::lstm: return {0, 2, 3, 1};
    case Cell::gru:
    case Cell::gru_original: return {1, 0, 2};
    default: return {0};
  }
}

/// Returns one direction of (directions, gates * units, ...), with its gates in Linnet's order.
std::vector<float> gates_of(const Constant& c, std::int64_t directions, std::int64_t direction,
                            Cell cell, std::int64_t part = 0, std::int64_t parts = 1) {
  const std::vector<float> all = c.floats();
  const std::vector<std::int64_t> order = gate_order(cell);
  const auto size = static_cast<std::int64_t>(all.size()) / directions / parts;
  const std::int64_t gate = size / static_cast<std::int64_t>(order.size());
  std::vector<float> out;
  for (const std::int64_t from : order) {
    const auto first = all.begin() + (direction * parts + part) * size + from * gate;
    out.insert(out.end(), first, first + gate);
  }
  return out;
}

struct Recurrent {
  Cell cell = Cell::tanh;
  std::int64_t units = 0;
  std::int64_t directions = 1;
  bool reverse = false;
};

Recurrent settings_of(NodeImport& n) {
  Recurrent r;
  const std::string direction = n.text("direction", "forward");
  require<DataError>(direction == "forward" || direction == "reverse" ||
                         direction == "bidirectional",
                     "direction '{}' is not supported", direction);
  r.directions = direction == "bidirectional" ? 2 : 1;
  r.reverse = direction == "reverse";
  r.units = n.integer("hidden_size", 0);
  require<DataError>(!n.has_attribute("clip"), "clip is not supported");
  std::vector<std::string> usual;
  std::vector<std::string> given;
  for (const std::string& name : n.texts("activations")) given.push_back(lower_ascii(name));
  if (n.op() == "LSTM") {
    r.cell = Cell::lstm;
    usual = {"sigmoid", "tanh", "tanh"};
    require<DataError>(n.integer("input_forget", 0) == 0, "input_forget is not supported");
  } else if (n.op() == "GRU") {
    r.cell = n.integer("linear_before_reset", 0) != 0 ? Cell::gru : Cell::gru_original;
    usual = {"sigmoid", "tanh"};
  } else {
    r.cell = !given.empty() && given[0] == "relu" ? Cell::relu : Cell::tanh;
    usual = {r.cell == Cell::relu ? "relu" : "tanh"};
  }
  std::vector<std::string> wanted = usual;
  if (r.directions == 2) wanted.insert(wanted.end(), usual.begin(), usual.end());
  require<DataError>(given.empty() || given == wanted,
                     "activations other than the default ones are not supported");
  return r;
}

/// Returns whether an operand is given and not zeros.
bool has_numbers(NodeImport& n, std::size_t input) {
  if (!n.has(input) || !n.is_constant(input)) return n.has(input);
  const std::vector<double> values = n.constant(input)->values();
  return std::ranges::any_of(values, [](double x) { return x != 0; });
}

/// Returns an initial state (rows, directions, units), or one that all rows share (directions,
/// units); none: it is zeros.
std::optional<Expression> initial_state(NodeImport& n, std::size_t input, const Recurrent& r,
                                        bool batch_first) {
  if (!has_numbers(n, input)) return {};
  const int rows = batch_first ? 0 : 1;
  const int directions = batch_first ? 1 : 0;
  const Dims dims = n.input(input).dims();
  require<DataError>(dims.size() == 3 &&
                         dims[static_cast<std::size_t>(directions)] == r.directions &&
                         dims[2] == r.units,
                     "expected initial states of {} directions and {} units; got {}", r.directions,
                     r.units, text_of(dims));
  if (!n.is_constant(input)) return arranged(n.floats(input), {directions, 2}, rows);
  require<DataError>(dims[static_cast<std::size_t>(rows)] == 1,
                     "constant initial states that differ from sample to sample are not supported");
  return n.weight(n.constant(input), {{r.directions, r.units}, {0, 1}, {r.directions, r.units}});
}

/// Weights of one direction.
struct CellWeights {
  Expression of_x;  ///< (gates units, features)
  Expression of_h;  ///< (gates units, units)
  std::optional<Expression> x_bias;
  std::optional<Expression> h_bias;
};

struct States {
  Expression all;   ///< (rows, T, U)
  Expression last;  ///< (rows, U)
  Expression cell;  ///< of an LSTM, likewise
};

/// Computes a cell step by step from given states, where the recurrent operator begins with zeros:
/// x (T, F).
States step_by_step(const Expression& x, Cell cell, bool reverse, const CellWeights& w,
                    const std::optional<Expression>& h0, const std::optional<Expression>& c0) {
  const std::int64_t steps = x.shape()[0];
  const std::int64_t units = w.of_h.shape()[1];
  const auto gate = [&](const Expression& all, std::int64_t k) {
    return slice(all, 0, k * units, (k + 1) * units);
  };
  const auto biased = [](const Expression& y, const std::optional<Expression>& b) {
    return b ? y + *b : y;
  };
  const Expression of_x = biased(linear(x, w.of_x), w.x_bias);
  const Expression zeros = clip(gate(reshape(slice(of_x, 0, 0, 1), {of_x.shape()[1]}), 0), 0, 0);
  Expression h = h0 ? zeros + *h0 : zeros;
  Expression c = c0 ? zeros + *c0 : zeros;
  std::vector<Expression> all(static_cast<std::size_t>(steps), h);
  for (std::int64_t i = 0; i < steps; ++i) {
    const std::int64_t t = reverse ? steps - 1 - i : i;
    const Expression now = reshape(slice(of_x, 0, t, t + 1), {of_x.shape()[1]});
    const Expression before = biased(linear(h, w.of_h), w.h_bias);
    const auto both = [&](std::int64_t k) { return gate(now, k) + gate(before, k); };
    if (cell == Cell::lstm) {
      c = sigmoid(both(1)) * c + sigmoid(both(0)) * tanh(both(2));
      h = sigmoid(both(3)) * tanh(c);
    } else if (cell == Cell::gru || cell == Cell::gru_original) {
      const Expression reset = sigmoid(both(0));
      const Expression keep = sigmoid(both(1));
      Expression from_h = reset * gate(before, 2);
      if (cell == Cell::gru_original) {
        const std::optional<Expression> bias =
            w.h_bias ? std::optional(gate(*w.h_bias, 2)) : std::nullopt;
        from_h = biased(linear(reset * h, gate(w.of_h, 2)), bias);
      }
      h = (1 - keep) * tanh(gate(now, 2) + from_h) + keep * h;
    } else {
      h = cell == Cell::relu ? relu(now + before) : tanh(now + before);
    }
    all[static_cast<std::size_t>(t)] = h;
  }
  return {stack(all, 0), h, c};
}

void recurrent(NodeImport& n) {
  const Recurrent r = settings_of(n);
  const bool batch_first = n.integer("layout", 0) != 0;
  const Trace x = n.floats(0);
  const ConstantPtr& w = n.constant(1);
  const ConstantPtr& state = n.constant(2);
  const Dims dims = dims_of(x);
  require<DataError>(dims.size() == 3, "expected sequences; got {}", text_of(dims));
  const int steps_axis = batch_first ? 1 : 0;
  const int batch_axis = batch_first ? 0 : 1;
  const std::int64_t features = dims[2];
  const std::int64_t rows = cell_gates(r.cell) * r.units;
  require<DataError>(r.units > 0 && w->dims() == Dims{r.directions, rows, features} &&
                         state->dims() == Dims{r.directions, rows, r.units},
                     "weights of {} and {} do not fit {} units and {} features", text_of(w->dims()),
                     text_of(state->dims()), r.units, features);
  require<DataError>(!n.has(3) || n.constant(3)->dims() == Dims{r.directions, 2 * rows},
                     "expected a bias of {}", text_of({r.directions, 2 * rows}));
  if (n.has(4)) {
    const std::vector<std::int64_t> lengths = n.integers(4);
    const std::int64_t steps = dims[static_cast<std::size_t>(steps_axis)];
    require<DataError>(std::ranges::all_of(lengths, [&](std::int64_t l) { return l == steps; }),
                       "sequence_lens other than all steps are not supported");
  }
  const bool has_cell = r.cell == Cell::lstm;
  require<DataError>(!has_cell || !has_numbers(n, 7), "peepholes are not supported");
  const std::optional<Expression> h0 = initial_state(n, 5, r, batch_first);
  const std::optional<Expression> c0 =
      has_cell ? initial_state(n, 6, r, batch_first) : std::nullopt;
  const bool wants_cell = has_cell && n.wants(2);
  const bool by_step = h0 || c0 || wants_cell;
  require<DataError>(!by_step || dims[static_cast<std::size_t>(steps_axis)] <= kMostSteps,
                     "expected at most {} steps with initial states or states of cells",
                     kMostSteps);
  const Expression rows_of_x = arranged(x, {steps_axis, 2}, batch_axis);  // (rows, T, F)
  const std::string layer = n.layer_name(*w);
  std::vector<Expression> states;  // (rows, T, U) of each direction
  std::vector<Expression> last;    // (rows, U)
  std::vector<Expression> cells;   // of LSTMs
  for (std::int64_t d = 0; d < r.directions; ++d) {
    const bool reverse = r.reverse || d == 1;
    const std::string name =
        r.directions == 2 ? fmt::format("{}.{}", layer, d == 0 ? "forward" : "reverse") : layer;
    const auto role = [&](const char* of) {
      return fmt::format("{}_l0{}", of, reverse ? "_reverse" : "");
    };
    CustomLayer cell;
    cell.kind = lower_ascii(n.op());
    cell.name = name;
    std::vector<Expression> both;
    cell.function = [&](const Expression& e, LayerWeights& weights) {
      std::vector<Expression> operands = {e,
                                          weights.add(role("weight_ih"), {rows, features}, kZeros),
                                          weights.add(role("weight_hh"), {rows, r.units}, kZeros)};
      if (n.has(3)) {
        operands.push_back(weights.add(role("bias_ih"), {rows}, kZeros));
        operands.push_back(weights.add(role("bias_hh"), {rows}, kZeros));
      }
      if (by_step) {
        CellWeights w{operands[1], operands[2], {}, {}};
        if (n.has(3)) {
          w.x_bias = operands[3];
          w.h_bias = operands[4];
        }
        const auto of_direction = [&](const std::optional<Expression>& all) {
          return all ? std::optional(reshape(slice(*all, 0, d, d + 1), {r.units})) : all;
        };
        const States s = step_by_step(e, r.cell, reverse, w, of_direction(h0), of_direction(c0));
        both = {s.all, s.last, s.cell};
        return both[0];
      }
      both = add_operator(std::make_shared<RecurrentOp>(
                              RecurrentAttrs{.cell = r.cell, .bias = n.has(3), .reverse = reverse}),
                          "recurrent", operands);
      return both[0];
    };
    static_cast<void>(rows_of_x | cell);
    states.push_back(n.scoped(both[0]));
    last.push_back(n.scoped(both[1]));
    if (by_step) cells.push_back(n.scoped(both[2]));
    Importer& network = n.network();
    network.set_weight(name, role("weight_ih"), gates_of(*w, r.directions, d, r.cell));
    network.set_weight(name, role("weight_hh"), gates_of(*state, r.directions, d, r.cell));
    if (n.has(3)) {
      network.set_weight(name, role("bias_ih"),
                         gates_of(*n.constant(3), r.directions, d, r.cell, 0, 2));
      network.set_weight(name, role("bias_hh"),
                         gates_of(*n.constant(3), r.directions, d, r.cell, 1, 2));
    }
  }
  // Y has the axes (steps, directions, batch, units), or (batch, steps, directions, units).
  const auto with_directions = [&](const std::vector<Expression>& all, bool has_steps) {
    std::vector<int> order = has_steps ? std::vector{steps_axis, 2} : std::vector{2};
    const Expression joined =
        all.size() == 1 ? all[0] : stack(all, has_steps ? 1 : 0);  // (rows, T, D, U), (rows, D, U)
    // As an ONNX value of the axes (steps, directions, units) besides the batch's.
    Trace shape = x;
    shape.axes.insert(shape.axes.begin() + 2, Axis{});
    if (all.size() == 2) {
      order = has_steps ? std::vector{steps_axis, 2, 3} : std::vector{2, 3};
    } else {
      order = has_steps ? std::vector{steps_axis, 3} : std::vector{3};
    }
    Trace y =
        from_rows(shape, joined, order, batch_axis);  // axes: x's first two, directions, units
    const Axis steps = y.axes[static_cast<std::size_t>(steps_axis)];
    const Axis batch = y.axes[static_cast<std::size_t>(batch_axis)];
    const Axis directions = y.axes[2];
    const Axis units = y.axes[3];
    if (has_steps) {
      y.axes = batch_first ? std::vector{batch, steps, directions, units}
                           : std::vector{steps, directions, batch, units};
    } else {
      y.axes = batch_first ? std::vector{batch, directions, units}
                           : std::vector{directions, batch, units};
    }
    return y;
  };
  if (n.wants(0)) n.give(with_directions(states, true), 0);
  if (n.wants(1)) n.give(with_directions(last, false), 1);
  if (wants_cell) n.give(with_directions(cells, false), 2);
}

}  // namespace

void add_recurrent(Operators& all) {
  const char* limit =
      "constant weights, default activations; no clip, no peepholes; at most 256 steps with "
      "initial states or an LSTM's output Y_c";
  for (const char* name : {"RNN", "GRU", "LSTM"}) all[name] = {recurrent, limit};
}

}  // namespace linnet::onnx
