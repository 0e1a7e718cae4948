// SPDX-License-Identifier: Apache-2.0
#include "onnx/export_nodes.h"
#include "onnx/rules.h"
#include "ops/compare/compare.h"

namespace linnet::onnx {
namespace {

std::string compared(Nodes& n, Comparison kind, const std::string& a, const std::string& b) {
  switch (kind) {
    case Comparison::greater: return n("Greater", {a, b});
    case Comparison::greater_equal: return n("GreaterOrEqual", {a, b});
    case Comparison::less: return n("Less", {a, b});
    case Comparison::less_equal: return n("LessOrEqual", {a, b});
    case Comparison::equal: return n("Equal", {a, b});
    default: return n("Not", {n("Equal", {a, b})});
  }
}

void write_compare(Exporter& e, const Node& node, const Op& op) {
  Nodes n(e, node);
  const CompareAttrs& attrs = dynamic_cast<const CompareOp&>(op).attrs();
  const auto numbers = [&](const std::string& truth) {
    return n("Cast", {truth}, {{"to", static_cast<std::int64_t>(Type::f32)}});
  };
  if (node.inputs.size() == 1) {
    keep_axes(e, node, [&](const std::string& x) {
      return numbers(compared(n, attrs.kind, x, n.number(attrs.value)));
    });
    return;
  }
  combine(e, node, [&](const std::string& a, const std::string& b) {
    return numbers(compared(n, attrs.kind, a, b));
  });
}

}  // namespace

void register_compare_onnx(Rules& all) { all.exports["compare"] = write_compare; }

}  // namespace linnet::onnx
