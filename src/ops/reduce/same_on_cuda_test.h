// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "op_harness.h"
#include "ops/cpu_kernels.h"
#ifndef LINNET_CPU_ALONE
#include "device_memory.h"
#include "ops/cuda_kernels.h"
#endif

namespace linnet::testing {

/// For operands with NaN, which the harness takes for unwritten memory: runs an operator's CPU
/// kernel and its own CUDA kernel on the operands at `inputs`. All outputs must agree, f32
/// ones up to the order of a sum, NaN with NaN.
#ifdef LINNET_CPU_ALONE
inline void expect_same_on_cuda(const OpPtr& /*op*/, const std::vector<ValueType>& /*types*/,
                                const std::vector<const void*>& /*inputs*/) {
  GTEST_SKIP() << "this build has no kernels for GPUs";
}
#else
inline void expect_same_on_cuda(const OpPtr& op, const std::vector<ValueType>& types,
                                const std::vector<const void*>& inputs) {
  const std::vector<ValueType> outputs = op->infer(types);
  const std::vector<bool> read(outputs.size(), true);
  const NodeView node{*op, types, outputs, read};
  std::vector<void*> in;
  for (const void* input : inputs) in.push_back(const_cast<void*>(input));
  using Memory = std::vector<std::vector<std::byte>>;
  const auto poisoned = [&](Memory& memory) {
    std::vector<void*> out;
    for (const ValueType& type : outputs) memory.emplace_back(type.bytes(), std::byte{0xA5});
    for (std::vector<std::byte>& bytes : memory) out.push_back(bytes.data());
    return out;
  };
  const StepInfo step;

  Memory expected;
  const std::vector<void*> cpu_out = poisoned(expected);
  cpu::Registry cpu_registry;
  cpu::register_cpu_kernels(cpu_registry);
  const auto cpu_kernel = cpu_registry.prepare(node);
  ASSERT_TRUE(cpu_kernel.has_value()) << op->name();
  std::vector<std::byte> cpu_work(cpu_kernel->workspace_bytes);
  std::vector<std::byte> scratch(cpu_kernel->scratch_bytes);
  for (const cpu::Stage& stage : cpu_kernel->stages) {
    for (int task = 0; task < stage.tasks; ++task) {
      stage.run({in, cpu_out, cpu_work.data()}, {task, scratch.data(), &step});
    }
  }

  Memory actual;
  poisoned(actual);
  cuda::Registry registry;
  cuda::register_cuda_kernels(registry);
  const auto kernel = registry.prepare(node, {});
  ASSERT_TRUE(kernel.has_value()) << op->name();
  DeviceMemory memory;
  std::vector<void*> device_in;
  for (std::size_t i = 0; i < in.size(); ++i) {
    device_in.push_back(memory.place_copy(in[i], types[i].bytes()));
  }
  std::vector<void*> device_out;
  for (const std::vector<std::byte>& bytes : actual) {
    device_out.push_back(memory.place_copy(bytes.data(), bytes.size()));
  }
  const auto* device_step =
      reinterpret_cast<const StepInfo*>(memory.place_copy(&step, sizeof(step)));
  const std::vector<unsigned> zeros(cuda::kTickets);
  auto* tickets =
      reinterpret_cast<unsigned*>(memory.place_copy(zeros.data(), zeros.size() * sizeof(unsigned)));
  kernel->enqueue({.inputs = device_in,
                   .outputs = device_out,
                   .workspace = memory.place(kernel->workspace_bytes),
                   .step = device_step,
                   .tickets = tickets});
  cuda::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  for (std::size_t i = 0; i < actual.size(); ++i) {
    DeviceMemory::copy(actual[i].data(), device_out[i], actual[i].size());
  }

  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].dtype != DType::f32) {
      EXPECT_EQ(actual[i], expected[i]) << op->name() << ", output " << i;
      continue;
    }
    const auto* a = reinterpret_cast<const float*>(actual[i].data());
    const auto* e = reinterpret_cast<const float*>(expected[i].data());
    for (std::int64_t k = 0; k < outputs[i].shape.elements(); ++k) {
      const bool same = a[k] == e[k] || (std::isnan(a[k]) && std::isnan(e[k])) ||
                        std::abs(a[k] - e[k]) <= 1e-5F * std::abs(e[k]);
      EXPECT_TRUE(same) << op->name() << ", output " << i << " [" << k << "]: " << a[k]
                        << " instead of " << e[k];
    }
  }
}
#endif

}  // namespace linnet::testing
