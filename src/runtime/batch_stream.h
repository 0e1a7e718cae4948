// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace linnet {

/// The batches of a pass, as a BatchStream holds them. Every part (samples, targets) has records of
/// its own size.
struct BatchLayout {
  std::vector<std::size_t> record_bytes;  ///< by part
  std::uint64_t batch = 0;                ///< records
  std::size_t slots = 0;                  ///< batches that the ring holds
  bool operator==(const BatchLayout&) const = default;
};

/// Data on their way from host memory to a device, batch by batch: a thread writes batches into a
/// ring of pinned memory, from which they are copied to a ring on the device while that computes.
/// Not thread-safe.
class BatchStream {
 public:
  /// Writes records [position, position + count) of a pass to to[part], on the stream's thread.
  using Fill = std::function<void(std::uint64_t position, std::uint64_t count,
                                  std::span<std::byte* const> to)>;

  virtual ~BatchStream() = default;
  virtual const BatchLayout& layout() const = 0;
  /// Returns device memory of a part: slots * batch records, slot after slot.
  virtual const std::byte* data(std::size_t part) const = 0;
  /// Returns device memory of all parts.
  virtual std::size_t bytes() const = 0;

  /// Begins a pass of `samples` records; one that was not finished is given up.
  virtual void start(std::uint64_t samples, Fill fill) = 0;
  /// Returns the slot of the pass's next batch: what is enqueued on the device from here on finds
  /// it there. Throws what `fill` threw.
  virtual std::size_t acquire() = 0;
  /// What was enqueued since acquire() is all that reads the slot.
  virtual void release() = 0;
};

}  // namespace linnet
