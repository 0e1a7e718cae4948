// SPDX-License-Identifier: Apache-2.0
#include <dlpack/dlpack.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/check.h"
#include "core/tensor_memory.h"

namespace linnet {
namespace {

constexpr std::uint8_t kBoolCode = 6;  // kDLBool, which headers before DLPack 0.8 don't name

struct TypePair {
  DType dtype;
  std::uint8_t code;
  std::uint8_t bits;
};
constexpr std::array<TypePair, 8> kTypes{{{DType::f32, kDLFloat, 32},
                                          {DType::f64, kDLFloat, 64},
                                          {DType::f16, kDLFloat, 16},
                                          {DType::bf16, kDLBfloat, 16},
                                          {DType::u8, kDLUInt, 8},
                                          {DType::i32, kDLInt, 32},
                                          {DType::i64, kDLInt, 64},
                                          {DType::boolean, kBoolCode, 8}}};

DLDataType to_dlpack(DType dtype) {
  for (const TypePair& type : kTypes) {
    if (type.dtype == dtype) return {type.code, type.bits, 1};
  }
  return {};
}

DType dtype_of(const DLDataType& type) {
  for (const TypePair& pair : kTypes) {
    if (type.lanes == 1 && type.code == pair.code && type.bits == pair.bits) return pair.dtype;
  }
  fail(
      "expected a DLPack tensor of float16, float32, float64, bfloat16, uint8, int32, int64 or "
      "bool; got type code {} of {} bits and {} lanes",
      static_cast<int>(type.code), static_cast<int>(type.bits), static_cast<int>(type.lanes));
}

std::array<std::int64_t, Shape::kMostAxes> dense_strides(const Shape& shape) {
  std::array<std::int64_t, Shape::kMostAxes> strides{};
  std::int64_t stride = 1;
  for (std::size_t i = shape.rank(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape.dims()[i];
  }
  return strides;
}

Device device_of(const DLDevice& device) {
  if (device.device_type == kDLCPU || device.device_type == kDLCUDAHost) return {};
  require(
      device.device_type == kDLCUDA,
      "expected a DLPack tensor in the memory of the CPU or of a CUDA device; got device type {}",
      static_cast<int>(device.device_type));
  return {Device::Kind::cuda, device.device_id};
}

void check_dense(const DLTensor& tensor, const Shape& shape) {
  if (tensor.strides == nullptr || shape.elements() == 0) return;
  const auto dense = dense_strides(shape);
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    require(shape.dims()[i] == 1 || tensor.strides[i] == dense[i],
            "expected a dense row-major DLPack tensor {}; dimension {} has a stride of {}, not {}",
            to_string(shape), i, tensor.strides[i], dense[i]);
  }
}

/// Holds what an exported tensor points to.
struct Exported {
  DLManagedTensor managed{};
  Tensor tensor;  ///< keeps the memory
  std::array<std::int64_t, Shape::kMostAxes> dims{};
  std::array<std::int64_t, Shape::kMostAxes> strides{};
};

}  // namespace

Tensor from_dlpack(DLManagedTensor* tensor) {
  require(tensor != nullptr, "expected a DLPack tensor; got null");
  const DLTensor& t = tensor->dl_tensor;
  const Device device = device_of(t.device);
  const DType dtype = dtype_of(t.dtype);
  const Shape shape(std::span<const std::int64_t>(t.shape, static_cast<std::size_t>(t.ndim)));
  check_dense(t, shape);
  const auto size = static_cast<std::size_t>(shape.elements()) * size_of(dtype);
  auto* data = static_cast<std::byte*>(t.data);
  if (size > 0) data += t.byte_offset;  // of nothing it may be null
  using Deleter = void (*)(DLManagedTensor*);
  const std::shared_ptr<DLManagedTensor> owner(tensor, Deleter{[](DLManagedTensor*) {}});
  Tensor result = Tensor::borrow_writable(dtype, shape, {data, size}, owner, device);
  // From here on nothing fails, and the tensor is the library's.
  *std::get_deleter<Deleter>(owner) = [](DLManagedTensor* self) {
    if (self->deleter != nullptr) self->deleter(self);
  };
  return result;
}

DLManagedTensor* to_dlpack(const Tensor& tensor) {
  require(!tensor.read_only(),
          "a tensor {} {} is read-only, which DLPack cannot express; clone() it",
          to_string(tensor.dtype()), to_string(tensor.shape()));
  tensor.wait();  // other libraries know nothing of what was enqueued
  auto exported = std::make_unique<Exported>();
  exported->tensor = tensor;
  std::ranges::copy(tensor.shape().dims(), exported->dims.begin());
  exported->strides = dense_strides(tensor.shape());
  const bool cpu = tensor.device().kind == Device::Kind::cpu;
  exported->managed.dl_tensor = {.data = const_cast<std::byte*>(tensor.bytes().data()),
                                 .device = {cpu ? kDLCPU : kDLCUDA, tensor.device().index},
                                 .ndim = static_cast<int>(tensor.shape().rank()),
                                 .dtype = to_dlpack(tensor.dtype()),
                                 .shape = exported->dims.data(),
                                 .strides = exported->strides.data(),
                                 .byte_offset = 0};
  exported->managed.manager_ctx = exported.get();
  exported->managed.deleter = [](DLManagedTensor* self) {
    delete static_cast<Exported*>(self->manager_ctx);
  };
  return &exported.release()->managed;
}

}  // namespace linnet
