// SPDX-License-Identifier: Apache-2.0
#include <linnet/functions.h>

#include "base/check.h"
#include "onnx/rules.h"
#include "ops/cumsum/cumsum.h"

namespace linnet::onnx {
namespace {

void write_cumsum(Exporter& e, const Node& node, const Op& op) {
  const CumsumAttrs& a = dynamic_cast<const CumsumOp&>(op).attrs();
  e.set(node.outputs[CumsumOp::Out::y], Form::plain,
        e.file().node("CumSum",
                      {e.in(node.inputs[CumsumOp::In::x], Form::plain),
                       e.file().integers(node.name + ".axis", {}, {a.axis})},
                      node.name, {{"reverse", static_cast<std::int64_t>(a.reverse)}}));
}

void read_cumsum(NodeImport& n) {
  Trace x = *n.with_numbers(n.trace(0)).trace;
  require_arithmetic(n, x.type);
  const int axis = n.axis(n.whole(1), x.axes.size());
  const bool exclusive = n.integer("exclusive", 0) != 0;
  const bool reverse = n.integer("reverse", 0) != 0;
  x = merged(x, axis);
  const Expression y = cumsum(x.e, place_of(x, axis), reverse);
  n.give(n.as(x, exclusive ? y - x.e : y));
}

}  // namespace

void register_cumsum_onnx(Rules& all) {
  all.exports["cumsum"] = write_cumsum;
  all.imports["CumSum"] = {read_cumsum, "not along the batch"};
}

}  // namespace linnet::onnx
