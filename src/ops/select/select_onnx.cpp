// SPDX-License-Identifier: Apache-2.0
#include "onnx/export_nodes.h"
#include "onnx/rules.h"
#include "ops/select/select.h"

namespace linnet::onnx {
namespace {

void write_select(Exporter& e, const Node& node, const Op& op) {
  Nodes n(e, node);
  const SelectAttrs& attrs = dynamic_cast<const SelectOp&>(op).attrs();
  // All in one order of axes.
  Form form = Form::plain;
  for (const Value v : node.inputs) {
    if (e.parameter(v) == nullptr && e.has(v, Form::channels)) form = Form::channels;
  }
  for (const Value v : node.inputs) {
    if (e.parameter(v) != nullptr || !e.is_batched(v)) form = Form::plain;
  }
  std::vector<std::string> in;
  for (const Value v : node.inputs) in.push_back(e.in(v, form));
  const std::string truth = n("Cast", {in[0]}, {{"to", static_cast<std::int64_t>(Type::boolean)}});
  const std::string other = in.size() == 3 ? in[2] : n.number(attrs.value);
  e.set(node.outputs[SelectOp::Out::y], form,
        attrs.when ? n("Where", {truth, in[1], other}) : n("Where", {truth, other, in[1]}));
}

}  // namespace

void register_select_onnx(Rules& all) { all.exports["select"] = write_select; }

}  // namespace linnet::onnx
