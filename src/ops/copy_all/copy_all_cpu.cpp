// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "backend/cpu/kernel.h"
#include "ops/copy_all/copy_all.h"
#include "runtime/stored_types.h"

namespace linnet::cpu {
namespace {

std::optional<Kernel> prepare(const NodeView& node) {
  if (!is_of_one_type(node)) return std::nullopt;
  std::vector<std::size_t> bytes;
  for (const ValueType& type : node.inputs) bytes.push_back(type.bytes());
  const auto copy = [bytes](const Args& args, const Task& task) {
    const auto i = static_cast<std::size_t>(task.index);
    if (bytes[i] > 0) std::memcpy(args.outputs[i], args.inputs[i], bytes[i]);
  };
  return Kernel{.stages = {parallel(static_cast<int>(bytes.size()), copy)}};
}

}  // namespace

void register_copy_all(Registry& registry) { registry.add(CopyAllOp::kName, prepare); }

}  // namespace linnet::cpu
