// SPDX-License-Identifier: Apache-2.0
#include "core/dims.h"
#include "onnx/rules.h"
#include "ops/reshape/reshape.h"

namespace linnet::onnx {
namespace {

void write_reshape(Exporter& e, const Node& node, const Op& op) {
  const Value x = node.inputs[ReshapeOp::In::x];
  const Value y = node.outputs[ReshapeOp::Out::y];
  const Shape& from = e.shape(x);
  const Shape& to = e.shape(y);
  if (from.rank() == 4 && to.rank() == 2 && to[0] == from[0] && e.parameter(x) == nullptr &&
      e.has(x, Form::channels)) {
    e.set(y, Form::flat, e.file().node("Flatten", {e.in(x, Form::channels)}, node.name));
    e.set_image(y, {from[1], from[2], from[3]});
    return;
  }
  const Dims dims = dynamic_cast<const ReshapeOp&>(op).attrs().shape;
  e.set(y, Form::plain,
        e.file().node("Reshape", {e.in(x, Form::plain), e.integers(node, "shape", dims)},
                      node.name));
}

}  // namespace

void register_reshape_onnx(Rules& all) { all.exports["reshape"] = write_reshape; }

}  // namespace linnet::onnx
