// SPDX-License-Identifier: Apache-2.0
#include "onnx/rules.h"
#include "ops/to_ids/to_ids.h"

namespace linnet::onnx {
namespace {

void write_to_ids(Exporter& e, const Node& node, const Op& /*op*/) {
  e.set(node.outputs[ToIdsOp::Out::y], Form::plain,
        e.cast(node, e.in(node.inputs[ToIdsOp::In::x], Form::plain), Type::i32));
}

}  // namespace

void register_to_ids_onnx(Rules& all) { all.exports["to_ids"] = write_to_ids; }

}  // namespace linnet::onnx
