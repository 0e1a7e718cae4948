// SPDX-License-Identifier: Apache-2.0
#include <linnet/tensor.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/check.h"
#include "base/memory.h"
#include "core/tensor_memory.h"

namespace linnet {
namespace {

/// Memory that something else keeps alive.
class OwnedMemory final : public TensorMemory {
 public:
  OwnedMemory(std::span<std::byte> bytes, std::shared_ptr<const void> owner, Device device)
      : bytes_(bytes), owner_(std::move(owner)), device_(device) {}
  std::byte* data() const override { return bytes_.data(); }
  std::size_t bytes() const override { return bytes_.size(); }
  Device device() const override { return device_; }
  void read(std::size_t offset, std::span<std::byte> to) const override {
    require(device_.kind == Device::Kind::cpu,
            "a tensor in the memory of {} that another library made can't be copied to the host; "
            "copy it there with that library",
            to_string(device_));
    std::ranges::copy(bytes_.subspan(offset, to.size()), to.begin());
  }

 private:
  std::span<std::byte> bytes_;
  std::shared_ptr<const void> owner_;
  Device device_;
};

/// Bytes of such a tensor. Throws Error where that many can't be counted, or a dimension is
/// negative.
std::size_t bytes_of(DType dtype, const Shape& shape) {
  std::size_t bytes = size_of(dtype);
  for (const std::int64_t dim : shape.dims()) {
    if (dim < 0) fail("a tensor has no negative dimensions; got {}", to_string(shape));
    if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(dim), &bytes)) {
      fail("a tensor of {} is larger than any machine's memory", to_string(shape));
    }
  }
  return bytes;
}

void require_size(DType dtype, const Shape& shape, std::size_t bytes) {
  if (bytes == bytes_of(dtype, shape)) return;  // the text is made only where it is needed
  fail("a tensor of {} {} has {} elements; got memory of {}", to_string(dtype), to_string(shape),
       shape.elements(), bytes / size_of(dtype));
}

}  // namespace

std::string to_string(Device device) {
  return device.kind == Device::Kind::cpu ? "cpu" : fmt::format("cuda:{}", device.index);
}

Tensor::Tensor(DType dtype, const Shape& shape) {
  auto zeros = in_memory(fmt::format("a tensor of {} {}", to_string(dtype), to_string(shape)), [&] {
    return std::make_shared<std::vector<std::byte>>(bytes_of(dtype, shape));
  });
  const std::span<std::byte> bytes(*zeros);
  *this = own(dtype, shape, bytes, std::move(zeros));
}

Tensor::Tensor(DType dtype, const Shape& shape, std::shared_ptr<TensorMemory> memory,
               std::size_t offset, bool read_only)
    : size_(bytes_of(dtype, shape)),
      shape_(shape),
      device_(memory->device()),
      dtype_(dtype),
      read_only_(read_only) {
  LINNET_ASSERT(offset + size_ <= memory->bytes());
  data_ = memory->data() + offset;
  memory_ = std::move(memory);
}

Tensor Tensor::borrow(DType dtype, const Shape& shape, std::span<const std::byte> bytes,
                      std::shared_ptr<const void> owner, Device device) {
  // Nothing writes it: read_only_ keeps its promise.
  Tensor tensor = borrow_writable(dtype, shape, {const_cast<std::byte*>(bytes.data()), bytes.size()},
                                  std::move(owner), device);
  tensor.read_only_ = true;
  return tensor;
}

Tensor Tensor::borrow_writable(DType dtype, const Shape& shape, std::span<std::byte> bytes,
                               std::shared_ptr<const void> owner, Device device) {
  require_size(dtype, shape, bytes.size());
  Tensor tensor;
  if (owner != nullptr) {
    tensor.memory_ = std::make_shared<OwnedMemory>(bytes, std::move(owner), device);
  }
  tensor.data_ = bytes.data();
  tensor.size_ = bytes.size();
  tensor.shape_ = shape;
  tensor.device_ = device;
  tensor.dtype_ = dtype;
  return tensor;
}

Tensor Tensor::own(DType dtype, const Shape& shape, std::span<std::byte> bytes,
                   std::shared_ptr<const void> owner) {
  return borrow_writable(dtype, shape, bytes, std::move(owner));
}

std::span<const std::byte> Tensor::host_bytes(DType dtype) const {
  if (dtype != dtype_) {
    fail("a tensor of {} {} was read as {}", to_string(dtype_), to_string(shape_),
         to_string(dtype));
  }
  if (device_.kind != Device::Kind::cpu) {
    fail("a tensor {} lies in the memory of {}; to_host() copies it", to_string(shape_),
         to_string(device_));
  }
  return {data_, size_};
}

void Tensor::require_writable() const {
  require(!read_only_, "a tensor {} is read-only: its memory is const, or another's",
          to_string(shape_));
}

void Tensor::require_single() const {
  require(elements() == 1, "expected a tensor of one element; got {}", to_string(shape_));
}

std::span<std::byte> Tensor::writable_bytes() {
  require_writable();
  return {data_, size_};
}

Tensor Tensor::rows(std::int64_t begin, std::int64_t end) const {
  const bool fits = shape_.rank() > 0 && 0 <= begin && begin <= end && end <= shape_[0];
  require(fits, "a tensor {} has no rows [{}, {})", to_string(shape_), begin, end);
  Tensor part = *this;
  part.shape_ = shape_.with_batch(end - begin);
  part.size_ = bytes_of(dtype_, part.shape_);
  part.data_ += static_cast<std::size_t>(begin) * bytes_of(dtype_, shape_.sample());
  return part;
}

Tensor Tensor::reshaped(const Shape& shape) const {
  require(bytes_of(dtype_, shape) == size_, "a tensor {} has {} elements, which don't fit into {}",
          to_string(shape_), elements(), to_string(shape));
  Tensor other = *this;
  other.shape_ = shape;
  return other;
}

Tensor Tensor::clone() const {
  Tensor copy(dtype_, shape_);
  if (device_.kind == Device::Kind::cpu) {
    std::ranges::copy(bytes(), copy.data_);
    return copy;
  }
  require(memory_ != nullptr, "a borrowed tensor in the memory of {} can't be copied to the host",
          to_string(device_));
  memory_->read(static_cast<std::size_t>(data_ - memory_->data()), {copy.data_, size_});
  return copy;
}

Tensor Tensor::to_host() const { return device_.kind == Device::Kind::cpu ? *this : clone(); }

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::ranges::equal(a.bytes(), b.bytes());
}

}  // namespace linnet
