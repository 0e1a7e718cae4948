// SPDX-License-Identifier: Apache-2.0
#include "onnx/rules.h"
#include "ops/causal_mask/causal_mask.h"

namespace linnet::onnx {
namespace {

void write_causal_mask(Exporter& e, const Node& node, const Op& op) {
  const Shape& s = e.shape(node.inputs[CausalMaskOp::In::x]);
  std::vector<std::uint8_t> seen;
  for (std::int64_t i = 0; i < s[-2]; ++i) {
    for (std::int64_t j = 0; j < s[-1]; ++j) seen.push_back(j <= i ? 1 : 0);
  }
  const std::string mask = e.file().booleans(node.name + ".mask", {s[-2], s[-1]}, seen);
  const std::string fill =
      e.file().number(node.name + ".fill", dynamic_cast<const CausalMaskOp&>(op).attrs().fill);
  e.set(node.outputs[CausalMaskOp::Out::y], Form::plain,
        e.file().node("Where", {mask, e.in(node.inputs[CausalMaskOp::In::x], Form::plain), fill},
                      node.name));
}

}  // namespace

void register_causal_mask_onnx(Rules& all) { all.exports["causal_mask"] = write_causal_mask; }

}  // namespace linnet::onnx
