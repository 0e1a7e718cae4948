// SPDX-License-Identifier: Apache-2.0
#include "ops/all_reduce/all_reduce.h"

#include <algorithm>

#include "base/check.h"
#include "graph/registry.h"

namespace linnet {

std::vector<ValueType> AllReduceOp::infer(std::span<const ValueType> inputs) const {
  require(!inputs.empty() && inputs[In::sums].shape.rank() == 1 &&
              std::ranges::all_of(inputs,
                                  [](const ValueType& type) { return type.dtype == DType::f32; }),
          "expected an f32 array and f32 parts of it; got {}",
          to_string({"sums"}, {inputs.begin(), inputs.end()}));
  return {};
}

void AllReduceOp::reference(const ReferenceArgs& /*args*/) const {}

// It is written for the steps of one process, so no file holds this operator.
void register_all_reduce(OpRegistry& /*registry*/) {}

}  // namespace linnet
