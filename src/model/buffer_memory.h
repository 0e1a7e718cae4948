// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/tensor.h>

#include <memory>
#include <span>
#include <utility>

#include "core/tensor_memory.h"
#include "model/model_state.h"

namespace linnet {

/// Memory of a model's device as Tensors see it: it outlives the model.
class BufferMemory final : public TensorMemory {
 public:
  BufferMemory(std::shared_ptr<Buffer> buffer, Device device)
      : buffer_(std::move(buffer)), device_(device) {}

  std::byte* data() const override { return buffer_->data(); }
  std::size_t bytes() const override { return buffer_->bytes(); }
  Device device() const override { return device_; }
  void read(std::size_t offset, std::span<std::byte> to) const override {
    buffer_->read(offset, to);
  }
  void wait() const override {
    std::byte first{};
    if (bytes() > 0) buffer_->read(0, {&first, 1});
  }

 private:
  std::shared_ptr<Buffer> buffer_;
  Device device_;
};

inline Device device_of(const ModelState& model) {
  if (model.backend->name() != "cuda") return {};
  return {Device::Kind::cuda, model.backend->index()};
}

/// Returns a part of a buffer of the model's device, to be read and written.
inline Tensor tensor_over(const ModelState& model, std::shared_ptr<Buffer> buffer,
                          std::size_t offset, DType dtype, const Shape& shape) {
  auto memory = std::make_shared<BufferMemory>(std::move(buffer), device_of(model));
  return {dtype, shape, std::move(memory), offset, false};
}

}  // namespace linnet
