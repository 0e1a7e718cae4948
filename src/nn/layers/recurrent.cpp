// SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent/recurrent.h"

#include <cmath>

#include "base/check.h"
#include "nn/builder.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/concat/concat.h"
#include "ops/reshape/reshape.h"
#include "ops/reverse_sequence/reverse_sequence.h"
#include "ops/sequence_mask/sequence_mask.h"
#include "ops/slice/slice.h"

namespace linnet {
namespace {

/// What the three layers have in common.
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
  require(d.units > 0, "[{} '{}'] expected at least one unit; got {}", kind, layer, d.units);
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
  const std::string name = builder.layer_name(layer.name, kind(layer));
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
        const std::string own_name =
            builder.layer_name(name.empty() ? inner.name : name, "bidirectional");
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

}  // namespace linnet
