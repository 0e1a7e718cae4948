// SPDX-License-Identifier: Apache-2.0
#include "nn/expression/support.h"
#include "onnx/export_nodes.h"
#include "onnx/rules.h"
#include "ops/power/power.h"

namespace linnet::onnx {
namespace {

void write_power(Exporter& e, const Node& node, const Op& /*op*/) {
  Nodes n(e, node);
  combine(e, node, [&](const std::string& a, const std::string& b) { return n("Pow", {a, b}); });
}

}  // namespace

Expression power_of(const Expression& a, const Expression& b) {
  const std::vector<Expression> both = expanded_to_common("pow", {a, b});
  return emit(PowerOp(), {both[0], both[1]});
}

void register_power_onnx(Rules& all) { all.exports["power"] = write_power; }

}  // namespace linnet::onnx
