// SPDX-License-Identifier: Apache-2.0
#include "ops/one_hot/one_hot.h"

#include "backend/cpu/kernel.h"

namespace linnet::cpu {
namespace {

std::optional<Kernel> prepare(const NodeView& node) {
  const std::int64_t classes = node.attrs<OneHotOp>().classes;
  const double cost = 1 + 0.2 * static_cast<double>(classes);
  return one_stage(node.in(OneHotOp::In::ids).elements(), cost, [=](const Args& args, Range range) {
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      float* row = args.out(OneHotOp::Out::y) + i * classes;
      std::fill_n(row, classes, 0.0F);
      const std::int32_t id = args.in<std::int32_t>(OneHotOp::In::ids)[i];
      if (id >= 0 && id < classes) row[id] = 1;
    }
  });
}

}  // namespace

void register_one_hot(Registry& registry) { registry.add(OneHotOp::kName, prepare); }

}  // namespace linnet::cpu
