// SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent/recurrent.h"

#include <linnet/layers/recurrent.h>

#include <array>
#include <cmath>

#include "base/check.h"
#include "nn/builder.h"
#include "nn/layer_fields.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/concat/concat.h"
#include "ops/reshape/reshape.h"
#include "ops/reverse_sequence/reverse_sequence.h"
#include "ops/sequence_mask/sequence_mask.h"
#include "ops/slice/slice.h"

namespace linnet {

constexpr std::array<std::string_view, 2> enum_names(SimpleRNN::Activation) {
  return {"tanh", "relu"};
}
constexpr std::string_view enum_type(SimpleRNN::Activation) { return "SimpleRNN::Activation"; }
constexpr std::array<std::string_view, 2> enum_names(Bidirectional::Merge) {
  return {"concat", "sum"};
}
constexpr std::string_view enum_type(Bidirectional::Merge) { return "Bidirectional::Merge"; }

namespace {

/// Holds what the three layers have in common.
struct Direction {
  Cell cell = Cell::tanh;
  std::int64_t units = 0;
  bool sequences = false;
  bool reverse = false;
  bool bias = true;
};

Direction direction(const SimpleRNN& l) {
  return {l.activation == SimpleRNN::Activation::relu ? Cell::relu : Cell::tanh, l.units,
          l.return_sequences, l.reverse, l.bias};
}
Direction direction(const GRU& l) {
  return {l.reset_after ? Cell::gru : Cell::gru_original, l.units, l.return_sequences, l.reverse,
          l.bias};
}
Direction direction(const LSTM& l) {
  return {Cell::lstm, l.units, l.return_sequences, l.reverse, l.bias};
}

constexpr std::string_view kind(const SimpleRNN&) { return "simple_rnn"; }
constexpr std::string_view kind(const GRU&) { return "gru"; }
constexpr std::string_view kind(const LSTM&) { return "lstm"; }

/// Adds one direction on x; its parameters are "<layer>.weight_ih_l0<suffix>", ...
Value add_direction(NetworkBuilder& builder, const std::string& layer, std::string_view kind,
                    const Direction& d, std::string_view suffix) {
  const Shape x = builder.shape();
  require(x.rank() == 3 && x[1] > 0, "[{} '{}'] expected (N, steps, features); got {}", kind, layer,
          to_string(x));
  const std::int64_t columns = cell_gates(d.cell) * d.units;
  const Initializer initializer{Initializer::Kind::uniform,
                                1 / std::sqrt(static_cast<double>(d.units))};
  Graph& graph = builder.graph();
  const Value lengths = d.sequences ? builder.heed_lengths() : builder.take_lengths();
  const auto reversed = [&](Value sequences) {
    return graph.emit(ReverseSequenceOp(), {sequences, lengths}, layer);
  };
  // With lengths a layer goes through the reversed sequences forwards, past no padding.
  const bool turned = lengths && d.reverse;
  std::vector<Value> operands = {turned ? reversed(builder.current()) : builder.current()};
  const auto weight = [&](std::string_view role, Shape shape, std::int64_t fan_in) {
    operands.push_back(builder.weight(layer, fmt::format("{}_l0{}", role, suffix), std::move(shape),
                                      initializer, fan_in, d.units));
  };
  weight("weight_ih", {columns, x[2]}, x[2]);
  weight("weight_hh", {columns, d.units}, d.units);
  if (d.bias) {
    weight("bias_ih", {columns}, x[2]);
    weight("bias_hh", {columns}, d.units);
  }
  const std::vector<Value> outputs =
      graph.add(std::make_shared<RecurrentOp>(RecurrentAttrs{.cell = d.cell,
                                                             .bias = d.bias,
                                                             .reverse = d.reverse && !turned}),
                operands, layer);
  if (!lengths) return outputs[d.sequences ? 0 : 1];
  const Value states = graph.emit(SequenceMaskOp(), {outputs[0], lengths}, layer);
  if (d.sequences) return turned ? reversed(states) : states;
  const Value last =
      graph.emit(SliceOp({.axis = 1, .begin = 0, .end = 1}), {reversed(states)}, layer);
  return graph.emit(ReshapeOp({.shape = {-1, d.units}}), {last}, layer);
}

template <class L>
void build_recurrent(NetworkBuilder& builder, const L& layer) {
  const std::string name = builder.begin(layer);
  const Direction d = direction(layer);
  builder.set_current(add_direction(builder, name, kind(layer), d, d.reverse ? "_reverse" : ""));
}

}  // namespace

void SimpleRNN::build(NetworkBuilder& builder) const { build_recurrent(builder, *this); }
void GRU::build(NetworkBuilder& builder) const { build_recurrent(builder, *this); }
void LSTM::build(NetworkBuilder& builder) const { build_recurrent(builder, *this); }

void Bidirectional::build(NetworkBuilder& builder) const {
  std::visit(
      [&](const auto& inner) {
        const std::string own_name = builder.begin(*this, name.empty() ? inner.name : name);
        layer_types().find(typeid(inner))->fields.check(&inner, own_name);
        Direction d = direction(inner);
        require(!d.reverse, "[bidirectional '{}'] expected a layer that is not reversed itself",
                own_name);
        const Value forward = add_direction(builder, own_name, kind(inner), d, "");
        d.reverse = true;
        const Value backward = add_direction(builder, own_name, kind(inner), d, "_reverse");
        Graph& graph = builder.graph();
        if (merge == Merge::sum) {
          builder.set_current(
              graph.emit(ArithmeticOp({Arithmetic::add}), {forward, backward}, own_name));
        } else {
          const auto axis = static_cast<int>(graph.shape(forward).rank()) - 1;
          builder.set_current(graph.emit(ConcatOp({.axis = axis}), {forward, backward}, own_name));
        }
      },
      layer);
}

void register_recurrent(LayerTypes& types) {
  types.add({.kind = "simple_rnn",
             .name = "SimpleRNN",
             .in = "(N, T, features)",
             .out = "(N, units) or (N, T, units)",
             .fields = {field<&SimpleRNN::units>("units").at_least(1).required(),
                        field<&SimpleRNN::activation>("activation"),
                        field<&SimpleRNN::return_sequences>("return_sequences"),
                        field<&SimpleRNN::reverse>("reverse"), field<&SimpleRNN::bias>("bias")}},
            SimpleRNN{.units = 32, .activation = SimpleRNN::Activation::relu});
  types.add({.kind = "gru",
             .name = "GRU",
             .in = "(N, T, features)",
             .out = "(N, units) or (N, T, units)",
             .fields = {field<&GRU::units>("units").at_least(1).required(),
                        field<&GRU::reset_after>("reset_after"),
                        field<&GRU::return_sequences>("return_sequences"),
                        field<&GRU::reverse>("reverse"), field<&GRU::bias>("bias")}},
            GRU{.units = 64});
  types.add({.kind = "lstm",
             .name = "LSTM",
             .in = "(N, T, features)",
             .out = "(N, units) or (N, T, units)",
             .fields = {field<&LSTM::units>("units").at_least(1).required(),
                        field<&LSTM::return_sequences>("return_sequences"),
                        field<&LSTM::reverse>("reverse"), field<&LSTM::bias>("bias")}},
            LSTM{.units = 64, .return_sequences = true});
  types.add({.kind = "bidirectional",
             .name = "Bidirectional",
             .in = "(N, T, features)",
             .out = "(N, 2 units) or (N, T, 2 units); with sum: units",
             .fields = {field<&Bidirectional::layer>("layer").required(),
                        field<&Bidirectional::merge>("merge")}},
            Bidirectional{.layer = LSTM{.units = 32}, .merge = Bidirectional::Merge::sum});
}

}  // namespace linnet
