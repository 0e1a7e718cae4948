// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "op_harness.h"
#ifndef LINNET_CPU_ALONE
#include "device_memory.h"
#include "ops/cuda_kernels.h"
#endif

namespace linnet::testing {

/// Runs an operator's own CUDA kernels alone on the device, with every operand at a 16-byte
/// boundary and then one float after it: views can lie anywhere. The bits must be the same. f32
/// operands get random numbers, i32 ones 0, 1, 2, 0, ...
#ifdef LINNET_CPU_ALONE
inline void check_unaligned(const OpPtr& /*op*/, const std::vector<ValueType>& /*inputs*/) {
  GTEST_SKIP() << "this build has no kernels for GPUs";
}
#else
inline void check_unaligned(const OpPtr& op, const std::vector<ValueType>& inputs) {
  const std::vector<ValueType> outputs = op->infer(inputs);
  cuda::Registry registry;
  cuda::register_cuda_kernels(registry);
  const std::vector<bool> read(outputs.size(), true);
  const auto kernel = registry.prepare({*op, inputs, outputs, read}, {});
  ASSERT_TRUE(kernel.has_value()) << op->name();

  const auto run = [&](std::size_t shift) {
    DeviceMemory memory;
    std::vector<void*> in;
    for (const ValueType& type : inputs) {
      std::vector<std::byte> numbers(type.bytes());
      for (std::int64_t i = 0; i < type.shape.elements(); ++i) {
        const auto at = static_cast<std::uint64_t>(i);
        if (type.dtype == DType::i32) {
          reinterpret_cast<std::int32_t*>(numbers.data())[i] = static_cast<std::int32_t>(i % 3);
        } else {
          reinterpret_cast<float*>(numbers.data())[i] =
              unit_float(philox(in.size(), at, 0)[0]) - 0.5F;
        }
      }
      in.push_back(memory.place_copy(numbers.data(), numbers.size(), shift));
    }
    std::vector<void*> out;
    for (const ValueType& type : outputs) out.push_back(memory.place(type.bytes(), shift));
    const StepInfo step{.seed = 5};
    const auto* device_step =
        reinterpret_cast<const StepInfo*>(memory.place_copy(&step, sizeof(step)));
    const std::vector<unsigned> zeros(cuda::kTickets);
    auto* tickets = reinterpret_cast<unsigned*>(
        memory.place_copy(zeros.data(), zeros.size() * sizeof(unsigned)));
    kernel->enqueue({.inputs = in,
                     .outputs = out,
                     .workspace = memory.place(kernel->workspace_bytes),
                     .step = device_step,
                     .tickets = tickets});
    cuda::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    std::vector<std::byte> results;
    for (std::size_t i = 0; i < out.size(); ++i) {
      results.resize(results.size() + outputs[i].bytes());
      DeviceMemory::copy(&results[results.size() - outputs[i].bytes()], out[i], outputs[i].bytes());
    }
    return results;
  };
  EXPECT_EQ(run(0), run(sizeof(float))) << op->name();
}
#endif

}  // namespace linnet::testing
