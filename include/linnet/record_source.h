// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace linnet {

/// Samples that are made when a batch needs them, e.g. files that are read and decoded. Training,
/// evaluation and prediction read them ahead on several threads; what they compute depends on
/// neither the threads nor the order of reading, as long as a record is always the same.
class RecordSource {
 public:
  virtual ~RecordSource() = default;
  /// Records; always the same number.
  virtual std::int64_t size() const = 0;
  /// The element type and the shape of every record.
  virtual DType dtype() const = 0;
  virtual Shape record() const = 0;
  /// Writes record `index`, row-major, over all of `to`. Called by
  /// several threads at once. Throws Error naming what could not be read: that ends what is
  /// running.
  virtual void read(std::int64_t index, std::span<std::byte> to) const = 0;
};

}  // namespace linnet
