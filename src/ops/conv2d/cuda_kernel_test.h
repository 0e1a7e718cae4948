// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>

#include "backend/cuda/kernel.h"
#include "op_harness.h"

namespace linnet::testing {

/// One operator's own CUDA kernel on the simulated device, without a planner around it: for shapes
/// that the other backends don't take, and for operands at odd addresses.
class CudaKernelRun {
 public:
  /// `skew`: bytes by which operands miss their alignment, a multiple of 4.
  CudaKernelRun(OpPtr op, std::vector<ValueType> inputs, std::size_t skew = 0)
      : op_(std::move(op)), types_(std::move(inputs)), outputs_(op_->infer(types_)), skew_(skew) {
    std::mt19937 random(42);
    for (const ValueType& type : types_) {
      ReferenceTensor tensor{type.shape, {}};
      for (std::int64_t i = 0; i < type.shape.elements(); ++i) {
        const double unit = std::uniform_real_distribution<float>(-1, 1)(random);
        tensor.data.push_back(type.dtype == DType::u8 ? std::floor(2 * unit + 2) : unit);
      }
      operands_.push_back(std::move(tensor));
    }
  }

  std::vector<double>& operand(std::size_t i) { return operands_[i].data; }

  /// Returns the outputs, or none where the engines of `registry` refuse.
  std::vector<std::vector<double>> run(const cuda::Registry& registry) {
    cuda::sim::device().host_pointers = true;
    const NodeView node{*op_, types_, outputs_, std::vector<bool>(outputs_.size(), true)};
    const std::optional<cuda::Kernel> kernel = registry.prepare(node, {});
    if (!kernel) return {};
    engine = kernel->engine;
    std::vector<std::vector<std::byte>> memory;
    std::vector<void*> in;
    std::vector<void*> out;
    const auto place = [&](std::size_t bytes) {
      memory.emplace_back(bytes + skew_, std::byte{0xFF});
      return static_cast<void*>(memory.back().data() + skew_);
    };
    for (std::size_t i = 0; i < types_.size(); ++i) {
      in.push_back(place(types_[i].bytes()));
      for (std::size_t e = 0; e < operands_[i].data.size(); ++e) {
        const double value = operands_[i].data[e];
        if (types_[i].dtype == DType::u8) {
          static_cast<std::uint8_t*>(in[i])[e] = static_cast<std::uint8_t>(value);
        } else {
          static_cast<float*>(in[i])[e] = static_cast<float>(value);
        }
      }
    }
    for (const ValueType& type : outputs_) out.push_back(place(type.bytes()));
    std::vector<std::byte> workspace(kernel->workspace_bytes, std::byte{0xFF});
    kernel->enqueue({.inputs = in, .outputs = out, .workspace = workspace.data()});
    cuda::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    cuda::sim::device().host_pointers = false;
    std::vector<std::vector<double>> results;
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const auto count = static_cast<std::size_t>(outputs_[i].shape.elements());
      if (outputs_[i].dtype == DType::u8) {
        const auto* values = static_cast<std::uint8_t*>(out[i]);
        results.emplace_back(values, values + count);
      } else {
        const auto* values = static_cast<float*>(out[i]);
        results.emplace_back(values, values + count);
      }
    }
    return results;
  }

  std::vector<std::vector<double>> reference() {
    std::vector<ReferenceTensor> results;
    std::vector<ReferenceTensor*> in;
    std::vector<ReferenceTensor*> out;
    for (const ValueType& type : outputs_) {
      results.push_back(
          {type.shape,
           std::vector<double>(static_cast<std::size_t>(type.shape.elements()), std::nan(""))});
    }
    for (ReferenceTensor& operand : operands_) in.push_back(&operand);
    for (ReferenceTensor& result : results) out.push_back(&result);
    op_->reference({in, out, StepInfo{}});
    std::vector<std::vector<double>> data;
    for (ReferenceTensor& result : results) data.push_back(std::move(result.data));
    return data;
  }

  std::string engine;  ///< what run() chose

 private:
  OpPtr op_;
  std::vector<ValueType> types_;
  std::vector<ValueType> outputs_;
  std::vector<ReferenceTensor> operands_;
  std::size_t skew_;
};

/// The kernel agrees with the reference, and is the same to the bit when threads and blocks
/// run in another order. Returns the engine.
inline std::string expect_cuda_agrees(const std::string& name, const OpPtr& op,
                                      const std::vector<ValueType>& inputs,
                                      const cuda::Registry& registry, std::size_t skew = 0) {
  SCOPED_TRACE(name);
  CudaKernelRun run(op, inputs, skew);
  const std::vector<std::vector<double>> results = run.run(registry);
  const std::vector<std::vector<double>> expected = run.reference();
  EXPECT_EQ(results.size(), expected.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    double largest = 1e-30;
    for (double e : expected[i]) largest = std::max(largest, std::abs(e));
    std::size_t wrong = 0;
    for (std::size_t e = 0; e < expected[i].size(); ++e) {
      wrong += std::abs(results[i][e] - expected[i][e]) <= 2e-5 * largest ? 0 : 1;
    }
    EXPECT_EQ(wrong, 0U) << "of " << expected[i].size() << " elements of output " << i;
  }
  cuda::sim::device().shuffle_seed = 5;
  EXPECT_EQ(run.run(registry), results);
  cuda::sim::device().shuffle_seed = 0;
  return run.engine;
}

}  // namespace linnet::testing
