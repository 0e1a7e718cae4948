// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/tensor.h>

#include <cstddef>
#include <span>

namespace linnet {

/// Memory that Tensors share; it goes with the last of them.
class TensorMemory {
 public:
  virtual ~TensorMemory() = default;
  virtual std::byte* data() const = 0;
  virtual std::size_t bytes() const = 0;
  virtual Device device() const { return {}; }
  /// Copies memory of a device to the host, after all that was enqueued there.
  virtual void read(std::size_t offset, std::span<std::byte> to) const = 0;
  /// Until all that was enqueued on its device is done.
  virtual void wait() const {}
};

/// Returns host memory of a Tensor's own whose contents are still to be written. Throws Error where
/// memory is short.
Tensor uninitialized_tensor(DType dtype, const Shape& shape);

}  // namespace linnet
