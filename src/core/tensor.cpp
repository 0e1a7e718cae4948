// SPDX-License-Identifier: Apache-2.0
#include <linnet/tensor.h>

#include <algorithm>
#include <cstdint>
#include <new>

#include "base/check.h"
#include "core/align.h"
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
            "a tensor in the memory of {} belongs to another library and cannot be copied to the "
            "host; copy it with that library",
            to_string(device_));
    std::ranges::copy(bytes_.subspan(offset, to.size()), to.begin());
  }

 private:
  std::span<std::byte> bytes_;
  std::shared_ptr<const void> owner_;
  Device device_;
};

/// Aligned as kernels like it, and not written yet.
class HostMemory final : public TensorMemory {
 public:
  explicit HostMemory(std::size_t bytes)
      : bytes_(bytes), data_(static_cast<std::byte*>(::operator new(bytes, kAlign))) {}
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  ~HostMemory() override { ::operator delete(data_, kAlign); }
  std::byte* data() const override { return data_; }
  std::size_t bytes() const override { return bytes_; }
  void read(std::size_t offset, std::span<std::byte> to) const override {
    std::copy_n(data_ + offset, to.size(), to.begin());
  }

 private:
  static constexpr std::align_val_t kAlign{kAlignment};
  std::size_t bytes_;
  std::byte* data_;
};

/// Returns bytes of such a tensor. Throws Error where that many can't be counted, or a dimension is
/// negative.
std::size_t bytes_of(DType dtype, const Shape& shape) {
  std::size_t bytes = size_of(dtype);
  for (const std::int64_t dim : shape.dims()) {
    if (dim < 0) fail("expected dims of at least 0; got {}", to_string(shape));
    if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(dim), &bytes)) {
      fail("a tensor of {} has too many bytes to address", to_string(shape));
    }
  }
  return bytes;
}

void require_size(DType dtype, const Shape& shape, std::size_t bytes) {
  if (bytes == bytes_of(dtype, shape)) return;  // the text is made only where it is needed
  fail("a tensor of {} {} needs memory for {} elements; got memory for {}", to_string(dtype),
       to_string(shape), shape.elements(), bytes / size_of(dtype));
}

}  // namespace

std::string to_string(Device device) {
  return device.kind == Device::Kind::cpu ? "cpu" : fmt::format("cuda:{}", device.index);
}

Tensor uninitialized_tensor(DType dtype, const Shape& shape) {
  const std::size_t bytes = bytes_of(dtype, shape);
  try {
    return {dtype, shape, std::make_shared<HostMemory>(bytes), 0, false};
  } catch (const std::bad_alloc&) {
    fail<OutOfMemory>("a tensor of {} {} does not fit into memory", to_string(dtype),
                      to_string(shape));
  }
}

Tensor::Tensor(DType dtype, const Shape& shape) : Tensor(uninitialized_tensor(dtype, shape)) {
  std::fill_n(data_, size_, std::byte{});
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

void Tensor::swap(Tensor& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(shape_, other.shape_);
  std::swap(device_, other.device_);
  std::swap(dtype_, other.dtype_);
  std::swap(read_only_, other.read_only_);
}

Tensor Tensor::borrow(DType dtype, const Shape& shape, std::span<const std::byte> bytes,
                      std::shared_ptr<const void> owner, Device device) {
  // Nothing writes it: read_only_ keeps its promise.
  Tensor tensor =
      borrow_writable(dtype, shape, {const_cast<std::byte*>(bytes.data()), bytes.size()},
                      std::move(owner), device);
  tensor.read_only_ = true;
  return tensor;
}

Tensor Tensor::borrow_writable(DType dtype, const Shape& shape, std::span<std::byte> bytes,
                               std::shared_ptr<const void> owner, Device device) {
  require_size(dtype, shape, bytes.size());
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % size_of(dtype) != 0) {
    fail("the memory of a tensor of {} {} must start at a multiple of {} bytes", to_string(dtype),
         to_string(shape), size_of(dtype));
  }
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
    fail("a tensor {} is in the memory of {}; to_host() copies it to the host", to_string(shape_),
         to_string(device_));
  }
  return {data_, size_};
}

void Tensor::require_writable() const {
  if (read_only_) {  // the text is made only where it is needed
    fail("a tensor {} {} is read-only, since it borrows const memory; clone() it",
         to_string(dtype_), to_string(shape_));
  }
}

void Tensor::require_single() const {
  if (elements() != 1) fail("expected a tensor of one element; got {}", to_string(shape_));
}

std::span<std::byte> Tensor::writable_bytes() {
  require_writable();
  return {data_, size_};
}

Tensor Tensor::rows(std::int64_t begin, std::int64_t end) const {
  const bool fits = shape_.rank() > 0 && 0 <= begin && begin <= end && end <= shape_[0];
  if (!fits) fail("a tensor {} has no rows [{}, {})", to_string(shape_), begin, end);
  Tensor part = *this;
  part.shape_ = shape_.with_batch(end - begin);
  part.size_ = bytes_of(dtype_, part.shape_);
  part.data_ += static_cast<std::size_t>(begin) * bytes_of(dtype_, shape_.sample());
  return part;
}

Tensor Tensor::reshaped(const Shape& shape) const {
  if (bytes_of(dtype_, shape) != size_) {
    fail("a tensor {} has {} elements, but the shape {} has {}", to_string(shape_), elements(),
         to_string(shape), shape.elements());
  }
  Tensor other = *this;
  other.shape_ = shape;
  return other;
}

Tensor Tensor::clone() const {
  Tensor copy = uninitialized_tensor(dtype_, shape_);
  if (device_.kind == Device::Kind::cpu) {
    std::ranges::copy(bytes(), copy.data_);
    return copy;
  }
  require(memory_ != nullptr, "a borrowed tensor in the memory of {} cannot be copied to the host",
          to_string(device_));
  memory_->read(static_cast<std::size_t>(data_ - memory_->data()), {copy.data_, size_});
  return copy;
}

void Tensor::wait() const {
  if (memory_ != nullptr) memory_->wait();
}

Tensor Tensor::to_host() const { return device_.kind == Device::Kind::cpu ? *this : clone(); }

bool same_bits(const Tensor& a, const Tensor& b) {
  for (const Tensor* tensor : {&a, &b}) {
    require(tensor->device().kind == Device::Kind::cpu,
            "a tensor {} is in the memory of {}; to_host() copies it to the host",
            to_string(tensor->shape()), to_string(tensor->device()));
  }
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::ranges::equal(a.bytes(), b.bytes());
}

}  // namespace linnet
