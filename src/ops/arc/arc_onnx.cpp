// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "nn/expression/support.h"
#include "onnx/export_nodes.h"
#include "onnx/rules.h"
#include "ops/arc/arc.h"

namespace linnet::onnx {
namespace {

constexpr std::array<const char*, 6> kArcNames{"Asin", "Acos", "Atan", "Asinh", "Acosh", "Atanh"};

void write_arc(Exporter& e, const Node& node, const Op& op) {
  Nodes n(e, node);
  const Arc kind = dynamic_cast<const ArcOp&>(op).attrs().kind;
  keep_axes(e, node, [&](const std::string& x) {
    return n(kArcNames.at(static_cast<std::size_t>(kind)), {x});
  });
}

}  // namespace

void register_arc_onnx(Rules& all) {
  all.exports["arc"] = write_arc;
  for (std::size_t i = 0; i < kArcNames.size(); ++i) {
    all.imports[kArcNames.at(i)] = {[kind = static_cast<Arc>(i)](NodeImport& n) {
                                      const Trace x = n.floats(0);
                                      n.give(n.as(x, emit(ArcOp({kind}), {x.e})));
                                    },
                                    {}};
  }
}

}  // namespace linnet::onnx
