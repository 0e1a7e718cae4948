// SPDX-License-Identifier: Apache-2.0
#include <linnet/functions.h>
#include <linnet/layers/recurrent.h>

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/check.h"
#include "onnx/node_import.h"
#include "ops/recurrent/recurrent.h"

namespace linnet::onnx {
namespace {

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

/// A state that is not given, or zeros.
void require_zeros(NodeImport& n, std::size_t input) {
  if (!n.has(input)) return;
  const std::vector<double> values = n.constant(input)->values();
  require<DataError>(std::ranges::all_of(values, [](double x) { return x == 0; }),
                     "initial states other than zeros are not supported");
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
  require_zeros(n, 5);
  if (r.cell == Cell::lstm) {
    require_zeros(n, 6);
    if (n.has(7)) {
      const std::vector<double> values = n.constant(7)->values();
      require<DataError>(std::ranges::all_of(values, [](double p) { return p == 0; }),
                         "peepholes are not supported");
    }
  }
  const Expression rows_of_x = arranged(x, {steps_axis, 2}, batch_axis);  // (rows, T, F)
  const std::string layer = n.layer_name(*w);
  std::vector<Expression> states;  // (rows, T, U) of each direction
  std::vector<Expression> last;    // (rows, U)
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
      both = add_operator(std::make_shared<RecurrentOp>(
                              RecurrentAttrs{.cell = r.cell, .bias = n.has(3), .reverse = reverse}),
                          "recurrent", operands);
      return both[0];
    };
    static_cast<void>(rows_of_x | cell);
    states.push_back(n.scoped(both[0]));
    last.push_back(n.scoped(both[1]));
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
}

}  // namespace

void add_recurrent(Operators& all) {
  const char* limit =
      "constant weights, zero initial states, default activations; no clip, no peepholes";
  for (const char* name : {"RNN", "GRU", "LSTM"}) all[name] = {recurrent, limit};
}

}  // namespace linnet::onnx
