// SPDX-License-Identifier: Apache-2.0
#include "onnx/rules.h"
#include "ops/expand/expand.h"

namespace linnet::onnx {
namespace {

void write_expand(Exporter& e, const Node& node, const Op& op) {
  const Dims& sample = dynamic_cast<const ExpandOp&>(op).attrs().shape;
  Dims dims = sample;
  std::string shape;
  if (node.inputs.size() == 1) {
    dims.insert(dims.begin(), 1);
    shape = e.integers(node, "shape", dims);
  } else {
    const std::string rows = e.first_dims(node, e.as_it_is(node.inputs[ExpandOp::In::rows]), 1);
    shape = e.file().node("Concat", {rows, e.integers(node, "shape", dims)}, node.name,
                          {{"axis", std::int64_t{0}}});
  }
  e.set(node.outputs[ExpandOp::Out::y], Form::plain,
        e.file().node("Expand", {e.in(node.inputs[ExpandOp::In::x], Form::plain), shape},
                      node.name));
}

}  // namespace

void register_expand_onnx(Rules& all) { all.exports["expand"] = write_expand; }

}  // namespace linnet::onnx
