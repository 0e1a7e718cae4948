// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <gtest/gtest.h>

#include "base/random.h"
#include "op_harness.h"
#include "ops/cuda_kernels.h"

namespace linnet::testing {

/// Runs an operator's CUDA kernels alone on the simulated device, with every operand at a 16-byte
/// boundary and then one float behind it: views can lie anywhere. The bits must be the same. f32
/// operands get random numbers, i32 ones 0, 1, 2, 0, ...
inline void check_unaligned(const OpPtr& op, const std::vector<ValueType>& inputs) {
  constexpr std::size_t kBoundary = 16;
  const std::vector<ValueType> outputs = op->infer(inputs);
  cuda::Registry registry;
  cuda::register_cuda_kernels(registry);
  const std::vector<bool> read(outputs.size(), true);
  const auto kernel = registry.prepare({*op, inputs, outputs, read}, {});
  ASSERT_TRUE(kernel.has_value()) << op->name();

  const auto run = [&](std::size_t shift) {
    std::vector<std::vector<std::byte>> memory;
    const auto place = [&](std::size_t bytes, bool shifted) {
      memory.emplace_back(bytes + 2 * kBoundary);
      std::byte* data = memory.back().data();
      const auto past = reinterpret_cast<std::uintptr_t>(data) % kBoundary;
      return data + (kBoundary - past) + (shifted ? shift : 0);
    };
    std::vector<void*> in;
    for (const ValueType& type : inputs) {
      std::byte* data = place(type.bytes(), true);
      for (std::int64_t i = 0; i < type.shape.elements(); ++i) {
        const auto at = static_cast<std::uint64_t>(i);
        if (type.dtype == DType::i32) {
          reinterpret_cast<std::int32_t*>(data)[i] = static_cast<std::int32_t>(i % 3);
        } else {
          reinterpret_cast<float*>(data)[i] = unit_float(philox(in.size(), at, 0)[0]) - 0.5F;
        }
      }
      in.push_back(data);
    }
    std::vector<void*> out;
    for (const ValueType& type : outputs) out.push_back(place(type.bytes(), true));
    const StepInfo step{.seed = 5};
    cuda::sim::device().host_pointers = true;
    kernel->enqueue({in, out, place(kernel->workspace_bytes, false), &step, nullptr});
    cuda::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    cuda::sim::device().host_pointers = false;
    std::vector<std::byte> results;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto* data = static_cast<const std::byte*>(out[i]);
      results.insert(results.end(), data, data + outputs[i].bytes());
    }
    return results;
  };
  EXPECT_EQ(run(0), run(sizeof(float))) << op->name();
}

}  // namespace linnet::testing
