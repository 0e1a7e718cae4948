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

/// Adds a weight's numbers with its gates in ONNX's order.
void add_gates(Exporter& e, const Node& node, Value v, Cell cell, std::vector<float>& out) {
  if (e.parameter(v) == nullptr) Exporter::refuse(node, "its weights are computed");
  const std::vector<float> all = e.numbers(v);
  const Ints order = gate_order(cell);
  const auto gate = static_cast<std::ptrdiff_t>(all.size() / order.size());
  for (const std::int64_t from : order) {
    out.insert(out.end(), all.begin() + from * gate, all.begin() + (from + 1) * gate);
  }
}

/// Returns the node that goes through the same steps in the other direction, with as many units,
/// and has not been written; null: there is none.
const Node* other_direction(const Exporter& e, const Node& node, const RecurrentAttrs& attrs) {
  RecurrentAttrs turned = attrs;
  turned.reverse = !attrs.reverse;
  for (const Node& other : e.graph().nodes()) {
    const auto* op = dynamic_cast<const RecurrentOp*>(other.op.get());
    if (op == nullptr || e.is_skipped(other) || op->attrs() != turned) continue;
    const bool same =
        other.inputs[RecurrentOp::In::x] == node.inputs[RecurrentOp::In::x] &&
        e.shape(other.inputs[RecurrentOp::In::w_hh]) == e.shape(node.inputs[RecurrentOp::In::w_hh]);
    if (same) return &other;
  }
  return nullptr;
}

/// Both directions over the same steps are one node: OpenVINO computes two wrongly at an open
/// batch.
void recurrent(Exporter& e, const Node& node, const Op& op) {
  const RecurrentAttrs& a = dynamic_cast<const RecurrentOp&>(op).attrs();
  GraphWriter& file = e.file();
  std::vector<const Node*> directions = {&node};
  e.skip(node);
  if (const Node* other = other_direction(e, node, a)) {
    directions.insert(a.reverse ? directions.begin() : directions.end(), other);
    e.skip(*other);
  }
  const auto count = std::ssize(directions);
  std::vector<float> w_ih;
  std::vector<float> w_hh;
  std::vector<float> biases;
  for (const Node* each : directions) {
    add_gates(e, *each, each->inputs[RecurrentOp::In::w_ih], a.cell, w_ih);
    add_gates(e, *each, each->inputs[RecurrentOp::In::w_hh], a.cell, w_hh);
    if (!a.bias) continue;
    add_gates(e, *each, each->inputs[RecurrentOp::In::b_ih], a.cell, biases);
    add_gates(e, *each, each->inputs[RecurrentOp::In::b_hh], a.cell, biases);
  }
  const auto name_of = [&](std::size_t i) { return e.parameter(directions[0]->inputs[i])->name; };
  const Shape& w = e.shape(node.inputs[RecurrentOp::In::w_ih]);
  const std::int64_t units = e.shape(node.inputs[RecurrentOp::In::w_hh])[1];
  const std::string x = file.node("Transpose", {e.in(node.inputs[0], Form::plain)}, node.name,
                                  {{"perm", Ints{1, 0, 2}}});
  std::vector<std::string> inputs = {
      x, file.floats(name_of(RecurrentOp::In::w_ih), {count, w[0], w[1]}, w_ih),
      file.floats(name_of(RecurrentOp::In::w_hh), {count, w[0], units}, w_hh)};
  if (a.bias) inputs.push_back(file.floats(node.name + ".bias", {count, 2 * w[0]}, biases));
  AttributeList list = {{"hidden_size", units}};
  if (count == 2 || a.reverse) {
    list.emplace_back("direction", std::string(count == 2 ? "bidirectional" : "reverse"));
  }
  std::string_view name = "RNN";
  if (a.cell == Cell::lstm) name = "LSTM";
  if (a.cell == Cell::gru || a.cell == Cell::gru_original) {
    name = "GRU";
    list.emplace_back("linear_before_reset", static_cast<std::int64_t>(a.cell == Cell::gru));
  }
  if (a.cell == Cell::relu) {
    list.emplace_back("activations", std::vector<std::string>(directions.size(), "Relu"));
  }
  const std::vector<std::string> outputs =
      file.node(name, inputs, node.name, std::move(list), {true, true});
  // (T, directions, N, U) and (directions, N, U)
  const auto each_of = [&](const std::string& states, std::int64_t axis) {
    std::vector<std::string> each = {states};
    if (count == 2) {
      each = file.node("Split", {states, e.integers(node, "directions", {1, 1})}, node.name,
                       {{"axis", axis}}, {true, true});
    }
    for (std::string& one : each) {
      one = file.node("Squeeze", {one, e.integers(node, "axis", {axis})}, node.name);
    }
    return each;
  };
  const std::vector<std::string> steps = each_of(outputs[0], 1);
  const std::vector<std::string> last = each_of(outputs[1], 0);
  for (std::size_t i = 0; i < directions.size(); ++i) {
    e.set(directions[i]->outputs[RecurrentOp::Out::y], Form::plain,
          file.node("Transpose", {steps[i]}, node.name, {{"perm", Ints{1, 0, 2}}}));
    e.set(directions[i]->outputs[RecurrentOp::Out::last], Form::plain, last[i]);
  }
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
