// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>

#include "backend/cuda/cudnn_plans.h"
#include "backend/cuda/kernel.h"
#include "backend/cuda/vectors.cuh"
#include "ops/conv2d/conv2d.h"
#include "ops/cuda_kernels.h"

// Convolutions by cuDNN's engines on the simulated device, compared with the reference.
namespace linnet::cuda {

inline Registry make_registry() {
  Registry registry;
  register_cuda_libraries(registry);
  return registry;
}

/// Memory of the simulated device.
class DeviceFloats {
 public:
  explicit DeviceFloats(std::size_t count, std::size_t skip = 0) : skip_(skip) {
    void* memory = nullptr;
    check(cudaMalloc(&memory, (count + skip) * sizeof(float) + 1), "test");
    memory_ = UniqueHandle<void*, cudaFree>(memory);
  }
  float* data() const { return static_cast<float*>(memory_.get()) + skip_; }

 private:
  std::size_t skip_;
  UniqueHandle<void*, cudaFree> memory_;
};

struct Case {
  std::string name;
  std::shared_ptr<const Op> op;
  std::vector<Shape> inputs;
};

inline Conv2dAttrs attrs(bool bias = false, Activation activation = Activation::none) {
  Conv2dAttrs a;
  a.stride_h = 2;
  a.pad_top = a.pad_left = a.pad_right = 1;  // asymmetric
  a.groups = 2;
  a.bias = bias;
  a.activation = activation;
  return a;
}

inline Conv2dAttrs dilated() {
  Conv2dAttrs a = attrs();
  a.stride_h = 1;
  a.dilation_h = 2;
  a.pad_bottom = 2;
  return a;
}

/// Its result's elements are no multiple of four.
inline Conv2dAttrs odd(bool bias = false) {
  Conv2dAttrs a = attrs(bias);
  a.groups = 1;
  return a;
}

inline const Shape kX{2, 7, 5, 16};
inline const Shape kW{6, 3, 3, 8};
inline const Shape kZ{2, 3, 5, 6};

inline std::vector<Case> cases() {
  return {
      {"plain", std::make_shared<Conv2dOp>(attrs()), {kX, kW}},
      {"bias", std::make_shared<Conv2dOp>(attrs(true)), {kX, kW, Shape{6}}},
      {"relu", std::make_shared<Conv2dOp>(attrs(false, Activation::relu)), {kX, kW}},
      {"bias_relu", std::make_shared<Conv2dOp>(attrs(true, Activation::relu)), {kX, kW, Shape{6}}},
      {"bias_gelu", std::make_shared<Conv2dOp>(attrs(true, Activation::gelu)), {kX, kW, Shape{6}}},
      {"dilated", std::make_shared<Conv2dOp>(dilated()), {kX, kW}},
      {"odd", std::make_shared<Conv2dOp>(odd()), {Shape{1, 5, 5, 8}, Shape{5, 3, 3, 8}}},
      {"padded",
       std::make_shared<Conv2dOp>(odd(true)),
       {Shape{1, 5, 5, 6}, Shape{5, 3, 3, 6}, Shape{5}}},
      {"padded_grad_input",
       std::make_shared<Conv2dGradInputOp>(Conv2dGradInputAttrs{odd(), 5, 5}),
       {Shape{1, 2, 5, 5}, Shape{5, 3, 3, 6}}},
      {"padded_grad_weight",
       std::make_shared<Conv2dGradWeightOp>(Conv2dGradWeightAttrs{odd(), 3, 3}),
       {Shape{1, 5, 5, 6}, Shape{1, 2, 5, 5}}},
      {"grad_input",
       std::make_shared<Conv2dGradInputOp>(Conv2dGradInputAttrs{attrs(), 7, 5}),
       {kZ, kW}},
      {"grad_weight",
       std::make_shared<Conv2dGradWeightOp>(Conv2dGradWeightAttrs{attrs(), 3, 3}),
       {kX, kZ}},
  };
}

inline std::vector<ValueType> types(const std::vector<Shape>& shapes) {
  std::vector<ValueType> all;
  for (const Shape& shape : shapes) all.push_back({DType::f32, shape});
  return all;
}

/// The types of all operands, the results last; `half`: as images are
/// stored.
inline std::vector<ValueType> operand_types(const Op& op, const std::vector<Shape>& shapes,
                                            DType half) {
  std::vector<ValueType> all = types(shapes);
  const std::vector<ValueType> results = op.infer(all);
  all.insert(all.end(), results.begin(), results.end());
  const bool second = op.name() == Conv2dGradWeightOp::kName;  // x and dz, but not dw
  const auto store = [&](ValueType& type) { type.dtype = half; };
  store(all.front());
  store(all.at(second ? 1 : shapes.size()));
  if (shapes.back() == results.front().shape) store(all.at(shapes.size() - 1));  // a residual
  return all;
}

inline std::optional<Kernel> prepare(const Op& op, const std::vector<Shape>& shapes,
                                     const Context& context, DType half = DType::f32,
                                     bool fixed = false) {
  const std::vector<ValueType> all = operand_types(op, shapes, half);
  const std::span operands(all);
  std::vector<bool> weights(fixed ? shapes.size() : 0, true);
  if (fixed) weights.front() = false;
  return make_registry().prepare(
      {op, operands.first(shapes.size()), operands.subspan(shapes.size()), {}, weights}, context);
}

inline float number(const ValueType& type, const float* data, std::size_t i) {
  return with_element(type.dtype,
                      [&]<class T>() { return to_float(reinterpret_cast<const T*>(data)[i]); });
}

/// Runs the case on random numbers; the largest difference from the reference, relative to its
/// largest number. `skip`: floats by which operands stand after an aligned address.
inline double error_of(const Case& c, const Context& context, std::string* engine = nullptr,
                       std::size_t skip = 0, DType half = DType::f32, bool fixed = false) {
  const std::optional<Kernel> kernel = prepare(*c.op, c.inputs, context, half, fixed);
  EXPECT_TRUE(kernel.has_value()) << c.name;
  if (!kernel) return INFINITY;
  if (engine != nullptr) *engine = kernel->engine;
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<ReferenceTensor> tensors;
  std::vector<DeviceFloats> memory;
  std::vector<void*> addresses;
  const std::vector<ValueType> all_types = operand_types(*c.op, c.inputs, half);
  for (const ValueType& type : all_types) {
    const auto count = static_cast<std::size_t>(type.shape.elements());
    tensors.push_back({type.shape, std::vector<double>(count)});
    memory.emplace_back(count, skip);
    for (std::size_t i = 0; i < count; ++i) {
      const float value = uniform(random);
      with_element(type.dtype, [&]<class T>() {
        reinterpret_cast<T*>(memory.back().data())[i] = stored_as<T>(value);
      });
      tensors.back().data[i] = number(type, memory.back().data(), i);
    }
    addresses.push_back(memory.back().data());
  }
  std::vector<ReferenceTensor*> references;
  for (ReferenceTensor& tensor : tensors) references.push_back(&tensor);
  const std::span all(references);
  const std::size_t outputs = all.size() - c.inputs.size();
  c.op->reference({.inputs = all.first(c.inputs.size()), .outputs = all.last(outputs), .step = {}});

  const DeviceFloats workspace(kernel->workspace_bytes / sizeof(float) + 1, 16);
  const DeviceFloats packed(kernel->packed_bytes / sizeof(float) + 1, 16);
  const std::span operands(addresses);
  const Args args{.inputs = operands.first(c.inputs.size()),
                  .outputs = operands.last(outputs),
                  .workspace = reinterpret_cast<std::byte*>(workspace.data()),
                  .packed = reinterpret_cast<std::byte*>(packed.data())};
  if (kernel->pack) kernel->pack(args);
  kernel->enqueue(args);
  check(cudaDeviceSynchronize(), "test");
  double worst = 0;
  for (std::size_t k = c.inputs.size(); k < all_types.size(); ++k) {
    double error = 0;
    double largest = 0;
    for (std::size_t i = 0; i < tensors[k].data.size(); ++i) {
      const double expected = tensors[k].data[i];
      largest = std::max(largest, std::abs(expected));
      const float found = number(all_types[k], memory[k].data(), i);
      error = std::max(error, std::abs(found - expected));
    }
    worst = std::max(worst, error / largest);
  }
  return worst;
}

inline Context with(const Cudnn& cudnn, Precision precision = Precision::tf32,
                    TuningCache* cache = nullptr) {
  Context context;
  context.precision = precision;
  context.cudnn = &cudnn;
  context.tuning = cache;
  return context;
}

struct Half {
  Precision precision;
  DType type;
  const char* name;
  double error;  ///< that rounding may make
};
inline constexpr std::array kHalves{Half{Precision::bf16, DType::bf16, ", bf16", 2e-2},
                                    Half{Precision::fp16, DType::f16, ", fp16", 2.5e-3}};

}  // namespace linnet::cuda
