// SPDX-License-Identifier: Apache-2.0
#include "ops/share/share.h"

#include "backend/cpu/kernel.h"

namespace linnet::cpu {
namespace {

std::optional<Kernel> prepare(const NodeView& node) {
  using In = ShareOp::In;
  using Out = ShareOp::Out;
  const auto index = static_cast<std::size_t>(node.attrs<ShareOp>().index);
  const std::int64_t elements = node.in(In::x).elements();
  return one_stage(elements, 0.3, [=](const Args& args, const Task& task, Range range) {
    const float share = task.step->shares[index];
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      args.out(Out::y)[i] = share * args.in(In::x)[i];
    }
  });
}

}  // namespace

void register_share(Registry& registry) { registry.add(ShareOp::kName, prepare); }

}  // namespace linnet::cpu
