// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

LINNET_API_BEGIN
namespace linnet {

/// Makes samples when a batch needs them, e.g. from files that are read and decoded. Derive from it
/// and put it into Column::source. Training, evaluation and prediction read ahead on several
/// threads (FitOptions::decoders). Results do not depend on the threads or the order of reading, if
/// a record is always the same within an epoch.
class RecordSource {
 public:
  virtual ~RecordSource() = default;
  /// Returns the number of records, always the same.
  virtual std::int64_t size() const = 0;
  /// Returns the element type of every record: u8, f32 or i32.
  virtual DType dtype() const = 0;
  /// Returns the shape of every record, without the batch.
  virtual Shape record() const = 0;
  /// Writes record `index`, row-major, over all of `to`; `index` is in [0, size()). Several threads
  /// call it at once. An implementation throws Error naming what cannot be read, which ends the
  /// training, evaluation or prediction that reads.
  virtual void read(std::int64_t index, std::span<std::byte> to) const = 0;
  /// Writes record `index` as read() does, for an epoch of a training, from 1; 0 outside of a
  /// training. Override it in a source whose records change from epoch to epoch, and in one that
  /// reads from another source.
  virtual void read_in_epoch(std::int64_t index, std::int64_t /*epoch*/,
                             std::span<std::byte> to) const {
    read(index, to);
  }
};

}  // namespace linnet
LINNET_API_END
