// SPDX-License-Identifier: Apache-2.0
#include "ops/to_ids/to_ids.h"

#include "backend/cpu/kernel.h"

namespace linnet::cpu {
namespace {

std::optional<Kernel> prepare(const NodeView& node) {
  return one_stage(node.in(ToIdsOp::In::x).elements(), 1, [](const Args& args, Range range) {
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      args.out<std::int32_t>(ToIdsOp::Out::y)[i] = id_of(args.in(ToIdsOp::In::x)[i]);
    }
  });
}

}  // namespace

void register_to_ids(Registry& registry) { registry.add(ToIdsOp::kName, prepare); }

}  // namespace linnet::cpu
