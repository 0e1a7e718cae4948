// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

LINNET_API_BEGIN
namespace linnet {

/// Samples that are made when a batch needs them, e.g. files that are read and decoded. Training,
/// evaluation and prediction read them ahead on several threads; what they compute depends on
/// neither the threads nor the order of reading, as long as a record is
/// always the same in an epoch.
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
  /// The same for an epoch of a training, from 1; 0: outside of one. To be overridden by sources
  /// whose records change from epoch to epoch, and by those that read from another source.
  virtual void read_in_epoch(std::int64_t index, std::int64_t /*epoch*/,
                             std::span<std::byte> to) const {
    read(index, to);
  }
};

}  // namespace linnet
LINNET_API_END
