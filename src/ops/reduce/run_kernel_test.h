// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include "op_harness.h"
#include "ops/cpu_kernels.h"

namespace linnet::testing {

/// For tests with NaN, which the harness takes for unwritten memory: runs an operator's CPU kernel
/// alone, on the operands at `inputs`, and returns its one f32 output.
inline std::vector<float> run_kernel(const OpPtr& op, const std::vector<ValueType>& types,
                                     std::vector<const void*> inputs) {
  const std::vector<ValueType> outputs = op->infer(types);
  cpu::Registry registry;
  cpu::register_cpu_kernels(registry);
  const auto kernel = registry.prepare({*op, types, outputs, {true}});
  if (!kernel.has_value()) {
    ADD_FAILURE() << "no kernel for " << op->name();
    return {};
  }
  std::vector<float> result(static_cast<std::size_t>(outputs.at(0).shape.elements()), -12345);
  std::vector<void*> in;
  for (const void* input : inputs) in.push_back(const_cast<void*>(input));
  void* out = result.data();
  std::vector<std::byte> workspace(kernel->workspace_bytes);
  std::vector<std::byte> scratch(kernel->scratch_bytes);
  const StepInfo step;
  for (const cpu::Stage& stage : kernel->stages) {
    for (int task = 0; task < stage.tasks; ++task) {
      stage.run({in, {&out, 1}, workspace.data()}, {task, scratch.data(), &step});
    }
  }
  return result;
}

}  // namespace linnet::testing
