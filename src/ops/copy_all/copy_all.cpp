// SPDX-License-Identifier: Apache-2.0
#include "ops/copy_all/copy_all.h"

#include "graph/registry.h"

namespace linnet {

std::vector<ValueType> CopyAllOp::infer(std::span<const ValueType> inputs) const {
  require(!inputs.empty(), "expected at least 1 operand; got none");
  require_f32(inputs);
  return {inputs.begin(), inputs.end()};
}

void CopyAllOp::reference(const ReferenceArgs& args) const {
  for (std::size_t i = 0; i < args.inputs.size(); ++i) args.out(i).data = args.in(i).data;
}

void register_copy_all(OpRegistry& registry) { registry.add<CopyAllOp>(); }

}  // namespace linnet
