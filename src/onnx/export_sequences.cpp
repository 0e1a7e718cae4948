// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "core/dims.h"
#include "onnx/exporter.h"
#include "ops/recurrent/recurrent.h"
#include "ops/reverse_sequence/reverse_sequence.h"
#include "ops/sequence_mask/sequence_mask.h"

namespace linnet::onnx {
namespace {

using Ints = std::vector<std::int64_t>;

/// Returns where ONNX has Linnet's gates: of iofc and zrh, Linnet has ifgo and rzn.
Ints gate_order(Cell cell) {
  switch (cell) {
    case Cell::lstm: return {0, 3, 1, 2};
    case Cell::gru:
    case Cell::gru_original: return {1, 0, 2};
    default: return {0};
  }
}

/// Returns a weight with its gates in ONNX's order.
std::vector<float> gates(Exporter& e, const Node& node, Value v, Cell cell) {
  if (e.parameter(v) == nullptr) Exporter::refuse(node, "its weights are computed");
  const std::vector<float> all = e.numbers(v);
  const Ints order = gate_order(cell);
  const auto gate = static_cast<std::ptrdiff_t>(all.size() / order.size());
  std::vector<float> out;
  for (const std::int64_t from : order) {
    out.insert(out.end(), all.begin() + from * gate, all.begin() + (from + 1) * gate);
  }
  return out;
}

void recurrent(Exporter& e, const Node& node, const Op& op) {
  const RecurrentAttrs& a = dynamic_cast<const RecurrentOp&>(op).attrs();
  GraphWriter& file = e.file();
  const Shape& w = e.shape(node.inputs[RecurrentOp::In::w_ih]);
  const std::int64_t units = e.shape(node.inputs[RecurrentOp::In::w_hh])[1];
  const std::string x = file.node("Transpose", {e.in(node.inputs[0], Form::plain)}, node.name,
                                  {{"perm", Ints{1, 0, 2}}});
  const auto name_of = [&](Value v) {
    if (e.parameter(v) == nullptr) Exporter::refuse(node, "its weights are computed");
    return e.parameter(v)->name;
  };
  const Value w_ih = node.inputs[RecurrentOp::In::w_ih];
  const Value w_hh = node.inputs[RecurrentOp::In::w_hh];
  std::vector<std::string> inputs = {
      x, file.floats(name_of(w_ih), {1, w[0], w[1]}, gates(e, node, w_ih, a.cell)),
      file.floats(name_of(w_hh), {1, w[0], units}, gates(e, node, w_hh, a.cell))};
  if (a.bias) {
    std::vector<float> both = gates(e, node, node.inputs[RecurrentOp::In::b_ih], a.cell);
    const std::vector<float> state = gates(e, node, node.inputs[RecurrentOp::In::b_hh], a.cell);
    both.insert(both.end(), state.begin(), state.end());
    inputs.push_back(file.floats(node.name + ".bias", {1, 2 * w[0]}, both));
  }
  AttributeList list = {{"hidden_size", units}};
  if (a.reverse) list.emplace_back("direction", std::string("reverse"));
  std::string_view name = "RNN";
  if (a.cell == Cell::lstm) name = "LSTM";
  if (a.cell == Cell::gru || a.cell == Cell::gru_original) {
    name = "GRU";
    list.emplace_back("linear_before_reset", static_cast<std::int64_t>(a.cell == Cell::gru));
  }
  if (a.cell == Cell::relu) list.emplace_back("activations", std::vector<std::string>{"Relu"});
  const std::vector<std::string> outputs =
      file.node(name, inputs, node.name, std::move(list), {true, true});
  // (T, 1, N, U) and (1, N, U)
  const std::string steps =
      file.node("Transpose",
                {file.node("Squeeze", {outputs[0], e.integers(node, "axis", {1})}, node.name)},
                node.name, {{"perm", Ints{1, 0, 2}}});
  e.set(node.outputs[RecurrentOp::Out::y], Form::plain, steps);
  e.set(node.outputs[RecurrentOp::Out::last], Form::plain,
        file.node("Squeeze", {outputs[1], e.integers(node, "axis", {0})}, node.name));
}

void sequence_mask(Exporter& e, const Node& node, const Op& op) {
  const SequenceMaskAttrs& a = dynamic_cast<const SequenceMaskOp&>(op).attrs();
  GraphWriter& file = e.file();
  const Shape& x = e.shape(node.inputs[0]);
  if (e.graph().type(node.inputs[0]).dtype != DType::f32) {
    Exporter::refuse(node, "ids with lengths");
  }
  const auto axis = static_cast<std::size_t>(a.axis);
  const std::int64_t steps = x[static_cast<int>(axis)];
  std::vector<std::int32_t> places(static_cast<std::size_t>(steps));
  std::iota(places.begin(), places.end(), 0);
  Dims each(x.rank(), 1);
  each[axis] = steps;
  Dims one(x.rank(), 1);
  one[0] = -1;
  const std::string lengths =
      file.node("Reshape", {e.in(node.inputs[1], Form::plain), e.integers(node, "shape", one)},
                node.name);
  const std::string counts =
      file.node("Less", {file.int32s(node.name + ".steps", each, places), lengths}, node.name);
  std::string value = e.in(node.inputs[0], Form::plain);
  if (a.mean) {
    const std::string many =
        file.node("Cast", {lengths}, node.name, {{"to", static_cast<std::int64_t>(Type::f32)}});
    const std::string within =
        file.node("Clip",
                  {many, file.number(node.name + ".least", 0),
                   file.number(node.name + ".most", static_cast<double>(steps))},
                  node.name);
    value = file.node("Div", {value, within}, node.name);
  }
  e.set(node.outputs[0], Form::plain,
        file.node("Where", {counts, value, file.number(node.name + ".fill", a.fill)}, node.name));
}

void reverse_sequence(Exporter& e, const Node& node, const Op& /*op*/) {
  const std::string lengths = e.file().node("Cast", {e.in(node.inputs[1], Form::plain)}, node.name,
                                            {{"to", static_cast<std::int64_t>(Type::i64)}});
  e.set(node.outputs[0], Form::plain,
        e.file().node("ReverseSequence", {e.in(node.inputs[0], Form::plain), lengths}, node.name,
                      {{"batch_axis", std::int64_t{0}}, {"time_axis", std::int64_t{1}}}));
}

}  // namespace

void add_sequence_export(ExportOperators& all) {
  all["recurrent"] = recurrent;
  all["sequence_mask"] = sequence_mask;
  all["reverse_sequence"] = reverse_sequence;
}

}  // namespace linnet::onnx
