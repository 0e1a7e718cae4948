// SPDX-License-Identifier: Apache-2.0
#include "nn/expression/support.h"
#include "onnx/rules.h"
#include "ops/gather_axis/gather_axis.h"

namespace linnet::onnx {
namespace {

void write_gather_axis(Exporter& e, const Node& node, const Op& op) {
  const GatherAxisAttrs& a = dynamic_cast<const GatherAxisOp&>(op).attrs();
  const std::string x = e.in(node.inputs[GatherAxisOp::In::x], Form::plain);
  const std::string ids =
      e.cast(node, e.in(node.inputs[GatherAxisOp::In::ids], Form::plain), Type::i64);
  if (a.along) {
    e.set(node.outputs[GatherAxisOp::Out::y], Form::plain,
          e.file().node("GatherElements", {x, ids}, node.name, {{"axis", std::int64_t{a.axis}}}));
    return;
  }
  if (a.axis != 1) Exporter::refuse(node, "ids of each sample along axis {}", a.axis - 1);
  const std::string places =
      e.file().node("Unsqueeze", {ids, e.integers(node, "axis", {-1})}, node.name);
  e.set(node.outputs[GatherAxisOp::Out::y], Form::plain,
        e.file().node("GatherND", {x, places}, node.name, {{"batch_dims", std::int64_t{1}}}));
}

}  // namespace

Expression scattered(const Expression& updates, const Expression& ids, std::int64_t axis,
                     bool along, std::int64_t dim) {
  const GatherAxisAttrs attrs{.axis = static_cast<int>(axis) + 1, .along = along};
  return emit(GatherAxisGradOp({.gather = attrs, .dim = dim}), {updates, ids});
}

void register_gather_axis_onnx(Rules& all) { all.exports["gather_axis"] = write_gather_axis; }

}  // namespace linnet::onnx
