// SPDX-License-Identifier: Apache-2.0
#include <dlpack/dlpack.h>
#include <linnet/dlpack.h>

#include <memory>
#include <vector>

#include "base/check.h"
#include "model/predictor_state.h"

namespace linnet {
namespace {

/// What an exported tensor points to.
struct Exported {
  DLManagedTensor tensor{};
  std::shared_ptr<Buffer> buffer;
  Shape shape;
  std::vector<std::int64_t> strides;  ///< in elements
};

std::vector<std::int64_t> dense_strides(std::span<const std::int64_t> shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

DLDevice device_of(const ModelState& model) {
  if (model.backend->name() == "cuda") return {kDLCUDA, model.backend->index()};
  return {kDLCPU, 0};
}

DLManagedTensor* to_dlpack(const ModelState& model, std::shared_ptr<Buffer> buffer,
                           std::size_t offset, const Shape& shape) {
  wait_for(model);
  auto exported = std::make_unique<Exported>();
  exported->buffer = std::move(buffer);
  exported->shape = shape;
  exported->strides = dense_strides(shape.dims());
  DLManagedTensor& managed = exported->tensor;
  managed.dl_tensor = {.data = exported->buffer->data() + offset,
                       .device = device_of(model),
                       .ndim = static_cast<int>(shape.rank()),
                       .dtype = {kDLFloat, 32, 1},
                       .shape = const_cast<std::int64_t*>(exported->shape.dims().data()),
                       .strides = exported->strides.data(),
                       .byte_offset = 0};
  managed.manager_ctx = exported.get();
  managed.deleter = [](DLManagedTensor* self) { delete static_cast<Exported*>(self->manager_ctx); };
  return &exported.release()->tensor;
}

std::string to_string(const DLDataType& type) {
  const char* kind = type.code == kDLFloat  ? "float"
                     : type.code == kDLUInt ? "uint"
                     : type.code == kDLInt  ? "int"
                                            : "type";
  return type.lanes == 1 ? fmt::format("{}{}", kind, type.bits)
                         : fmt::format("{}{}x{}", kind, type.bits, type.lanes);
}

DType dtype_of(const DLDataType& type) {
  if (type.lanes == 1 && type.code == kDLFloat && type.bits == 32) return DType::f32;
  if (type.lanes == 1 && type.code == kDLUInt && type.bits == 8) return DType::u8;
  if (type.lanes == 1 && type.code == kDLInt && type.bits == 32) return DType::i32;
  fail("expected a DLPack tensor of float32, uint8 or int32; got {}", to_string(type));
}

void check_dense(const DLTensor& tensor, const Shape& shape) {
  if (tensor.strides == nullptr) return;
  const std::vector<std::int64_t> dense = dense_strides(shape.dims());
  for (std::size_t i = 0; i < dense.size(); ++i) {
    require(shape.dims()[i] == 1 || tensor.strides[i] == dense[i],
            "expected a dense row-major DLPack tensor {}; dimension {} has a stride of {}, not {}",
            linnet::to_string(shape), i, tensor.strides[i], dense[i]);
  }
}

}  // namespace

DLManagedTensor* output_to_dlpack(Predictor& predictor, std::int64_t batch, DType dtype) {
  PredictorState& state = predictor.state();
  return to_dlpack(state.model, state.at(batch, dtype).output(), 0,
                   predictor.output_shape().batched(batch));
}

DLManagedTensor* parameter_to_dlpack(Model& model, const std::string& name) {
  ModelState& state = model.state();
  for (const ParameterSpec& spec : state.definition().parameters) {
    if (spec.name != name) continue;
    state.weights_shared = true;
    return to_dlpack(state, spec.trainable ? state.parameters : state.statistics, spec.offset,
                     spec.shape);
  }
  fail("the model has no parameter '{}'", name);
}

std::int64_t input_from_dlpack(Predictor& predictor, DLManagedTensor* tensor) {
  require(tensor != nullptr, "expected a DLPack tensor; got null");
  const DLTensor& t = tensor->dl_tensor;
  const DLDevice here = device_of(predictor.state().model);
  require(t.device.device_type == here.device_type && t.device.device_id == here.device_id,
          "expected a DLPack tensor on device ({}, {}), where the model is; got one on ({}, {})",
          static_cast<int>(here.device_type), here.device_id,
          static_cast<int>(t.device.device_type), t.device.device_id);
  const DType dtype = dtype_of(t.dtype);
  const Shape shape(std::span(t.shape, static_cast<std::size_t>(t.ndim)));
  require(shape.rank() > 0 && shape[0] > 0 && shape.sample() == predictor.input_shape(),
          "expected a DLPack tensor (N, ...) of samples {}; got {}",
          linnet::to_string(predictor.input_shape()), linnet::to_string(shape));
  check_dense(t, shape);
  predictor.state().at(shape[0], dtype);  // what it throws leaves the tensor to the caller
  std::shared_ptr<void> owner(tensor, [](void* self) {
    auto* managed = static_cast<DLManagedTensor*>(self);
    if (managed->deleter != nullptr) managed->deleter(managed);
  });
  predictor.set_input(shape[0], dtype, static_cast<const std::byte*>(t.data) + t.byte_offset,
                      std::move(owner));
  return shape[0];
}

}  // namespace linnet
