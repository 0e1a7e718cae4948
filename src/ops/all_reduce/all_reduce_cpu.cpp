// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/kernel.h"
#include "ops/all_reduce/all_reduce.h"

namespace linnet::cpu {
namespace {

std::optional<Kernel> prepare(const NodeView& node) {
  const auto elements = static_cast<std::size_t>(node.in(AllReduceOp::In::sums).elements());
  Kernel kernel;
  kernel.alone = true;
  kernel.stages.push_back(parallel(1, [elements](const Args& args) {
    if (args.exchange == nullptr || !args.exchange->take_gradients) return;
    args.exchange->take_gradients({args.in_out(AllReduceOp::In::sums), elements});
  }));
  return kernel;
}

}  // namespace

void register_all_reduce(Registry& registry) { registry.add(AllReduceOp::kName, prepare); }

}  // namespace linnet::cpu
